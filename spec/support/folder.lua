--- Calls f(...) with an empty temporary folder as the current one: for calls that may write files
-- of any name.
--
-- Invariant: the current folder belongs to the process, so workers share it. Modules that are
-- required within f are found as before.
local lfs = require 'lfs'

--- @return the results of f
return function(f, ...)
   local before, path, folder = lfs.currentdir(), package.path, os.tmpname()
   assert(os.remove(folder) and lfs.mkdir(folder) and lfs.chdir(folder))
   package.path = (';' .. path):gsub(';([^/;])', ';' .. before .. '/%1'):sub(2)
   local results = {pcall(f, ...)}
   assert(lfs.chdir(before))
   package.path = path
   os.execute("rm -rf '" .. folder .. "'")
   if not results[1] then error(results[2], 0) end
   return unpack(results, 2)
end
