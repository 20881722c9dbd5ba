-- Every allocation of every operation, layer, criterion, optimizer and collective on 1 to 4 devices
-- fails once: results have the same bits, or an error is raised and the next call is correct.
local fuzz = require 'spec.support.fuzz.run'

describe('an allocation that fails once', function()
   it('changes no result #devices4', function() fuzz.check('allocation') end)
end)
