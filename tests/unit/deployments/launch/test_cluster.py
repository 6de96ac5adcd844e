"""The start of the service on Ray: what is refused before Ray is started, and what is taken down at the end."""

from contextlib import nullcontext

import pytest

from deployments.config import AppArgs
from deployments.launch import cluster
from deployments.launch.cluster import serve_configuration
from deployments.serve.cluster_watch import ClusterLost
from tts.errors import DataError


def test_a_service_without_built_data_is_refused_before_ray_is_started(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "start_ray", lambda *args, **options: pytest.fail("Ray was started"))
    with pytest.raises(DataError, match="geotts data build"), serve_configuration(AppArgs(data_dir=str(tmp_path))):
        pass


@pytest.mark.parametrize(
    ("error", "end"), [(None, "down"), (KeyboardInterrupt(), "down"), (ClusterLost("a node died"), "abandoned")]
)
def test_what_was_started_is_taken_down_however_the_block_ends(error, end):
    ended = []
    with (
        nullcontext() if error is None else pytest.raises(type(error)),
        cluster._take_down_at_end(lambda: ended.append("down"), when_lost=lambda: ended.append("abandoned")),
    ):
        if error is not None:
            raise error
    assert ended == [end]


def test_a_stop_that_was_asked_for_while_ray_started_ends_the_start(monkeypatch):
    ended = []
    monkeypatch.setattr(cluster, "start_ray", lambda *args, **options: None)
    monkeypatch.setattr(cluster, "stop_ray", lambda: ended.append("stopped"))
    monkeypatch.setattr(cluster, "prepare_ports", lambda host, port: None)
    make = lambda: pytest.fail("the application was made")  # noqa: E731
    with pytest.raises(KeyboardInterrupt), cluster.serve_application(make, AppArgs().gateway, stopped=lambda: True):
        pass
    assert ended == ["stopped"]
