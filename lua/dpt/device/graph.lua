--- dpt.device.graph: cutorch.graph: work that is captured once and replayed as a whole.
--
-- Invariant: what a captured function does on the device is what each replay does, on the same
-- memory; whatever a replay could not do alike is rejected with an error message while it is
-- captured. A setting that changed later is rejected by the replay (dpt.device.captured).
local dptffi = require 'dpt.ffi'
local ffi, C, lib, fail, type = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail, dptffi.type
local torch = require('dpt.class').torch
local captured = require 'dpt.device.captured'

local slot = ffi.new 'int[1]'

local function pack(...) return {n = select('#', ...), ...} end

-- Ends the capture; without a graph if f has failed.
local function finish(graph, ok, ...)
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

   --- Calls a function once to capture what it queues on the current stream of the current device;
   -- the graph that it returns does all of that again, as one. In the function nothing may wait (no
   -- number can be read, a criterion returns a tensor of one element), all is done on one stream of
   -- one device, and nothing differs from call to call, as ordinary host memory and optim.adam do.
   -- Kernels keep the numbers that they are captured with: a replay raises if a setting of an
   -- optimizer or a module (learningRate, weightDecay, momentum, a Dropout's p ...) has changed
   -- since, and counters such as state.evalCounter count the capture alone.
   -- Random numbers are drawn anew by each replay. Buffers should have their sizes: call the
   -- function some times before. The graph keeps the memory that it uses. On a host device it calls
   -- the function.
   -- @function cutorch.graph
   -- @as cutorch
   -- @follows PyTorch's torch.cuda.graphs
   -- @param f function: what is captured
   -- @param ...? any: what it is called with
   -- @return a function: replays it and returns what f returned, with its tensors as they are
   --    afterwards
   -- @raise while it captures: if f does what no replay could do alike; by a replay: if a setting
   --    that was captured has changed
   -- @usage local x = torch.CudaTensor(2):fill(1)
   --    local g = cutorch.graph(function() return x:add(1) end)
   --    g()
   --    return g() --> [3 3]
   function cutorch.graph(f, ...)
      if type(f) ~= 'function' and not rawget(debug.getmetatable(f) or {}, '__call') then
         fail('cutorch.graph: got %s, wanted a function', torch.type(f))
      end
      lib.graph_supported(slot)
      if slot[0] == 0 then
         local arguments = pack(...)
         return function() return f(unpack(arguments, 1, arguments.n)) end
      end
      local out = ffi.new 'dpt_graph *[1]'
      lib.graph_begin(out)
      local graph = ffi.gc(out[0], C.dpt_graph_free)
      local notes = {}
      captured.notes = notes
      local results = finish(graph, pcall(f, ...))
      return function()
         captured.check(notes)
         lib.graph_launch(graph)
         return unpack(results, 1, results.n)
      end
   end

   --- Whether this thread captures a graph now.
   -- @function cutorch.isCapturing
   -- @as cutorch
   -- @follows PyTorch's torch.cuda.is_current_stream_capturing
   -- @return a boolean
   -- @usage cutorch.isCapturing() --> false
   function cutorch.isCapturing() return C.dpt_graph_capturing() ~= 0 end
end
