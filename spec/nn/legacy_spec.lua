-- Modules and criterions in files of older versions of Torch7's nn.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local check = require 'spec.support.jacobian'

-- Returns an object as read from a file, after `change` has changed its fields to an older form.
local function older(object, change)
   local old = torch.deserialize(torch.serialize(object))
   change(old)
   return torch.deserialize(torch.serialize(old))
end

local function without(...)
   local names = {...}
   return function(object)
      for _, name in ipairs(names) do object[name] = nil end
   end
end

local R = torch.randn
local function planes() return R(2, 2, 6, 6) end
local function rows() return R(4, 4) end

-- Module, its input, and a function that changes its fields to an older form.
local modules = {
   {nn.SpatialConvolution(2, 3, 3, 3, 1, 1, 1, 1), planes, function(m)
      m.weight, m.gradWeight = m.weight:view(3, -1), m.gradWeight:view(3, -1)
      m.padding, m.padW, m.padH, m.finput, m.fgradInput = 1, nil, nil, nil, nil
   end},
   {nn.SpatialConvolution(2, 3, 3, 3), planes, without('padW', 'padH', 'finput', '_type')},
   {nn.SpatialConvolutionMM(2, 3, 3, 3, 1, 1, 2, 2), planes, function(m)
      m.padding, m.padW, m.padH = 2, nil, nil
   end},
   {nn.SpatialMaxPooling(2, 2), planes, without('padW', 'padH', 'ceil_mode', 'indices')},
   {nn.SpatialAveragePooling(2, 2), planes,
      without('padW', 'padH', 'ceil_mode', 'count_include_pad', 'divide')},
   {nn.SpatialFullConvolution(2, 3, 2, 2), planes, without('adjW', 'adjH', 'finput')},
   {nn.VolumetricMaxPooling(2, 2, 2), function() return R(2, 2, 4, 4, 4) end,
      without('padT', 'padW', 'padH', 'ceil_mode', 'indices')},
   {nn.VolumetricConvolution(2, 3, 2, 2, 2), function() return R(2, 2, 4, 4, 4) end,
      without('padT', 'padW', 'padH', 'finput', 'fgradInput')},
   {nn.HardTanh(), rows, without('min_val', 'max_val', 'inplace')},
   {nn.ReLU(), rows, without 'inplace'},
   {nn.Sum(2), rows, without('squeeze', 'sizeAverage', 'nInputDims')},
   {nn.Mean(2), rows, without('squeeze', 'nInputDims')},
   {nn.Normalize(2), rows, without 'eps'},
   {nn.Padding(2, 1), rows, without('index', 'value')},
   {nn.Replicate(3), rows, without('dim', 'ndim')},
   {nn.GradientReversal(), rows, without 'lambda'},
   {nn.Linear(4, 3), rows, without('addBuffer', '_type')},
   {nn.LookupTable(5, 3), function() return torch.LongTensor{1, 5, 2} end,
      without('paddingValue', 'maxNorm', 'normType', '_count', '_input')},
   {nn.BatchNormalization(4), rows, without('save_mean', 'save_std', 'affine')},
}

describe('Files of an older nn', function()
   before_each(function() torch.manualSeed(9) end)

   for _, case in ipairs(modules) do
      local module, makeInput, change = unpack(case)
      it('are read with the fields of today: ' .. torch.type(module), function()
         local input = makeInput()
         local old = older(module, change)
         local y, z = module:forward(input), old:forward(input)
         check.close(y, z, 0, 'output')
         local gradOutput = y:clone():normal()
         module:zeroGradParameters()
         old:zeroGradParameters()
         module:backward(input, gradOutput)
         old:backward(input, gradOutput)
         local _, gradients = module:parameters()
         local _, oldGradients = old:parameters()
         for i, g in ipairs(gradients or {}) do
            check.close(g, oldGradients[i]:viewAs(g), 0, 'gradient')
         end
         assert.equal('torch.DoubleTensor', old:type())
         old:clearState()
         check.close(y, old:forward(input), 0, 'output after clearState')
      end)
   end

   local function close(name, wanted, got)
      if type(wanted) == 'number' then return assert.near(wanted, got, 1e-12, name) end
      if torch.isTensor(wanted) then return check.close(wanted, got, 1e-12, name) end
      for i, t in ipairs(wanted) do close(name, t, got[i]) end
   end

   it('written by Torch7 compute its results', function()
      for _, case in ipairs(torch.load('spec/golden/t7/models/classes.t7')) do
         local module, name = case.module, torch.type(case.module)
         for _, m in ipairs{module:clone(), torch.deserialize(torch.serialize(module)), module} do
            local output = m:forward(case.input)
            close(name, case.output, output)
            local g = type(output) == 'number' and m:backward(case.input)
               or m:backward(case.input, output:clone():fill(0.5))
            close(name, case.gradient, m.gradWeight or g)
         end
      end
   end)

   it('have 1 / sqrt(variance + eps) in running_std', function()
      local module = nn.Sequential():add(nn.SpatialBatchNormalization(2))
      for _ = 1, 3 do module:forward(planes()) end
      local old = older(module, function(m)
         local norm = m:get(1)
         norm.running_std = (norm.running_var + norm.eps):pow(-0.5)
         norm.running_var = nil
      end)
      assert.is_nil(old:get(1).running_std)
      local x = planes()
      module:evaluate()
      old:evaluate()
      check.close(module:forward(x), old:forward(x), 1e-12, 'output')
   end)

   it('keep a weight shared where it was a matrix', function()
      local module = nn.Sequential():add(nn.SpatialConvolution(2, 3, 3, 3))
      local flat = module:getParameters()
      local old = torch.deserialize(torch.serialize{module, flat})
      old[1]:get(1).weight = old[1]:get(1).weight:view(3, -1)
      local new = torch.deserialize(torch.serialize(old))
      assert.equal(4, new[1]:get(1).weight:dim())
      new[2]:fill(7)
      assert.equal(7, new[1]:get(1).weight[3][2][1][1])
   end)

   it('are read with criterions', function()
      local target = torch.LongTensor{1, 2, 3, 4}
      for _, case in ipairs{
         {nn.ClassNLLCriterion(), without('ignoreIndex', 'sizeAverage', 'total_weight_tensor',
            'output_tensor', 'target')}, {nn.MultiMarginCriterion(), without('p', 'margin')},
         {nn.CrossEntropyCriterion(), function(c) c.nll.ignoreIndex = nil end}} do
         local criterion, change = unpack(case)
         local old, x = older(criterion, change), rows()
         assert.equal(criterion:forward(x, target), old:forward(x, target))
         check.close(criterion:backward(x, target), old:backward(x, target), 0, 'gradient')
      end
   end)

   it('are read with cudnn layers, without descriptors', function()
      local module = dpt.cudnn.SpatialConvolution(2, 3, 3, 3)
      local old = older(module, function(m)
         m.groups, m.padding = nil, nil
         m.iSize = torch.LongStorage{1, 2, 3, 4}
         m.convDescData = {padA = {0, 0}, mode = 'CUDNN_CROSS_CORRELATION'}
         m.autotunerHash = 'hash'
      end)
      local x = planes()
      check.close(module:forward(x), old:forward(x), 0, 'output')
      assert.equal(1, old.groups)
   end)

   it('are not used for threads, whose messages have fields that files lack', function()
      local module, found = nn.Linear(2, 2), nil
      module.hook = math.floor
      local pool = require('dpt').threads.Threads(1, function() require 'dpt' end)
      pool:addjob(function() return module.hook(2.5), torch.type(module) end,
         function(...) found = {...} end)
      pool:synchronize()
      pool:terminate()
      assert.same({2, 'nn.Linear'}, found)
   end)

   it('are read by classes that call their parent', function()
      local Mine, parent = torch.class('dptspec.CallsParent', 'nn.Linear', {})
      Mine.__version = 3
      function Mine:write(file)
         file:writeInt(7)
         parent.write(self, file)
      end
      local seen
      function Mine:read(file, version)
         seen = {version, file:readInt()}
         parent.read(self, file)
      end
      local mine = torch.factory 'dptspec.CallsParent'()
      parent.__init(mine, 3, 2)
      local again = torch.deserialize(torch.serialize(mine))
      assert.same({3, 7}, seen)
      check.close(mine.weight, again.weight, 0, 'weight')
   end)
end)
