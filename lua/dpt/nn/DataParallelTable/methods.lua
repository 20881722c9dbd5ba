--- dpt.nn.DataParallelTable.methods: methods of a parallel network other than those of a training
-- step.
--
-- Invariant: methods read, change and copy replica 1; the others are updated at the next use.
-- Before replica 1 is copied or changed, the state that only replicas 2..n hold (statistics,
-- pending gradients) is copied to it. A method that replicas cannot support raises and names an
-- alternative.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local copyTree = require 'dpt.clone'
local checkDevices = require('dpt.parallel.dispatch.devices').check
local Params = require 'dpt.parallel.params'
local replica = require 'dpt.parallel.dispatch.replica'
local Threads = require 'dpt.parallel.dispatch.threads'
local child = require 'dpt.nn.child'
local options = require 'dpt.nn.DataParallelTable.options'
local type = dptffi.type

local methods = {}

local function fail(self, format, ...)
   return dptffi.fail(torch.type(self) .. ': ' .. format, ...)
end

-- Calls a method of replica 1 with its device as the current one.
local function callFirst(self, method, ...)
   local module = self.modules[1]
   if module then
      cutorch.withDevice(self.gpuAssignments[1], module[method], module, ...)
   end
end

--- Adds the network and its devices: add(module, {devices}), or add(module, device) once per
-- device; of these calls only the first one's module is used.
-- @return self
function methods:add(module, gpus)
   if not torch.isTypeOf(module, 'nn.Module') or child.isClass(module) then
      fail(self, 'add wants an nn.Module as argument 1, got %s', child.describe(module))
   end
   child.rejectDistributed(torch.type(self), 'add', module, options.WRAPPED)
   for _, inner in ipairs(module:listModules()) do
      if inner ~= module and torch.isTypeOf(inner, 'nn.MixedPrecision') then
         fail(self, 'add got a network with nn.MixedPrecision in it, wanted it around the whole'
            .. ' network: nn.DataParallelTable(1):add(nn.MixedPrecision(network), devices)')
      elseif inner.ownDevices then
         fail(self, 'add got a network with %s in it, which chooses devices itself; each replica'
            .. ' must stay on its device', torch.type(inner))
      end
   end
   if type(gpus) == 'table' and #self.modules > 0 then
      fail(self, 'add with a table of devices must be called once; a module was already added')
   end
   local wrong, list = checkDevices(self.gpuAssignments, gpus)
   if wrong then fail(self, 'add %s', wrong) end
   self.modules[1] = self.modules[1] or module
   for _, device in ipairs(list) do table.insert(self.gpuAssignments, device) end
   self.impl:applyChanges()
   self:resetTransient()
   self:_updateType()
   return self
end

--- Returns a copy of replica 1 on the current device.
-- @function nn.DataParallelTable:replicate
-- @as author
-- @return a module
-- @usage torch.type(nn.DataParallelTable(1):add(nn.Linear(2, 1):cuda(), {1,
--       2}):replicate()) --> nn.Linear
function methods:replicate()
   return copyTree(self.modules[1])
end

--- Returns replica 1's parameters and gradients. (No tail call: a network that contains itself must
-- overflow the stack, not loop forever.)
function methods:parameters()
   local parameters, gradients = self:_firstReplica():parameters()
   return parameters, gradients
end

function methods:workingParameters()
   local parameters, gradients = self:_firstReplica():workingParameters()
   return parameters, gradients
end

--- Returns the lists of parameters and gradients of every replica. If they are flat, each list
-- holds the flat tensors.
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
   self:_firstReplica():updateParameters(learningRate)
   self.needsSync = true
end

function methods:reset(stdv)
   callFirst(self, 'reset', stdv)
   self.needsSync = true
end

-- Calls a method of every replica.
function methods:_callAll(method, ...)
   if not self.modules[1] then return end
   self:_applyScriptChanges()
   self:_makeReplicas()
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

--- Calls f(module, i) for every replica i in the replica's thread, with its device as the current
-- one; for example to reset states, or to read or set fields of one replica. With threads(),
-- upvalues, arguments and results are copied, and tensors are shared. Parameters remain replica
-- 1's: the next forward overwrites parameters that f wrote on other replicas.
-- @function nn.DataParallelTable:applyToReplicas
-- @as ofreplicas
-- @param f function: receives a module and its number
-- @return a list of the results of f, one per replica
-- @usage nn.DataParallelTable(1):add(nn.Linear(2, 1):cuda(), {1, 2}):applyToReplicas(function(_, i)
--       return 10 * i
--    end) --> {10 20}
function methods:applyToReplicas(f)
   options.checkFunction(torch.type(self), 'applyToReplicas', f)
   self:_firstReplica()
   self:_makeReplicas()
   return self.impl:exec(f)
end

--- Calls f for this module and for those of replica 1, and schedules a rebuild of the other
-- replicas.
function methods:apply(f)
   self:_copyStateToFirst()
   f(self)
   for _, module in ipairs(self.modules) do module:apply(f) end
   self.impl:applyChanges()
   self.needsSync = true
end

--- Replaces every module of replica 1, outer ones first, by f(module); the other replicas are
-- rebuilt.
function methods:replace(f)
   self:_copyStateToFirst()
   return torch.getmetatable('nn.Module').replace(self, f)
end

--- Returns the name of the type; with a name, converts the network to that type, which must be a
-- device's.
function methods:type(typename, tensorCache)
   if not typename then return self._type end
   if not options.types[typename] then
      fail(self, 'type wants a floating type of devices, such as torch.CudaTensor, got %s; get(1)'
         .. ' returns the network itself', tostring(typename))
   end
   self:_copyStateToFirst()
   self.impl:applyChanges()
   self:resetTransient()
   self._type = typename
   self.output = torch.getmetatable(typename).new()
   if self.gradInput then self.gradInput = torch.getmetatable(typename).new() end
   callFirst(self, 'type', typename, tensorCache)
   return self
end

--- Moves every replica except the first into a thread with its own Lua state, so that replicas run
-- concurrently.
-- @function nn.DataParallelTable:threads
-- @as ofreplicas
-- @param initFunc? function: receives a replica's number, in the replica's Lua state; requires the
--    modules that the network uses
-- @param syncCopies? boolean: true: copies are made one at a time
-- @return the module
-- @usage local net = nn.DataParallelTable(1):add(nn.Linear(2, 1):cuda(), {1, 2}):threads()
--    local size = net:forward(torch.CudaTensor(4, 2):fill(1)):size()
--    net.impl:close()
--    return size --> 4x1
function methods:threads(initFunc, syncCopies)
   if initFunc ~= nil then options.checkFunction(torch.type(self), 'threads', initFunc) end
   self:_copyStateToFirst()
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

--- Raises: modules are inserted into, and removed from, the replicated network, net:get(1).
-- @function nn.DataParallelTable:insert
-- @as method
-- @within nn data-parallel
-- @also nn.DataParallelTable:remove()
-- @param ... any: arguments of the network's method
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
   fail(self, 'accUpdateGradParameters would update each replica with its own rows only; call'
      .. ' backward and then updateParameters(learningRate)')
end
methods.sharedAccUpdateGradParameters = methods.accUpdateGradParameters

function methods:__tostring__()
   return 'DataParallelTable: ' .. #self.gpuAssignments .. ' x ' .. tostring(self.modules[1])
end

--- Common properties of nn.DataParallelTable's methods, for the reference.
-- @pattern ofreplicas
-- @within nn data-parallel
-- @follows Torch7's cunn, or dpt's own
-- @raise the error of a replica, with the replica's number and device

return methods
