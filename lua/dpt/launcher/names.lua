--- dpt.launcher.names: lists all public names of the running dpt.
--
-- Invariant: every name that a script can reach from dpt's packages is listed, unless it begins
-- with '_' or its class has the field _internal; there is no list of exceptions. A method belongs
-- to the first ancestor that defines it: overrides in descendants, and `new`, a class's
-- constructor, are not listed again. Tensor and Storage represent the classes of all types. A
-- second name of the same function must also be in an entry's @also.
local class = require 'dpt.class'
local type = require('dpt.ffi').type

local names = {}

--- Returns the prefix of the names of a class's methods.
function names.owner(typename)
   return typename:match '^torch%.%u%w*(Tensor)$' or typename:match '^torch%.%u%w*(Storage)$'
      or typename
end

local function public(key) return type(key) == 'string' and key:find '^%a[%w_]*$' ~= nil end

--- Returns the name of the class that a value constructs; nil if it is not a constructor.
function names.constructed(value)
   local methods = type(value) == 'table' and getmetatable(value)
   if type(methods) == 'table' and rawget(methods, '__constructor') == value then
      return methods.__typename
   end
end

local function inherited(methods, key)
   local above = getmetatable(methods)
   return type(above) == 'table' and above[key] ~= nil
end

--- Returns objects of unregistered classes that functions return: name -> table with its methods.
local function objects(dpt)
   local C = require('dpt.ffi').C
   local shared = require 'dpt.threads.objects'
   local pool, thread = dpt.threads.Threads(1), dpt.threads.Thread ''
   local found = {
      ['threads.Threads'] = getmetatable(pool), ['threads.Thread'] = getmetatable(thread),
      ['threads.Mutex'] = shared.methods[C.DPT_MUTEX],
      ['threads.Condition'] = shared.methods[C.DPT_CONDITION],
      ['threads.AtomicCounter'] = shared.methods[C.DPT_COUNTER],
      ['threads.Queue'] = shared.methods[C.DPT_QUEUE],
      ['xlua.OptionParser'] = dpt.xlua.OptionParser '', ['xlua.Profiler'] = dpt.xlua.Profiler(),
      ['distributed.handle'] = getmetatable(dpt.distributed.barrier()),
      ['distributed.sampler'] = require 'dpt.distributed.sampler',
      ['distributed.loader'] = require 'dpt.distributed.loader',
   }
   pool:terminate()
   thread:free()
   return found
end

--- Returns the packages by the names that scripts use for them.
local function packages(dpt, others)
   local found = {string = dpt.xlua.libraries.string, table = dpt.xlua.libraries.table,
      tds = dpt.threads.tds, gnuplot = require 'dpt.util.gnuplot', trepl = require 'dpt.util.trepl'}
   for _, list in ipairs{dpt, others} do
      for name, package_ in pairs(list) do
         if type(package_) == 'table' then found[name] = package_ end
      end
   end
   return found
end

local function sorted(t)
   local list = {}
   for key in next, t do list[#list + 1] = tostring(key) end
   table.sort(list)
   return list
end

--- Returns all public names: 'nn.Linear', 'nn.Module:forward', 'Tensor:add', 'optim.sgd',
-- 'dpt.devices' ...
-- @param others packages other than dpt's, by their names
-- @return a sorted list
function names.all(others)
   local dpt = require 'dpt'
   local has, seen, open = {}, {}, packages(dpt, others)
   local function methods(of, name)
      for key, value in next, of do
         if public(key) and key ~= 'new' and not inherited(of, key) then
            has[name .. (type(value) == 'function' and ':' or '.') .. key] = true
         end
      end
   end
   local function look(path, t)
      if seen[t] then return end
      seen[t] = true
      for _, key in ipairs(sorted((getmetatable(t) or {}).hidden or {})) do local _ = t[key] end
      for key, value in pairs(t) do
         if public(key) then
            has[path .. key] = true
            if type(value) == 'table' and not names.constructed(value)
               and not class.methodsOf(value) then
               look(path .. key .. '.', value)
            end
         end
      end
   end
   for _, name in ipairs(sorted(open)) do look(name .. '.', open[name]) end
   for name, value in pairs(dpt) do
      if type(value) == 'function' and public(name) then has['dpt.' .. name] = true end
   end
   for _, name in ipairs(sorted(class.classes)) do
      local of = torch.getmetatable(name)
      if of and not of._internal then
         has[name] = true
         methods(of, names.owner(name))
      end
   end
   for name, of in pairs(objects(dpt)) do
      for key, value in next, of do
         if public(key) and type(value) == 'function' and key ~= 'new' then
            has[name .. ':' .. key] = true
         end
      end
   end
   return sorted(has)
end

return names
