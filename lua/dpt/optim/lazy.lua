--- dpt.optim.lazy: fields of a state that are computed when they are read.
-- Invariant: files contain the fields that they are computed from.
local M = {}

local fields = {} -- by name: function(state), which returns the value, or nil
local defaults = {} -- by name: the value that an assignment of nil assigns

local lazy = {__index = function(state, key)
   local compute = fields[key]
   return compute and compute(state)
end}

function lazy.__newindex(state, key, value)
   if value == nil then value = defaults[key] end
   rawset(state, key, value)
end

--- Defines a field.
-- @param key string: its name
-- @param compute function(state): returns the value, or nil; reads the state by rawget
-- @param default? any: the value that an assignment of nil assigns
function M.define(key, compute, default) fields[key], defaults[key] = compute, default end

--- Gives a state these fields, unless it has a metatable.
function M.attach(state)
   if getmetatable(state) == nil then setmetatable(state, lazy) end
end

return M
