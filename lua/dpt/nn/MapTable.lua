--- nn.MapTable(module, shared): passes every entry of the input table to a copy of one module.
-- Invariant: module 1 is the one given; copies are made as entries come and share its parameters
-- and gradients (or the named fields, or nothing if shared is false).
-- @function nn.MapTable
-- @within nn containers
-- @as layer
-- @param shared the names of fields that all copies share
-- @return a module; forward: a table of tensors -> a table of outputs
-- @usage #nn.MapTable(nn.Linear(3, 2)):forward{torch.ones(3), torch.ones(3), torch.ones(3)}
--    --> 3

local torch = require 'dpt.tensor'
local checkInteger = require('dpt.tensor.core').checkInteger
local part = require 'dpt.nn.part'
local dptffi = require 'dpt.ffi'
local fail, raise, type = dptffi.fail, dptffi.raise, dptffi.type

local MapTable, parent = torch.class('nn.MapTable', 'nn.Container')

function MapTable:__init(module, shared)
   parent.__init(self)
   self.shared = shared == nil and true or shared
   self.sharedParams = {'weight', 'bias', 'gradWeight', 'gradBias'}
   self.output = {}
   self.gradInput = {}
   if module then self:add(module) end
end

function MapTable:_extend(n)
   self.sharedParams = self.sharedParams or {'weight', 'bias', 'gradWeight', 'gradBias'}
   self.modules[1] = self.module
   for i = #self.modules + 1, n do
      if type(self.shared) == 'table' then
         self.modules[i] = self.module:clone(unpack(self.shared))
      elseif self.shared then
         self.modules[i] = self.module:clone(unpack(self.sharedParams))
      else
         self.modules[i] = self.module:clone()
      end
   end
end

local MOST = 2 ^ 20 -- copies: more of them are a mistake, or a day's work

--- Makes exactly n copies.
-- @function nn.MapTable:resize
-- @as method
-- @within nn tables
-- @param n number: how many
-- @return nothing
-- @usage local m = nn.MapTable(nn.Tanh())
--    m:resize(3)
--    return #m.modules --> 3
function MapTable:resize(n)
   n = checkInteger('nn.MapTable:resize', 'n', n)
   if n < 0 or n > MOST then
      fail("nn.MapTable:resize: argument 'n' is %.0f, wanted 0 to %d", n, MOST)
   end
   self:_extend(n)
   for i = n + 1, #self.modules do self.modules[i] = nil end
end

--- Sets the module that is copied; a MapTable has one. nil sets none.
function MapTable:add(module)
   if self.module then
      raise('nn.MapTable: add takes one module and there is one already')
   end
   if module == nil then return self end
   self.module = part.want(self, 'add', 'module', module)
   part.wantBare('nn.MapTable', 'add', module, 'network')
   self.modules[1] = module
   return self
end

function MapTable:updateOutput(input)
   self.output = {}
   self:_extend(#input)
   for i = 1, #input do
      self.output[i] = self:rethrowErrors(self.modules[i], i, 'updateOutput', input[i])
   end
   return self.output
end

function MapTable:updateGradInput(input, gradOutput)
   self.gradInput = {}
   self:_extend(#input)
   for i = 1, #input do
      self.gradInput[i] =
         self:rethrowErrors(self.modules[i], i, 'updateGradInput', input[i], gradOutput[i])
   end
   return self.gradInput
end

function MapTable:accGradParameters(input, gradOutput, scale)
   self:_extend(#input)
   for i = 1, #input do
      self:rethrowErrors(self.modules[i], i, 'accGradParameters', input[i], gradOutput[i],
         scale or 1)
   end
end

function MapTable:accUpdateGradParameters(input, gradOutput, lr)
   self:_extend(#input)
   for i = 1, #input do
      self:rethrowErrors(self.modules[i], i, 'accUpdateGradParameters', input[i], gradOutput[i], lr)
   end
end

-- Copies that share parameters share gradients, so one of them does.
function MapTable:zeroGradParameters()
   if self.module then
      if self.shared then self.module:zeroGradParameters() else parent.zeroGradParameters(self) end
   end
end

function MapTable:updateParameters(learningRate)
   if self.module then
      if self.shared then
         self.module:updateParameters(learningRate)
      else
         parent.updateParameters(self, learningRate)
      end
   end
end

--- Drops the copies as well; the next forward makes them again.
function MapTable:clearState()
   for i = 2, #self.modules do self.modules[i] = nil end
   return parent.clearState(self)
end

function MapTable:__tostring__()
   if not self.module then return torch.type(self) .. ' { }' end
   return torch.type(self) .. ' {\n  ' .. tostring(self.module):gsub('\n', '\n  ') .. '\n}'
end

return MapTable
