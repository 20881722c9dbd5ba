--- nn.Identity(): gives on what it gets, tensor or table.
-- What must stay true: output is the input itself and gradInput gradOutput itself.

local torch = require 'dpt.tensor'

local Identity = torch.class('nn.Identity', 'nn.Module')

function Identity:updateOutput(input)
   self.output = input
   return input
end

function Identity:updateGradInput(_, gradOutput)
   self.gradInput = gradOutput
   return gradOutput
end

-- output and gradInput belong to others: they are let go, not emptied.
function Identity:clearState()
   for _, field in ipairs{'output', 'gradInput'} do
      if torch.isTensor(self[field]) then
         self[field] = self[field].new()
      elseif type(self[field]) == 'table' then
         self[field] = {}
      end
   end
   return self
end

return Identity
