--- Describes what several classes of cudnn have in common; the spec of each class calls it.
local busted, luassert = require 'busted', require 'luassert'
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn
local checks = require 'spec.support.rnn_check'

local M = {}

local function distance(a, b) return (a:double() - b:double()):abs():max() end
M.distance = distance

M.types = {'torch.DoubleTensor', 'torch.CudaDoubleTensor'}

--- Describes a recurrent class that runs another class in both directions.
function M.bothDirections(name, base, mode)
   busted.describe('cudnn.' .. name, function()
      busted.before_each(function() torch.manualSeed(5) end)

      busted.it('is a cudnn.' .. base .. ' whose fields say that it has two directions', function()
         local rnn = cudnn[name](2, 3, 2)
         luassert.is_true(torch.isTypeOf(rnn, 'cudnn.' .. base))
         luassert.same({2, 'CUDNN_BIDIRECTIONAL', mode},
            {rnn.numDirections, rnn.bidirectional, rnn.mode})
         luassert.equal(6, rnn:forward(torch.CudaTensor(4, 5, 2):fill(1)):size(3))
      end)

      busted.it('equals a cell in plain Lua', function()
         checks.check(checks.make(name, {layers = 2}), {2, 3, 1})
      end)

      busted.it('computes what cudnn.' .. base .. ' does after bothDirections()', function()
         local one, other = cudnn[name](2, 3), cudnn[base](2, 3)
         other:bothDirections()
         other.weight:copy(one.weight)
         local x = torch.randn(4, 5, 2):cuda()
         luassert.equal(0, distance(one:forward(x), other:forward(x)))
      end)
   end)
end

--- Describes a class for volumes that corresponds to one of nn for images.
function M.volumes(name, image)
   busted.describe('cudnn.' .. name, function()
      busted.before_each(function() torch.manualSeed(5) end)

      busted.it('computes what nn.' .. image .. ' does on a volume laid out as an image', function()
         for _, typename in ipairs(M.types) do
            local x = torch.randn(2, 3, 2, 2, 3):type(typename)
            local flat, g = x:view(2, 3, 4, 3), torch.randn(2, 3, 2, 2, 3):type(typename)
            local m, plain = cudnn[name]():type(typename), nn[image]():type(typename)
            luassert.equal(0, distance(plain:forward(flat), m:forward(x):view(2, 3, 4, 3)))
            luassert.is_true(distance(plain:backward(flat, g:view(2, 3, 4, 3)),
               m:backward(x, g):view(2, 3, 4, 3)) < 1e-12)
            luassert.is_true(distance(m:forward(x)[1], m:forward(x[1]):clone()) < 1e-12)
            luassert.equal(0, m:clearState().output:nElement())
         end
      end)

      busted.it('rejects inputs that are not volumes', function()
         luassert.error_matches(function() cudnn[name]():forward(torch.randn(2, 3, 4)) end,
            'cudnn.' .. name .. ': input has 3 dimensions, wanted 4 or 5')
      end)
   end)
end

--- Compares a convolution of two groups, of 2 planes to 3 each, with nn's of one group.
-- @param window the arguments after the planes
-- @param size of an input of 4 planes
-- @param weight the sizes of the weight
function M.groups(name, window, size, weight)
   busted.describe('cudnn.' .. name, function()
      busted.before_each(function() torch.manualSeed(3) end)

      for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaTensor'} do
         busted.it('computes each group as a convolution of its planes, ' .. typename, function()
            local allowed = typename:find 'Double' and 1e-12 or 1e-4
            local arguments = {unpack(window)}
            arguments[#arguments + 1] = 2
            local m = cudnn[name](4, 6, unpack(arguments)):type(typename)
            luassert.same(weight, m.weight:size():totable())
            local x = torch.randn(unpack(size)):type(typename)
            local y = m:forward(x)
            local g = torch.randn(y:size()):type(typename)
            m:zeroGradParameters()
            local gradInput = m:backward(x, g)
            for group = 1, 2 do
               local first = 3 * group - 2
               local one = nn[name](2, 3, unpack(window)):type(typename)
               one.weight:copy(m.weight:narrow(1, first, 3))
               one.bias:copy(m.bias:narrow(1, first, 3))
               one:zeroGradParameters()
               local part = x:narrow(2, 2 * group - 1, 2):contiguous()
               local gy = g:narrow(2, first, 3):contiguous()
               for _, pair in ipairs{{one:forward(part), y:narrow(2, first, 3)},
                  {one:backward(part, gy), gradInput:narrow(2, 2 * group - 1, 2)},
                  {one.gradWeight, m.gradWeight:narrow(1, first, 3)},
                  {one.gradBias, m.gradBias:narrow(1, first, 3)}} do
                  luassert.is_true(distance(unpack(pair)) <= allowed)
               end
            end
         end)
      end

      busted.it('rejects planes that do not divide into the groups', function()
         local arguments = {unpack(window)}
         arguments[#arguments + 1] = 2
         luassert.error_matches(function() cudnn[name](4, 5, unpack(arguments)) end,
            'cudnn.' .. name .. ': 4 and 5 planes do not divide into 2 groups')
      end)

      busted.it('remembers the choice of algorithms until it is reset', function()
         local m = cudnn[name](2, 3, unpack(window))
         luassert.is_true(rawequal(m, m:setMode(1, 2, 3):fastest()))
         luassert.same({1, 2, 3, true}, {m.fmode, m.bdmode, m.bwmode, m.fastest_mode})
         luassert.is_nil(m:resetMode().fmode)
      end)
   end)
end

--- Describes a class that computes the same as nn's class of that name.
-- @param arguments of the constructor
-- @param size of an input
function M.same(name, arguments, size)
   busted.describe('cudnn.' .. name, function()
      for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaTensor'} do
         busted.it('computes what the class of nn does, with gradients, ' .. typename, function()
            torch.manualSeed(3)
            local m = cudnn[name](unpack(arguments)):type(typename)
            local plain = nn[name](unpack(arguments)):type(typename)
            plain.weight:copy(m.weight)
            plain.bias:copy(m.bias)
            local x = torch.randn(unpack(size)):type(typename)
            local y = plain:forward(x)
            luassert.equal(0, distance(m:forward(x), y))
            m:zeroGradParameters()
            plain:zeroGradParameters()
            luassert.equal(0, distance(m:backward(x, y), plain:backward(x, y)))
            luassert.equal(0, distance(m.gradWeight, plain.gradWeight))
         end)
      end

      busted.it('accepts the choice of algorithms', function()
         local m = cudnn[name](unpack(arguments))
         luassert.is_true(rawequal(m, m:setMode(1, 2, 3):fastest(false):resetMode()))
         luassert.is_false(m.fastest_mode)
      end)
   end)
end

return M
