--- Divides spec files among several busted processes that were all passed the same list: the first
-- process to reach a file runs it.
--
-- Invariant: for each file that a process has begun, the folder DPT_SPEC_CLAIMS contains its output
-- (NAME.txt) and NAME.status: the process id while it runs, then its counts. A process ends after a
-- file in which a test failed: a GPU may not answer further calls from it.
local ffi = require 'ffi'
local busted = require 'busted'
ffi.cdef[[
int open(const char *path, int flags, ...);
int dup(int descriptor);
int dup2(int descriptor, int other);
int close(int descriptor);
int getpid(void);
]]

local CREATE, EXCLUSIVE, APPEND, WRITE = 0x40, 0x80, 0x400, 1 -- Linux

return function(folder)
   local standard = {ffi.C.dup(1), ffi.C.dup(2)}
   local mine, counts, isOver
   ffi.C.unsetenv 'DPT_SPEC_CLAIMS' -- not for processes that a spec starts

   local function to(descriptors)
      io.stdout:flush()
      for i = 1, 2 do ffi.C.dup2(descriptors[i], i) end
   end

   local function write(text)
      local file = assert(io.open(mine .. '.status', 'w'))
      file:write(text, '\n')
      file:close()
   end

   local function claim(name)
      local path = folder .. '/' .. name:gsub('^%./', ''):gsub('^spec/', ''):gsub('/', '-')
      local status = ffi.C.open(path .. '.status', CREATE + EXCLUSIVE + WRITE, ffi.cast('int', 420))
      if status < 0 then return false end
      ffi.C.close(status)
      mine, counts = path, {success = 0, failure = 0, error = 0, pending = 0}
      write('process ' .. ffi.C.getpid())
      local log = ffi.C.open(path .. '.txt', CREATE + APPEND + WRITE, ffi.cast('int', 420))
      to{log, log}
      ffi.C.close(log)
      return true
   end

   -- If another process has the file, no other subscriber is notified and nothing is loaded.
   busted.subscribe({'file', 'start'}, function(file)
      if not isOver and claim(file.name) then return nil, true end
      file.run = setmetatable({getTrace = file.run.getTrace,
         rewriteMessage = file.run.rewriteMessage}, {__call = function() end})
      return nil, false
   end, {priority = 1})

   busted.subscribe({'file', 'end'}, function() return nil, mine ~= nil end, {priority = 1})

   busted.subscribe({'test', 'end'}, function(_, _, status)
      if status ~= 'error' then counts[status] = counts[status] + 1 end
      return nil, true
   end)
   for _, what in ipairs{'error', 'failure'} do
      busted.subscribe({what}, function(element)
         -- a failure of a test is counted when the test ends
         if counts and (what == 'error' or element.descriptor ~= 'it') then
            counts.error = counts.error + 1
         end
         return nil, true
      end)
   end

   busted.subscribe({'file', 'end'}, function(file) -- after all other subscribers
      isOver = counts.failure + counts.error > 0
      write(('%d successes / %d failures / %d errors / %d pending : %.2f seconds'):format(
         counts.success, counts.failure, counts.error, counts.pending, file.duration))
      to(standard)
      mine = nil
      return nil, true
   end)
end
