-- The command `dpt timeline`, as the launcher runs it.
local paths = require 'dpt.util.paths'
local root = paths.dirname(paths.dirname(paths.dirname(paths.thisfile())))

local function run(words)
   local pipe = io.popen(("{ %s/scripts/dpt timeline %s; } 2>&1; printf ' %%d' $?"):format(root,
      words))
   local text, status = pipe:read('*a'):match '^(.*) (%d+)$'
   pipe:close()
   return text, tonumber(status)
end

describe('dpt timeline', function()
   local path
   setup(function()
      path = os.tmpname()
      local file = io.open(path, 'w')
      file:write '{"otherData":{},"traceEvents":[]}'
      file:close()
   end)
   teardown(function() os.remove(path) end)

   it('writes a page, or a picture', function()
      local text, status = run(path)
      assert.equal(0, status)
      assert.matches('^<!DOCTYPE html>', text)
      text, status = run('--svg --from=0 --to=1.5 ' .. path)
      assert.equal(0, status)
      assert.matches('^<svg ', text)
      assert.equal(text, (run(path .. ' --svg --from 0 --to 1.5')))
   end)

   it('ends with an error if the page cannot be written', function()
      local text, status = run(path .. ' >/dev/full')
      assert.equal('dpt timeline: cannot write the standard output: no space left on device\n',
         text)
      assert.equal(1, status)
      text, status = run '--help >/dev/full'
      assert.matches('^dpt: cannot write the standard output: ', text)
      assert.equal(1, status)
   end)

   it('prints its usage, and rejects other options', function()
      local text, status = run '--help'
      assert.equal(0, status)
      assert.matches('^usage: dpt timeline', text)
      text, status = run ''
      assert.equal(2, status)
      assert.matches('^dpt timeline: no profile is named\nusage: dpt timeline', text)
      text, status = run('--from=soon ' .. path)
      assert.equal(2, status)
      assert.matches("dpt timeline: option '--from' is 'soon', wanted a number", text, 1, true)
      text, status = run '/nowhere.json'
      assert.equal(1, status)
      assert.matches('dpt timeline: cannot read: /nowhere.json', text, 1, true)
   end)
end)
