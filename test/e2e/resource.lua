-- Writes a value to the guarded register, unless its token is lower than the highest
-- seen, and at the same time to the control, which does not check the token.
--
-- KEYS[1]  the highest token seen
-- KEYS[2]  the register: a list of what was accepted
-- KEYS[3]  the control: a list of everything
-- ARGV[1]  token, below 2^53
-- ARGV[2]  value
--
-- Replies:
--   1  accepted
--   0  rejected

local write = ARGV[1] .. ' ' .. ARGV[2]
redis.call('RPUSH', KEYS[3], write)
if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[1]) or '0') then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('RPUSH', KEYS[2], write)
return 1
