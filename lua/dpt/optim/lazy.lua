--- dpt.optim.lazy: fields of a state that are computed when they are read.
-- Invariant: files contain the fields that they are computed from.
local M = {}

local fields = {} -- by name: function(state), which returns the value, or nil

local lazy = {__index = function(state, key)
   local compute = fields[key]
   return compute and compute(state)
end}

--- Defines a field.
-- @param key string: its name
-- @param compute function(state): returns the value, or nil; reads the state by rawget
function M.define(key, compute) fields[key] = compute end

--- Gives a state these fields, unless it has a metatable.
function M.attach(state)
   if getmetatable(state) == nil then setmetatable(state, lazy) end
end

return M
