--- dpt.nn.unalias: makes it safe to call methods that still read an argument after they began to
-- write their result.
--
-- Invariant: a result is right even if it shares memory with an argument. The kernels of csrc/nn
-- and the operations of tensors ensure this themselves. Methods composed of several operations are
-- in the list below: they write to a new buffer if the module's buffer shares the storage of an
-- argument.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local type = dptffi.type

--- Classes, by the field that the method writes.
local lists = {
   output = 'EmbeddingBag Sum Padding TanhShrink TemporalConvolution',
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

--- Returns the method, wrapped if it is in the list; returns other values unchanged.
-- @param class name of the class
-- @param key name of the method
-- @param plain the value that dpt's file assigns
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
