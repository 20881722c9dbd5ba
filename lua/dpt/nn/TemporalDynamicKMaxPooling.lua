--- nn.TemporalDynamicKMaxPooling(minK, factor): keeps the k largest frames of every feature, in
-- their original order, with k = max(minK, ceil(factor T)).
-- Invariant: input is (N)xTxF.
-- @function nn.TemporalDynamicKMaxPooling
-- @within nn pooling
-- @as layer
-- @param minK minimum of k
-- @param factor k is at least this fraction of the frames (0)
-- @return a module; forward: B x T x features or one sequence -> B x k x features
-- @usage nn.TemporalDynamicKMaxPooling(2):forward(torch.Tensor{{1}, {5}, {2}, {3}}) --> [5 3]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local fail = require('dpt.ffi').fail

local TemporalDynamicKMaxPooling, parent =
   torch.class('nn.TemporalDynamicKMaxPooling', 'nn.Module')

function TemporalDynamicKMaxPooling:__init(minK, factor)
   parent.__init(self)
   self.minK = minK
   self.factor = factor or 0
end

function TemporalDynamicKMaxPooling:updateOutput(input)
   if input:dim() ~= 2 and input:dim() ~= 3 then
      fail('nn.TemporalDynamicKMaxPooling: input has %d dimensions, wanted 2 or 3', input:dim())
   end
   local time = input:dim() - 1
   local length = input:size(time)
   local k = math.min(length, math.max(self.minK, math.ceil(self.factor * length)))
   local _, indices = input:topk(k, time, true)
   self.indices = indices:sort(time)
   self.output:set(input:gather(time, self.indices))
   return self.output
end

function TemporalDynamicKMaxPooling:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):zero():scatter(input:dim() - 1, self.indices, gradOutput)
   return self.gradInput
end

function TemporalDynamicKMaxPooling:clearState()
   nn.utils.clear(self, 'indices')
   return parent.clearState(self)
end

return TemporalDynamicKMaxPooling
