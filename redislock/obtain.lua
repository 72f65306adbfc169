-- Obtains one or more locks, all or none, and mints the fencing token.
--
-- KEYS[1..n]  the locks
-- KEYS[n+1]   the fence counter; absent when no fencing token is wanted
-- ARGV[1]     ownership token
-- ARGV[2]     metadata
-- ARGV[3]     ttl in milliseconds
-- ARGV[4]     n
-- ARGV[5]     fence floor: a minted token is greater
-- ARGV[6]     '1': a minted token is at least the server's time in microseconds
--
-- Replies:
--   fence                            obtained; a string of digits, '0' without a fence counter
--   {'held', metadata, fence, pttl}  somebody else holds one of the locks
--   {'foreign', type, pttl}          one of the keys holds something that is not a lock
--   {'counter', type, value}         the fence counter holds no number, or no number is left below 2^53
--
-- Everything that can fail comes before the first write, because Redis does not roll a script back. The counter is
-- written before the lock for the same reason: out of memory, its SET is refused and nothing has happened.

local token, metadata, ttl, n = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local counter, floor = KEYS[n + 1], tonumber(ARGV[5])
local limit = 9007199254740992 -- 2^53: from here on a Lua number no longer counts in ones

local ours, fence = 0, '0'
for i = 1, n do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' then
    local held = kind == 'hash' and redis.call('HMGET', KEYS[i], 'token', 'metadata', 'fence') or {}
    if not held[1] then
      return {'foreign', kind, redis.call('PTTL', KEYS[i])}
    end
    if held[1] ~= token then
      return {'held', held[2] or '', held[3] or '0', redis.call('PTTL', KEYS[i])}
    end
    ours, fence = ours + 1, held[3] or '0'
  end
end

-- A lock that is ours already keeps its fencing token, whether this is a command sent twice or a deliberate re-obtain.
-- Only a floor that has overtaken the token calls for a new one.
local continued = ours == n and (not counter or (tonumber(fence) or 0) > floor)
if counter and not continued then
  local kind = redis.call('TYPE', counter).ok
  local value = kind == 'none' and '0' or kind == 'string' and redis.call('GET', counter) or ''
  local last = string.match(value, '^%d+$') and tonumber(value)
  if not last then
    return {'counter', kind, string.sub(value, 1, 64)}
  end
  local next = math.max(last, floor) + 1
  if ARGV[6] == '1' then
    local time = redis.call('TIME')
    next = math.max(next, time[1] * 1000000 + time[2])
  end
  if next >= limit then
    return {'counter', kind, string.sub(value, 1, 64)}
  end
  fence = string.format('%.0f', next)
  redis.call('SET', counter, fence)
end

for i = 1, n do
  redis.call('HSET', KEYS[i], 'token', token, 'metadata', metadata, 'fence', fence)
  redis.call('PEXPIRE', KEYS[i], ttl)
end
return fence
