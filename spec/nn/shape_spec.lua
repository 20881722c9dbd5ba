--- Layers that change sizes: gradients, devices, wrong sizes.
local check = require 'spec.support.jacobian'

local function random(...)
   local size = {...}
   return function() return torch.rand(unpack(size)):mul(2):add(-1) end
end

local cases = {
   {'View', {6}, {2, 3}}, {'View', {3, 2}, {4, 6}}, {'Reshape', {2, 6}, {3, 4}},
   {'Reshape', {6}, {4, 2, 3}}, {'Reshape', {3, 2, true}, {1, 6}}, {'Narrow', {2, 2, 2}, {3, 4}},
   {'Narrow', {2, 2, -1}, {3, 5}}, {'Select', {2, -1}, {3, 4}}, {'Select', {1, 2}, {3, 4}},
   {'Transpose', {{1, 2}}, {3, 4}}, {'Transpose', {{1, 3}, {2, 3}}, {2, 3, 4}},
   {'Replicate', {3}, {4}}, {'Replicate', {2, 1, 1}, {3, 4}}, {'Squeeze', {}, {2, 1, 3}},
   {'Squeeze', {1, 2}, {2, 1, 3}}, {'Unsqueeze', {2}, {2, 3}}, {'Unsqueeze', {1, 1}, {2, 3}},
   {'Padding', {2, 2}, {3, 4}}, {'Padding', {2, -2}, {3, 4}}, {'Padding', {1, -2, 1, 0.5, 2}, {4}},
   {'Max', {1}, {4, 3}}, {'Max', {1, 1}, {3, 4}}, {'Min', {2}, {4, 3}}, {'Min', {1}, {5}},
   {'Mean', {1}, {4, 3}}, {'Sum', {2, nil, true}, {4, 3}},
   {'Sum', {2, nil, false, false}, {2, 3, 2}},
   {'Sum', {1}, {5}}, {'Collapse', {2}, {2, 3, 2}}, {'PixelShuffle', {2}, {4, 2, 3}},
   {'PixelShuffle', {2}, {2, 4, 2, 2}}, {'Convert', {'bchw', 'bhwc'}, {2, 2, 3, 2}},
   {'Convert', {'bchw', 'bf'}, {2, 2, 3, 2}}, {'SpatialZeroPadding', {1, 2, 0, 1}, {2, 2, 3}},
   {'SpatialZeroPadding', {-1, -1, -1, 0}, {2, 3, 4}},
   {'SpatialReflectionPadding', {1, 2, 1, 0}, {2, 3, 4}},
   {'SpatialReplicationPadding', {1, 2, 1, 2}, {1, 2, 2, 3}},
   {'VolumetricReplicationPadding', {1, 0, 1, 0, 0, 1}, {1, 1, 2, 2, 2}},
   {'SpatialUpSamplingNearest', {2}, {2, 2, 3}}, {'SpatialUpSamplingBilinear', {2}, {1, 2, 2, 3}},
   {'UpSampling', {2, 'linear'}, {1, 2, 2, 3}}, {'UpSampling', {2}, {1, 1, 2, 1, 2}},
   {'UpSampling', {2, 'trilinear'}, {1, 2, 2, 1, 3}},
   {'UpSampling', {{oheight = 5, owidth = 3}, 'bilinear'}, {2, 1, 3, 2}},
   {'UpSampling', {{odepth = 3, oheight = 4, owidth = 2}, 'linear'}, {1, 2, 2, 3, 2}},
   {'SpatialReflectionPadding', {-1, 2, -2, 1}, {2, 5, 4}},
   {'SpatialReflectionPadding', {2, -3, 1, -3}, {1, 4, 4}},
   {'SpatialReplicationPadding', {-2, 5, 3, -4}, {2, 1, 5, 3}},
   {'SpatialReplicationPadding', {-5, 3, 4, -5}, {1, 3, 4}},
   {'VolumetricReplicationPadding', {-1, 2, 1, -2, -3, 4}, {1, 1, 2, 3, 2}},
   {'Narrow', {-2, 2, 2}, {3, 4, 2}}, {'Narrow', {2, -1, 3}, {3, 5}},
   {'Convert', {'chw', 'hwc'}, {2, 3, 2}}, {'Convert', {'chw', 'f'}, {2, 3, 2}},
   {'Convert', {'b', 'bt'}, {3}}, {'Convert', {'bt', 'b'}, {3, 2}}, {'Convert', {}, {3, 2}},
   {'AddConstant', {torch.Tensor{1, -2, 3}}, {2, 3}}, {'AddConstant', {torch.Tensor{1, 2}}, {2}},
   {'Contiguous', {}, {2, 3}}, {'FeatureLPPooling', {2, 1, 2.5, true}, {2, 4}},
}

describe('Layers that change sizes:', function()
   for i, case in ipairs(cases) do
      local name, arguments, size = case[1], case[2], case[3]
      it(('nn.%s has the gradients that differences show (case %d)'):format(name, i), function()
         check.module(function() return nn[name](unpack(arguments, 1, 6)) end, random(unpack(size)))
      end)
   end

   it('nn.View uses the last dimensions after setNumInputDims', function()
      check.module(function() return nn.View(-1):setNumInputDims(2) end, random(4, 2, 3))
      assert.are.same({4, 6}, nn.View(-1):setNumInputDims(2):forward(torch.rand(4, 2,
         3)):size():totable())
   end)

   it("nn.OneHot sets a 1 at each class's index", function()
      local y = nn.OneHot(3):forward(torch.LongTensor{3, 1})
      assert.are.same({{0, 0, 1}, {1, 0, 0}}, y:totable())
   end)

   it('nn.Index and nn.MaskedSelect accept tables', function()
      check.module(function() return nn.Index(1) end, function()
         return {torch.rand(4, 3), torch.LongTensor{3, 1, 3}}
      end)
      local m = nn.MaskedSelect()
      local x = torch.Tensor{{1, -1}, {-2, 2}}
      assert.are.same({1, 2}, m:forward{x, x:gt(0)}:totable())
      for _, typename in ipairs{'torch.DoubleTensor', 'torch.FloatTensor', 'torch.CudaTensor'} do
         x = x:type(typename)
         local gradient = m:type(typename):backward({x, x:gt(0)}, x.new{5, 6})
         assert.are.same({{5, 0}, {0, 6}}, gradient[1]:totable())
         assert.are.same({{0, 0}, {0, 0}}, gradient[2]:totable())
         assert.are.equal(x:gt(0):type(), gradient[2]:type())
      end
   end)

   it('all raise one error message for sizes that do not fit', function()
      for _, case in ipairs{
         {nn.View(5, 5), torch.rand(2, 3),
            'nn.View: input of size 2x3 does not divide into views of size 5x5'},
         {nn.Reshape(5), torch.rand(2, 3, 4),
            'nn.Reshape: input has 24 elements (size 2x3x4), wanted 10 for size 2x5'},
         {nn.PixelShuffle(2), torch.rand(3, 2, 2), 'nn.PixelShuffle: input of size 3x2x2'},
         {setmetatable({dim = 0/0}, {__index = nn.Replicate(3)}), torch.ones(2, 3),
            'nn.Replicate: dimension nan is not in 1..3'},
         {nn.MixtureTable(2 ^ 31), {torch.ones(2, 2), {torch.ones(2, 3), torch.ones(2, 3)}},
            'nn.MixtureTable: dimension 2147483648 is not in 1..3'},
         {nn.Unsqueeze(0/0), torch.ones(2, 3), 'dimension nan is not in 1..3'},
         {nn.Unsqueeze(1.5), torch.ones(2, 3), 'dimension 1.5 is not in 1..3'},
      } do
         local ok, why = pcall(case[1].forward, case[1], case[2])
         assert.is_false(ok)
         assert.is_truthy(why:find(case[3], 1, true), why)
      end
   end)
end)
