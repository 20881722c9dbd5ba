-- Fuzzed calls of all public functions and modules, a process of its own for every few thousand:
-- none ends the process, hangs, takes memory without end, or leaves the process computing wrongly,
-- and what tensors, devices and files raise are messages of dpt's own.
local fuzz = require 'spec.support.fuzz.run'

describe('fuzzed calls', function()
   it('of functions and methods return or raise a message', function() fuzz.check('api',
      400000) end)

   it('of modules and criterions return or raise a message', function()
      fuzz.check('layers', 300000)
   end)
end)
