--- The C library's functions as layers call them: with an error message if an operand is no tensor.
-- Invariant: operands that users hand in (input, gradOutput, target, indices) must be tensors;
-- others may be nil if the C function allows NULL. The declarations are read from the library,
-- as in dpt.ffi.

local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local ffi, C, lib = dptffi.ffi, dptffi.C, dptffi.lib

local cdef = ffi.string(C.dpt_cdef()):gsub('/%*.-%*/', '')

--- What users call the operands that must be there.
local required = {
   ['in'] = 'input', gout = 'gradOutput', idx = 'the indices', a = 'input', b = 'input',
   out = 'output', samples = 'the samples', x = 'the parameters', g = 'the gradient',
}

local function reject(name, operand, value)
   dptffi.fail('nn: %s: %s wants a tensor, got %s', name, required[operand] or operand,
      torch.type(value))
end

--- The lines of a wrapper that check one parameter; nothing for numbers and others.
local function check(declaration, variable)
   local operand = declaration:match('dpt_tensor%s*%*%s*([%w_]+)%s*$')
   if not operand then return '' end
   local allowed = required[operand] and '' or variable .. ' ~= nil and '
   return ("if %snot istype(tensor, %s) then reject(name, '%s', %s) end\n")
      :format(allowed, variable, operand, variable)
end

return setmetatable({}, {__index = function(nnlib, name)
   local parameters = cdef:match('int%s+dpt_' .. name .. '%s*(%b())%s*;')
   local plain = lib[name]
   local variables, checks = {}, {}
   for declaration in parameters:sub(2, -2):gmatch('[^,]+') do
      local variable = 'a' .. #variables + 1
      variables[#variables + 1] = variable
      checks[#checks + 1] = check(declaration, variable)
   end
   local list = table.concat(variables, ', ')
   local source = ('local plain, istype, tensor, reject, name = ...\nreturn function(%s)\n%s'
      .. 'return plain(%s)\nend'):format(list, table.concat(checks), list)
   local wrapper = assert(loadstring(source, '@' .. debug.getinfo(1, 'S').source:sub(2)))(
      plain, ffi.istype, ffi.typeof('dpt_tensor'), reject, name)
   rawset(nnlib, name, wrapper)
   return wrapper
end})
