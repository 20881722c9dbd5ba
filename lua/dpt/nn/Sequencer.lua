--- nn.Sequencer(module): applies a module to every step of a sequence. The input is a list of steps
-- or a tensor whose first dimension is time; the output has the same form.
-- Invariant: a module that is not recurrent has a copy with shared parameters for every step
-- (nn.Recursor). Each forward starts from the initial state, or with remember() from the last state
-- of the forward before, through which no gradient flows.
-- @function nn.Sequencer
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: T x B x ... or a table of T steps -> the same form
-- @usage nn.Sequencer(nn.Linear(3, 5)):forward(torch.ones(4, 2, 3)):size() --> 4x2x5

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local remember = require 'dpt.rnn.remember'
local dptffi = require 'dpt.ffi'
local fail, raise = dptffi.fail, dptffi.raise

local Sequencer, parent = torch.class('nn.Sequencer', 'nn.Container')
Sequencer.outputSplit = Sequencer.sameSplit
Sequencer.transient = {'joined_', 'gradJoined_'}

function Sequencer:__init(module)
   parent.__init(self)
   if not torch.isTypeOf(module, 'nn.Module') then
      raise("nn.Sequencer: argument 'module' is of type " .. torch.type(module)
         .. ', wanted an nn.Module')
   end
   self.modules[1] = torch.isTypeOf(module, 'nn.AbstractRecurrent') and module
      or nn.Recursor(module)
   self:training()
end

--- Sets whether the state carries over from one sequence to the next: 'both' (the default),
-- 'train', 'eval' or 'neither'.
Sequencer.remember = remember.setMode

--- Makes the next forward start from the initial state.
function Sequencer:forget()
   self.modules[1]:forget()
   return self
end

--- Splits a tensor T x B x ... along its batch; entries of a list are split like any input.
function Sequencer:inputSplit(input)
   return torch.isTensor(input) and input:dim() > 2 and 2 or nil
end

-- Returns the steps of a sequence as a list.
local function steps(sequence)
   if torch.isTensor(sequence) then
      local list = {}
      for t = 1, sequence:size(1) do list[t] = sequence:select(1, t) end
      return list
   elseif torch.type(sequence) ~= 'table' then
      raise('nn.Sequencer: wanted a list of steps or a tensor, got ' .. torch.type(sequence))
   end
   return sequence
end

-- Returns a list in the form of a sequence: if that is a tensor, joins the list in the owner's
-- tensor `field`.
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
   if remember.isEnabled(self) then module:continue() else module:forget() end
   for t, x in ipairs(steps(input)) do
      local output = self:rethrowErrors(module, 1, 'updateOutput', x)
      -- copies: in evaluation, all steps write the same memory
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

--- Calls backward of each step, from the last to the first.
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

--- Accumulates the gradients of each step. updateGradInput must have run before.
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
