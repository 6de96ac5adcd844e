"""Lua scripts of the run store: Redis runs each of them as one atomic step."""

# KEYS: leases of the tenant, meta, log, leases of all, claim; ARGV[7]: whether the request must hold the claim
OPEN = """
if ARGV[7] == '1' then
  local held = redis.call('GET', KEYS[5])
  if not held or cjson.decode(held)['request_id'] ~= ARGV[1] then return -1 end
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', redis.call('TIME')[1] - 3600)
if tonumber(ARGV[3]) >= 0 then
  if redis.call('ZCOUNT', KEYS[1], '(' .. redis.call('TIME')[1], '+inf') >= tonumber(ARGV[3]) then return 0 end
end
local t = redis.call('TIME')
redis.call('ZADD', KEYS[1], t[1] + t[2] / 1e6 + tonumber(ARGV[2]), ARGV[1])
redis.call('ZADD', KEYS[4], t[1] + t[2] / 1e6 + tonumber(ARGV[2]), ARGV[1])
redis.call('HSET', KEYS[2], 'meta', ARGV[4], 'closed', '0', 'owner', ARGV[6])
redis.call('EXPIRE', KEYS[2], ARGV[5])
redis.call('XADD', KEYS[3], '0-1', 'kind', '')
redis.call('EXPIRE', KEYS[3], ARGV[5])
return 1
"""
# an entry that is not above the last one was sent twice by a retry, or comes from a gateway that was thought dead
APPEND = """
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HGET', KEYS[2], 'closed') == '1' then return 0 end
local owner = redis.call('HGET', KEYS[2], 'owner')
if owner and owner ~= ARGV[3] then return 0 end
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local seq = last[1] and tonumber(string.match(last[1][1], '^%d+')) or 0
for i = 4, #ARGV, 3 do
  local mine = tonumber(ARGV[i])
  if mine > seq then
    redis.call('XADD', KEYS[1], mine .. '-0', 'kind', ARGV[i + 1], 'payload', ARGV[i + 2])
    seq = mine
  end
end
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
"""
PROBE = """
redis.call('SET', KEYS[1], ARGV[1], 'PX', 5000)
return redis.call('DEL', KEYS[1])
"""
ATTACH = """
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSETNX', KEYS[2], ARGV[1] .. ':type', ARGV[2])
redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[4])
return 1
"""
# KEYS: leases of the tenant, leases of all, meta, log, files, saved, those that have ended
CLOSE = """
local owner = redis.call('HGET', KEYS[3], 'owner')
if owner and owner ~= ARGV[3] then return 0 end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('DEL', KEYS[6])
if redis.call('EXISTS', KEYS[3]) == 0 then return 1 end
redis.call('HSET', KEYS[3], 'closed', '1')
local keep = tonumber(redis.call('HGET', KEYS[3], 'keep') or 0) - tonumber(redis.call('TIME')[1])
for i = 3, 5 do redis.call('EXPIRE', KEYS[i], math.max(tonumber(ARGV[2]), keep)) end
redis.call('ZADD', KEYS[7], redis.call('TIME')[1] + ARGV[4], ARGV[1])
redis.call('EXPIRE', KEYS[7], ARGV[2])
return 1
"""
DUE = """
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', redis.call('TIME')[1], 'LIMIT', 0, ARGV[1])
if #due > 0 then redis.call('ZREM', KEYS[1], unpack(due)) end
return due
"""
# KEYS: reminders, meta
REMIND = """
redis.call('ZREM', KEYS[1], ARGV[1])
if ARGV[2] == '' or redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
local t = redis.call('TIME')
redis.call('ZADD', KEYS[1], t[1] + t[2] / 1e6 + tonumber(ARGV[2]), ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
"""
REMINDED = """
local t = redis.call('TIME')
local now = t[1] + t[2] / 1e6
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[2])
for _, id in ipairs(due) do redis.call('ZADD', KEYS[1], now + tonumber(ARGV[1]), id) end
return due
"""
# the log as it was read; erased or gone meanwhile: nothing is written
PACK = """
local left = redis.call('PTTL', KEYS[2])
if redis.call('HGET', KEYS[1], 'closed') ~= '1' or left <= 0 then return 0 end
redis.call('SET', KEYS[3], ARGV[1], 'PX', left)
redis.call('DEL', KEYS[2])
return 1
"""
# KEYS: meta, saved
SAVE = """
if redis.call('HGET', KEYS[1], 'closed') ~= '0' or redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[4])
return 1
"""
# KEYS: leases of the tenant, leases of all, meta
TAKE_OVER = """
if redis.call('HGET', KEYS[3], 'closed') ~= '0' then
  redis.call('ZREM', KEYS[2], ARGV[1])
  return 0
end
local t = redis.call('TIME')
local now = t[1] + t[2] / 1e6
local until_s = redis.call('ZSCORE', KEYS[1], ARGV[1])
if until_s and tonumber(until_s) > now then return 0 end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[2]), ARGV[1])
redis.call('HSET', KEYS[3], 'owner', ARGV[3])
return 1
"""
# KEYS: leases of all; what nobody has looked after for long has expired with its keys
ABANDONED = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 3600)
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[1]), 'LIMIT', 0, 100)
"""
RELEASE = """
local held = redis.call('GET', KEYS[1])
if held and cjson.decode(held)['request_id'] == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""
TAKE = """
local t = redis.call('TIME')
local now, each = t[1] + t[2] / 1e6, tonumber(ARGV[1])
local empty_at = math.max(now, tonumber(redis.call('GET', KEYS[1]) or now))
local wait = empty_at - now - each * (tonumber(ARGV[2]) - 1)
if wait > 0 then return tostring(wait) end
empty_at = empty_at + each
redis.call('SET', KEYS[1], string.format('%.6f', empty_at), 'PX', math.ceil((empty_at - now) * 1000) + 1000)
return '0'
"""
