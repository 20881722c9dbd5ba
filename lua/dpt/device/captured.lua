--- dpt.device.captured: settings of scripts' tables that a captured graph depends on.
--
-- Invariant: kernels of a graph keep the numbers that they were captured with. Code that passes
-- settings of a table to kernels notes them here during a capture. Each replay of the graph
-- compares them with the current values and raises if they differ. Outside a capture this costs one
-- test.
local fail = require('dpt.ffi').fail
local type = require('dpt.ffi').type
local torch = require('dpt.class').torch

local M = {}

--- Notes of the running capture: a list of {owner, table, key, value}, in which notes[t] is a set
-- of owners; notes.pairs is a set of objects (M.keepEqual), notes.fields a list of {object, key,
-- value, value before} (M.set). nil outside a capture. A Lua state captures one graph at a time.
M.notes = nil

--- Notes settings of a table, once for each capture and owner.
-- @param owner string: the name of the table's owner in messages
-- @param t table: the table with the settings
-- @param keys list: the names of the settings; a missing setting has the value nil
function M.note(owner, t, keys)
   local notes = M.notes
   if not notes then return end
   local owners = notes[t] or {}
   if owners[owner] then return end
   notes[t], owners[owner] = owners, true
   for i = 1, #keys do notes[#notes + 1] = {owner, t, keys[i], t[keys[i]]} end
end

--- Notes the first n entries of an object's list.
-- @param self object: the owner of the list
-- @param field string: the name of the list
-- @param n number: number of entries
function M.noteList(self, field, n)
   if not M.notes then return end
   local keys = {}
   for i = 1, n do keys[i] = i end
   M.note(('%s of %s'):format(field, torch.type(self)), self[field], keys)
end

--- Notes an object with tensors that the captured work leaves equal. Replays call its methods
-- refresh(), which makes the tensors equal, and record(), which records that they are; isEqual()
-- returns true if the tensors were not written to since.
function M.keepEqual(object)
   if M.notes then M.notes.pairs[object] = true end
end

--- Sets a field of an object that describes queued work. A capture runs no work, so the field is
-- restored at its end, and set by each replay.
function M.set(object, key, value)
   local fields = M.notes and M.notes.fields
   if fields then fields[#fields + 1] = {object, key, value, object[key]} end
   object[key] = value
end

--- Restores the fields that were set during a capture.
function M.restoreFields(notes)
   for i = #notes.fields, 1, -1 do
      local object, key, _, before = unpack(notes.fields[i], 1, 4)
      object[key] = before
   end
end

--- Sets them again.
function M.setFields(notes)
   for _, field in ipairs(notes.fields) do field[1][field[2]] = field[3] end
end

--- Ends a capture, and drops objects whose tensors it does not leave equal.
function M.finish(notes)
   for object in next, notes.pairs do
      if not object:isEqual() then notes.pairs[object] = nil end
   end
end

--- Calls a method of the noted objects.
function M.call(notes, method)
   for object in next, notes.pairs do object[method](object) end
end

local function describe(value)
   local kind = type(value)
   return (kind == 'number' or kind == 'string' or kind == 'boolean' or kind == 'nil')
      and tostring(value) or 'another ' .. kind
end

--- Raises if a noted setting has changed since it was captured.
-- @param notes list: the notes of a capture
function M.check(notes)
   for i = 1, #notes do
      local note = notes[i]
      local owner, t, key, value = note[1], note[2], note[3], note[4]
      if not rawequal(t[key], value) then
         fail("a graph: '%s' of %s has changed since the capture: got %s, wanted %s, which the"
            .. ' graph recorded; capture the function again (cutorch.graph)', key, owner,
            describe(t[key]), describe(value))
      end
   end
end

return M
