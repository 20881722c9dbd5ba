--- Prints ok if nn.hessian's diagonals agree with those computed from first derivatives. It runs in
-- its own process, since nn.hessian.enable() changes nn permanently.
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
-- a script's class computes its diagonals by the same functions as the layers
local Scale, parent = torch.class('nn.Scaled', 'nn.Module')
function Scale:__init()
   parent.__init(self)
   self.weight, self.gradWeight = torch.randn(3), torch.zeros(3)
end
function Scale:updateOutput(input)
   self.output = torch.cmul(input, self.weight)
   return self.output
end
function Scale:updateGradInput(_, gradOutput)
   self.gradInput = torch.cmul(gradOutput, self.weight)
   return self.gradInput
end
function Scale:accGradParameters(input, gradOutput, scale)
   self.gradWeight:addcmul(scale, input, gradOutput)
end
function Scale:initDiagHessianParameters()
   nn.hessian.initDiagHessianParameters(self, {'gradWeight'}, {'diagHessianWeight'})
end
function Scale:updateDiagHessianInput(input, diagHessianOutput)
   nn.hessian.updateDiagHessianInput(self, input, diagHessianOutput, {'weight'}, {'weightSq'})
   return self.diagHessianInput
end
function Scale:accDiagHessianParameters(...)
   nn.hessian.accDiagHessianParameters(self, ...)
end
local scale, x, d = nn.Scaled(), torch.randn(3), torch.Tensor{1, 2, 3}
local kept = scale.weight:clone()
scale:initDiagHessianParameters()
assert(scale.diagHessianWeight:sum() == 0)
assert((scale:updateDiagHessianInput(x, d) - torch.cmul(kept, kept):cmul(d)):abs():max() < 1e-12)
scale:accDiagHessianParameters(x, d, {'gradWeight'}, {'diagHessianWeight'})
assert((scale.diagHessianWeight - torch.cmul(x, x):cmul(d)):abs():max() < 1e-12)
assert(scale.gradWeight:sum() == 0 and (scale.weight - kept):abs():max() == 0)
local _, _, diagonal = scale:getParameters()
assert(diagonal:size(1) == 3 and diagonal[2] == scale.diagHessianWeight[2])
local square = nn.Square()
square:forward(x)
nn.hessian.updateDiagHessianInputPointWise(square, x, d)
assert((square.diagHessianInput - torch.cmul(x, x):mul(4):cmul(d)):abs():max() < 1e-12)

-- diagonals of nested containers are also returned
local inner = nn.Sequential():add(nn.Linear(2, 3)):add(nn.Tanh()):add(nn.Linear(3, 3))
local net = nn.Sequential():add(inner):add(nn.Linear(3, 1))
net:initDiagHessianParameters()
local all, _, theirs = net:getParameters()
assert(theirs:nElement() == all:nElement())

local _, _, diagonals = nn.Sequential():add(nn.Linear(2, 2)):parameters()
assert(#diagonals == 0)
local cost = nn.L1Cost():updateDiagHessianInput(torch.Tensor{2, 0, -1})
assert(cost:sum() == 2 and cost[2] == 0)
print 'ok'
