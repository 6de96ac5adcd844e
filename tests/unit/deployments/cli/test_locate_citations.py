"""The evidence of an answer of `geotts locate` links to the place that it quotes."""

import json

import pytest
from click.testing import CliRunner

from deployments.cli import cli
from tts.geodata.names import normalise
from tts.package_files import SAMPLES


@pytest.mark.slow
@pytest.mark.parametrize("sample", ["station-chinese.jpg", "station-georgian.jpg", "town-sign-latin.jpg"])
def test_evidence_of_an_answer_links_to_the_place_it_quotes(data_store, sample):
    """Taozhuang is not Zaozhuang: a result with several places is cited by the one that is quoted."""
    done = CliRunner().invoke(
        cli, ["locate", str(SAMPLES / sample), "--json", "--include", "full", "-n", "2"], standalone_mode=False
    )
    reply = json.loads(done.stdout)
    linked = [evidence for evidence in reply["answer"]["evidence"] if evidence["url"]]
    assert linked
    for evidence in linked:
        found = data_store.gazetteer().get("gn:" + evidence["url"].rsplit("/", 1)[-1])
        assert found is not None, evidence
        assert normalise(found.name) in normalise(evidence["quote"]), evidence
        assert found.name in evidence["claim"], evidence
