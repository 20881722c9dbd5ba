-- dpt.launcher.require: th's require, in programs that the command runs in another folder.
local dpt = require 'dpt'
local paths = dpt.paths
local command = paths.dirname(paths.dirname(paths.dirname(paths.thisfile()))) .. '/scripts/dpt'

describe('dpt.launcher.require', function()
   local folder
   before_each(function()
      folder = os.tmpname()
      os.remove(folder)
      assert.equal(0, os.execute(("mkdir -p '%s/sub/whole'"):format(folder)))
   end)
   after_each(function() os.execute(("rm -r '%s'"):format(folder)) end)

   local function write(name, text)
      local file = assert(io.open(folder .. '/' .. name, 'w'))
      file:write(text)
      file:close()
   end

   -- Returns the output of a program in that folder, run from there.
   local function printed(name)
      local pipe = io.popen(("cd '%s' && '%s' %s 2>&1"):format(folder, command, name))
      local text = pipe:read '*a'
      pipe:close()
      return text
   end

   it('finds files next to the one that requires them, and in the current folder', function()
      write('sub/helper.lua', 'calls = (calls or 0) + 1 return "helper" .. calls')
      write('sub/whole/init.lua', 'return require "../helper"')
      write('top.lua', 'return "top"')
      write('sub/program.lua', [[
         print(require './helper', require './helper.lua', require './whole', require '../top')
         print(require 'top', require 'top' == require 'top', require 'sub/whole')
         torch.save('object.th', {7})
         print(require '../object'[1], require 'object.th'[1])
      ]])
      assert.equal('helper1\thelper2\thelper3\ttop\ntop\ttrue\thelper4\n7\t7\n',
         printed 'sub/program.lua')
   end)

   it('names the missing file, and passes errors of modules unchanged', function()
      write('wrong.lua', 'local x = nil + 1')
      write('program.lua', [[
         print(pcall(require, './none'))
         local ok, why = pcall(function() require 'nothing' end)
         print(why:match '^[^\n]*')
         print(pcall(function() require './wrong' end))
         print(pcall(function() require 'wrong' end))
      ]])
      local text = printed 'program.lua'
      assert.matches("false\t[^\n]*module './none' not found: there is no file [^\n]*none.lua",
         text)
      assert.matches("\nprogram.lua:2: module 'nothing' not found:", text, 1, true)
      assert.matches('\nfalse\t[^\n]*wrong.lua:1: attempt to perform arithmetic', text)
      local _, count = text:gsub('wrong.lua:1: attempt', '')
      assert.equal(2, count)
   end)
end)
