--- Changes that scripts make to a network between two steps: each works on any network of
-- spec.support.random_networks, alone or in an nn.DataParallelTable.
--
-- Invariant: an operation is function(net, first, choose) that returns the new network: `first` is
-- the network itself, replica 1 of a parallel one. It draws only from `choose` and the host's
-- generator, so that the same seeds change two networks in the same way.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local tail = require('spec.support.random_networks').tail

local surgery = {}

-- Returns a module of a class in the tail of a network, at any depth.
local function pick(first, choose, name)
   return choose((tail(first):findModules(name)))
end

local function typed(module, first) return module:type(first:type()) end

-- Returns a position in the tail between its first module and the last Linear.
local function place(first, choose) return 1 + choose(#tail(first).modules - 3) end

local function width(first) return tail(first):get(1).weight:size(2) end

function surgery.replace(net, first, choose)
   local name = choose{'nn.ReLU', 'nn.Tanh', 'nn.Linear', 'nn.Sigmoid'}
   net:replace(function(module)
      if torch.type(module) ~= name then return module end
      if name ~= 'nn.Linear' then
         return typed(name == 'nn.Tanh' and nn.ReLU() or nn.Tanh(), first)
      end
      local size = module.weight:size()
      return typed(nn.Linear(size[2], size[1]), first)
   end)
   return net
end

function surgery.insert(net, first, choose)
   local module = choose(2) == 1 and nn.Linear(width(first), width(first)) or nn.Tanh()
   tail(first):insert(typed(module, first), place(first, choose))
   return net
end

function surgery.remove(net, first, choose)
   if #tail(first).modules > 5 then tail(first):remove(place(first, choose))
   else tail(first):insert(typed(nn.ReLU(), first), 2) end
   return net
end

function surgery.fields(net, first, choose)
   local value = choose(7) / 8
   for _, module in ipairs(tail(first):findModules 'nn.Dropout') do module.p = value end
   for _, module in ipairs(tail(first):findModules 'nn.MulConstant') do
      module.constant_scalar = 0.5 + value
   end
   return net
end

function surgery.freeze(net, first, choose)
   pick(first, choose, 'nn.Linear').accGradParameters = function() end
   return net
end

-- Resizes a tensor: in its own storage, or in a new one if it shares the storage.
local function grow(t, ...)
   if t:storage():size() == t:nElement() then t:resize(...) else t:set(t.new(...)) end
end

-- The last Linear gets one more output, a LookupTable one more word.
function surgery.resize(net, first)
   local last = tail(first).modules[#tail(first).modules - 1]
   for _, module in ipairs{last, first:findModules('nn.LookupTable')[1]} do
      local size = module.weight:size()
      for _, name in ipairs{'weight', 'gradWeight'} do grow(module[name], size[1] + 1, size[2]) end
      for _, name in ipairs{'bias', 'gradBias'} do
         if module[name] then grow(module[name], size[1] + 1) end
      end
      module:reset()
   end
   return net
end

-- Makes the square weight column-major.
function surgery.restride(net, first)
   local weight = tail(first):get(1).weight
   local n = weight:size(1)
   if weight:stride(1) == n and n > 1 then
      weight:set(weight:storage(), weight:storageOffset(), n, 1, n, n)
   else
      weight:set(weight:storage(), weight:storageOffset(), n, n, n, 1)
   end
   return net
end

function surgery.clone(net) return net:clone() end

function surgery.file(net) return torch.deserialize(torch.serialize(net)) end

function surgery.type(net, first)
   return net:type(first:type() == 'torch.CudaTensor' and 'torch.CudaDoubleTensor'
      or 'torch.CudaTensor')
end

function surgery.clearState(net) return net:clearState() end

return surgery
