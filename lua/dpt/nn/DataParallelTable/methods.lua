--- dpt.nn.DataParallelTable.methods: what a parallel network does apart from steps of training.
--
-- Invariant: replica 1 is what is asked, changed and copied; the others follow at the next use.
-- What replicas 2..n hold alone (statistics, gradients that wait) has reached replica 1 before it
-- is copied or changed. What replicas cannot do raises and says what to do instead.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local copyTree = require 'dpt.clone'
local checkDevices = require('dpt.parallel.dispatch.devices').check
local Params = require 'dpt.parallel.params'
local replica = require 'dpt.parallel.dispatch.replica'
local Threads = require 'dpt.parallel.dispatch.threads'
local part = require 'dpt.nn.part'
local options = require 'dpt.nn.DataParallelTable.options'
local type = dptffi.type

local methods = {}

local function fail(self, format, ...)
   return dptffi.fail(torch.type(self) .. ': ' .. format, ...)
end

-- Calls a method of replica 1 with its device current.
local function callFirst(self, method, ...)
   local module = self.modules[1]
   if module then
      cutorch.withDevice(self.gpuAssignments[1], module[method], module, ...)
   end
end

--- add(module, {devices}), or add(module, device) once for each device, of which the first
-- module counts.
-- @return self
function methods:add(module, gpus)
   if not torch.isTypeOf(module, 'nn.Module') or part.isClass(module) then
      fail(self, 'add wants an nn.Module as argument 1, got %s', part.describe(module))
   end
   part.wantBare(torch.type(self), 'add', module, options.WRAPPED)
   for _, inner in ipairs(module:listModules()) do
      if inner.ownDevices then
         fail(self, 'add got a network with %s in it, which chooses devices itself: replicas have'
            .. ' theirs', torch.type(inner))
      end
   end
   if type(gpus) == 'table' and #self.modules > 0 then
      fail(self, 'add with a table of devices is to be called once, there is a module already')
   end
   local wrong, list = checkDevices(self.gpuAssignments, gpus)
   if wrong then fail(self, 'add %s', wrong) end
   self.modules[1] = self.modules[1] or module
   for _, device in ipairs(list) do table.insert(self.gpuAssignments, device) end
   self.impl:applyChanges()
   self:resetTransient()
   self:_readType()
   return self
end

--- A copy of replica 1 on the current device.
-- @function nn.DataParallelTable:replicate
-- @as author
-- @return a module
-- @usage torch.type(nn.DataParallelTable(1):add(nn.Linear(2, 1):cuda(), {1,
--       2}):replicate()) --> nn.Linear
function methods:replicate()
   return copyTree(self.modules[1])
end

--- Replica 1's parameters and gradients. (A network that is inside itself overflows the stack: a
-- call in the place of this one would go on forever.)
function methods:parameters()
   local parameters, gradients = self:_first():parameters()
   return parameters, gradients
end

--- The lists of parameters and gradients of every replica; if they are flat, each list holds
-- the flat tensors.
-- @function nn.DataParallelTable:moduleParameters
-- @as ofreplicas
-- @return a list of {parameters, gradients}
-- @usage #nn.DataParallelTable(1):add(nn.Linear(2, 1):cuda(), {1, 2}):moduleParameters() --> 2
function methods:moduleParameters()
   self:_prepare()
   if not self.flattenedParams then return self.impl:run(Params.list) end
   local lists = {}
   for i, flat in ipairs(self.flattenedParams) do
      lists[i] = {{}, {}}
      for k, tensor in ipairs(flat) do table.insert(lists[i][2 - k % 2], tensor) end
   end
   return lists
end

function methods:updateParameters(learningRate)
   self:syncGradients()
   self:_first():updateParameters(learningRate)
   self.needsSync = true
end

function methods:reset(stdv)
   callFirst(self, 'reset', stdv)
   self.needsSync = true
end

-- Calls a method of every replica.
function methods:_callAll(method, ...)
   if not self.modules[1] then return end
   self:_follow()
   self:_replicas()
   self.impl:run(replica.callQuietly, method, ...)
   self:_takeSnapshot()
end

function methods:training()
   self:_callAll('training')
   self.train = true
end

function methods:evaluate()
   self:_callAll('evaluate')
   self.train = false
   self:syncBuffers()
end

function methods:forget()
   self:_callAll 'forget'
   return self
end

function methods:remember(mode)
   self:_callAll('remember', mode)
   return self
end

--- Calls f(module, i) for every replica i where it lives, with its device current: to reset states,
-- to read or set fields of one replica. With threads() upvalues, arguments and results are copied
-- and tensors shared. Parameters stay replica 1's: the next forward copies them over what f wrote
-- to those of others.
-- @function nn.DataParallelTable:applyToReplicas
-- @as ofreplicas
-- @param f function: gets a module and its number
-- @return a list of what f returns, one for each replica
-- @usage nn.DataParallelTable(1):add(nn.Linear(2, 1):cuda(), {1, 2}):applyToReplicas(function(_, i)
--       return 10 * i
--    end) --> {10 20}
function methods:applyToReplicas(f)
   options.checkFunction(torch.type(self), 'applyToReplicas', f)
   self:_first()
   self:_replicas()
   return self.impl:exec(f)
end

--- Calls f for this module and for those of replica 1; the other replicas are then copied anew.
function methods:apply(f)
   self:_flush()
   f(self)
   for _, module in ipairs(self.modules) do module:apply(f) end
   self.impl:applyChanges()
   self.needsSync = true
end

--- Replaces every module of replica 1, the outer ones first, by f(module); the others
-- follow.
function methods:replace(f)
   self:_flush()
   return torch.getmetatable('nn.Module').replace(self, f)
end

--- The type's name, or the same network with another type of tensors, which must be a device's.
function methods:type(typename, tensorCache)
   if not typename then return self._type end
   if not options.types[typename] then
      fail(self, 'type wants a floating type of devices, replicas do not live on the host:'
         .. ' torch.CudaTensor, torch.CudaDoubleTensor or torch.CudaHalfTensor, got %s; get(1) is'
         .. ' the network itself', tostring(typename))
   end
   self:_flush()
   self.impl:applyChanges()
   self:resetTransient()
   self._type = typename
   self.output = torch.getmetatable(typename).new()
   if self.gradInput then self.gradInput = torch.getmetatable(typename).new() end
   callFirst(self, 'type', typename, tensorCache)
   return self
end

--- Lets every replica but the first live in a thread with a Lua state of its own, so that they are
-- called at the same time.
-- @function nn.DataParallelTable:threads
-- @as ofreplicas
-- @param initFunc? function: gets a replica's number, in its state: requires what the network is
--    made of
-- @param syncCopies? boolean: true: copies are made one after the other
-- @return the module
-- @usage local net = nn.DataParallelTable(1):add(nn.Linear(2, 1):cuda(), {1, 2}):threads()
--    local size = net:forward(torch.CudaTensor(4, 2):fill(1)):size()
--    net.impl:close()
--    return size --> 4x1
function methods:threads(initFunc, syncCopies)
   if initFunc ~= nil then options.checkFunction(torch.type(self), 'threads', initFunc) end
   self:_flush()
   self.impl:close()
   self.impl = Threads(self, initFunc, syncCopies)
   return self
end

function methods:clone(...)
   if select('#', ...) > 0 then
      fail(self, 'clone cannot share %s between replicas on several devices; clone without'
         .. ' arguments', tostring((...)))
   end
   return copyTree(self)
end

function methods:share()
   fail(self, 'replicas cannot share tensors with another module; share get(1) before a forward')
end

--- Raises: modules are put into the network that replicas have, net:get(1).
-- @function nn.DataParallelTable:insert
-- @as method
-- @within nn data-parallel
-- @also nn.DataParallelTable:remove()
-- @param ... any: as for the network
-- @return nothing
-- @usage local net = nn.DataParallelTable(1):add(nn.Linear(2, 1):cuda(), {1, 2})
--    return select(2, pcall(net.insert, net, nn.ReLU(), 1)):match 'do it to get%(1%)'
--    --> do it to get(1)
for _, name in ipairs{'insert', 'remove'} do
   methods[name] = function(self)
      fail(self, '%s would change what is around the network: do it to get(1), the network itself,'
         .. ' and the replicas follow', name)
   end
end

function methods:accUpdateGradParameters()
   fail(self, 'accUpdateGradParameters would change each replica by its own rows alone; call'
      .. ' backward and then updateParameters(learningRate)')
end
methods.sharedAccUpdateGradParameters = methods.accUpdateGradParameters

function methods:__tostring__()
   return 'DataParallelTable: ' .. #self.gpuAssignments .. ' x ' .. tostring(self.modules[1])
end

--- What methods of nn.DataParallelTable have in common, for the reference.
-- @pattern ofreplicas
-- @within nn data-parallel
-- @follows Torch7's cunn, or dpt's own
-- @raise what a replica raises, with its number and its device

return methods
