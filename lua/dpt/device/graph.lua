--- dpt.device.graph: cutorch.graph: captures work once and replays it as a whole.
--
-- Invariant: each replay repeats the device work of the captured function on the same memory.
-- Anything that a replay could not repeat exactly raises an error during the capture. A setting
-- that has changed since raises in the replay (dpt.device.captured).
local dptffi = require 'dpt.ffi'
local ffi, C, lib, fail, type = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail, dptffi.type
local torch = require('dpt.class').torch
local captured = require 'dpt.device.captured'

local slot = ffi.new 'int[1]'

local function pack(...) return {n = select('#', ...), ...} end

-- Ends the capture; drops the graph if f has failed.
local function finish(graph, ok, ...)
   captured.restoreFields(captured.notes)
   captured.notes = nil
   if not ok then
      C.dpt_graph_free(ffi.gc(graph, nil))
      error((...), 0)
   end
   lib.graph_end(graph)
   return pack(...)
end

--- Adds the function to cutorch.
return function(cutorch)

   --- Calls a function once and captures the work that it queues on the current stream of the
   -- current device; the graph that it returns repeats all of that as one operation. The function
   -- must not wait (no number can be read; a criterion returns a tensor of one element), must use
   -- one stream of one device only, and must not depend on anything that differs from call to call,
   -- as ordinary host memory and optim.adam do (except with an optim.LossScaler). Kernels keep the
   -- numbers that they are captured with: a replay raises if a setting of an optimizer or a module
   -- (learningRate, weightDecay, momentum, a Dropout's p ...) has changed since, and counters such
   -- as state.evalCounter count only the capture (with a loss scaler also the replays). Each replay
   -- draws new random numbers. Buffers should have their final sizes: call the function a few times
   -- before. The graph keeps the memory that it uses. On a host device a replay calls the function.
   -- @function cutorch.graph
   -- @as cutorch
   -- @follows PyTorch's torch.cuda.graphs
   -- @param f function: is captured
   -- @param ...? any: arguments of f
   -- @return a function: replays the graph and returns the results of f, whose tensors have their
   --    new contents
   -- @raise during the capture: if f does something that a replay could not repeat exactly; by a
   --    replay: if a captured setting has changed
   -- @usage local x = torch.CudaTensor(2):fill(1)
   --    local g = cutorch.graph(function() return x:add(1) end)
   --    g()
   --    return g() --> [3 3]
   function cutorch.graph(f, ...)
      if type(f) ~= 'function' and not rawget(debug.getmetatable(f) or {}, '__call') then
         fail("cutorch.graph: argument 'f' is of type %s, wanted a function", torch.type(f))
      end
      lib.graph_supported(slot)
      if slot[0] == 0 then
         local arguments = pack(...)
         return function() return f(unpack(arguments, 1, arguments.n)) end
      end
      local out = ffi.new 'dpt_graph *[1]'
      lib.graph_begin(out)
      local graph = ffi.gc(out[0], C.dpt_graph_free)
      local notes = {pairs = {}, fields = {}}
      captured.notes = notes
      local results = finish(graph, pcall(f, ...))
      captured.finish(notes)
      return function()
         captured.check(notes)
         captured.call(notes, 'refresh')
         lib.graph_launch(graph)
         captured.call(notes, 'record')
         captured.setFields(notes)
         return unpack(results, 1, results.n)
      end
   end

   --- Returns true while this thread captures a graph.
   -- @function cutorch.isCapturing
   -- @as cutorch
   -- @follows PyTorch's torch.cuda.is_current_stream_capturing
   -- @return a boolean
   -- @usage cutorch.isCapturing() --> false
   function cutorch.isCapturing() return C.dpt_graph_capturing() ~= 0 end
end
