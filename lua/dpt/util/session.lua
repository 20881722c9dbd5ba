--- xlua's commands for an interactive session: who, clear, clearall, log.
--
-- Invariant: globals that existed when dpt was loaded are not the user's: `who` does not list
-- them and `clearall` leaves them. Only globals that the user names or created are removed.
local output = require 'dpt.output'
local paths = require 'dpt.util.paths'

local session, before = {}, {}

--- Records the existing globals; later ones are the user's.
function session.begin()
   for name in pairs(_G) do before[name] = true end
end

--- Removes a global.
-- @function xlua.clear
-- @as xlua
-- @param name string: of the global
-- @return nothing
-- @usage rawset(_G, 'aGlobal', 1)
--    local before = rawget(_G, 'aGlobal')
--    xlua.clear 'aGlobal'
--    return before, rawget(_G, 'aGlobal') --> 1, nil
function session.clear(name)
   session.set(name, nil)
   collectgarbage()
end

--- Removes all globals created since dpt was loaded, and their packages.
-- @function xlua.clearall
-- @as xlua
-- @return nothing
-- @usage local pool, rest = require('threads').Threads(1)
--    pool:addjob(function()
--       rawset(_G, 'mine', 1)
--       xlua.clearall()
--       return {mine = type(rawget(_G, 'mine')), torch = type(rawget(_G, 'torch'))}
--    end, function(types) rest = types end)
--    pool:terminate()
--    return rest --> {mine=nil torch=table}
function session.clearall()
   local names = {}
   for name in pairs(_G) do if not before[name] then names[#names + 1] = name end end
   for _, name in ipairs(names) do
      session.set(name, nil)
      package.loaded[name] = nil
   end
   collectgarbage()
end

--- Prints the packages and the other globals.
-- @function xlua.who
-- @as xlua
-- @return nothing
-- @usage local p, out = print, ''
--    print = function(s) out = out .. s end
--    xlua.who()
--    print = p
--    return out:match '%f[%w]torch%f[%W]' --> torch
function session.who()
   local packages, variables = {}, {}
   for name, value in pairs(_G) do
      local text = tostring(name)
      if package.loaded[name] and name ~= '_G' or package.preload[name] then
         packages[#packages + 1] = text
      elseif not before[name] then
         variables[#variables + 1] = ('[%s] = %s'):format(text, tostring(value))
      end
   end
   table.sort(packages)
   table.sort(variables)
   print('\nGlobal Libs:\n' .. table.concat(packages, ' '))
   print('\nGlobal Vars:\n' .. table.concat(variables, '\n') .. '\n')
end

--- Copies everything that io.write and print write from now on to a file.
-- @function xlua.log
-- @as xlua
-- @param path string: of the file
-- @param append? boolean: true: append to the file
-- @return nothing
-- @usage local w, p, name = io.write, print, os.tmpname()
--    xlua.log(name)
--    io.write ''
--    rawset(_G, 'print', p)
--    io.write = w
--    return paths.filep(name), os.remove(name) --> true, true
function session.log(path, append)
   paths.mkdir(paths.dirname(path))
   local file = output.log('xlua.log', path, append and 'a' or 'w')
   local write = io.write
   -- luacheck: push ignore 122 (this is what the command is for)
   io.write = function(...)
      output.add('xlua.log', path, file, table.concat{...})
      return write(...)
   end
   -- luacheck: pop
   session.set('print', function(...)
      local parts = {}
      for i = 1, select('#', ...) do parts[i] = tostring((select(i, ...))) end
      io.write(table.concat(parts, '\t'), '\n')
   end)
end

--- Sets a global: set(name, value); assigned by dpt.compat, the only module that sets globals.
session.set = nil

return session
