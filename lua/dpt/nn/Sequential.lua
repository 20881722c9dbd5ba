--- nn.Sequential: applies modules in sequence; the output of each is the input of the next.
-- Invariant: output is the last module's output, and gradInput the first module's, not copies.
-- @function nn.Sequential
-- @within nn containers
-- @as layer
-- @return a module; forward: any input of the first module -> the output of the last one
-- @usage nn.Sequential():add(nn.Linear(3, 5)):add(nn.Tanh())
--       :forward(torch.ones(2, 3)) :size() --> 2x5

local torch = require 'dpt.tensor'
local checkChild = require('dpt.nn.child').check
local fail = require('dpt.ffi').fail

local Sequential = torch.class('nn.Sequential', 'nn.Container')
Sequential.leavesGradients = true

function Sequential:__len()
   return #self.modules
end

function Sequential:add(module)
   self.modules[#self.modules + 1] = checkChild(self, 'add', 'module', module)
   self.output = module.output
   return self
end

--- Inserts a module before the one at index (at the end without an index).
function Sequential:insert(module, index)
   index = index or #self.modules + 1
   if not (index >= 1 and index <= #self.modules + 1) then
      fail('nn.Sequential: insert at %s is not in 1..%d', index, #self.modules + 1)
   end
   table.insert(self.modules, index, checkChild(self, 'insert', 'module', module))
   self.output = self.modules[#self.modules].output
   self.gradInput = self.modules[1].gradInput
end

--- Removes the module at index (the last one without an index).
function Sequential:remove(index)
   index = index or #self.modules
   if not (index >= 1 and index <= #self.modules) then
      fail('nn.Sequential: remove of %s is not in 1..%d', index, #self.modules)
   end
   local module = table.remove(self.modules, index)
   if #self.modules > 0 then
      self.output = self.modules[#self.modules].output
      self.gradInput = self.modules[1].gradInput
   else
      self.output = torch.Tensor()
      self.gradInput = torch.Tensor()
   end
   return module
end

function Sequential:updateOutput(input)
   local current = input
   for i, module in ipairs(self.modules) do
      current = self:rethrowErrors(module, i, 'updateOutput', current)
   end
   self.output = current
   return current
end

-- Calls a method that returns a gradient of the input for every module, from the last to the first,
-- and stores the result in the module's gradInput, because a script's class may not do so.
local function back(self, method, input, gradOutput, ...)
   for i = #self.modules, 1, -1 do
      local module = self.modules[i]
      local before = i > 1 and self.modules[i - 1].output or input
      gradOutput = self:rethrowErrors(module, i, method, before, gradOutput, ...)
      if i > 1 then module.gradInput = gradOutput end
   end
   self.gradInput = gradOutput
   return gradOutput
end

--- Calls a method of every module, from the last to the first, with its input and the gradInput of
-- the next module.
-- @function nn.Sequential:backwards
-- @as author
-- @param method string: name of the method
-- @param input tensor: or table; the input of the last forward
-- @param gradOutput tensor: or table; the gradient of the output
-- @param factor? number: scale of the parameters' gradients, or the learning rate
-- @return nothing
-- @usage local m = nn.Sequential():add(nn.Linear(1, 1)):add(nn.Identity())
--    m:forward(torch.Tensor{3})
--    m:updateGradInput(torch.Tensor{3}, torch.ones(1))
--    m:backwards('accGradParameters', torch.Tensor{3}, torch.ones(1), 2)
--    return m:get(1).gradBias --> [2]
function Sequential:backwards(method, input, gradOutput, factor)
   for i = #self.modules, 1, -1 do
      local module = self.modules[i]
      local before = i > 1 and self.modules[i - 1].output or input
      self:rethrowErrors(module, i, method, before, gradOutput, factor)
      gradOutput = module.gradInput
   end
end

function Sequential:updateGradInput(input, gradOutput)
   return back(self, 'updateGradInput', input, gradOutput)
end

function Sequential:backward(input, gradOutput, scale)
   return back(self, 'backward', input, gradOutput, scale or 1)
end

--- Returns the split of the first module.
function Sequential:inputSplit(input)
   local first = self.modules[1]
   return first and first:inputSplit(input)
end

--- Passes the split through all modules and returns the last one's.
function Sequential:outputSplit(split)
   for _, module in ipairs(self.modules) do split = module:outputSplit(split) end
   return split
end

function Sequential:accGradParameters(input, gradOutput, scale)
   self:backwards('accGradParameters', input, gradOutput, scale or 1)
end

function Sequential:accUpdateGradParameters(input, gradOutput, lr)
   self:backwards('accUpdateGradParameters', input, gradOutput, lr)
end

function Sequential:sharedAccUpdateGradParameters(input, gradOutput, lr)
   self:backwards('sharedAccUpdateGradParameters', input, gradOutput, lr)
end

function Sequential:__tostring__()
   local way, lines = {'input'}, {}
   for i, module in ipairs(self.modules) do
      way[#way + 1] = '(' .. i .. ')'
      lines[#lines + 1] = '\n  (' .. i .. '): ' .. tostring(module):gsub('\n', '\n  ')
   end
   way[#way + 1] = 'output'
   return torch.type(self) .. ' {\n  [' .. table.concat(way, ' -> ') .. ']'
      .. table.concat(lines) .. '\n}'
end

--- Appends a module, which takes the output of the one before it.
-- @function nn.Sequential:add
-- @within nn containers
-- @as method
-- @param module module: the new one
-- @return the container
-- @usage nn.Sequential():add(nn.Tanh()):add(nn.Abs()):size() --> 2

--- Inserts a module.
-- @function nn.Sequential:insert
-- @within nn containers
-- @as method
-- @param module module: the new one
-- @param index? number: position of the new module (the end)
-- @return nothing
-- @usage local n = nn.Sequential():add(nn.Tanh())
--    n:insert(nn.Abs(), 1)
--    return torch.type(n:get(1)) --> nn.Abs

--- Removes a module.
-- @function nn.Sequential:remove
-- @within nn containers
-- @as method
-- @param index? number: position of the module (the last)
-- @return nothing
-- @usage local n = nn.Sequential():add(nn.Tanh()):add(nn.Abs())
--    n:remove(1)
--    return torch.type(n:get(1)) --> nn.Abs

return Sequential
