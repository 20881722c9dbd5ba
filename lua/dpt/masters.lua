--- dpt.masters: the float parameters that an optimizer updates, and the tensors that modules use in
-- their place: a 16-bit copy, and a float copy of some elements. For training in mixed precision.
--
-- Invariant: after refresh() the copies equal the masters, rounded to nearest even. Storages count
-- their writes, so refresh() detects which side was written to: masters are converted to the copies
-- by one operation each, or elements of the copies that differ are copied back. Optimizers that
-- write masters and 16-bit copy in one pass call updated(), and replays of a captured step
-- (cutorch.graph) call refresh() before and record() after.
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local captured = require 'dpt.device.captured'
local dptffi = require 'dpt.ffi'
local C, fail = dptffi.C, dptffi.fail

local Masters = {}
Masters.__index = Masters

-- Set of the masters that optimizers look up. The masters in it do not overlap.
local registered = setmetatable({}, {__mode = 'k'})

local function copyWrites(self) return core.writes(self.copy) + core.writes(self.kept) end

--- Records that the copies equal the masters.
function Masters:record()
   self.flatWrites, self.copyWrites = core.writes(self.flat), copyWrites(self)
   self.failures = tonumber(C.dpt_failures())
   captured.keepEqual(self)
end

--- Returns true if neither side was written to since they were equal.
function Masters:isEqual()
   return core.writes(self.flat) == self.flatWrites and copyWrites(self) == self.copyWrites
      and tonumber(C.dpt_failures()) == self.failures
end

-- Implements new on the device of the masters.
local function create(flat, typename, positions)
   local self = setmetatable({flat = flat, count = flat:nElement()}, Masters)
   self.copy = torch.getmetatable(typename).new(self.count)
   self.kept = flat.new(positions:nElement())
   if positions:nElement() > 0 then
      self.indices = comm.device(flat) > 0 and positions:cudaLong() or positions
   end
   return self
end

-- Copies elements of the masters to the float copy.
local function pushKept(self)
   if self.indices then self.kept:index(self.flat, 1, self.indices) end
end

local function push(self)
   self.copy:copy(self.flat)
   pushKept(self)
end

-- Copies elements of the copies that differ from the masters to the masters.
local function pull(self)
   local flat, copy = self.flat, self.copy
   local differs = copy.new(self.count):copy(flat):ne(copy)
   flat:copy(torch.where(differs, flat.new(self.count):copy(copy), flat))
   if self.indices then flat:indexCopy(1, self.indices, self.kept) end
   copy:copy(flat) -- its elements of the float copy
end

local function run(self, f) if self.count > 0 then cutorch.withDeviceOf(self.flat, f, self) end end

-- Records a write to these masters alone: other masters in the storage have not changed.
-- @param before number of writes to the storage before this one
local function settle(self, before)
   for other in pairs(registered) do
      if other.flat.storage_ == self.flat.storage_ and other.flatWrites == before
         and not core.overlap(other.flat, self.flat) then
         other.flatWrites = core.writes(self.flat)
      end
   end
end

--- Registers masters that were copied and are in sync. They replace registered masters in the same
-- memory.
function Masters:register()
   if self.count > 0 then
      for other in pairs(registered) do
         if core.overlap(other.flat, self.flat) then registered[other] = nil end
      end
      registered[self] = true
   end
   self:record()
end

--- Creates masters and their copies.
-- @param flat contiguous vector of floats
-- @param typename type of the 16-bit copy, which has all elements
-- @param positions LongTensor: positions of the elements of the float copy, from 1
function Masters.new(flat, typename, positions)
   local self = cutorch.withDeviceOf(flat, create, flat, typename, positions)
   run(self, push)
   self:register()
   return self
end

--- Makes masters and copies equal. Raises if both were written to since the last call.
function Masters:refresh()
   if self:isEqual() then return end
   local flat, copies = core.writes(self.flat), copyWrites(self)
   local failures = tonumber(C.dpt_failures())
   local isConflict = failures == self.failures and flat ~= self.flatWrites
      and copies ~= self.copyWrites
   local isPull = failures == self.failures and flat == self.flatWrites
   run(self, isPull and pull or push)
   if isPull then settle(self, flat) end
   self:record()
   if isConflict then
      fail('nn.MixedPrecision: since the last pass, both the weights of modules and the parameters'
         .. ' that getParameters returns were written to: write to one of them; the parameters are'
         .. ' used from now on')
   end
end

--- Returns the masters of which x is a part, and the part of the 16-bit copy that belongs to it,
-- which an optimizer's kernel must write along with x; nothing if there are none, or the backend of
-- x has no such kernel.
-- @param x contiguous tensor
function Masters.copyOf(x)
   local count = x:nElement()
   if next(registered) == nil or count == 0 or not x:isContiguous() then return nil end
   for self in pairs(registered) do
      local before = x:storageOffset() - self.flat:storageOffset()
      if self.flat.storage_ == x.storage_ and before >= 0 and before + count <= self.count
         and C.dpt_step_copies(x) ~= 0 then
         self:refresh()
         return self, self.copy:narrow(1, before + 1, count)
      end
   end
end

--- Records that an optimizer has written x and its copy.
-- @param copy what copyOf returned for x
function Masters:updated(copy)
   settle(self, self.flatWrites)
   if copy:nElement() == self.count then
      run(self, pushKept)
      self.flatWrites = core.writes(self.flat)
   end
   self.copyWrites = copyWrites(self)
   captured.keepEqual(self)
end

--- Makes the copies equal to x after an optimizer has written it.
function Masters.follow(x)
   if not torch.isTensor(x) then return end
   for self in pairs(registered) do
      if core.overlap(self.flat, x) then self:refresh() end
   end
end

return Masters
