--- Compares a network on several devices with the same one on one device.
local dpt = require 'dpt'
local dptffi = require 'dpt.ffi'
local torch, nn, cutorch, C = dpt.torch, dpt.nn, dpt.cutorch, dptffi.C
local busted = require 'busted'
local luassert = require 'luassert'
local Params = require 'dpt.parallel.params'

local M = {}

--- Returns a module whose updateOutput is forward(input, module) and whose updateGradInput is
-- backward(input, gradOutput, module).
function M.Probe(forward, backward)
   local probe = nn.Module()
   function probe:updateOutput(input)
      self.output = forward(input, self)
      return self.output
   end
   function probe:updateGradInput(input, gradOutput)
      self.gradInput = backward(input, gradOutput, self)
      return self.gradInput
   end
   return probe
end

--- Networks, each with the size of a row of its input.
M.networks = {
   linear = {size = {5}, make = function()
      return nn.Sequential():add(nn.Linear(5, 7)):add(nn.Tanh()):add(nn.Linear(7, 3))
   end},
   convolution = {size = {2, 6, 6}, make = function()
      return nn.Sequential():add(nn.SpatialConvolution(2, 3, 3, 3, 1, 1, 1, 1)):add(nn.ReLU(true))
         :add(nn.SpatialMaxPooling(2, 2)):add(nn.View(27):setNumInputDims(3))
         :add(nn.Linear(27, 4))
   end},
}

--- Returns a batch of random rows.
-- @param size of a row
function M.randomInput(size, rows, type)
   if rows == 0 then return torch.getmetatable(type or 'torch.CudaTensor').new() end
   return torch.randn(rows, unpack(size)):type(type or 'torch.CudaTensor')
end

--- Returns {1, 2, ... n}.
function M.range(n)
   local list = {}
   for i = 1, n do list[i] = i end
   return list
end

--- Returns the number of devices, at most `count`.
function M.most(count) return math.min(cutorch.getDeviceCount(), count) end

--- Seeds the generator and selects device 1 before each test of a block.
function M.seeded(seed)
   busted.before_each(function()
      torch.manualSeed(seed)
      cutorch.setDevice(1)
   end)
end

local function init() require 'spec.support.modules' end

--- By name: sets the dispatcher of a network.
M.dispatchers = {
   basic = function(many) return many end,
   threads = function(many) return many:threads(init) end,
}

--- Describes something once for every dispatcher: the networks created in body use it.
function M.dispatched(name, body)
   local methods = torch.getmetatable 'nn.DataParallelTable'
   for kind, choose in pairs(M.dispatchers) do
      busted.describe(name .. ', ' .. kind, function()
         local original = methods.__init
         busted.setup(function()
            methods.__init = function(self, ...)
               original(self, ...)
               choose(self)
            end
         end)
         busted.teardown(function() methods.__init = original end)
         body(kind)
      end)
   end
end

--- Returns the number of bytes copied between devices since the process started.
function M.copied() return tonumber(C.dpt_copied_bytes()) end

local function collect()
   jit.flush() -- compiled code keeps objects alive that are its constants
   collectgarbage()
   collectgarbage()
end

--- Collects garbage in the states of a network's replicas, then in this one: its stack holds the
-- objects of the last pass until that call has returned.
function M.collect(many)
   many.impl:exec(collect)
   collect()
end

--- Returns the bytes of live storages of a device.
function M.liveBytes(device)
   local stats = dptffi.ffi.new('dpt_memory_stats')
   dptffi.lib.memory_stats_get(device, stats)
   return tonumber(stats.live)
end

-- Calls f(a, b, path) for every pair of tensors of two trees, which must have the same structure.
local function both(a, b, f, path)
   path = path or 'value'
   if torch.isTensor(a) then
      luassert.is_true(torch.isTensor(b), path .. ': one is a tensor, the other is not')
      luassert.same(a:size():totable(), b:size():totable(), path)
      if a:nElement() > 0 then f(a, b, path) end
   elseif type(a) == 'table' then
      for k in pairs(a) do both(a[k], b[k], f, path .. '[' .. tostring(k) .. ']') end
      for k in pairs(b) do luassert.not_nil(a[k], path .. '[' .. tostring(k) .. '] is extra') end
   else
      luassert.equal(a, b, path)
   end
end

--- Checks that both trees of tensors agree up to tolerance * the largest value (at least 1).
function M.close(expected, got, tolerance)
   both(expected, got, function(a, b, path)
      a, b = a:double(), b:double()
      local difference = (a - b):abs():max()
      local scale = math.max(1, torch.abs(a):max())
      luassert.is_true(difference <= tolerance * scale,
         ('%s differs by %g, allowed %g'):format(path, difference, tolerance * scale))
   end)
end

--- Checks that both trees of tensors have the same bits.
function M.bits(expected, got)
   both(expected, got, function(a, b, path)
      a, b = a:double(), b:double()
      local unequal = a:ne(b):sum()
      luassert.equal(0, unequal, ('%s: %d elements differ, by at most %g'):format(path, unequal,
         (a - b):abs():max()))
   end)
end

--- Returns the message that f(...) raises, with all its lines.
function M.raised(f, ...)
   local ok, message = pcall(f, ...)
   luassert.is_false(ok, 'nothing was raised')
   return message
end

--- Sets the gradients of all networks to zero.
function M.zero(...)
   for _, net in ipairs{...} do net:zeroGradParameters() end
end

--- Runs forward and backward of a network, by default with its output as gradOutput.
-- @return output and gradInput
function M.pass(net, input, gradOutput, scale)
   local output = net:forward(input)
   return output, net:backward(input, gradOutput or output, scale)
end

--- Calls f(...) and restores the devices' generators, so that later code draws the same numbers.
-- @return the results of f
function M.rewind(f, ...)
   local states, results = cutorch.getRNGStateAll(), {f(...)}
   cutorch.setRNGStateAll(states)
   return unpack(results)
end

--- Copies the parameters of `from` to module.
function M.copyParameters(module, from)
   local to, values = module:parameters(), from:parameters()
   for i, t in ipairs(to) do t:copy(values[i]) end
end

local function randomLike(tree)
   if torch.isTensor(tree) then
      return tree:nElement() > 0 and torch.randn(tree:size()):type(tree:type()) or tree.new()
   end
   local result = {}
   for k, v in pairs(tree) do result[k] = randomLike(v) end
   return result
end

--- Checks that replicas 2..n have no gradient and, after a sync, the parameters of replica 1.
function M.checkReplicas(many)
   many:syncParameters()
   local truth = many:get(1):parameters() or {}
   for i, lists in ipairs(many.impl:run(Params.list)) do
      for k, t in ipairs(i > 1 and truth or {}) do
         M.bits(t, lists[1][k])
         luassert.equal(many.gpuAssignments[i], lists[1][k]:getDevice())
         luassert.equal(0, lists[2][k]:ne(0):sum(), 'replica ' .. i .. ' holds gradients')
      end
   end
end

--- Runs one step on both and compares outputs, gradInput and gradients; parameters of `one` stay.
function M.compare(one, many, input, tolerance)
   M.zero(one, many)
   local _, expected = one:parameters()
   local _, got = many:parameters()
   local output = M.rewind(many.forward, many, input)
   local empty = torch.isTensor(input) and input:nElement() == 0
   if empty then
      luassert.equal(0, output:nElement())
      many:backward(input, output)
      for _, t in ipairs(got or {}) do luassert.equal(0, t:ne(0):sum()) end
   else
      M.close(one:forward(input), output, tolerance)
      local gradOutput = randomLike(output)
      M.close(one:backward(input, gradOutput, 0.5), many:backward(input, gradOutput, 0.5),
         tolerance)
      for i, t in ipairs(expected or {}) do M.close(t, got[i], 2 * tolerance) end
   end
   M.checkReplicas(many)
end

return M
