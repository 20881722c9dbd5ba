--- nn.AbstractRecurrent(cell, rho): base class of modules that apply a cell to one step of a
-- sequence per call.
--
--    for t = 1, T do output[t] = net:forward(input[t]) end
--    for t = T, 1, -1 do gradInput[t] = net:backward(input[t], gradOutput[t]) end
--    net:forget() -- the next forward is a first step again
--
-- Invariant: in training each step has a clone of the cell that shares the cell's parameters (the
-- same tensors) and keeps the step's intermediate results for backward. At most rho + 1 clones
-- exist; older steps get no gradient. Evaluation uses two clones. A module that was cloned, loaded
-- from a file or converted to another type has no steps to backpropagate through; it continues from
-- the last state, in the field state_. Subclasses implement callCell, backCell and accCell;
-- callCell returns a value `given`, which the other two receive.
-- @function nn.AbstractRecurrent
-- @within nn recurrent
-- @as recurrent
-- @param cell the module of one step
-- @return a module; forward: one step
-- @usage nn.LSTM(3, 5):forget():forward(torch.ones(2, 3)):size() --> 2x5

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local sharing = require 'dpt.nn.sharing'
local transient = require 'dpt.transient'
local raise = require('dpt.ffi').raise

local AbstractRecurrent, parent = torch.class('nn.AbstractRecurrent', 'nn.Container')

--- Fields of the current sequence: the next step, the step that backward handled last, and the
-- clone, input and state of each step.
AbstractRecurrent.transient = {'step', 'back_', 'cells_', 'given_', 'states_', 'gradState_',
   'kept_'}

function AbstractRecurrent:__init(cell, rho)
   parent.__init(self)
   self.modules[1] = cell
   self.rho = rho or 99999
   self:training()
end

--- Allocates again the transient fields that the class needs, after they have been dropped.
-- @function nn.AbstractRecurrent:resetTransient
-- @as author
-- @also nn.GPU:resetTransient()
-- @also nn.MixedPrecision:resetTransient()
-- @also nn.DataParallelTable:resetTransient()
-- @also nn.DataParallelCriterion:resetTransient()
-- @return nothing
-- @usage local m = nn.GRU(2, 3)
--    m:forward(torch.ones(1, 2))
--    m:resetTransient()
--    return m.step --> 1
function AbstractRecurrent:resetTransient()
   self.cells_, self.given_, self.states_, self.step = {}, {}, {[0] = self.state_}, 1
end

-- Drops the state and all steps.
local function restart(self)
   self.state_ = nil
   transient.clear(self)
end

local function begin(self, state)
   self.step, self.back_, self.gradState_ = 1, nil, nil
   self.states_, self.state_ = {[0] = state}, state
end

--- Starts a new sequence: the next forward is its first step and has no previous state.
-- @function nn.AbstractRecurrent:forget
-- @as recurrent
-- @within nn recurrent
-- @return the module
-- @usage local m = nn.GRU(2, 3)
--    m:forward(torch.ones(1, 2))
--    return m:forget().step --> 1
function AbstractRecurrent:forget()
   begin(self)
   return self
end

--- Starts a new sequence for backward but keeps the current state as its initial state.
-- @function nn.AbstractRecurrent:continue
-- @as recurrent
-- @within nn recurrent
-- @return the module
-- @usage local m, x = nn.GRU(2, 3), torch.ones(1, 2)
--    local first = m:forward(x):clone()
--    return m:continue().step, torch.equal(m:forward(x), first) --> 1, false
function AbstractRecurrent:continue()
   local last = self.state_
   -- copied, because its memory belongs to a clone of the cell
   if last then self.kept_ = nn.utils.recursiveCopy(self.kept_, last) end
   begin(self, last and self.kept_)
   return self
end

-- Returns the index of a step's clone and state.
function AbstractRecurrent:_slot(step)
   return step % (self.train ~= false and self.rho + 1 or 2)
end

--- Returns the clone of the cell that a step uses.
-- @function nn.AbstractRecurrent:getStepModule
-- @as author
-- @param step number: from 1
-- @return a module
-- @usage nn.GRU(2, 3):getStepModule(1) --> nn.RNN
function AbstractRecurrent:getStepModule(step)
   local slot = self:_slot(step)
   self.cells_[slot] = self.cells_[slot] or self.modules[1]:stepClone()
   return self.cells_[slot]
end

--- @return the output of one step
function AbstractRecurrent:updateOutput(input)
   local step, slot = self.step, self:_slot(self.step)
   local cell = self:getStepModule(step)
   self.back_ = nil
   local given, output, state = self:callCell(cell, input, self.states_[self:_slot(step - 1)])
   self.given_[slot], self.states_[slot], self.state_ = given, state, state
   self.step = step + 1
   self.output = output
   return output
end

--- Computes the gradient of one step's input. Call it once for each step, from the last to the
-- first.
function AbstractRecurrent:updateGradInput(input, gradOutput)
   local step = (self.back_ or self.step) - 1
   if step < 1 then
      raise(torch.type(self) .. ': backward was called more often than forward')
   end
   if not self.back_ then self.gradState_ = nil end
   self.back_ = step
   if self.step - step > self.rho then
      self.gradInput = nn.utils.recursiveCopy(nil, input)
      nn.utils.recursiveFill(self.gradInput, 0)
   else
      local slot = self:_slot(step)
      self.gradInput, self.gradState_ = self:backCell(self.cells_[slot], self.given_[slot],
         gradOutput, self.gradState_, input)
   end
   return self.gradInput
end

--- Accumulates the parameter gradients of the step that the last updateGradInput handled.
function AbstractRecurrent:accGradParameters(_, gradOutput, scale)
   local step = self.back_
   if not step then
      raise(torch.type(self) .. ': accGradParameters was called before updateGradInput')
   end
   if self.step - step <= self.rho then
      local slot = self:_slot(step)
      self:accCell(self.cells_[slot], self.given_[slot], gradOutput, scale or 1)
   end
end

function AbstractRecurrent:training()
   if self.train ~= true then restart(self) end
   parent.training(self)
end

function AbstractRecurrent:evaluate()
   if self.train ~= false then restart(self) end
   parent.evaluate(self)
end

function AbstractRecurrent:clearState()
   self.state_ = nil
   return parent.clearState(self)
end

function AbstractRecurrent:reset(stdv)
   restart(self)
   return parent.reset(self, stdv)
end

--- Returns a clone; but if a step of another recurrent module is cloned, returns a wrapper of this
-- module itself, which counts its own steps.
function AbstractRecurrent:__clone(plain)
   return sharing.cloningSteps() and nn.RecurrentStep(self) or plain()
end

--- Calls the cell for one step. Each recurrent class implements it.
-- @function nn.StepRNN:callCell
-- @as author
-- @also nn.Recurrent:callCell()
-- @also nn.Recursor:callCell()
-- @param cell module: the clone of this step
-- @param input tensor: of this step
-- @param state? tensor: or table, of the previous step
-- @return the value that backCell and accCell need; the output; the state
-- @usage select(2, nn.Recursor(nn.Square()):callCell(nn.Square(), torch.Tensor{3})) --> [9]

--- Computes the gradients of one step's input and of the state before it. Each recurrent class
-- implements it.
-- @function nn.StepRNN:backCell
-- @as author
-- @also nn.Recurrent:backCell()
-- @also nn.Recursor:backCell()
-- @param cell module: the clone of this step
-- @param given any: the first value that callCell returned
-- @param gradOutput tensor: of the output
-- @param gradState? tensor: or table, of the state
-- @param input tensor: of this step
-- @return the gradient of the input; of the previous state
-- @usage local cell = nn.Square()
--    cell:forward(torch.Tensor{3})
--    return (nn.Recursor(nn.Square()):backCell(cell, nil, torch.ones(1), nil,
--       torch.Tensor{3})) --> [6]

--- Accumulates the parameter gradients of one step. Each recurrent class implements it.
-- @function nn.StepRNN:accCell
-- @as author
-- @also nn.Recurrent:accCell()
-- @also nn.Recursor:accCell()
-- @param cell module: the clone of this step
-- @param given any: the first value that callCell returned
-- @param gradOutput tensor: of the output
-- @param scale number: factor of the gradients
-- @return nothing
-- @usage local cell = nn.Add(1)
--    cell:zeroGradParameters()
--    cell:forward(torch.ones(1))
--    nn.Recursor(nn.Add(1)):accCell(cell, torch.ones(1), torch.Tensor{2}, 3)
--    return cell.gradBias --> [6]

return AbstractRecurrent
