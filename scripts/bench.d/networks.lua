--- The networks that bench training and bench ranks train, each with an input of a rank's batch.
--
-- Invariant: those of training_peer.py are the same ones.
local networks = {}

networks['tiny MLP'] = function()
   return nn.Sequential():add(nn.Linear(20, 64)):add(nn.ReLU()):add(nn.Linear(64, 64))
      :add(nn.ReLU()):add(nn.Linear(64, 10)):add(nn.LogSoftMax()), torch.rand(32, 20)
end

networks['VGG-like'] = function()
   local net = nn.Sequential()
   for i, planes in ipairs{32, 64, 128} do
      net:add(nn.SpatialConvolution(i == 1 and 3 or planes / 2, planes, 3, 3, 1, 1, 1, 1))
      net:add(nn.ReLU()):add(nn.SpatialMaxPooling(2, 2))
   end
   return net:add(nn.View(2048)):add(nn.Linear(2048, 256)):add(nn.ReLU()):add(nn.Linear(256, 10))
      :add(nn.LogSoftMax()), torch.rand(16, 3, 32, 32)
end

networks['LSTM'] = function()
   return nn.Sequential():add(nn.SeqLSTM(64, 128)):add(nn.Select(1, 20)):add(nn.Linear(128, 10))
      :add(nn.LogSoftMax()), torch.rand(20, 16, 64)
end

return networks
