--- Networks whose gradients become ready in different ways.
local nn = require('dpt').nn
local modules = require 'spec.support.modules'

-- Networks with rows of 6 as input and output.
return {
   deep = function()
      local net = nn.Sequential()
      for _ = 1, 5 do net:add(nn.Linear(6, 6)):add(nn.Tanh()) end
      return net
   end,
   one = function() return nn.Linear(6, 6) end,
   normalized = function()
      return nn.Sequential():add(nn.Linear(6, 6)):add(nn.BatchNormalization(6)):add(nn.ReLU(true))
         :add(nn.WeightNorm(nn.Linear(6, 6)))
   end,
   tied = function()
      local net = nn.Sequential():add(nn.Linear(6, 6)):add(nn.Tanh()):add(nn.Linear(6, 6))
         :add(nn.Linear(6, 6))
      net:get(4):share(net:get(1), 'weight', 'gradWeight')
      return net
   end,
   twice = function()
      local layer = nn.Linear(6, 6)
      return nn.Sequential():add(layer):add(nn.Sigmoid()):add(nn.Linear(6, 6)):add(layer)
   end,
   branches = function()
      return nn.Sequential():add(nn.ConcatTable():add(nn.Linear(6, 6)):add(nn.Linear(6, 6)))
         :add(nn.CAddTable()):add(nn.Concat(2):add(nn.Linear(6, 2)):add(nn.Linear(6, 4)))
   end,
   recurrent = function()
      return nn.Sequential():add(nn.Linear(6, 6)):add(modules.Repeated(6, 3)):add(nn.Linear(6, 6))
   end,
   whole = function()
      return nn.Sequential():add(nn.Linear(6, 6)):add(modules.Whole(6)):add(nn.Linear(6, 6))
   end,
   meddled = function()
      return nn.Sequential():add(nn.Linear(6, 6)):add(modules.Meddler(nn.Linear(6, 6)))
         :add(nn.Linear(6, 6))
   end,
   frozen = function()
      local net = nn.Sequential():add(nn.Linear(6, 6)):add(nn.Linear(6, 6)):add(nn.Linear(6, 6))
      net:get(2).accGradParameters = function() end
      return net
   end,
}
