--- dpt.distributed.group: a group of some or all ranks, as an object.
--
-- Invariant: group ranks count from 0 in the order of the group's list; error messages give world
-- ranks. A group keeps its number in the C library until it is freed or collected. Copies of an
-- object with a group share the group. Files and other Lua states have nil instead, since a group
-- belongs to the running job.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local ffi, C, lib, fail, type = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail, dptffi.type

local groups = {}

local Group = torch.class('distributed.group', groups)

local function release(made) C.dpt_world_group_release(made[0]) end

--- Makes a group. Every rank of the world calls it, with the same list.
-- @param ranks list of world ranks, in the group's order
function Group:__init(ranks)
   if type(ranks) ~= 'table' then
      fail("distributed.group: argument 'ranks' is of type %s, wanted a list of ranks",
         torch.type(ranks))
   end
   local list = ffi.new('int[?]', math.max(1, #ranks))
   self.list = {}
   for i, rank in ipairs(ranks) do
      list[i - 1] = core.checkInteger('distributed.group', 'rank ' .. i, rank)
      self.list[i] = rank
   end
   local made = ffi.new 'int[1]'
   lib.world_group(#ranks, list, made)
   -- collects unreferenced groups before the limit is reached
   if made[0] % 64 == 0 then collectgarbage() end
   self.number = ffi.gc(made, release)
end

--- The group of all ranks.
groups.world = setmetatable({number = ffi.new 'int[1]'}, Group)

--- Returns the number that identifies a group in the C library.
-- @param fn the function of distributed that calls this, for messages
-- @param group nil: all ranks
function groups.number(fn, group)
   if group == nil then return 0 end
   if getmetatable(group) ~= Group then
      fail('distributed.%s: got %s, wanted a group of distributed.group', fn, torch.type(group))
   end
   return (group.number or fail('distributed.%s: the group was freed', fn))[0]
end

--- Returns this rank's group rank (-1 if it is not a member) and the number of ranks.
function groups.rankAndSize(fn, group)
   local rank, size = ffi.new 'int[1]', ffi.new 'int[1]'
   lib.world_group_rank(groups.number(fn, group), rank, size)
   return rank[0], size[0]
end

--- Returns this rank's group rank, from 0; nil if it is not a member of the group.
-- @function distributed.group:rank
-- @as distributed
-- @return a number or nil
-- @usage require('dpt').distributed.group{0}:rank() --> 0
function Group:rank()
   local rank = groups.rankAndSize('group', self)
   return rank >= 0 and rank or nil
end

--- Returns the number of ranks in the group.
-- @function distributed.group:size
-- @as distributed
-- @return a number
-- @usage local g = require('dpt').distributed.group{0} return g:size() --> 1
function Group:size() return (select(2, groups.rankAndSize('group', self))) end

--- Returns the world rank of a rank of the group.
-- @function distributed.group:globalRank
-- @as distributed
-- @follows PyTorch's get_global_rank
-- @param rank number: a group rank, from 0
-- @return a number
-- @usage require('dpt').distributed.group{0}:globalRank(0) --> 0
function Group:globalRank(rank)
   local size = self:size()
   core.checkInteger('distributed.group:globalRank', 'rank', rank)
   if rank < 0 or rank >= size then
      fail("distributed.group:globalRank: argument 'rank' is out of range: got %d, wanted 0 to %d",
         rank, size - 1)
   end
   return self.list and self.list[rank + 1] or rank
end

--- Releases the group, which this rank no longer uses. Its communicators are freed when the next
-- group is made after all ranks of the world have released it.
-- @function distributed.group:free
-- @as distributed
-- @return nothing
-- @usage require('dpt').distributed.group{0}:free()
function Group:free()
   if self == groups.world then return end
   if self.number then release(ffi.gc(self.number, nil)) end
   self.number = nil
end

function Group:__tostring__()
   if not self.list then return 'the group of all ranks' end
   return 'a group of the ranks ' .. table.concat(self.list, ', ')
end

function Group:__clone() return self end

function Group:__saved() end -- luacheck: no self

--- The option `group` for dpt.distributed.options: a group of which this rank is a member.
groups.option = {
   function(value) return getmetatable(value) == Group and value:rank() ~= nil end,
   'a group of distributed.group that has this rank in it',
}

return groups
