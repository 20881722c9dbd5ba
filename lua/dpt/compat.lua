--- dpt.compat: defines Torch7's globals and `require` names; the only module that sets globals.
--
-- Invariant: a name that is already defined elsewhere raises an error that says so: two
-- implementations of `torch` in one program would share nothing but the name. Torch7's additions to
-- Lua's own libraries are made only if missing, but `require 'xlua'` installs xlua's.
local class = require 'dpt.class'
local session = require 'dpt.util.session'
local dptffi = require 'dpt.ffi'
local C, ffi, type = dptffi.C, dptffi.ffi, dptffi.type
local getmetatable = getmetatable

local compat = {}

--- Packages that are globals in Torch7.
local names = {'torch', 'nn', 'cutorch', 'cudnn', 'optim', 'nccl', 'xlua', 'paths', 'sys'}

--- Names that exist only if there are devices.
local ofDevices = {'cutorch', 'cudnn', 'nccl', 'cunn'}

--- Advice in the error of a failing `require`, and the modules that it applies to.
local remedies = {
   {'is pure Lua: its files on LUA_PATH are enough (luarocks install --deps-mode none NAME)', [[
      nngraph graph optnet argcheck dpnn torchx totem class moses nninit dok torchnet tnt autograd
      hdf5 iterm inn csvigo manifold cunnx loadcaffe fbtorch itorch visdom display
   ]]},
   {'is a rock beside dpt: luarocks --lua-version 5.1 make rocks/image-scm-1.rockspec', 'image'},
   {'comes from Debian: apt-get install NAME', [[
      pl:lua-penlight lfs:lua-filesystem cjson:lua-cjson bit32:lua-bit32 socket:lua-socket
      posix:lua-posix lpeg:lua-lpeg luaunit:lua-unit
   ]]},
   {'needs a C library made for Torch7, which dpt cannot load; put a Lua module of that name, with'
      .. ' the functions that the program uses, on LUA_PATH', [[
      nnx dp stn fbcunn fbnn mattorch qtlua qttorch qt graphicsmagick camera video signal
      cltorch clnn distlearn unsup matio lmdb parallel ipc hash libtreplutils qtwidget
   ]]},
}
--- Modules that are provided unless there is a file of that name.
local supplied = {
   gnuplot = function()
      rawset(_G, 'gnuplot', require 'dpt.util.gnuplot')
      return _G.gnuplot
   end,
   env = function() return true end, -- torch, printing of tables, the prompt: all provided
}

--- Names of sub-modules that are not field names.
local aliases = {['sys.colors'] = 'COLORS', ['threads.queue'] = 'Queue',
   ['threads.threads'] = 'Threads', ['torch.FFInterface'] = 'Tensor'}

--- Maps older names of functions, and of fields of objects (in scripts and in files), to the
-- current names. The class of such an object looks for the field under both names.
compat.renamed = {
   comm = {use = 'setTransport'},
   ['nn.DataParallelTable'] = {policy = 'splitSpec', times = 'profile'},
}

-- Defines the older names of functions as aliases of the current ones.
local function keepRenamed(packages)
   for owner, list in pairs(compat.renamed) do
      for old, new in pairs(packages[owner] and list or {}) do
         packages[owner][old] = packages[owner][new]
      end
   end
end

-- Adds advice to the error of a failing `require`.
local function explain(name)
   for _, known in ipairs(ofDevices) do
      if name == known then
         C.dpt_device_check(("there is no '%s'"):format(name))
         return '\n\tdpt: ' .. ffi.string(C.dpt_message())
      end
   end
   for _, remedy in ipairs(remedies) do
      for known, package_ in remedy[2]:gmatch '([%w_]+):?(%S*)' do
         if name == known then
            return ("\n\tdpt: '%s' is not installed; it %s"):format(name,
               (remedy[1]:gsub('NAME', package_ ~= '' and package_ or name)))
         end
      end
   end
end

--- Returns a loader for `require 'nn.Linear'`, 'optim.sgd', 'threads.queue' ...: it returns the
-- package's field of that name; nil if there is none.
local function subModule(packages, name)
   local package_, rest = name:match '^(%w+)%.([%w_]+)$'
   local module = package_ and package.preload[package_] and packages[package_ == 'cunn' and 'nn'
      or package_]
   local value = module and module[aliases[name] or rest]
   if value ~= nil then return function() return value end end
end

--- Handles `require 'rnn'`: if that package is installed, removes dpt's classes of the same names;
-- otherwise loads dpt's classes.
local function recurrent(packages)
   if package.searchpath('rnn', package.path) then
      class.withdraw()
      return nil
   end
   return function()
      for _, name in ipairs(class.withdrawn()) do local _ = packages.nn[name] end
      return packages.nn
   end
end

--- Returns Lua's type(v), but 'userdata' for dpt's own cdata (tensors, storages, generators), as in
-- Torch7.
function compat.type(v)
   local kind = type(v)
   if kind == 'cdata' and class.methodsOf(v) then return 'userdata' end
   return kind
end

--- Returns Lua's getmetatable(v), but the class's method table for dpt's own cdata, as in Torch7.
function compat.getmetatable(v)
   return type(v) == 'cdata' and class.methodsOf(v) or getmetatable(v)
end

--- Raises if Torch7's names are taken.
function compat.reject()
   for _, name in ipairs(names) do
      local where = package.loaded[name] ~= nil and "package.loaded['" .. name .. "']"
         or rawget(_G, name) ~= nil and "the global '" .. name .. "'"
      if where then
         error(("dpt: '%s' is loaded from elsewhere already (%s); dpt includes its own: load dpt"
            .. ' first, and not the other'):format(name, where), 0)
      end
   end
end

--- Defines the globals and the modules that `require` finds under Torch7's names.
function compat.install(packages)
   for _, name in ipairs(names) do
      local module = packages[name]
      if module then
         rawset(_G, name, module)
         package.preload[name] = function() return module end
      end
   end
   package.preload.threads = function() return packages.threads end -- no global, as in Torch7
   package.preload.tds = function() return packages.threads.tds end
   for _, name in ipairs{'colors', 'colorize'} do
      package.preload['trepl.' .. name] = function() return require('dpt.util.trepl')[name] end
   end
   package.preload.trepl = function() return require 'dpt.util.trepl' end
   package.preload.xlua = function()
      compat.extend(packages.xlua.libraries, true)
      for _, name in ipairs{'print', 'error', 'require'} do
         rawset(_G, 'x' .. name, packages.xlua[name])
      end
      return packages.xlua
   end
   compat.extend({table = {unpack = unpack}, string = {gfind = string.gmatch}})
   compat.extend(packages.xlua.libraries)
   rawset(_G, 'include', packages.torch.include)
   rawset(_G, 'type', compat.type)
   rawset(_G, 'getmetatable', compat.getmetatable)
   table.insert(package.loaders, 2, function(name) -- after package.preload
      if name == 'rnn' then return recurrent(packages) or explain(name) end
      local own = supplied[name]
      if own and not package.searchpath(name, package.path) then return own end
      return subModule(packages, name) or explain(name)
   end)
   packages.torch.CmdLine.setPrint = compat.setPrint
   keepRenamed(packages)
   session.set = function(name, value) rawset(_G, name, value) end
   session.begin()
end

--- Adds functions to Lua's libraries. @param force true to replace existing functions
function compat.extend(libraries, force)
   for name, functions in pairs(libraries) do
      for key, f in pairs(functions) do
         if force or _G[name][key] == nil then _G[name][key] = f end
      end
   end
end

--- Makes f the global `print`.
function compat.setPrint(f) rawset(_G, 'print', f) end

-- Packages that define the global `cudnn` in programs that start without it.
local bringsCudnn = {cudnn = true, cunn = true, dpt = true}
local cudnnShown, hidden = false, nil

--- Makes f the global `require`.
function compat.setRequire(f)
   rawset(_G, 'require', function(name)
      if bringsCudnn[name] then compat.showCudnn() end
      return f(name)
   end)
end

--- Hides the global `cudnn` until it is required: Torch7's th did not define it, and programs test
-- `if cudnn then`.
function compat.hideCudnn()
   if cudnnShown then return end
   hidden = rawget(_G, 'cudnn')
   rawset(_G, 'cudnn', nil)
end

--- Defines the global `cudnn` again.
function compat.showCudnn()
   cudnnShown = true
   if hidden then rawset(_G, 'cudnn', hidden) end
   hidden = nil
end

--- Makes a package load when its global is first read, if it is installed.
function compat.setLazy(name)
   local meta = getmetatable(_G) or {}
   local before = meta.__index
   function meta.__index(globals, key)
      if key == name and pcall(require, name) then return rawget(globals, name) end
      if type(before) == 'function' then return before(globals, key) end
      return before and before[key]
   end
   setmetatable(_G, meta)
end

--- Sets `arg` to the words of the program that the launcher runs.
function compat.setArguments(words) rawset(_G, 'arg', words) end

--- Defines the names that exist only if there are devices, or removes them.
function compat.devices(packages, on)
   for _, name in ipairs(ofDevices) do
      local module = packages[name == 'cunn' and 'nn' or name]
      if name ~= 'cunn' then rawset(_G, name, on and module or nil) end
      package.preload[name] = on and module and function() return module end or nil
      if not on then package.loaded[name] = nil end
   end
end

return compat
