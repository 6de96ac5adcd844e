"""Region search needs a way to lend pictures."""

import pytest
from support.provider_server import PUBLIC_URL

from deployments.config import AppArgs, GatewayConfig
from tts.config import RegionSearchConfig, StoreUpload, ToolsConfig


def test_region_search_without_a_way_to_lend_pictures_is_refused_at_the_start():
    lens = ToolsConfig(providers=("serper_lens",), region_search=RegionSearchConfig(allowed=True))
    with pytest.raises(
        ValueError, match=r"Set gateway\.public_url, or set tools\.region_search\.upload to a picture store"
    ):
        AppArgs(tools=lens)
    AppArgs(tools=lens, gateway=GatewayConfig(public_url=PUBLIC_URL))
    AppArgs(tools=lens.model_copy(update={"region_search": RegionSearchConfig()}))
    AppArgs(tools=lens.model_copy(update={"providers": ("google_vision",)}))
    store = RegionSearchConfig(allowed=True, upload=StoreUpload(put_url="https://store.example/{name}"))
    AppArgs(tools=lens.model_copy(update={"region_search": store}))
    with pytest.raises(ValueError, match="http"):
        AppArgs(gateway=GatewayConfig(public_url="photos.example"))
