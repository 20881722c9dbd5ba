-- Files that releases of dpt wrote (spec/support/record_files.lua): objects load and compute what
-- the release computed.
local dpt = require 'dpt'
local torch, nn, optim, cutorch = dpt.torch, dpt.nn, dpt.optim, dpt.cutorch
local folder = (debug.getinfo(1, 'S').source:match '^@(.*)/[^/]*$') .. '/releases/'

-- Returns the largest difference between tensors, numbers or tables of them, relative to the
-- values of `wanted`, or infinity if they differ in structure.
local function difference(wanted, got)
   if torch.isTensor(wanted) then
      if not torch.isTensor(got) or wanted:nElement() ~= got:nElement() then return math.huge end
      if wanted:nElement() == 0 then return 0 end
      local a, b = wanted:double():contiguous():view(-1), got:double():contiguous():view(-1)
      return (a - b):abs():max() / math.max(1, a:abs():max())
   elseif type(wanted) == 'table' then
      local most = 0
      for k, v in pairs(wanted) do most = math.max(most, difference(v, got[k])) end
      return most
   end
   return math.abs(wanted - got) / math.max(1, math.abs(wanted))
end

local function square(x) return x:norm() ^ 2, x * 2 end

local count = 0
for name in dpt.paths.iterfiles(folder) do
   count = count + 1
   describe('A file of dpt ' .. name:match '^(.*)%.t7$' .. ' #devices2', function()
      local file
      setup(function() file = torch.load(folder .. name) end)

      local function equal(what, wanted, got)
         assert(difference(wanted, got) < 1e-5, what)
      end

      it('has modules with the same outputs and gradients', function()
         local modules, backwards = 0, 0
         for class, entry in pairs(file.modules) do
            local module = entry.module
            modules = modules + 1
            equal(class, entry.output, module:forward(entry.input))
            if entry.gradients then
               backwards = backwards + 1
               local gradOutput = nn.utils.recursiveCopy(nil, module.output)
               nn.utils.recursiveFill(gradOutput, 0.5)
               equal(class, entry.gradInput, module:backward(entry.input, gradOutput))
               equal(class, entry.gradients, select(2, module:parameters()) or {})
            end
         end
         assert.is_true(modules > 170 and backwards > 150)
      end)

      it('has criterions with the same losses and gradients', function()
         local criterions = 0
         for class, entry in pairs(file.criterions) do
            criterions = criterions + 1
            local criterion, input, target = entry.criterion, entry.input, entry.target
            equal(class, entry.loss, criterion:forward(input, target))
            equal(class, entry.gradInput, criterion:backward(input, target))
         end
         assert.is_true(criterions > 45)
      end)

      it("has optimizers' states that continue", function()
         local methods = 0
         for method, entry in pairs(file.optim) do
            methods = methods + 1
            optim[method](square, entry.x, entry.state)
            equal(method, entry.after, entry.x)
         end
         assert.equal(10, methods)
      end)

      it('has tensors of every type, with shared storages', function()
         local types = 0
         for typename, tensor in pairs(file.tensors) do
            types = types + 1
            assert.equal(typename, torch.type(tensor))
            equal(typename, torch.Tensor{{1, 4}, {2, 5}, {3, 6}}, tensor)
         end
         assert.equal(file.version:find '^[12]%.0' and 16 or 18, types) -- bfloat16 since 2.1
         local base, view, storage = unpack(file.shared)
         view[1] = 99
         assert.same({99, 99}, {base[3], storage[3]})
      end)

      it('has generators that continue', function()
         torch.setRNGState(file.state)
         cutorch.setRNGState(file.deviceStates[1])
         equal('host', file.random, torch.rand(4))
         equal('device', file.deviceRandom, torch.CudaTensor(4):uniform())
      end)

      it('has tables, tds and confusion matrices', function()
         local values, hash, vec = file.values, file.hash, file.vec
         assert.same({1, 'two', true, {deep = 0.1}, [-0.5] = 'x'}, values)
         assert.same({1, 2, 'one', 2},
            {hash.a, hash[3]:nElement(), vec[1], vec[2]:nElement()})
         assert.equal('tds.Hash', torch.type(hash))
         assert.equal('tds.Vec', torch.type(vec))
         file.confusion:updateValids()
         assert.near(2 / 3, file.confusion.totalValid, 1e-12)
      end)
   end)
end

it('Files of releases are there', function() assert.is_true(count > 0) end)
