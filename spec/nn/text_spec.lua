--- The text of layers is what Torch7 prints for them.
local nn = nn

local cases = {
   {'SpatialConvolution', {1, 2, 3, 3}, '(1 -> 2, 3x3)'},
   {'SpatialConvolution', {1, 2, 3, 2, 2, 1}, '(1 -> 2, 3x2, 2,1)'},
   {'SpatialConvolution', {1, 2, 3, 3, 1, 1, 1, 0}, '(1 -> 2, 3x3, 1,1, 1,0)'},
   {'SpatialDilatedConvolution', {1, 2, 3, 3}, '(1 -> 2, 3x3, 1,1)'},
   {'SpatialDilatedConvolution', {1, 2, 3, 3, 1, 1, 1, 1, 2, 2}, '(1 -> 2, 3x3, 1,1, 1,1, 2,2)'},
   {'SpatialFullConvolution', {1, 2, 3, 3, 2, 2, 1, 1, 1, 1}, '(1 -> 2, 3x3, 2,2, 1,1, 1,1)'},
   {'VolumetricConvolution', {1, 2, 3, 4, 5}, '(1 -> 2, 3x4x5)'},
   {'VolumetricConvolution', {1, 2, 3, 3, 3, 1, 1, 1, 1, 1, 1}, '(1 -> 2, 3x3x3, 1,1,1, 1,1,1)'},
   {'VolumetricDilatedConvolution', {1, 2, 3, 3, 3}, '(1 -> 2, 3x3x3, 1,1,1)'},
   {'VolumetricFullConvolution', {1, 2, 3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1},
      '(1 -> 2, 3x3x3, 2,2,2, 1,1,1, 1,1,1)'},
   {'VolumetricDilatedMaxPooling', {2, 2, 2}, '(2x2x2, 2,2,2, 1,1,1)'},
   {'VolumetricDilatedMaxPooling', {2, 2, 2, 1, 1, 1, 1, 1, 1, 2, 2, 2},
      '(2x2x2, 1,1,1, 1,1,1, 2,2,2)'},
   {'SpatialFractionalMaxPooling', {2, 2, 3, 4}, '(3x4, 2,2)'},
   {'VolumetricFractionalMaxPooling', {2, 2, 3, 4, 5, 6}, '(4x5x6, 2,2,3)'},
   {'UpSampling', {2}, '(2x, nearest)'},
   {'UpSampling', {{oheight = 3, owidth = 2}, 'bilinear'}, '(3x2, linear)'},
   {'UpSampling', {{odepth = 1, oheight = 3, owidth = 2}, 'linear'}, '(1x3x2, linear)'},
}

describe('The text of', function()
   for i, case in ipairs(cases) do
      it(('nn.%s is Torch7\'s (case %d)'):format(case[1], i), function()
         assert.equal('nn.' .. case[1] .. case[3], tostring(nn[case[1]](unpack(case[2]))))
      end)
   end

   it('layers without bias says so if that of Torch7 does', function()
      local flat, deep = {1, 2, 3, 3}, {1, 2, 3, 3, 3}
      for name, arguments in pairs{SpatialConvolution = flat, SpatialFullConvolution = flat,
         SpatialDilatedConvolution = flat, VolumetricDilatedConvolution = deep} do
         local m = nn[name](unpack(arguments)):noBias()
         assert.truthy(tostring(m):find(') without bias', 1, true), name)
      end
      for _, name in ipairs{'VolumetricConvolution', 'VolumetricFullConvolution'} do
         assert.is_nil(tostring(nn[name](unpack(deep)):noBias()):find('bias', 1, true))
      end
   end)

   it('unpooling names its pooling', function()
      assert.equal('nn.SpatialMaxUnpooling associated to nn.SpatialMaxPooling(2x2, 2,2)',
         tostring(nn.SpatialMaxUnpooling(nn.SpatialMaxPooling(2, 2))))
      assert.equal('nn.VolumetricMaxUnpooling associated to nn.VolumetricMaxPooling(2x2x2, 2,2,2)',
         tostring(nn.VolumetricMaxUnpooling(nn.VolumetricMaxPooling(2, 2, 2))))
   end)
end)
