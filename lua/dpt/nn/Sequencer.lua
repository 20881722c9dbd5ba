--- nn.Sequencer(module): calls a module for every step of a sequence, a list of steps or a tensor
-- whose first dimension they are; returns a list or a tensor.
-- Invariant: a module that is not recurrent itself has a copy with the same parameters for every
-- step (nn.Recursor). Each forward begins anew, unless remember() says else; then its first step
-- has the state that was left, through which no gradient goes.
-- @function nn.Sequencer
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: T x B x ... or a table of T steps -> the same form
-- @usage nn.Sequencer(nn.Linear(3, 5)):forward(torch.ones(4, 2, 3)):size() --> 4x2x5

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local remembering = require 'dpt.rnn.remembering'
local dptffi = require 'dpt.ffi'
local fail, raise = dptffi.fail, dptffi.raise

local Sequencer, parent = torch.class('nn.Sequencer', 'nn.Container')
Sequencer.outputSplit = Sequencer.sameSplit
Sequencer.transient = {'joined_', 'gradJoined_'}

function Sequencer:__init(module)
   parent.__init(self)
   if not torch.isTypeOf(module, 'nn.Module') then
      raise('nn.Sequencer: wants an nn.Module, got ' .. torch.type(module))
   end
   self.modules[1] = torch.isTypeOf(module, 'nn.AbstractRecurrent') and module
      or nn.Recursor(module)
   self:training()
end

--- Whether sequences are parts of longer ones: 'both' (also without an argument), 'train', 'eval'
-- or 'neither'.
Sequencer.remember = remembering.set

--- The next forward begins anew.
function Sequencer:forget()
   self.modules[1]:forget()
   return self
end

--- A tensor T x B x ... along its batch; the entries of a list as any input.
function Sequencer:inputSplit(input)
   return torch.isTensor(input) and input:dim() > 2 and 2 or nil
end

-- The steps of a sequence as a list.
local function steps(sequence)
   if torch.isTensor(sequence) then
      local list = {}
      for t = 1, sequence:size(1) do list[t] = sequence:select(1, t) end
      return list
   elseif torch.type(sequence) ~= 'table' then
      raise('nn.Sequencer: wants a list of steps or a tensor, got ' .. torch.type(sequence))
   end
   return sequence
end

-- A list in the form of a sequence: a tensor of the owner's if that is one.
local function join(self, field, list, sequence)
   if not torch.isTensor(sequence) or #list == 0 then return list end
   local first = list[1]
   if torch.type(self[field]) ~= first:type() then self[field] = first.new() end
   local result, size = self[field], first:size():totable()
   result:resize(#list, unpack(size))
   for t, value in ipairs(list) do result:select(1, t):copy(value) end
   return result
end

function Sequencer:updateOutput(input)
   local module, list = self.modules[1], {}
   if remembering.now(self) then module:continue() else module:forget() end
   for t, x in ipairs(steps(input)) do
      local output = self:rethrowErrors(module, 1, 'updateOutput', x)
      -- in evaluation steps share memory
      list[t] = self.train == false and nn.utils.recursiveCopy(nil, output) or output
   end
   self.output = join(self, 'joined_', list, input)
   return self.output
end

-- Calls the module from the last step to the first.
local function back(self, input, gradOutput, call)
   input, gradOutput = steps(input), steps(gradOutput)
   if #gradOutput ~= #input then
      fail('nn.Sequencer: gradOutput has %d steps, the input %d', #gradOutput, #input)
   end
   for t = #input, 1, -1 do call(self.modules[1], t, input[t], gradOutput[t]) end
end

function Sequencer:updateGradInput(input, gradOutput)
   return self:_backward(input, gradOutput, 'updateGradInput')
end

--- As updateGradInput and accGradParameters, step by step.
function Sequencer:backward(input, gradOutput, scale)
   return self:_backward(input, gradOutput, 'backward', scale)
end

function Sequencer:_backward(input, gradOutput, method, scale)
   local list = {}
   self.modules[1].back_ = nil
   back(self, input, gradOutput, function(module, t, x, g)
      list[t] = self:rethrowErrors(module, 1, method, x, g, scale)
   end)
   self.gradInput = join(self, 'gradJoined_', list, input)
   return self.gradInput
end

--- After updateGradInput.
function Sequencer:accGradParameters(input, gradOutput, scale)
   local module = self.modules[1]
   back(self, input, gradOutput, function(_, t, x, g)
      module.back_ = t
      module:accGradParameters(x, g, scale)
   end)
end

function Sequencer:__tostring__()
   return torch.type(self) .. ' @ ' .. tostring(self.modules[1])
end

return Sequencer
