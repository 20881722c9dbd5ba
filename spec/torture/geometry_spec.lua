-- Fuzzed geometry of layers: kernels, strides, paddings, dilations, sizes, and changes between
-- forward and backward: results or error messages.
local fuzz = require 'spec.support.fuzz.run'

describe('layers of any geometry', function()
   it('return or raise a message', function() fuzz.check('geometry', 200000) end)
end)
