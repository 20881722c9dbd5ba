-- Writes classes.t7 of this folder; run on the original Torch7: th classes.lua.
-- It contains a list of {module, input, output, gradient}: modules as constructed, and the results
-- of a copy of each. These classes have other fields in Torch7 than in dpt.
require 'torch'
require 'nn'
local folder = arg and arg[1] or '.'
torch.manualSeed(3)
local x = torch.randn(2, 3, 4)
local pair = {x, x * 2 - 1}
local kernel = torch.Tensor{1, 2, 1}
local list = {}
for i, case in ipairs{
   {nn.ReLU6(), torch.Tensor{-3, 0.75, 9}},
   {nn.CMinTable(), pair},
   {nn.CMaxTable(), pair},
   {nn.GatedLinearUnit(), torch.randn(2, 4)},
   {nn.SparseLinear(5, 3), torch.Tensor{{1, 0.5}, {4, 2}}},
   {nn.SpatialSubtractiveNormalization(2, torch.ones(3, 3)), x},
   {nn.SpatialDivisiveNormalization(2, kernel:clone()), x},
   {nn.SpatialContrastiveNormalization(2, kernel:clone()), x},
   {nn.SpatialContrastiveNormalization(2, torch.ones(1, 3)), x},
   {nn.Replicate(3), torch.randn(4)},
   {nn.Squeeze(nil, 2), torch.randn(1, 1, 3)},
   {nn.DistanceRatioCriterion(), {torch.randn(4), torch.randn(4)}},
} do
   local module, input = case[1], case[2]
   local copy = torch.deserialize(torch.serialize(module))
   local output = copy:forward(input)
   local gradient
   if torch.isTypeOf(copy, 'nn.Criterion') then
      gradient = copy:backward(input)
   else
      gradient = copy:backward(input, output:clone():fill(0.5))
   end
   if copy.gradWeight then gradient = copy.gradWeight end
   list[i] = {module = module, input = input, output = output, gradient = gradient}
end
torch.save(folder .. '/classes.t7', list)
