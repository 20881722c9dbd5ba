--- Says ok where nn.hessian's diagonals agree with those of first derivatives; by itself, since
-- nn.hessian.enable() changes nn for good.
require 'dpt'
torch.manualSeed(3)
nn.hessian.enable()
for _, case in ipairs{
   {nn.Linear(3, 2), {2, 3}}, {nn.SpatialConvolution(2, 2, 2, 3), {2, 4, 4}},
   {nn.SpatialConvolutionLocal(1, 2, 4, 3, 2, 2), {1, 3, 4}},
   {nn.SpatialFullConvolution(2, 1, 2, 2, 2, 1), {2, 3, 3}},
   {nn.SpatialConvolutionMap(nn.tables.full(2, 2), 2, 2), {2, 3, 4}},
   {nn.SpatialFullConvolutionMap(nn.tables.full(2, 1), 2, 2), {2, 3, 3}},
} do
   local m, input = case[1], torch.Tensor(unpack(case[2]))
   for _, what in ipairs{'Input', 'Weight', 'Bias'} do
      local difference = nn.Jacobian['testDiagHessian' .. what](m, input)
      assert(difference < 1e-9, torch.type(m) .. ', ' .. what .. ': ' .. difference)
   end
end
local _, _, diagonals = nn.Sequential():add(nn.Linear(2, 2)):parameters()
assert(#diagonals == 0)
local cost = nn.L1Cost():updateDiagHessianInput(torch.Tensor{2, 0, -1})
assert(cost:sum() == 2 and cost[2] == 0)
print 'ok'
