-- Random bytes for everything that dpt reads; spec/file/object_hostile_spec.lua tests the error
-- messages.
local fuzz = require 'spec.support.fuzz.run'

describe('random bytes', function()
   it('are read or rejected', function() fuzz.check('bytes', 100000) end)
end)
