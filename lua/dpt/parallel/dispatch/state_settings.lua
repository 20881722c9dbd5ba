--- dpt.parallel.dispatch.state_settings: settings of a Lua state (default type, seed, streams,
-- flags of cudnn) that every worker copies.
--
-- Invariant: only the list below defines these settings. A dispatcher that runs replicas in other
-- states sends a snapshot of them if one has changed. A setting's value is a plain value that can
-- be compared by ==. Settings of the whole process (dpt.setDeterministic, the generators of
-- devices) need no copy, and the current device is set per replica.
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local dptffi = require 'dpt.ffi'
local lib = dptffi.lib

local settings = {}

-- Seed of the host's generator, and how often it was set: setting the same seed again restarts the
-- generator.
local seed, seedings

local function getSeed()
   if seedings ~= core.seedings then
      seedings = core.seedings
      seed = ('%.0f %d'):format(torch.initialSeed(), seedings)
   end
   return seed
end

-- Seeds replica i's generator; each replica draws different numbers, but torch.initialSeed() is the
-- same in all.
local function setSeed(value, i)
   local number = tonumber(value:match '%d+')
   local named, own = torch.Generator(), torch.Generator()
   torch.manualSeed(named, number)
   torch.manualSeed(own, (number + (i - 1) * 2654435761) % 2 ^ 32)
   local state = torch.getRNGState(own)
   state:narrow(1, 1, 8):copy(torch.getRNGState(named):narrow(1, 1, 8)) -- initialSeed's result
   torch.setRNGState(state)
end

local slot = dptffi.ffi.new 'int[1]'

-- Returns the current stream of every device.
local function getStreams()
   if cutorch.getNumStreams() == 0 then return '' end
   local list = {}
   for device = 1, cutorch.getDeviceCount() do
      lib.stream_get(device, slot)
      list[device] = slot[0]
   end
   return table.concat(list, ' ')
end

local function setStreams(value)
   local device = 0
   for stream in value:gmatch '%d+' do
      device = device + 1
      lib.stream_set(device, tonumber(stream))
   end
end

--- List of all settings: {name, get(), set(value, i)}; set is called in the state of replica i.
settings.list = {
   {name = 'default tensor type', get = torch.getdefaulttensortype,
      set = torch.setdefaulttensortype},
   {name = 'threads of host operations', get = torch.getnumthreads, set = torch.setnumthreads},
   {name = 'seed of the host', get = getSeed, set = setSeed},
   {name = 'current streams', get = getStreams, set = setStreams},
}

for _, name in ipairs{'benchmark', 'fastest', 'verbose'} do
   table.insert(settings.list, {
      name = 'cudnn.' .. name,
      get = function() return class.packages.cudnn[name] end,
      set = function(value) class.packages.cudnn[name] = value end,
   })
end

--- Returns the settings of this state.
-- @param last previous snapshot, or nil
-- @return a list of values; `last` itself if nothing has changed
function settings.get(last)
   local snapshot, changed = {}, last == nil
   for k, setting in ipairs(settings.list) do
      snapshot[k] = setting.get()
      changed = changed or snapshot[k] ~= last[k]
   end
   return changed and snapshot or last
end

local set = {} -- last snapshot that was set in this state

--- Sets, in this Lua state (of replica i), the settings that differ from the last snapshot.
function settings.set(snapshot, i)
   for k, setting in ipairs(settings.list) do
      if snapshot[k] ~= set[k] then setting.set(snapshot[k], i) end
   end
   set = snapshot
end

return settings
