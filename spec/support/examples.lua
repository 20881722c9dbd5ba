--- The networks of examples/digits.lua and examples/char_lm.lua, small and with dropout.
--
-- Invariant: they accept batches without rows.
local examples = {}

--- Returns a network (N, 1, 8, 8) -> (N, 10).
function examples.digits()
   return nn.Sequential():add(nn.SpatialConvolution(1, 3, 3, 3, 1, 1, 1, 1)):add(nn.Tanh())
      :add(nn.SpatialConvolution(3, 3, 3, 3, 1, 1, 1, 1)):add(nn.Tanh())
      :add(nn.SpatialMaxPooling(2, 2)):add(nn.SpatialConvolution(3, 6, 3, 3, 1, 1, 1, 1))
      :add(nn.Tanh()):add(nn.SpatialMaxPooling(2, 2)):add(nn.View(24):setNumInputDims(3))
      :add(nn.Linear(24, 12)):add(nn.Tanh()):add(nn.Dropout(0.3)):add(nn.Linear(12, 10))
      :add(nn.LogSoftMax())
end

--- Returns a network of (N, 4) letters of 9 -> (N, 9, 1, 4).
function examples.char_lm()
   return nn.Sequential():add(nn.LookupTable(9, 5)):add(cudnn.LSTM(5, 6, 2, true, 0.2))
      :add(nn.Dropout(0.2)):add(nn.View(-1, 6)):add(nn.Linear(6, 9)):add(nn.LogSoftMax())
      :add(nn.View(-1, 4, 9)):add(nn.Transpose({2, 3})):add(nn.Unsqueeze(3, 2))
end

return examples
