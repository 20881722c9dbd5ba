--- Runs once before busted reads the first spec.
--
-- Invariant: a module of dpt, or of spec/support, is loaded once. busted forgets after a file what
-- was loaded in it, but dpt keeps objects of its modules. A test that hangs ends the process after
-- ten minutes, beyond all that a busy machine may need.
local ffi = require 'ffi'
local busted = require 'busted'
ffi.cdef 'unsigned alarm(unsigned seconds);'

-- A subscriber that leaves the event to others, too.
local function on(event, f)
   busted.subscribe(event, function()
      f()
      return nil, true
   end)
end

on({'test', 'start'}, function() ffi.C.alarm(600) end) -- SIGALRM ends the process
on({'test', 'end'}, function() ffi.C.alarm(0) end)

local kept = {}
on({'file', 'end'}, function()
   for name, module in pairs(package.loaded) do
      if name:find '^dpt%f[%W]' or name:find '^spec%.support%.' then kept[name] = module end
   end
end)
on({'file', 'start'}, function()
   for name, module in pairs(kept) do package.loaded[name] = module end
end)
