--- Random networks and batches for them.
--
-- Invariant: a network is an nn.Sequential that begins with a dptspec.Poison and ends with the
-- tail: an nn.Sequential of modules from N x width to N x something (in an nn.Bottle if the batch
-- is the second dimension). Every tail has a square Linear, a ReLU or Tanh, a MulConstant and a
-- Linear at its end, so that each kind of spec.support.surgery applies. All choices come from
-- `choose`, so that a seed reproduces a network.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn
local Poison = require('spec.support.modules').Poison

local M = {}

--- Returns a source of choices: choose(n) is an integer from 1 to n, choose(list) an entry.
function M.choices(seed)
   local generator = torch.Generator()
   torch.manualSeed(generator, seed)
   return function(what)
      if type(what) == 'table' then return what[torch.random(generator, 1, #what)] end
      return torch.random(generator, 1, what)
   end
end

local function activation(choose)
   local kind = choose(3)
   if kind == 1 then return nn.Tanh() end
   return nn.ReLU(kind == 3)
end

local function normalization(width)
   local module = nn.BatchNormalization(width)
   module.running_mean:normal(0, 0.5)
   module.running_var:uniform(0.5, 1.5)
   module:evaluate()
   return module
end

local block

-- Modules from N x width to N x width.
local blocks = {
   function(_, width) return nn.Linear(width, width) end,
   function(choose) return activation(choose) end,
   function(choose) return nn.MulConstant(0.5 + choose(3) / 4) end,
   function(_, width) return normalization(width) end,
   function(choose, _, dropout) return dropout and nn.Dropout(choose(4) / 8) or nn.Sigmoid() end,
   function(choose, width, dropout, depth)
      return nn.Sequential():add(block(choose, width, dropout, depth + 1))
         :add(block(choose, width, dropout, depth + 1))
   end,
   function(choose, width, dropout, depth)
      local left = choose(width - 1)
      local function branch(n)
         return nn.Sequential():add(block(choose, width, dropout, depth + 1))
            :add(nn.Linear(width, n))
      end
      return nn.Concat(2):add(branch(left)):add(branch(width - left))
   end,
   function(choose, width, dropout, depth)
      return nn.Sequential():add(nn.ConcatTable():add(block(choose, width, dropout, depth + 1))
         :add(nn.Identity())):add(nn.CAddTable())
   end,
   function(choose, width, dropout, depth)
      return nn.Sequential():add(nn.ConcatTable():add(nn.Identity()):add(nn.Linear(width, width)))
         :add(nn.ParallelTable():add(block(choose, width, dropout, depth + 1)):add(nn.Tanh()))
         :add(nn.JoinTable(2)):add(nn.Linear(2 * width, width))
   end,
   function(_, width) -- two that share tensors
      local first, second = nn.Linear(width, width), nn.Linear(width, width)
      second:share(first, 'weight', 'bias', 'gradWeight', 'gradBias')
      return nn.Sequential():add(first):add(nn.Tanh()):add(second)
   end,
}

function block(choose, width, dropout, depth)
   return blocks[depth > 2 and choose(5) or choose(#blocks)](choose, width, dropout, depth)
end

local function tail(choose, width, dropout)
   local net = nn.Sequential():add(nn.Linear(width, width)):add(activation(choose))
   for _ = 1, choose(3) do net:add(block(choose, width, dropout, 1)) end
   return net:add(nn.MulConstant(1.25)):add(nn.Linear(width, choose(4))):add(Poison())
end

-- By kind of input: functions that return modules, width, function(rows) that creates a batch.
local families = {
   function(choose)
      local size, width = choose(6), 3 + choose(4)
      return {nn.Linear(size, width), activation(choose)}, width,
         function(rows) return torch.randn(rows, size) end
   end,
   function(choose) -- images
      local planes, filters, width = choose(3), 1 + choose(3), 3 + choose(4)
      local pooling = choose{'SpatialMaxPooling', 'SpatialAveragePooling'}
      return {nn.SpatialConvolution(planes, filters, 3, 3, 1, 1, 1, 1), activation(choose),
         nn[pooling](2, 2, 2, 2), nn.View(filters * 9):setNumInputDims(3),
         nn.Linear(filters * 9, width)}, width,
         function(rows) return torch.randn(rows, planes, 6, 6) end
   end,
   function(choose) -- frames
      local size, filters, width = 1 + choose(3), 1 + choose(4), 3 + choose(4)
      return {nn.TemporalConvolution(size, filters, 2), nn.Tanh(),
         nn.View(filters * 4):setNumInputDims(2), nn.Linear(filters * 4, width)}, width,
         function(rows) return torch.randn(rows, 5, size) end
   end,
   function(choose) -- words
      local words, width = 4 + choose(10), 3 + choose(4)
      return {nn.LookupTable(words, width), nn.Sum(2)}, width,
         function(rows) return torch.rand(rows, 3):mul(words):floor():add(1):clamp(1, words) end
   end,
   function(choose) -- pairs
      local size, width = choose(5), 3 + choose(4)
      return {nn.ParallelTable():add(nn.Linear(size, width)):add(nn.Linear(2, width)),
         choose{nn.CAddTable(), nn.CSubTable()}}, width,
         function(rows) return {torch.randn(rows, size), torch.randn(rows, 2)} end
   end,
   function(choose) -- sequences, batch first
      local size, width = choose(4), 3 + choose(4)
      local kind = choose{'LSTM', 'GRU', 'RNNTanh'}
      return {cudnn[kind](size, width, choose(2), true), nn.Select(2, -1)}, width,
         function(rows) return torch.randn(rows, 4, size) end
   end,
   function(choose) -- sequences, time first
      local size, width = choose(4), 3 + choose(4)
      local kind = choose{'SeqLSTM', 'SeqGRU'}
      return {nn[kind](size, width)}, width,
         function(rows) return torch.randn(3, rows, size) end, 2
   end,
}

--- Creates a network and its batches.
-- @return the network, function(rows) that creates a batch (a tensor or a list of tensors, of the
-- default type), the dimension of the batch
function M.make(choose)
   local modules, width, batch, dimension = choose(families)(choose)
   local net = nn.Sequential():add(Poison())
   for _, module in ipairs(modules) do net:add(module) end
   local last = tail(choose, width, not dimension)
   return net:add(dimension and nn.Bottle(last) or last), batch, dimension or 1
end

--- Returns the tail of a network.
function M.tail(net)
   local last = net.modules[#net.modules]
   return torch.type(last) == 'nn.Bottle' and last.modules[1] or last
end

return M
