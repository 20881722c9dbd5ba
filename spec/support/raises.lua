--- Checks that f() raises that message at the line of f, in a spec of this name.
local luassert = require 'luassert'

return function(text, f)
   local line = debug.getinfo(f, 'S').linedefined
   local ok, why = pcall(f)
   luassert.is_false(ok)
   luassert.equal(text, (why:gsub('^.-:%d+: ', '')))
   luassert.equal(line, tonumber(why:match '%w+_spec%.lua:(%d+): '))
end
