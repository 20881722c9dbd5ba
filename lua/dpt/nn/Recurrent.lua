--- nn.Recurrent(start, input, feedback, transfer, rho, merge): a simple recurrent network, one step
-- per call: y_t = transfer(merge{input(x_t), feedback(y_(t-1))}); the first step is y_1 =
-- transfer(start(input(x_1))).
-- Invariant: start is a module, or the size of an nn.Add. transfer defaults to nn.Sigmoid, merge to
-- nn.CAddTable. The first and later steps use the same modules.
-- @function nn.Recurrent
-- @within nn recurrent
-- @as recurrent
-- @param start the size of the output, or the module applied to the first input(x)
-- @param input the module for inputs
-- @param feedback the module for the previous output
-- @param transfer the module after the merge (nn.Sigmoid)
-- @return a module; forward: one step: input's argument -> transfer's result
-- @usage nn.Recurrent(5, nn.Linear(3, 5), nn.Linear(5, 5)):forward(torch.ones(2, 3)):size()
--    --> 2x5

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local remember = require 'dpt.rnn.remember'
local dptffi = require 'dpt.ffi'
local raise, type = dptffi.raise, dptffi.type

local Recurrent, parent = torch.class('nn.Recurrent', 'nn.AbstractRecurrent')

function Recurrent:__init(start, input, feedback, transfer, rho, merge)
   if not torch.isTypeOf(start, 'nn.Module') then start = nn.Add(start) end
   self.startModule, self.inputModule, self.feedbackModule = start, input, feedback
   self.transferModule, self.mergeModule = transfer or nn.Sigmoid(), merge or nn.CAddTable()
   local first = nn.Sequential():add(input):add(start):add(self.transferModule)
   local others = nn.Sequential():add(nn.ParallelTable():add(input):add(feedback))
      :add(self.mergeModule):add(self.transferModule)
   -- both kinds of step share modules; each step's clone runs one of the two
   parent.__init(self, nn.Container():add(first):add(others), rho)
end

--- Returns the parameters of every module once.
function Recurrent:parameters()
   local all = nn.Container()
   all.modules = {self.startModule, self.inputModule, self.feedbackModule, self.mergeModule,
      self.transferModule}
   return all:parameters()
end

-- Container's methods would visit modules that occur in both kinds of step twice.
Recurrent.updateParameters = nn.Module.updateParameters
Recurrent.zeroGradParameters = nn.Module.zeroGradParameters

local function isOfOtherBatch(input, previous)
   return torch.isTensor(input) and torch.isTensor(previous) and input:dim() > 0
      and previous:dim() > 1 and input:size(1) ~= previous:size(1)
end

function Recurrent:callCell(cell, input, previous)
   local given = {first = previous == nil, cell = cell:get(previous and 2 or 1),
      input = previous and {input, previous} or input}
   local ok, output = pcall(given.cell.updateOutput, given.cell, given.input)
   if not ok then
      if isOfOtherBatch(input, previous) and type(output) == 'string' then
         raise(remember.mismatch(self, previous:size(1), input:size(1)) .. '\n' .. output)
      end
      error(output, 0)
   end
   return given, output, output
end

function Recurrent:backCell(_, given, gradOutput, gradState)
   given.gradOutput = gradOutput
   if gradState then
      given.sum = nn.utils.recursiveCopy(given.sum, gradOutput)
      given.gradOutput = nn.utils.recursiveAdd(given.sum, gradState)
   end
   local gradInput = given.cell:updateGradInput(given.input, given.gradOutput)
   if given.first then return gradInput end
   return gradInput[1], gradInput[2]
end

function Recurrent:accCell(_, given, _, scale)
   given.cell:accGradParameters(given.input, given.gradOutput, scale)
end

function Recurrent:__tostring__()
   local lines = {torch.type(self) .. ' {'}
   for _, name in ipairs{'start', 'input', 'feedback', 'transfer', 'merge'} do
      local text = tostring(self[name .. 'Module']):gsub('\n', '\n  ')
      lines[#lines + 1] = '  ' .. name .. ': ' .. text
   end
   return table.concat(lines, '\n') .. '\n}'
end

return Recurrent
