"""Run store and tool cache on a Redis with a password: errors do not repeat a wrong password."""

import pytest
from redis import Redis
from support.local_redis import local_redis

from deployments.runstore import RunMeta, StoreUnavailable, open_store
from tts.toolkit.broker.cache_entry import Entry
from tts.toolkit.broker.cache_store import StoreError
from tts.toolkit.broker.open_store import open_store as open_cache


async def test_a_redis_with_a_password_works_and_errors_do_not_repeat_a_wrong_password(tmp_path, monkeypatch):
    with local_redis(tmp_path) as url:
        with Redis.from_url(url) as admin:
            admin.config_set("requirepass", "hunter2")
        entry = Entry(stored_at=2e9, ttl_s=60.0, stale_s=0.0, retrieved_at="", refusal=("not_found", "no"))
        for password, works in (("hunter2", True), ("hunter3", False), (None, False)):
            if password is None:
                monkeypatch.delenv("GEOTTS_REDIS_PASSWORD")
            else:
                monkeypatch.setenv("GEOTTS_REDIS_PASSWORD", password)
            cache, runs = open_cache(url), open_store(url, 60.0)
            if works:
                await cache.put("k", entry)
                assert await cache.get("k") is not None
                assert await runs.open(RunMeta(request_id="loc_1"), lease_s=5.0)
            else:
                with pytest.raises(StoreError) as cache_refused:
                    await cache.get("k")
                with pytest.raises(StoreUnavailable) as runs_refused:
                    await runs.ping()
                assert "hunter" not in f"{cache_refused.value.detail} {runs_refused.value.detail}"
            await cache.aclose()
            await runs.aclose()
