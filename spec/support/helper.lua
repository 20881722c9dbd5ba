--- Runs once before busted reads the first spec.
--
-- Invariant: a module of dpt, or of spec/support, is loaded once: busted forgets the modules loaded
-- in a file after it, but dpt keeps objects of its modules. A test that hangs ends the process
-- after ten minutes (or DPT_SPEC_SECONDS), longer than a busy machine needs. DPT_SPEC_RECORD names
-- a file to which lines of fields, separated by tabs, are written: start FILE; failure FILE TITLE;
-- end PASSED FAILED.
local ffi = require 'ffi'
local busted = require 'busted'
ffi.cdef 'unsigned alarm(unsigned seconds); int unsetenv(const char *name);'

-- Adds a subscriber that passes the event on to the others.
local function on(event, f)
   busted.subscribe(event, function()
      f()
      return nil, true
   end)
end

local seconds = tonumber(os.getenv 'DPT_SPEC_SECONDS' or 600)
on({'test', 'start'}, function() ffi.C.alarm(seconds) end) -- SIGALRM ends the process
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

local record = os.getenv 'DPT_SPEC_RECORD'
if record then
   local path, good, bad = '?', 0, 0
   local function write(...)
      local file = assert(io.open(record, 'a'))
      file:write(table.concat({...}, '\t'), '\n')
      file:close()
      return nil, true
   end
   ffi.C.unsetenv 'DPT_SPEC_RECORD' -- not for processes that a spec starts
   busted.subscribe({'file', 'start'}, function(file)
      path = file.name
      return write('start', path)
   end)
   for _, what in ipairs{'failure', 'error'} do
      busted.subscribe({what}, function(element)
         local title = {}
         while element and element.descriptor ~= 'file' do
            table.insert(title, 1, element.name or element.descriptor)
            element = busted.parent(element)
         end
         bad = bad + 1
         return write('failure', element and element.name or path,
            (table.concat(title, ' '):gsub('%s+', ' ')))
      end)
   end
   busted.subscribe({'test', 'end'}, function(_, _, status)
      if status == 'success' then good = good + 1 end
      return nil, true
   end)
   busted.subscribe({'suite', 'end'}, function() return write('end', good, bad) end)
end

local claims = os.getenv 'DPT_SPEC_CLAIMS'
if claims then require 'spec.support.claims'(claims) end
