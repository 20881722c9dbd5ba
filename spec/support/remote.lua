--- Runs functions in a worker and returns their values, for specs of what is sent to workers.
local busted = require 'busted'
local Pool = require 'dpt.threads.pool'

--- Creates a pool of one worker for the specs of a describe.
-- @return remote(f, ...), which calls f(...) in the worker and returns its results; echo(...),
--    which sends its arguments to the worker and back
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
