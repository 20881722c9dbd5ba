--- dpt.nn.guard: checks the types of arguments of dpt's own modules and criterions.
--
-- Invariant: the check wraps the methods that dpt's files define; dpt.class calls guard while it
-- loads such a file. So forward, containers, replicas and scripts that call updateOutput are all
-- checked, and a script's own method, on a class or on an object, never is. A call costs one type
-- test for each argument and one test for a capture (dpt.device.captured), and adds no frame to the
-- stack. A method of a pointwise class gets gradOutput in the shape of the input.
-- dpt.nn.signatures declares the arguments of each class.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local signatures = require 'dpt.nn.signatures'
local unalias = require 'dpt.nn.unalias'
local child = require 'dpt.nn.child'
local elementwise = require 'dpt.nn.elementwise'
local captured = require 'dpt.device.captured'
local type = dptffi.type

local function isTensor(value) return type(value) == 'cdata' and torch.isTensor(value) end

--- Returns a function that returns true for an object of a class or of a class derived from it.
local function object(class)
   return function(value) return torch.isTypeOf(value, class) and not child.isClass(value) end
end

--- Kinds: the name in messages, and a function that returns true for a value of the kind.
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

--- Raises an error that names the argument, its type and the wanted types.
local function reject(class, argument, kind, value)
   local wanted = {}
   each(kind, function(name) wanted[#wanted + 1] = kinds[name][1] end)
   dptffi.fail("%s: argument '%s', wanted %s, got %s", class, argument,
      table.concat(wanted, ' or '), child.describe(value))
end

-- methods -----------------------------------------------------------------------------------------

--- Returns a Lua expression that is true if a variable is of another kind; 'false' for kind any.
-- Any cdata passes as a tensor: a test of the exact type would cost ten times as much, and
-- dpt.ffi.lib makes that test.
local function other(kind, variable)
   if kind == 'any' then return 'false' end
   local tests = {}
   each(kind, function(name)
      local luaType = name == 'tensor' and 'cdata' or name
      tests[#tests + 1] = ("type(%s) ~= '%s'"):format(variable, luaType)
   end)
   return table.concat(tests, ' and ')
end

--- Checked methods, with their parameters; arguments that a class does not declare are not tested.
local checked = {
   updateOutput = 'a1', updateLoss = 'a1, a2', updateGradInput = 'a1, a2',
   accGradParameters = 'a1, a2, a3', backward = 'a1, a2, a3',
}

--- Numeric fields that a script may change between passes and that no pass changes.
local numbers = {}
for name in ([[p norm pow power pnorm eps momentum lambda alpha beta k K threshold val thresval
   min_val max_val ceiling negval lower upper mean std constant_scalar value l1weight margin
   maxNorm normType ignoreIndex dropout scale weightDecay]]):gmatch '%S+' do
   numbers[#numbers + 1] = name
end

--- Notes the numeric fields of a module whose kernels are being captured.
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
         if argument.isElementwise then tests[i + 1] = 'a2 = reshape(self, a1, a2)' end
      end
   end
   if parameters:find 'a3' then
      tests[#tests + 1] = "if a3 ~= nil and type(a3) ~= 'number' and type(a3) ~= 'cdata' then"
         .. " reject(typename(self), 'scale', 'number', a3) end"
   end
   tests[#tests + 1] = 'if captured.notes then note(self) end'
   local source = ('local plain, type, typename, reject, reshape, captured, note = ...\n'
      .. 'return function(self, %s)\n%s\nreturn plain(self, %s)\nend')
      :format(parameters, table.concat(tests, '\n'), parameters)
   return assert(loadstring(source, '@' .. debug.getinfo(1, 'S').source:sub(2)))(plain, type,
      torch.type, reject, elementwise.reshape, captured, note)
end

-- constructors ------------------------------------------------------------------------------------

--- Returns the value for a parameter. Values that Torch7 accepted as numbers, such as strings, are
-- converted.
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

--- Returns a method wrapped in its check if the class has a signature; returns other values
-- unchanged.
-- @param class name of the class
-- @param key name of the method
-- @param value any: the value that dpt's file assigns
return function(class, key, value)
   if type(value) ~= 'function' or not (checked[key] or key == '__init') then return value end
   value = unalias(class, key, value)
   local signature = signatures.of(class)
   if not signature then return value end
   if key == '__init' then return constructor(class, signature.parameters, value) end
   if not signature.arguments then return value end
   return method(signature.criterion and 'a1, a2' or checked[key], signature.arguments, value)
end
