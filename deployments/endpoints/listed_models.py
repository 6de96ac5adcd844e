"""Asks an endpoint for its models before long work starts on it."""

from __future__ import annotations

import os

import httpx

from tts.config import OpenAIEngine
from tts.errors import ConfigError, FatalError
from tts.net.url_secrets import mask_secrets

_PATIENCE_S = 3.0


def key_headers(engine: OpenAIEngine) -> dict[str, str]:
    """The header with the key of an endpoint, if there is a key."""
    key = os.environ.get(engine.api_key_env, "")
    return {"Authorization": f"Bearer {key}"} if key else {}


def listed_models(engine: OpenAIEngine) -> list[str]:
    """What the first endpoint of the engine lists.

    Raises:
        httpx.HTTPError, httpx.InvalidURL: it does not answer, or refuses.
        ValueError, KeyError, TypeError: its answer is no list of models.
    """
    url = f"{engine.base_url.rstrip('/')}/models"
    response = httpx.get(url, headers=key_headers(engine), timeout=_PATIENCE_S, trust_env=False)
    return [str(item["id"]) for item in response.raise_for_status().json()["data"]]


def check_endpoint(engine: OpenAIEngine) -> None:
    """Ask once. An endpoint that answers without a list may serve all the same, and passes.

    Raises:
        FatalError: nobody can be reached at any of its addresses.
        ConfigError: it lists several models, and none is named.
    """
    silent: list[str] = []
    urls = (engine.base_url, *engine.base_urls)
    for url in urls:
        try:
            listed = listed_models(engine.model_copy(update={"base_url": url}))
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL) as error:
            silent.append(f"{mask_secrets(url)}: {type(error).__name__}")
            continue
        except (httpx.HTTPError, ValueError, KeyError, TypeError):
            continue
        if not engine.model and len(listed) > 1:
            raise ConfigError(
                f"{mask_secrets(url)} lists {len(listed)} models: name one with --model ({_first_names(listed)})"
            )
    if len(silent) == len(urls):
        raise FatalError(f"the engine could not be run: {'; '.join(silent)}: start it, or name another with --endpoint")


def _first_names(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", …" if names[5:] else "")
