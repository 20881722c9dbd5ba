--- Scripts in the style of a generative adversarial network: two networks, two optimizers, and the
-- gradient of one passed through the other.
local torch, nn, optim = require('dpt').torch, require('dpt').nn, require('dpt').optim
local places = require 'spec.support.places'

local N, Z = 6, 5

local function initialize(m)
   local name = torch.type(m)
   if name:find 'Convolution' then
      m.weight:normal(0, 0.3)
      m:noBias()
   elseif name:find 'Linear' then
      m.weight:normal(0, 0.3)
      m.bias:fill(0)
   end
end

local function generator()
   local net = nn.Sequential()
   net:add(nn.View(Z, 1, 1):setNumInputDims(1))
   net:add(nn.SpatialFullConvolution(Z, 8, 4, 4)):add(nn.ReLU(true))
   net:add(nn.SpatialFullConvolution(8, 3, 4, 4, 2, 2, 1, 1)):add(nn.Tanh())
   net:apply(initialize)
   return net
end

local function discriminator()
   local net = nn.Sequential()
   net:add(nn.SpatialConvolution(3, 8, 4, 4, 2, 2, 1, 1)):add(nn.LeakyReLU(0.2, true))
   net:add(nn.SpatialConvolution(8, 1, 4, 4)):add(nn.Sigmoid())
   net:add(nn.View(1):setNumInputDims(3))
   net:apply(initialize)
   return net
end

local function train(place)
   local netG, netD = place.net(generator()), place.net(discriminator())
   local criterion = place.move(nn.BCECriterion())
   local stateG, stateD = {learningRate = 0.01, beta1 = 0.5}, {learningRate = 0.01, beta1 = 0.5}
   local input, label = place.move(torch.Tensor(N, 3, 8, 8)), place.move(torch.Tensor(N))
   local noise, data = place.move(torch.Tensor(N, Z)), torch.Tensor(N, 3, 8, 8)
   local parametersD, gradD = netD:getParameters()
   local parametersG, gradG = netG:getParameters()
   local errD, errG

   local function fDx()
      gradD:zero()
      input:copy(data:uniform(0.2, 1)) -- real samples
      label:fill(1)
      errD = criterion:forward(netD:forward(input), label)
      netD:backward(input, criterion:backward(netD.output, label))
      noise:copy(torch.Tensor(N, Z):normal())
      input:copy(netG:forward(noise))
      label:fill(0)
      errD = errD + criterion:forward(netD:forward(input), label)
      netD:backward(input, criterion:backward(netD.output, label))
      return errD, gradD
   end

   local function fGx()
      gradG:zero()
      label:fill(1)
      local before = gradD:sum()
      errG = criterion:forward(netD.output, label)
      local df_dg = netD:updateGradInput(input, criterion:backward(netD.output, label))
      assert.equal(before, gradD:sum()) -- the discriminator's gradients are unchanged
      netG:backward(noise, df_dg)
      return errG, gradG
   end

   local losses = {}
   for i = 1, 8 do
      optim.adam(fDx, parametersD, stateD)
      optim.adam(fGx, parametersG, stateG)
      losses[i] = errD
   end
   return losses, {torch.Tensor{errG}, parametersD, parametersG}
end

describe('a script with two adversaries', function()
   it('trains the same at every place', function() places.agree(train, 2e-3) end)

   it('clips weights, drops and reloads its networks as DCGAN scripts do', function()
      local net = discriminator()
      local parameters = net:getParameters()
      net:forward(torch.rand(2, 3, 8, 8))
      parameters:clamp(-0.01, 0.01)
      assert.is_true(net:get(1).weight:max() <= 0.01)
      local copy = net:clone()
      for _, m in ipairs(copy.modules) do -- field by field
         m.output, m.gradInput = m.output.new(), m.gradInput.new()
         m.finput = m.finput and m.finput.new() or nil
         m.fgradInput = m.fgradInput and m.fgradInput.new() or nil
         if m.weight then
            m.weight, m.gradWeight = m.weight:clone(), m.gradWeight:clone()
         end
      end
      copy.output, copy.gradInput = copy.output.new(), copy.gradInput.new()
      local x = torch.rand(2, 3, 8, 8)
      local loaded = torch.deserialize(torch.serialize(copy))
      assert.equal(0, (net:forward(x) - loaded:forward(x)):abs():max())
      assert.same({2, 3, 8, 8}, loaded:backward(x, loaded.output):size():totable())
   end)
end)
