--- nn.StepRNN(mode, inputSize, outputSize, rho): applies an nn.RNN with one layer one step at a
-- time. nn.LSTM and nn.GRU derive from it.
-- Invariant: input is B x inputSize or a vector, and output is B x outputSize or a vector. The
-- state before the first step is zero.
-- @function nn.StepRNN
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: one step: B x inputSize -> B x outputSize
-- @usage nn.StepRNN('CUDNN_LSTM', 3, 5):forward(torch.ones(2, 3)):size() --> 2x5

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local remember = require 'dpt.rnn.remember'
local dptffi = require 'dpt.ffi'
local fail, raise = dptffi.fail, dptffi.raise

local StepRNN, parent = torch.class('nn.StepRNN', 'nn.AbstractRecurrent')

function StepRNN:__init(mode, inputSize, outputSize, rho)
   self.inputSize, self.outputSize = inputSize, outputSize
   parent.__init(self, nn.RNN(mode, inputSize, outputSize), rho)
end

-- Returns a vector or matrix as a sequence of one step.
local function whole(t)
   t = t:contiguous()
   return t:dim() == 1 and t:view(1, 1, -1) or t:view(1, t:size(1), -1)
end

local function like(input, t)
   return input:dim() == 1 and t:view(-1) or t:view(t:size(2), t:size(3))
end

function StepRNN:callCell(cell, input, state)
   if not torch.isTensor(input) or input:dim() < 1 or input:dim() > 2 then
      fail('%s: input wants 1 or 2 dimensions, got %s', torch.type(self),
         torch.isTensor(input) and input:dim() or torch.type(input))
   end
   local x = whole(input)
   if state and state[1]:size(2) ~= x:size(2) then
      raise(remember.mismatch(self, state[1]:size(2), x:size(2)))
   elseif not state then
      local zeros = cell.weight.new(1, x:size(2), self.outputSize):zero()
      state = {zeros, cell.mode == 'CUDNN_LSTM' and zeros or nil}
   end
   local given = {x, state[1], state[2]}
   local result = cell:updateOutput(given)
   return given, like(input, result[1]), {result[2], result[3]}
end

function StepRNN:backCell(cell, given, gradOutput, gradState, input)
   gradState = gradState or {}
   local gradInput = cell:updateGradInput(given, {whole(gradOutput), gradState[1], gradState[2]})
   return like(input, gradInput[1]), {gradInput[2], gradInput[3]}
end

function StepRNN:accCell(cell, given, gradOutput, scale)
   cell:accGradParameters(given, gradOutput, scale)
end

function StepRNN:__tostring__()
   return ('%s(%s -> %s)'):format(torch.type(self), self.inputSize, self.outputSize)
end

return StepRNN
