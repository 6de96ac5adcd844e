"""`geotts eval reread`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
import orjson

from deployments.cli import shared_options
from deployments.cli.console import STDERR, config_option
from deployments.config import AppArgs
from deployments.wiring.parts import make_model
from tts.dialects.released.imported_texts import TEXTS_FILE, user_profiles
from tts.dialects.released.importing.geoagent_texts import READER_TEXT
from tts.dialects.settings import read_texts
from tts.eval.rewarding.rewarded_output import RewardedOutput, outputs_of
from tts.eval.rewarding.second_reader import OWN_WORDS, second_reading
from tts.ports.model_client import ModelClient


@click.command(name="reread")
@click.argument("run_file", metavar="RUN", type=shared_options.EXISTING_FILE)
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--prompt", type=shared_options.EXISTING_FILE, help="File with the system prompt of the second reader.")
@config_option
def reread_run(args: AppArgs, run_file: Path, out: Path, prompt: Path | None) -> None:
    """Let a second model read the reasoning of each rollout of RUN and conclude again (as GeoAgent does).

    The second reader is the configured engine. It reads the stages of a rollout one by one, each with the conclusions
    of the stages before, at temperature 0.1. OUT gets one JSON line for each rollout whose reasoning can be read, for
    `geotts eval rewards --system geoagent --conclusions OUT`. The system prompt is that of --prompt. Without it,
    it is the one that `geotts profile import geoagent` found, or else one of GeoTTS.
    """
    words = _imported_prompt() if prompt is None else prompt.read_text()
    if words is None:
        words = OWN_WORDS
        STDERR.print("  the second reader gets the prompt of GeoTTS: the authors' prompt was not imported")
    asyncio.run(_read_all_outputs(list(outputs_of(run_file)), make_model(args), words, out))


def _imported_prompt() -> str | None:
    file = user_profiles() / "geoagent" / TEXTS_FILE
    return read_texts(file).get(READER_TEXT) if file.is_file() else None


async def _read_all_outputs(outputs: list[RewardedOutput], model: ModelClient, words: str, out: Path) -> None:
    readable = 0
    with out.open("wb") as file:
        for count, output in enumerate(outputs, 1):
            conclusions = await second_reading(output, model, prompt=words)
            if conclusions is not None:
                readable += 1
                row = {"sample": output.sample, "rollout": output.rollout, "conclusions": conclusions}
                file.write(orjson.dumps(row) + b"\n")
            if count % 20 == 0 or count == len(outputs):
                STDERR.print(f"  {count} of {len(outputs)}, {readable} with readable reasoning")
    close = getattr(model, "aclose", None)  # endpoints keep connections open, engines in this process have none
    if close is not None:
        await close()
