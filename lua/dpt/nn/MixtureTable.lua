--- nn.MixtureTable(dim): a weighted sum of experts, sum_i gater_i expert_i. The input is {gater,
-- experts}: gater is N x k or k; experts is a table of k tensors, or one tensor with the experts
-- along dimension dim.
-- Invariant: dim defaults to 2 for a batch and to 1 otherwise.
-- @function nn.MixtureTable
-- @within nn tables
-- @as layer
-- @return a module; forward: {B x k, k tensors B x ...} -> B x ...
-- @usage nn.MixtureTable():forward{torch.Tensor{{0.5, 0.5}}, {torch.Tensor{{1, 3}},
--       torch.Tensor{{3, 5}}}} --> [2 4]

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local MixtureTable, parent = torch.class('nn.MixtureTable', 'nn.Module')

function MixtureTable:__init(dim)
   parent.__init(self)
   self.dim = dim
   self.gradInput = {}
end

--- Returns the experts as one tensor, and the gater expanded to its size.
-- @function nn.MixtureTable:spread
-- @as author
-- @param input table: the gater, and the experts as a table or tensor
-- @return the experts as one tensor; their dimension; the gater of that size
-- @usage (nn.MixtureTable():spread{torch.ones(2, 3), {torch.ones(2, 4), torch.ones(2, 4),
--       torch.ones(2, 4)}}):nElement() --> 24
function MixtureTable:spread(input)
   local gater, experts = input[1], input[2]
   local dim = self.dim or gater:dim()
   if type(experts) == 'table' then
      local parts = {}
      for i, expert in ipairs(experts) do
         local size = expert:size():totable()
         if type(dim) ~= 'number' or not (dim >= 1 and dim <= #size + 1) then
            fail('nn.MixtureTable: dimension %s is not in 1..%d', tostring(dim), #size + 1)
         end
         table.insert(size, dim, 1)
         parts[i] = expert:contiguous():view(torch.LongStorage(size))
      end
      experts = torch.cat(parts, dim)
   end
   local size = {}
   for d = 1, experts:dim() do size[d] = 1 end
   if gater:dim() == 2 then size[1] = gater:size(1) end
   size[dim] = gater:size(gater:dim())
   local weights = gater:contiguous():view(torch.LongStorage(size)):expandAs(experts)
   return experts, dim, weights
end

function MixtureTable:updateOutput(input)
   local experts, dim, weights = self:spread(input)
   local products = experts:clone():cmul(weights)
   self.output:set(products:sum(dim):select(dim, 1))
   return self.output
end

function MixtureTable:updateGradInput(input, gradOutput)
   local experts, dim, weights = self:spread(input)
   local size = experts:size()
   size[dim] = 1
   local spreadOut = gradOutput:contiguous():view(size):expandAs(experts)
   local products = experts:clone():cmul(spreadOut)
   for d = experts:dim(), 1, -1 do -- the gater's gradient: sums over all but batch and expert
      if d ~= dim and not (d == 1 and input[1]:dim() == 2) then products = products:sum(d) end
   end
   local forGater = products:view(input[1]:size())
   local forExperts = experts:clone():copy(spreadOut):cmul(weights)
   if type(input[2]) == 'table' then
      local parts = {}
      for i in ipairs(input[2]) do parts[i] = forExperts:select(dim, i) end
      forExperts = parts
   end
   self.gradInput = {forGater, forExperts}
   return self.gradInput
end

return MixtureTable
