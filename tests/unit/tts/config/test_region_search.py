"""Settings of region search: where pictures are lent from."""

import pytest

from tts.config import GatewayUpload, StoreUpload


def test_an_upload_names_each_picture_and_its_pictures_expire():
    for wrong in ("https://store.example/regions", "ftp://store.example/{name}"):
        with pytest.raises(ValueError, match="name"):
            StoreUpload(put_url=wrong)
    with pytest.raises(ValueError, match="greater"):
        GatewayUpload(expires_s=0)
