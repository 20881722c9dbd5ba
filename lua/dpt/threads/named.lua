--- dpt.threads.named: what travels to another Lua state by its name.
--
-- What must stay true: Lua's own libraries and dpt's are in every state, so they, and the functions
-- that they hold under a name, are not copied. A script's own modules are copied as other tables
-- are: what the script has changed in them goes along.
local named = {}

local own = debug.getinfo(1, 'S').source:match '^(.*)threads/named%.lua$'

local libraries = {}
for name in ('string table math io os coroutine debug package bit ffi jit jit.util jit.opt _G '
   .. 'string.buffer table.new table.clear'):gmatch '%S+' do
   libraries[name] = true
end

local known, modules = {}, 0

local function isReference(v)
   local kind = type(v)
   return kind == 'function' or kind == 'table' or kind == 'userdata'
end

-- Whether a function is Lua's or dpt's own.
local function isOwn(f)
   local info = debug.getinfo(f, 'S')
   return info.what == 'C' or info.source:find(own, 1, true) == 1
end

local function add(name, module)
   known[module] = {name}
   if type(module) ~= 'table' then return end
   for key, v in next, module do
      -- among the globals only those of Lua itself
      local counts = type(v) == 'function' and isOwn(v) or type(v) ~= 'function' and name ~= '_G'
      if counts and type(key) == 'string' and isReference(v) and not known[v] then
         known[v] = {name, key}
      end
   end
end

--- Learns the modules that have been loaded since the last time.
local function learn()
   local count = 0
   for _ in next, package.loaded do count = count + 1 end
   if count == modules then return end
   known, modules = {}, count
   for name, module in next, package.loaded do
      if isReference(module) and (name == 'dpt' or name:find '^dpt%.') then add(name, module) end
   end
   for name in next, libraries do -- last: in a worker ffi.C is also dpt's library
      if package.loaded[name] then add(name, package.loaded[name]) end
   end
end

--- The module's name and the key in it of a value, or only the module's name; nil: it has none.
function named.find(v)
   local entry = known[v]
   if not entry and (type(v) ~= 'function' or isOwn(v)) then
      learn()
      entry = known[v]
   end
   if entry then return entry[1], entry[2] end
end

--- What named.find found, in this state.
function named.get(module, key)
   local value = require(module)
   if key ~= nil then value = value[key] end
   return value
end

return named
