--- Adds the methods by which cudnn.torch's classes select convolution algorithms.
-- Invariant: the methods only store a selection; the libraries choose their algorithms.

local M = {}

--- Adds fastest, setMode, resetMode and the methods that create descriptors to a class. All return
-- the module.
function M.add(class)

   --- Prefers speed to low memory use (mode nil or true).
   -- @function cudnn.SpatialConvolution:fastest
   -- @as cudnnswitch
   -- @also cudnn.VolumetricConvolution:fastest()
   -- @also cudnn.SpatialFullConvolution:fastest()
   -- @also cudnn.VolumetricFullConvolution:fastest()
   -- @also cudnn.TemporalConvolution:fastest()
   -- @param mode? boolean: true enables it (true)
   -- @return the module
   -- @usage local m = cudnn.SpatialConvolution(1, 1, 1, 1)
   --    return m:fastest().fastest_mode, m:fastest(false).fastest_mode --> true, false
   function class:fastest(mode)
      self.fastest_mode = mode == nil and true or mode
      return self
   end

   --- Sets the algorithms for forward, backward data and backward filter.
   -- @function cudnn.SpatialConvolution:setMode
   -- @as cudnnswitch
   -- @also cudnn.VolumetricConvolution:setMode()
   -- @also cudnn.SpatialFullConvolution:setMode()
   -- @also cudnn.VolumetricFullConvolution:setMode()
   -- @also cudnn.TemporalConvolution:setMode()
   -- @param fmode? string: algorithm of forward
   -- @param bdmode? string: algorithm of the input's gradient
   -- @param bwmode? string: algorithm of the weight's gradient
   -- @return the module
   -- @usage cudnn.SpatialConvolution(1, 1, 1, 1):setMode('a').fmode --> a
   function class:setMode(fmode, bdmode, bwmode)
      self.fmode = fmode or self.fmode
      self.bdmode = bdmode or self.bdmode
      self.bwmode = bwmode or self.bwmode
      return self
   end

   --- Resets the algorithms set by setMode.
   -- @function cudnn.SpatialConvolution:resetMode
   -- @as cudnnswitch
   -- @also cudnn.VolumetricConvolution:resetMode()
   -- @also cudnn.SpatialFullConvolution:resetMode()
   -- @also cudnn.VolumetricFullConvolution:resetMode()
   -- @also cudnn.TemporalConvolution:resetMode()
   -- @return the module
   -- @usage local m = cudnn.SpatialConvolution(1, 1, 1, 1):setMode('a')
   --    return m.fmode, m:resetMode().fmode --> a, nil
   function class:resetMode()
      self.fmode, self.bdmode, self.bwmode = nil, nil, nil
      return self
   end

   --- Does nothing: there are no descriptors to recreate after a script has changed the weight.
   -- @function cudnn.SpatialConvolution:resetWeightDescriptors
   -- @as cudnnswitch
   -- @also cudnn.VolumetricConvolution:resetWeightDescriptors()
   -- @also cudnn.SpatialFullConvolution:resetWeightDescriptors()
   -- @also cudnn.VolumetricFullConvolution:resetWeightDescriptors()
   -- @also cudnn.TemporalConvolution:resetWeightDescriptors()
   -- @also cudnn.SpatialConvolution:clearDesc()
   -- @also cudnn.VolumetricConvolution:clearDesc()
   -- @also cudnn.SpatialFullConvolution:clearDesc()
   -- @also cudnn.VolumetricFullConvolution:clearDesc()
   -- @also cudnn.TemporalConvolution:clearDesc()
   -- @also cudnn.SpatialConvolution:createIODescriptors()
   -- @also cudnn.VolumetricConvolution:createIODescriptors()
   -- @also cudnn.SpatialFullConvolution:createIODescriptors()
   -- @also cudnn.VolumetricFullConvolution:createIODescriptors()
   -- @also cudnn.TemporalConvolution:createIODescriptors()
   -- @return the module
   -- @usage torch.type(cudnn.SpatialConvolution(1, 1, 1, 1):resetWeightDescriptors())
   --    --> cudnn.SpatialConvolution
   for _, name in ipairs{'resetWeightDescriptors', 'clearDesc', 'createIODescriptors'} do
      class[name] = function(self) return self end
   end
end

return M
