--- The one check of the kinds of arguments of dpt's own modules and criterions.
--
-- Invariant: it stands in front of the methods that dpt's files define (dpt.class asks guard while
-- such a file is loaded), so that forward, containers, replicas and scripts that call updateOutput
-- all pass it, and a script's own method, on a class or on an object, never does. It costs one test
-- of a kind for each argument, one of a capture (dpt.device.captured), and leaves no frame on the
-- stack. A method of a pointwise class gets
-- gradOutput in the shape of the input. What a class takes is said in dpt.nn.signatures.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local signatures = require 'dpt.nn.signatures'
local unalias = require 'dpt.nn.unalias'
local part = require 'dpt.nn.part'
local alike = require 'dpt.nn.alike'
local captured = require 'dpt.device.captured'
local type = dptffi.type

local function isTensor(value) return type(value) == 'cdata' and torch.isTensor(value) end

--- Whether a value is an object of a class or of one that descends from it.
local function object(class)
   return function(value) return torch.isTypeOf(value, class) and not part.isClass(value) end
end

--- Kinds: what the message calls them, and whether a value is of the kind.
local kinds = {
   tensor = {'a tensor', isTensor},
   module = {'a module', object 'nn.Module'}, criterion = {'a criterion', object 'nn.Criterion'},
   storage = {'a LongStorage', function(value) return torch.isStorage(value) end},
}
for _, name in ipairs{'number', 'string', 'boolean', 'table'} do
   kinds[name] = {'a ' .. name, function(value) return type(value) == name end}
end

local function each(kind, f)
   for name in kind:gmatch '%w+' do f(name) end
end

local function matches(value, kind)
   local found = false
   each(kind, function(name) found = found or kinds[name][2](value) end)
   return found
end

--- Raises what an argument is and what was wanted.
local function reject(class, argument, kind, value)
   local wanted = {}
   each(kind, function(name) wanted[#wanted + 1] = kinds[name][1] end)
   dptffi.fail("%s: argument '%s', wanted %s, got %s", class, argument,
      table.concat(wanted, ' or '), part.describe(value))
end

-- methods -----------------------------------------------------------------------------------------

--- Lua text that is true of a value of another kind; false for any kind. A tensor is what is C
-- data: asking for the very type would cost ten times as much, and dpt.ffi.lib does.
local function other(kind, variable)
   if kind == 'any' then return 'false' end
   local tests = {}
   each(kind, function(name)
      local luaType = name == 'tensor' and 'cdata' or name
      tests[#tests + 1] = ("type(%s) ~= '%s'"):format(variable, luaType)
   end)
   return table.concat(tests, ' and ')
end

--- The methods that are checked, with their parameters; input alone is looked at if there is one.
local checked = {
   updateOutput = 'a1', updateLoss = 'a1, a2', updateGradInput = 'a1, a2',
   accGradParameters = 'a1, a2, a3', backward = 'a1, a2, a3',
}

--- Fields with numbers that a script may change between passes and that no pass changes.
local numbers = {}
for name in ([[p norm pow power pnorm eps momentum lambda alpha beta k K threshold val thresval
   min_val max_val ceiling negval lower upper mean std constant_scalar value l1weight margin
   maxNorm normType ignoreIndex dropout scale weightDecay]]):gmatch '%S+' do
   numbers[#numbers + 1] = name
end

--- Notes the numbers of a module whose kernels are captured.
local function note(self)
   local keys = {}
   for _, name in ipairs(numbers) do
      if type(rawget(self, name)) == 'number' then keys[#keys + 1] = name end
   end
   captured.note(torch.type(self), self, keys)
end

local function method(parameters, arguments, plain)
   local tests = {}
   for i, argument in ipairs(arguments) do
      if parameters:find('a' .. i) then
         tests[i] = ("if %s then reject(typename(self), '%s', '%s', a%d) end"):format(
            other(argument.kind, 'a' .. i), argument.name, argument.kind, i)
         if argument.alike then tests[i + 1] = 'a2 = alike(self, a1, a2)' end
      end
   end
   if parameters:find 'a3' then
      tests[#tests + 1] = "if a3 ~= nil and type(a3) ~= 'number' and type(a3) ~= 'cdata' then"
         .. " reject(typename(self), 'scale', 'number', a3) end"
   end
   tests[#tests + 1] = 'if captured.notes then note(self) end'
   local source = ('local plain, type, typename, reject, alike, captured, note = ...\n'
      .. 'return function(self, %s)\n%s\nreturn plain(self, %s)\nend')
      :format(parameters, table.concat(tests, '\n'), parameters)
   return assert(loadstring(source, '@' .. debug.getinfo(1, 'S').source:sub(2)))(plain, type,
      torch.type, reject, alike.shape, captured, note)
end

-- constructors ------------------------------------------------------------------------------------

--- The argument for a parameter; what Torch7 took for numbers, strings too, becomes one.
local function accepted(class, parameter, value)
   local kind = parameter.kind
   if kind == 'any' or parameter.optional and not value or matches(value, kind) then
      return value
   end
   if kind:find('number', 1, true) and (type(value) == 'string' or type(value) == 'cdata') then
      local number = tonumber(value)
      if number then return number end
   end
   reject(class, parameter.name, kind, value)
end

local function constructor(class, parameters, plain)
   local guarded
   function guarded(self, ...)
      local given, n = {...}, select('#', ...)
      local name = self.__init == guarded and torch.type(self) or class
      for i, parameter in ipairs(parameters) do
         for k = i, parameter.rest and math.max(i, n) or i do
            if k == i or given[k] ~= nil then given[k] = accepted(name, parameter, given[k]) end
         end
      end
      return plain(self, unpack(given, 1, math.max(n, #parameters)))
   end
   return guarded
end

--- The method with its check in front, for a class with a signature; any other value itself.
-- @param class its name
-- @param key the method's name
-- @param value what a file of dpt defines
return function(class, key, value)
   if type(value) ~= 'function' or not (checked[key] or key == '__init') then return value end
   value = unalias(class, key, value)
   local signature = signatures.of(class)
   if not signature then return value end
   if key == '__init' then return constructor(class, signature.parameters, value) end
   if not signature.arguments then return value end
   return method(signature.criterion and 'a1, a2' or checked[key], signature.arguments, value)
end
