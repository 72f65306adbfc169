-- Runs one slot of the schedule: claims it and records its effect, both or neither.
--
-- KEYS[1]  hash: the latest slot that was run, and the fencing token it was run with
-- KEYS[2]  stream: the outbox
-- ARGV[1]  fencing token of the leader's term
-- ARGV[2]  slot: when it was due, in milliseconds since 1970
-- ARGV[3]  effect
-- replies  "run"    the effect is recorded
--          "taken"  the slot was run before
--          "stale"  a later leader has run a slot: the caller is deposed
local latest = redis.call('HMGET', KEYS[1], 'fence', 'slot')
if tonumber(latest[1] or 0) > tonumber(ARGV[1]) then return 'stale' end
if tonumber(latest[2] or 0) >= tonumber(ARGV[2]) then return 'taken' end
-- XADD first: it can still fail, on a key of another type, and Redis does not roll back.
redis.call('XADD', KEYS[2], '*', 'slot', ARGV[2], 'fence', ARGV[1], 'effect', ARGV[3])
redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'slot', ARGV[2])
return 'run'
