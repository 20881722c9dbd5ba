-- Results in the memory of operands: compares tensors and modules with the same on copies.
local fuzz = require 'spec.support.fuzz.run'

describe('a result that shares memory with an operand', function()
   it('is right, and so is the memory around it', function() fuzz.check('aliasing') end)
end)
