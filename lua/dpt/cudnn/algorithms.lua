--- The choice of convolution algorithms that cudnn.torch's classes offer.
-- Invariant: modes are remembered for the library that has them; others choose by themselves.

local M = {}

--- Adds fastest, setMode and resetMode to a class, all of which return the module.
function M.add(class)
   --- Prefers speed to memory (mode nil or true).
   function class:fastest(mode)
      self.fastest_mode = mode == nil and true or mode
      return self
   end

   --- Numbers of the algorithms for forward, backward data and backward filter.
   function class:setMode(fmode, bdmode, bwmode)
      self.fmode = fmode or self.fmode
      self.bdmode = bdmode or self.bdmode
      self.bwmode = bwmode or self.bwmode
      return self
   end

   function class:resetMode()
      self.fmode, self.bdmode, self.bwmode = nil, nil, nil
      return self
   end
end

return M
