-- Precedes each script: call is redis.call, except that it names a command that the user may not run, which Redis 7.0 does not
-- do for a command within a script. All other errors pass through unchanged.

local function call(command, ...)
  local reply = redis.pcall(command, ...)
  if type(reply) == 'table' and reply.err then
    if string.find(reply.err, "can't run this command", 1, true) then
      reply = redis.error_reply("NOPERM this user has no permissions to run the '" .. command .. "' command")
    end
    error(reply)
  end
  return reply
end

