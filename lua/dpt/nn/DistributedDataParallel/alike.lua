--- dpt.nn.DistributedDataParallel.alike: how ranks become and stay alike.
--
-- Invariant: before anything of a network travels, all ranks have found that they have the same
-- one. Parameters and gradients of a network on one device (or in host memory) are flat from then
-- on; those of an nn.DataParallelTable are its own.
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local distributed = require 'dpt.distributed'
local Params = require 'dpt.parallel.params'
local buffers = require 'dpt.parallel.params.buffers'
local digest = require 'dpt.parallel.ranks.digest'
local exchange = require 'dpt.parallel.ranks.exchange'
local scale = require 'dpt.parallel.ranks.scale'
local options = require 'dpt.nn.DistributedDataParallel.options'

local alike = {}

local NAME = 'nn.DistributedDataParallel'

-- Raises unless all ranks have the same network, and lays its parameters out.
function alike:_compare()
   local module = self.modules[1]
   digest.compare(NAME, digest.of(module, buffers.statistics(module), options.texts(self)))
   self.table = torch.isTypeOf(module, 'nn.DataParallelTable') and module or nil
   self.order, self.ordered = nil, false
   for _, numbers in ipairs(exchange(self.table and #module.gpuAssignments or 1)) do
      self.sender.parts = math.max(self.sender.parts, numbers[1])
   end
   self.foreign = scale.foreign(module, NAME)
   if self.table then return end
   self.params = Params.new{parameters = 0, gradients = 0, buffers = 0}
   self.dispatcher = {run = function(_, f, ...) return {f(module, 1, ...)} end}
end

--- The flat parameters and gradients; lays them out if a script has changed the network.
function alike:_layOut()
   local module = self.modules[1]
   if self.table then
      self.table:flattenParameters()
      self.params = self.table.params
   elseif self.params:changed(module) then
      local list = module:parameters() or {}
      local device = list[1] and comm.device(list[1]) or 0
      if self.params.seen then self:_compare() end
      self.params:flatten(module, device, NAME)
      self.params:build(module, device, self.dispatcher)
      self.device = device
   end
   self.params.sender, self.params.order = self.sender, self.order
   return self.params
end

--- Rank 0's parameters and running statistics become those of all ranks.
function alike:syncParameters()
   if self.ranks == 1 then return end
   local params, list = self:_layOut(), buffers.statistics(self.modules[1])
   for _, t in ipairs(params.source) do
      self.sentBytes.parameters = self.sentBytes.parameters + t:nElement() * t:elementSize()
      distributed.broadcast(t, 0)
   end
   if #list > 0 then distributed.broadcast(list, 0) end
end

-- Rank 0's random states become those of all ranks: so that what is drawn outside of passes (the
-- order of data) is alike, and passes draw as parts of one batch. Ranks may have more devices or
-- fewer.
function alike:_shareRandom()
   local host, devices = unpack(distributed.broadcastValue({torch.getRNGState(),
      cutorch.getRNGStateAll()}, 0))
   torch.setRNGState(host)
   for device = 1, math.min(#devices, cutorch.getDeviceCount()) do
      cutorch.setRNGState(devices[device], device)
   end
end

--- Lets all ranks have the same running statistics, by the rule in the field buffers.
function alike:syncBuffers()
   if self.ranks == 1 or self.buffers == 'own' then return end
   local list = buffers.statistics(self.modules[1])
   if #list == 0 then return end
   for _, t in ipairs(list) do
      self.sentBytes.buffers = self.sentBytes.buffers + t:nElement() * t:elementSize()
   end
   if self.buffers == 'first' then
      distributed.broadcast(list, 0)
   else
      distributed.allReduce(list, 'mean')
   end
end

return alike
