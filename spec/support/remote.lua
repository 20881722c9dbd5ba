--- A worker that runs functions and returns values, for the specs of what travels to one.
local busted = require 'busted'
local Pool = require 'dpt.threads.pool'

--- To be called in a describe: a pool of one worker for its specs.
-- @return remote(f, ...), what f(...) returns in the worker; echo(...), the values there and back
return function()
   local pool
   busted.setup(function() pool = Pool.new(1) end)
   busted.teardown(function() pool:close() end)

   local function remote(...)
      local values, count = pool:receive(pool:send(1, ...))
      if not values then error(count, 0) end
      return unpack(values, 1, count)
   end

   local function echo(...)
      return remote(function(...) return ... end, ...)
   end

   return remote, echo
end
