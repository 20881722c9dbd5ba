--- nn.MapTable(module, shared): applies clones of one module to the entries of the input table, one
-- clone per entry.
-- Invariant: module 1 is the given one. Clones are made on demand and share its parameters and
-- gradients; if shared is a list, only the fields named in it; if shared is false, nothing.
-- @function nn.MapTable
-- @within nn containers
-- @as layer
-- @param shared a list of the fields that all clones share, or false
-- @return a module; forward: a table of tensors -> a table of outputs
-- @usage #nn.MapTable(nn.Linear(3, 2)):forward{torch.ones(3), torch.ones(3), torch.ones(3)}
--    --> 3

local torch = require 'dpt.tensor'
local checkInteger = require('dpt.tensor.core').checkInteger
local child = require 'dpt.nn.child'
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

local MOST = 2 ^ 20 -- limit of clones; a larger number is a mistake

--- Resizes the list to exactly n clones.
-- @function nn.MapTable:resize
-- @as method
-- @within nn tables
-- @param n number: of clones
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

--- Sets the module that is cloned; it can be set once. nil sets none.
function MapTable:add(module)
   if self.module then
      raise('nn.MapTable: add: a module was already added')
   end
   if module == nil then return self end
   self.module = child.check(self, 'add', 'module', module)
   child.rejectDistributed('nn.MapTable', 'add', module, 'network')
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

-- Clones that share parameters share gradients, so zeroing the first one's is enough.
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

--- Frees the clones as well; the next forward makes them again.
function MapTable:clearState()
   for i = 2, #self.modules do self.modules[i] = nil end
   return parent.clearState(self)
end

function MapTable:__tostring__()
   if not self.module then return torch.type(self) .. ' { }' end
   return torch.type(self) .. ' {\n  ' .. tostring(self.module):gsub('\n', '\n  ') .. '\n}'
end

return MapTable
