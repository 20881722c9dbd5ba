--- dpt.parallel.dispatch.meeting: replicas that exchange something in the middle of a pass.
--
-- Invariant: a pass of a network with a module that says so (the field meetsReplicas) runs as a
-- coroutine where its replica lives. meet() leaves it; when all replicas of the pass have come, one
-- function of the caller's state makes the answers from all values, and they go on: so nothing
-- blocks, also if one thread runs them all. Every coroutine ends: if a replica fails, or ends
-- without coming, meet() raises in those that wait. Between, a replica's draws are left and entered
-- again (dpt.parallel.dispatch.random).
local random = require 'dpt.parallel.dispatch.random'
local errors = require 'dpt.parallel.dispatch.errors'

local meeting = {}

local waiting = setmetatable({}, {__mode = 'k'}) -- coroutines, by replica
local running = 0 -- how many replicas the pass that runs in this Lua state has; 0: no coroutine

--- Whether a network has such a module.
function meeting.isWanted(module)
   for _, inner in ipairs(module.listModules and module:listModules() or {}) do
      if inner.meetsReplicas then return true end
   end
   return false
end

--- How many replicas meet in the pass that runs in this Lua state; 0: none do.
function meeting.replicas() return running end

--- Waits for the other replicas of a pass.
-- @param by name of a module of dpt's, with a function of the name `what`: what(values, device,
-- devices) returns the list of answers; device: that of replica 1; devices: how many replicas there
-- could be
-- @param value that can be sent to a thread
-- @return this replica's answer
function meeting.meet(by, what, value)
   local left = random.suspend()
   local answer, message = coroutine.yield{by = by, what = what, value = value}
   random.resume(left)
   if message then error(message, 0) end
   return answer
end

-- Goes on with a replica's coroutine.
-- @return {result}, {call = what it waits for} or {message}
local function continue(module, co, count, ...)
   running = count
   local alive, ok, result = coroutine.resume(co, ...)
   running = 0
   if not alive then return {message = ok} end -- not in a function that this file calls
   if coroutine.status(co) == 'suspended' then
      waiting[module] = co
      return {call = ok}
   end
   if not ok then return {message = result} end
   return {result = result}
end

--- Begins a pass of a replica (run by a dispatcher).
-- @param f as that of a dispatcher's call
function meeting.start(module, i, count, f, ...)
   local co = coroutine.create(function(...) return xpcall(f, errors.handler, module, i, ...) end)
   return continue(module, co, count, ...)
end

--- Goes on with it (run by a dispatcher).
-- @param message to be raised there; nil: none
function meeting.go(module, _, count, answer, message)
   local co = waiting[module]
   waiting[module] = nil
   if not co then return {} end
   return continue(module, co, count, answer, message)
end

local function argumentsOf(i, count, answers, message)
   return count, answers and answers[i], message
end

-- The answers to what all replicas wait for.
local function answer(states, devices)
   local first, values = states[1].call, {}
   for i, state in ipairs(states) do values[i] = state.call.value end
   local function make() return require(first.by)[first.what](values, devices[1], #devices) end
   return xpcall(make, errors.handler)
end

--- Calls a method of the first `count` replicas, which meet.
-- @param argumentsOfCall, ... as a dispatcher has them
-- @return list of results
function meeting.run(dispatcher, count, f, argumentsOfCall, ...)
   local function begin(i, ...) return count, f, argumentsOfCall(i, ...) end
   local states = dispatcher:perform(count, meeting.start, begin, ...)
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
      states = dispatcher:perform(count, meeting.go, argumentsOf, count, answers, message)
      if message and first > 0 then -- what they raise now comes of that
         for i = 1, count do states[i].message = nil end
      end
   end
   if #wrong > 0 then errors.raise(wrong) end
   return results
end

return meeting
