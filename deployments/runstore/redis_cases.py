"""Cases in the Redis run store: a key with an expiry each, and a sorted set of the cases of a tenant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from redis.asyncio import Redis

from deployments.runstore.case_record import CaseRecord
from deployments.runstore.stored_values import value_of

# the version decides; the requests of the case live as long as it does, also when they are closed later (see CLOSE)
SAVE: Final = """
local earlier = redis.call('HGET', KEYS[1], 'version')
if tonumber(ARGV[1]) ~= (earlier and tonumber(earlier) or 0) + 1 then return 0 end
local keep = tonumber(ARGV[3])
local now = tonumber(redis.call('TIME')[1])
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'record', ARGV[2])
redis.call('EXPIRE', KEYS[1], keep)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
redis.call('ZADD', KEYS[2], now + keep, ARGV[4])
if redis.call('TTL', KEYS[2]) < keep then redis.call('EXPIRE', KEYS[2], keep) end
for i = 5, #ARGV do
  local run = ARGV[i]
  if redis.call('EXISTS', run .. ':meta') == 1 then
    redis.call('HSET', run .. ':meta', 'keep', now + keep)
    for _, part in ipairs({':meta', ':log', ':packed', ':files'}) do
      if redis.call('TTL', run .. part) < keep then redis.call('EXPIRE', run .. part, keep) end
    end
  end
end
return 1
"""


class RedisCases(ABC):
    """The part of `RedisRunStore` that keeps cases."""

    _redis: Redis
    _prefix: str

    @abstractmethod
    async def _run_script(self, script: str, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """Run a script in one step. Raises StoreUnavailable."""

    async def save_case(self, record: CaseRecord, *, keep_s: float) -> bool:
        """One script compares the version, writes, and prolongs the requests."""
        keys = (self._case_key(record.case_id), self._cases_key(record.tenant))
        runs = [f"{self._prefix}:run:{request_id}" for request_id in record.requests]
        args = (record.version, record.model_dump_json(), max(1, round(keep_s)), record.case_id, *runs)
        return bool(await self._run_script(SAVE, keys, args))

    async def case(self, case_id: str) -> CaseRecord | None:
        """None also when its key has expired. Raises StoreUnavailable when this release cannot read it."""
        raw = await self._run_script("return redis.call('HGET', KEYS[1], 'record')", (self._case_key(case_id),), ())
        return None if raw is None else value_of(CaseRecord, raw)

    async def cases(self, tenant: str) -> Sequence[CaseRecord]:
        """Those whose keys are still there."""
        names = await self._run_script("return redis.call('ZRANGE', KEYS[1], 0, -1)", (self._cases_key(tenant),), ())
        found = [await self.case(name.decode()) for name in names]
        return [record for record in found if record is not None]

    async def erase_case(self, case_id: str) -> bool:
        """Delete the key and the mark in the set of its tenant."""
        record = await self.case(case_id)
        if record is None:
            return False
        keys = (self._case_key(case_id), self._cases_key(record.tenant))
        await self._run_script(
            "redis.call('ZREM', KEYS[2], ARGV[1]) return redis.call('DEL', KEYS[1])", keys, (case_id,)
        )
        return True

    def _case_key(self, case_id: str) -> str:
        return f"{self._prefix}:case:{case_id}"

    def _cases_key(self, tenant: str) -> str:
        return f"{self._prefix}:cases:{tenant}"
