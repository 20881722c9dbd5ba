--- dpt.class.expect: expect(fn, argument, value, kind) returns the value if it is of that kind, and
-- raises otherwise.
--
-- Invariant: `kind` is one of Lua's types, 'tensor', or 'callable' for a value that can be called.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local type = dptffi.type

local function is(value, kind)
   if kind == 'tensor' then return type(value) == 'cdata' and torch.isTensor(value) end
   if kind ~= 'callable' then return type(value) == kind end
   local meta = type(value) ~= 'string' and getmetatable(value)
   return type(value) == 'function' or type(meta) == 'table' and rawget(meta, '__call') ~= nil
end

return function(fn, argument, value, kind)
   if is(value, kind) then return value end
   dptffi.fail("%s: argument '%s' is %s, wanted a %s", fn, argument,
      value == nil and 'nil' or 'a ' .. torch.type(value), kind == 'callable' and 'function'
         or kind)
end
