-- dpt.comm.lists: checks of lists of tensors and devices before they reach C.
local dpt = require 'dpt'
local torch, cutorch, comm = dpt.torch, dpt.cutorch, dpt.comm
local lists = require 'dpt.comm.lists'

describe('dpt.comm.lists', function()
   local devices = {1}

   it('makes arrays of pointers and numbers that C reads', function()
      local tensors = {torch.CudaTensor(3), torch.FloatTensor(2)}
      local array = lists.pointers(tensors, 2)
      assert.is_true(array[0].storage_ == tensors[1].storage_)
      assert.is_true(array[1].storage_ == tensors[2].storage_)
      assert.is_true(lists.constant(tensors, 1)[0].storage_ == tensors[1].storage_)
      local numbers = lists.integers('int64_t[?]', {5, 2 ^ 40}, 2)
      assert.same({5, 2 ^ 40}, {tonumber(numbers[0]), tonumber(numbers[1])})
      assert.error_matches(function() lists.integers('int32_t[?]', {1, 'x'}, 2) end, 'entry 2')
   end)

   it('copies only tensors that are not contiguous', function()
      local plain, turned = torch.CudaTensor(2, 3):fill(1), torch.CudaTensor(3, 2):t()
      local list = lists.contiguous{plain, turned}
      assert.is_true(list[1]:isSetTo(plain))
      assert.is_true(list[2]:isContiguous() and not list[2]:isSetTo(turned))
   end)

   it('requires as many outputs as inputs, and at least one', function()
      local t = torch.CudaTensor(2)
      assert.error_matches(function() lists.checkPairs('f', {}, {}) end,
         'f: wants one input at least')
      assert.error_matches(function() lists.checkPairs('f', {t}, {t, t}) end,
         'f: got 2 outputs for 1 inputs')
      assert.error_matches(function() lists.checkPairs('f', {t}, 3) end,
         "f: argument 'outputs' is of type number")
   end)

   it('accepts tensors without elements on any device #devices2', function()
      local empty = cutorch.withDevice(2, function() return torch.CudaTensor() end)
      lists.checkDevice('f', {torch.CudaTensor(2), empty}, 1)
      assert.error_matches(function() lists.checkDevice('f', {torch.FloatTensor()}, 1) end,
         'f: entry 1 is a torch.FloatTensor in host memory')
   end)

   it('rejects a device that occurs twice, and values that are not lists', function()
      local t = torch.CudaTensor(3):fill(1)
      assert.error_matches(function() comm.broadcast(t, {1, 1}) end,
         'device 1 is there twice, as entries 1 and 2')
      assert.error_matches(function() comm.broadcast(t, {}) end, "'devices' is empty")
      assert.error_matches(function() comm.broadcastCoalesced(t, {1}) end, 'wanted a list of')
      assert.error_matches(function() comm.broadcastCoalesced({t}, {1}, 'x') end, 'bufferSize')
      assert.error_matches(function() comm.gather({7}) end, 'entry 1')
      assert.error_matches(function() comm.scatter(7, devices) end, "'tensor'")
   end)

   it('raises for wrong devices and tensors in functions without other checks', function()
      local t = torch.CudaTensor(2)
      assert.error_matches(function() comm.broadcast(t, {1.5}) end,
         'device 1 is 1.5, wanted a whole number')
      assert.error_matches(function() comm.device() end, 'got a nil, wanted a tensor')
      assert.error_matches(function() comm.reduceInto('ascii', 'binary') end,
         "reduceInto: argument 'destinations' is a string, wanted a table")
      assert.error_matches(function() comm.gatherInto(t, {t}) end, "argument 'dimension'")
      assert.error_matches(function() comm.scatterInto({t}, t, 1, {2}) end,
         "argument 'devices' is nil, wanted a table")
      assert.error_matches(function() comm.hostType(t) end, "argument 'name' is a torch.CudaTensor")
      assert.error_matches(function() comm.count({}, 'x', print) end, "argument 'counts")
      for _, call in ipairs{
         function() comm.gatherInto(torch.CudaTensor(), {nil, t}, 1, 1) end,
         function() comm.scatterInto({}, torch.CudaTensor(4), 1, {2, 2}, {1, 1}) end,
         function() comm.broadcastInto({t}, {7}) end,
      } do assert.error_matches(call, 'comm: entry 1 of %d is of type %a+, wanted a tensor') end
   end)
end)
