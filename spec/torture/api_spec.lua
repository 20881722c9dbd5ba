-- Fuzzed calls of all public functions and modules, in a child process for every few thousand: none
-- ends the process, hangs, allocates without limit, or makes later results wrong, and errors of
-- tensors, devices and files have dpt's own messages.
local fuzz = require 'spec.support.fuzz.run'

describe('fuzzed calls', function()
   it('of functions and methods return or raise a message', function() fuzz.check('api',
      400000) end)

   it('of modules and criterions return or raise a message', function()
      fuzz.check('layers', 300000)
   end)
end)
