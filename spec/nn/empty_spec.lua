--- Empty batches: all modules and criterions accept 0 rows.
local cutorch = require 'cutorch'
local torch = require 'torch'
local catalogue = require 'spec.support.catalogue'
local read = require 'spec.support.read'
local criterions = require 'spec.support.criterions'

-- Returns the sizes of a tree of tensors, with 'rows' for the number of rows.
local function form(tree, n)
   if torch.isTensor(tree) then
      local size = tree:dim() > 0 and tree:size():totable() or {}
      for d, k in ipairs(size) do size[d] = k == n and 'rows' or k end
      if #size == 1 then size = {} end -- an empty vector may have no dimensions
      return tree:type() .. ' ' .. table.concat(size, 'x')
   end
   local list = {}
   for k, v in pairs(tree) do list[k] = form(v, n) end
   return list
end

local function zeros(tree)
   if torch.isTensor(tree) then return tree.new():resizeAs(tree):zero() end
   local list = {}
   for k, v in pairs(tree) do list[k] = zeros(v) end
   return list
end

-- Converts doubles to typename, and moves other tensors to its device or the host.
local function placed(tree, typename)
   if not torch.isTensor(tree) then
      local list = {}
      for k, v in pairs(tree) do list[k] = placed(v, typename) end
      return list
   elseif tree:type() == 'torch.DoubleTensor' then
      return tree:type(typename)
   end
   return typename:find 'Cuda' and tree:type((tree:type():gsub('torch%.', 'torch.Cuda'))) or tree
end

local N = 7 -- rows; differs from all other sizes

for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaDoubleTensor'} do
   describe('0 rows of a ' .. typename, function()
      if cutorch.getDeviceCount() == 0 and typename:find 'Cuda' then return end
      setup(function() cutorch.setDevice(1) end)
      for _, case in ipairs(catalogue) do
         local function run(n)
            local module, input = case.make():type(typename), placed(case.input(n), typename)
            module:zeroGradParameters()
            local output = module:forward(input)
            local gradInput = module:backward(input, zeros(output))
            return form(output, n), gradInput and form(gradInput, n), module
         end

         if not case.whole then
            it('go through nn.' .. case.name, function()
               local output, gradInput = run(N)
               local noOutput, noGradInput, module = run(0)
               local _, gradients = module:parameters()
               for _, g in ipairs(gradients or {}) do assert.equal(0, g:ne(0):sum()) end
               assert.same(output, noOutput)
               assert.same(gradInput, noGradInput)
            end)
         end
      end

      for _, case in ipairs(criterions) do
         if not case.whole then it('have the loss 0: nn.' .. case.name, function()
            local criterion = case.make():type(typename)
            local input = placed(case.input(0), typename)
            local target = case.target and placed(case.target(0), typename)
            assert.equal(0, criterion:forward(input, target))
            assert.same(form(input, 0), form(criterion:backward(input, target), 0))
         end) end
      end
   end)
end

describe('The catalogue of modules (spec/support/catalogue.lua)', function()
   it('has every class of nn, once', function()
      local known = {}
      for _, case in ipairs(catalogue) do known[case.name] = true end
      for _, case in ipairs(criterions) do known[torch.type(case.make()):match '%w+$'] = true end
      for name in pairs(catalogue.without) do
         assert.is_nil(known[name], name)
         known[name] = true
      end
      local text, missing = read(package.searchpath('dpt.nn', package.path)), {}
      for names in text:gmatch '%[%[(.-)%]%]' do
         for name in names:gmatch '(%w+)%S*' do
            if not known[name] then missing[#missing + 1] = name end
         end
      end
      assert.same({}, missing)
   end)
end)
