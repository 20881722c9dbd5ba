--- Methods that read their arguments after they have begun to write their result.
--
-- Invariant: a module's result that shares memory with an argument is right. The kernels of
-- csrc/nn and the operations of tensors see to it themselves; a method that is made of several
-- operations stands in the list below, and gets a buffer of its own if the module's lies in the
-- storage of an argument.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local type = dptffi.type

--- By field that the method writes: classes.
local lists = {
   output = 'Sum Padding TanhShrink TemporalConvolution',
   gradInput = [[Concat FeatureLPPooling GatedLinearUnit L1Penalty LookupTable Max Min Narrow
      Padding Parallel Power Replicate Select SpatialDivisiveNormalization TanhShrink
      TemporalDynamicKMaxPooling WeightedEuclidean]],
}
local written = {updateOutput = 'output', updateGradInput = 'gradInput', backward = 'gradInput'}

local listed = {}
for field, names in pairs(lists) do
   listed[field] = {}
   for name in names:gmatch '%w+' do listed[field]['nn.' .. name] = true end
end

local function shares(buffer, value)
   return type(value) == 'cdata' and torch.isTensor(value) and value.storage_ ~= nil
      and value.storage_ == buffer.storage_
end

--- The method, with a buffer of its own if it needs one; any other value itself.
-- @param class its name
-- @param key the method's name
-- @param plain what a file of dpt defines
return function(class, key, plain)
   local field = written[key]
   if not field or not listed[field][class] then return plain end
   return function(self, input, gradOutput, scale)
      local buffer = self[field]
      if type(buffer) == 'cdata' and (shares(buffer, input) or shares(buffer, gradOutput)) then
         self[field] = buffer.new()
      end
      return plain(self, input, gradOutput, scale)
   end
end
