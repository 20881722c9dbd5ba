--- dpt.parallel.ranks.digest: checks that all ranks of a group train the same network.
--
-- Invariant: every rank compares the same lists, so either all continue or all raise the same error
-- message. It names the first rank and the first entry that differ from the group's first rank, by
-- ranks' global numbers. No element of a network is sent before this check.
local torch = require 'dpt.tensor'
local distributed = require 'dpt.distributed'
local transient = require 'dpt.transient'
local layout = require 'dpt.parallel.params.layout'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local digest = {}

-- Maps every tensor in a module's fields to its path; keys are cdata objects.
local function name(module, path, names, seen)
   if seen[module] then return end
   seen[module] = true
   local keys = {}
   for key, value in next, module do
      if type(key) == 'string' and torch.isTensor(value) then keys[#keys + 1] = key end
   end
   table.sort(keys)
   for _, key in ipairs(keys) do
      names[module[key]] = names[module[key]] or path .. key
   end
   for i, child in ipairs(module.modules or {}) do
      name(child, ('%smodules[%d].'):format(path, i), names, seen)
   end
end

--- Returns the path of each tensor of a network, such as 'modules[2].weight', by tensor.
function digest.names(module)
   local names = {}
   name(module, '', names, {})
   return names
end

local function line(what, i, t, names, note)
   return ('%s %d (%s): %s of %s%s'):format(what, i, names[t] or 'without a name', t:type(),
      t:dim() > 0 and table.concat(t:size():totable(), 'x') or 'no elements', note)
end

--- Returns a list of strings that must be equal on all ranks.
-- @param options list of strings
function digest.of(module, buffers, options)
   local list, names = {}, digest.names(module)
   for _, text in ipairs(options) do list[#list + 1] = text end
   for i, inner in ipairs(module:listModules()) do
      list[#list + 1] = ('module %d: %s'):format(i, torch.type(inner))
   end
   local tensors, gradients = module:parameters()
   for i, t in ipairs(tensors or {}) do
      list[#list + 1] = line('parameter', i, t, names,
         gradients and gradients[i] and '' or ', ignored: it has no gradient')
   end
   for i, t in ipairs(buffers) do list[#list + 1] = line('buffer', i, t, names, '') end
   return list
end

-- Fields that may differ: the mode, devices, seeds, and results of passes.
local APART = {'^train$', '^_', 'device', 'gpu', 'seed', '^rank', '^inputSize$', '^outputSize$',
   '^inShape$', '^outShape$', '^batchsize$', '^count$', '^loss$', '^summed...Time$', '^num...s$',
   '^step', '^iteration', '^needsSync$', '^usenccl$', '^compactions$'}

local function mayDiffer(key)
   for _, pattern in ipairs(APART) do
      if key:find(pattern) or key:lower():find(pattern) then return true end
   end
end

-- Returns a number, string, boolean, sizes, or a list of these as a string; nil for anything else.
local function plain(value, depth)
   local kind = torch.type(value)
   if kind == 'number' then return ('%.14g'):format(value) end
   if kind == 'string' or kind == 'boolean' then return tostring(value) end
   if kind == 'torch.LongStorage' then return plain(value:totable(), depth) end
   if kind ~= 'table' or depth == 0 or #value == 0 or #value > 32 then return nil end
   local list = {}
   for i, inner in ipairs(value) do
      list[i] = plain(inner, depth - 1)
      if not list[i] then return nil end
   end
   return '{' .. table.concat(list, ', ') .. '}'
end

--- Returns the options of a network's modules: for each module its non-tensor fields, as strings by
-- name.
function digest.fields(module)
   local list = {}
   for i, inner in ipairs(module:listModules()) do
      local skip = transient.fieldsOf(inner)
      list[i] = {}
      for key, value in next, inner do
         if type(key) == 'string' and not skip[key] and not mayDiffer(key) then
            list[i][key] = plain(value, 3)
         end
      end
   end
   return list
end

-- Raises if a field of a rank differs from the first rank's. A field that one of the two lacks is
-- ignored: it may come from a file or from a pass.
local function compareFields(owner, all, group)
   for i, first in ipairs(all[1].fields) do
      local keys = {}
      for key in pairs(first) do keys[#keys + 1] = key end
      table.sort(keys)
      for _, key in ipairs(keys) do
         for r = 2, #all do
            local its = all[r].fields[i][key]
            if its ~= nil and its ~= first[key] then
               fail('%s: ranks differ: rank %d has %s = %s in %s, rank %d has %s', owner,
                  group:globalRank(r - 1), key, its, all[1].modules[i], group:globalRank(0),
                  first[key])
            end
         end
      end
   end
end

--- Returns the positions of a network's parameters and gradients in its segments, as a list of
-- strings.
-- @param params dpt.parallel.params, built
function digest.places(module, params)
   local list, names, tensors = {}, digest.names(module), layout.describe(module)
   for _, group in ipairs(params.plan) do
      for _, place in ipairs(group) do
         local i = place.index
         list[#list + 1] = ('%s %d (%s) at element %d'):format(
            i > tensors.n and 'gradient' or 'parameter', (i - 1) % tensors.n + 1,
            names[tensors[i]] or 'without a name', place.first)
      end
   end
   for _, segments in ipairs{params.source, params.gradient} do
      local counts = {}
      for k, segment in ipairs(segments) do counts[k] = segment:nElement() end
      list[#list + 1] = ('segments of %s elements'):format(table.concat(counts, ', '))
   end
   return list
end

-- Describes the first difference between the lists of all ranks; returns nil if they are equal.
local function difference(all, group)
   for i = 1, math.huge do
      local some = false
      for r = 1, #all do
         some = some or all[r][i] ~= nil
         if all[r][i] ~= all[1][i] then
            return ('rank %d has %s, rank %d has %s'):format(group:globalRank(r - 1),
               all[r][i] or 'nothing more', group:globalRank(0), all[1][i] or 'nothing more')
         end
      end
      if not some then return nil end
   end
end

--- Compares a list of strings over all ranks of a group.
-- @return nil if they are equal, otherwise a description of the first difference, the same on all
-- ranks
function digest.difference(list, group)
   return difference(distributed.allGatherValue(list, group), group)
end

--- Raises unless all ranks have the same list and fields.
-- @param owner class name of the network
-- @param fields result of digest.fields, or an empty table
-- @param group group of the ranks
function digest.compare(owner, list, fields, group)
   local answers = distributed.allGatherValue({list = list, fields = fields}, group)
   local all, modules = {}, {}
   for r, answer in ipairs(answers) do all[r] = answer.list end
   local found = difference(all, group)
   if found then fail('%s: ranks differ: %s', owner, found) end
   for _, text in ipairs(list) do modules[#modules + 1] = text:match '^module %d+: .*' end
   answers[1].modules = modules
   compareFields(owner, answers, group)
end

return digest
