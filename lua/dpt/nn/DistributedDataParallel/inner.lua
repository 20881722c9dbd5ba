--- dpt.nn.DistributedDataParallel.inner: methods of a distributed network that are forwarded to the
-- network inside.
--
-- Invariant: each method returns the inner network's result. Gradients pending on ranks are summed
-- before they are used.
local dptffi = require 'dpt.ffi'

local inner = {}

for _, name in ipairs{'parameters', 'workingParameters', 'findModules', 'apply', 'inputSplit',
   'outputSplit', 'runningStatistics', 'reset'} do
   inner[name] = function(self, ...) return self.modules[1][name](self.modules[1], ...) end
end

--- Copies the network inside, which torch.save writes as well.
function inner:__clone(plain)
   self:_checkWhole('the network is copied')
   return plain().modules[1]
end

function inner:clone(...)
   self:_checkWhole('the network is copied')
   return self.modules[1]:clone(...)
end

function inner:getParameters()
   local module = self.modules[1]
   local parameters, gradients = module:getParameters()
   if self.ranks > 1 then self:_updateLayout() end
   return parameters, gradients
end

function inner:zeroGradParameters()
   self.updatedWhilePending = self.pending:discard() or self.updatedWhilePending
   self.pendingWeights = nil
   self.modules[1]:zeroGradParameters()
end

function inner:updateParameters(learningRate)
   if self.pending:isPending() then self:syncGradients() end
   self.modules[1]:updateParameters(learningRate)
end

function inner:type(typename, tensorCache)
   local module = self.modules[1]
   if not typename then return module:type() end
   if self.pending:isPending() then self:syncGradients() end
   module:type(typename, tensorCache)
   self._type, self.output, self.gradInput = typename, module.output, module.gradInput
   return self
end

function inner:clearState()
   local module = self.modules[1]
   module:clearState()
   self.output, self.gradInput = module.output, module.gradInput
   return self
end

function inner:accUpdateGradParameters()
   dptffi.fail('nn.DistributedDataParallel: accUpdateGradParameters would change each rank by its'
      .. ' own rows alone; call backward and then updateParameters(learningRate)')
end
inner.sharedAccUpdateGradParameters = inner.accUpdateGradParameters

--- Raises, as add does: modules are inserted into the inner network, net:get(1).
-- @function nn.DistributedDataParallel:insert
-- @as method
-- @within nn data-parallel
-- @also nn.DistributedDataParallel:remove()
-- @param ... any: arguments of the network's method
-- @return nothing
-- @usage local net = nn.DistributedDataParallel(nn.Sequential():add(nn.Tanh()))
--    return select(2, pcall(net.insert, net, nn.ReLU(), 1)):match 'do it to the network before.-,'
--    --> do it to the network before it is wrapped,
for _, name in ipairs{'add', 'insert', 'remove'} do
   inner[name] = function()
      dptffi.fail('nn.DistributedDataParallel: %s would change what is around the network: do it to'
         .. ' the network before it is wrapped, or on all ranks to net:get(1), the network inside',
         name)
   end
end

function inner:__tostring__()
   return ('nn.DistributedDataParallel: rank %d of %d x %s'):format(self.rank, self.ranks,
      tostring(self.modules[1]))
end

return inner
