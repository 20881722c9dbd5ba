--- dpt.parallel.dispatch.rendezvous: lets replicas exchange values in the middle of a pass.
--
-- Invariant: if a module of the network requires it (field meetsReplicas), a pass runs as a
-- coroutine in the Lua state of each replica. meet() yields. When all replicas of the pass have
-- called it, one function in the caller's state computes the answers from all values, and the
-- coroutines resume. So nothing blocks, even if one thread runs all replicas. Every coroutine ends:
-- if a replica fails, or ends without calling meet(), meet() raises in the others. While a
-- coroutine is suspended, the random state that the pass gives to its replica is suspended as well
-- (dpt.parallel.dispatch.random).
local random = require 'dpt.parallel.dispatch.random'
local errors = require 'dpt.parallel.dispatch.errors'

local rendezvous = {}

local waiting = setmetatable({}, {__mode = 'k'}) -- coroutines, by replica
local running = 0 -- number of replicas in the running pass of this Lua state; 0: no coroutine

--- Returns true if a network has such a module.
function rendezvous.isUsedBy(module)
   for _, inner in ipairs(module.listModules and module:listModules() or {}) do
      if inner.meetsReplicas then return true end
   end
   return false
end

--- Returns how many replicas meet in the running pass of this Lua state; 0: none.
function rendezvous.replicas() return running end

--- Waits for the other replicas of a pass.
-- @param by name of a dpt module; its function named by `what` computes the answers: what(values,
--    device, devices) returns a list; device is that of replica 1, devices the largest possible
--    number of replicas
-- @param value a value that can be sent to a thread
-- @return this replica's answer
function rendezvous.exchange(by, what, value)
   local left = random.suspend()
   local answer, message = coroutine.yield{by = by, what = what, value = value}
   random.resume(left)
   if message then error(message, 0) end
   return answer
end

-- Resumes a replica's coroutine.
-- @return {result}, {call = its request, if it waits} or {message}
local function continue(module, co, count, ...)
   running = count
   local alive, ok, result = coroutine.resume(co, ...)
   running = 0
   if not alive then return {message = ok} end -- error outside of what this file calls
   if coroutine.status(co) == 'suspended' then
      waiting[module] = co
      return {call = ok}
   end
   if not ok then return {message = result} end
   return {result = result}
end

--- Begins a pass of a replica (run by a dispatcher).
-- @param f as for a dispatcher's call
function rendezvous.start(module, i, count, f, ...)
   local co = coroutine.create(function(...) return xpcall(f, errors.handler, module, i, ...) end)
   return continue(module, co, count, ...)
end

--- Continues the pass of a replica (run by a dispatcher).
-- @param message error to raise in it; nil: none
function rendezvous.resume(module, _, count, answer, message)
   local co = waiting[module]
   waiting[module] = nil
   if not co then return {} end
   return continue(module, co, count, answer, message)
end

local function argumentsOf(i, count, answers, message)
   return count, answers and answers[i], message
end

-- Computes the answers to the requests of all replicas.
local function answer(states, devices)
   local first, values = states[1].call, {}
   for i, state in ipairs(states) do values[i] = state.call.value end
   local function make() return require(first.by)[first.what](values, devices[1], #devices) end
   return xpcall(make, errors.handler)
end

--- Calls a method of the first `count` replicas, which may meet.
-- @param argumentsOfCall, ... as for a dispatcher's perform
-- @return list of results
function rendezvous.run(dispatcher, count, f, argumentsOfCall, ...)
   local function begin(i, ...) return count, f, argumentsOfCall(i, ...) end
   local states = dispatcher:perform(count, rendezvous.start, begin, ...)
   local results, wrong = {}, {}
   while true do
      local waits, ended
      for i = 1, count do
         local state = states[i]
         if state.call then waits = waits or i
         else ended = ended or i end
         if state.result ~= nil then results[i] = state.result end
         if state.message ~= nil then
            wrong[#wrong + 1] = dispatcher:inReplica(i, state.message)
         end
      end
      if not waits then break end
      local answers, message
      if ended then
         message = ('replica %d waits for the others, of which replica %d has ended its pass')
            :format(waits, ended)
      else
         local ok, made = answer(states, dispatcher.dpt.gpuAssignments)
         if ok then answers = made else message = made end
      end
      local first = #wrong
      states = dispatcher:perform(count, rendezvous.resume, argumentsOf, count, answers, message)
      if message and first > 0 then -- further errors are consequences of the first
         for i = 1, count do states[i].message = nil end
      end
   end
   if #wrong > 0 then errors.raise(wrong) end
   return results
end

return rendezvous
