"""What the run store asks Redis to do in one step: Lua, which runs there alone."""

OPEN = """
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', redis.call('TIME')[1] - 3600)
if tonumber(ARGV[3]) >= 0 then
  if redis.call('ZCOUNT', KEYS[1], '(' .. redis.call('TIME')[1], '+inf') >= tonumber(ARGV[3]) then return 0 end
end
local t = redis.call('TIME')
redis.call('ZADD', KEYS[1], t[1] + t[2] / 1e6 + tonumber(ARGV[2]), ARGV[1])
redis.call('HSET', KEYS[2], 'meta', ARGV[4], 'closed', '0')
redis.call('EXPIRE', KEYS[2], ARGV[5])
redis.call('XADD', KEYS[3], '0-1', 'kind', '')
redis.call('EXPIRE', KEYS[3], ARGV[5])
return 1
"""
# an entry that is not above the last one was sent twice by a retry, or comes from a gateway that was thought dead
APPEND = """
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HGET', KEYS[2], 'closed') == '1' then return 0 end
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local seq = last[1] and tonumber(string.match(last[1][1], '^%d+')) or 0
for i = 3, #ARGV, 3 do
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
CLOSE = """
redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('HSET', KEYS[2], 'closed', '1')
local keep = tonumber(redis.call('HGET', KEYS[2], 'keep') or 0) - tonumber(redis.call('TIME')[1])
for i = 2, 4 do redis.call('EXPIRE', KEYS[i], math.max(tonumber(ARGV[2]), keep)) end
return 1
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
