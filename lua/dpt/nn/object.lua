--- dpt.nn.object: the methods that modules and criterions share: type conversion, strings, files.
--
-- Invariant: an object's tensors have the type in its field _type. Transient fields are allocated
-- again after a conversion.

local nn = require 'dpt.nn'
local transient = require 'dpt.transient'
local File = require('dpt.file').File
local legacy = require 'dpt.nn.legacy'
local core = require 'dpt.tensor.core'
local cutorch = require 'dpt.device'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

--- Shared methods. print shows the class with its constructor's arguments.
local object = {__tostring__ = require 'dpt.nn.text'}

--- Converts every tensor in the object to a type. Without an argument, returns the name of the
-- type.
-- @param tensorCache a table to pass to several calls, so that tensors they share stay shared
function object:type(typename, tensorCache)
   if not typename then return self._type end
   transient.clear(self)
   nn.utils.convertFields(self, typename, tensorCache or {})
   self._type = typename
   return self
end

-- Handles a device number given as tensorCache: Torch7's criterions ignored it, its modules
-- rejected it.
local function ofDevice(self, method, device)
   local name = torch.type(self) .. ':' .. method
   if not torch.isTypeOf(self, 'nn.Criterion') then
      fail("%s: argument 'tensorCache' is a number, wanted a table; cutorch.setDevice chooses where"
         .. ' new tensors are', name)
   end
   if method:find 'cuda' then core.ignored('Criterion:' .. method, device, cutorch.getDevice()) end
end

for kind, typename in pairs(core.realNames) do
   local method = core.methodNames[kind]
   object[method] = function(self, cache, ...)
      if type(cache) == 'number' then cache = ofDevice(self, method, cache) end
      return self:type(typename, cache, ...)
   end
end

--- Called by torch.save and torch.load. A class that overrides them calls its parent's.
function object:write(file) file:writeFields(self) end
function object:read(file)
   file:readFields(self)
   legacy(self)
end
File.plain[object.write], File.plain[object.read] = true, true

--- Adds these methods to a class.
return function(class)
   for name, method in pairs(object) do class[name] = method end
end
