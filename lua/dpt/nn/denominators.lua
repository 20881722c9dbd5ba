--- dpt.nn.denominators: records the divisors of the gradients that criterions compute.
--
-- Invariant: a gradient is identified by its memory. A tensor that shares the storage of a
-- criterion's gradInput, or of one of its entries, has the denominators of that criterion's last
-- backward; a copy has none. Nothing is recorded in a process that trains alone.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local C = require('dpt.ffi').C

local M = {}

--- True after the first network with several ranks is created: criterions record denominators.
M.enabled = false

-- By gradient (a tensor or a table): {terms = , number = }, see M.record.
local records = setmetatable({}, {__mode = 'k'})

-- At most MAX_UNUSED gradients that criterions have computed since the last claim:
-- {terms = , criterion = its class, rows = of its input}.
local unused = {}
local MAX_UNUSED = 64

local number = 0

-- Returns the number of rows of a criterion's input; a vector counts as one row.
local function rowsOf(input)
   if torch.isTensor(input) then return input:dim() > 1 and input:size(1) or 1 end
   return torch.type(input) == 'table' and input[1] ~= nil and rowsOf(input[1]) or 1
end

-- Returns a divisor that its criterion does not overwrite: the number in a host tensor, or a copy
-- of a device tensor, which is read when a network needs it.
local function copyDivisor(divisor)
   if not torch.isTensor(divisor) then return divisor end
   if C.dpt_tensor_device(divisor) == 0 then return divisor:view(-1)[1] end
   return cutorch.withDeviceOf(divisor, divisor.clone, divisor)
end

--- Records the divisors of a gradient. The criterion may compute another loss before the network's
-- backward, so divisors that are tensors are read or copied now.
-- @param gradient tensor or table: the criterion's gradInput
-- @param terms list: {denominator = number, tensor of one element, false (the loss is a sum) or nil
-- (unknown, rows are assumed); count = value of the tensor if nothing is masked, or false; entry =
-- the only entry of the gradient, a table, that the term affects}
-- @param criterion string: class of the criterion
-- @param input tensor or table: input of the criterion
function M.record(gradient, terms, criterion, input)
   for _, term in ipairs(terms) do term.denominator = copyDivisor(term.denominator) end
   number = number + 1
   records[gradient] = {terms = terms, number = number}
   if #unused == MAX_UNUSED then table.remove(unused, 1) end
   unused[#unused + 1] = {terms = terms, criterion = criterion, rows = rowsOf(input)}
end

-- Returns the key of the entry in a table of gradients that shares a tensor's storage.
local function entryOf(list, t)
   for key, value in pairs(list) do
      if torch.isTensor(value) and value.storage_ == t.storage_
         or torch.type(value) == 'table' and entryOf(value, t) then return key end
   end
end

-- Returns the terms that affect one entry.
local function termsOfEntry(terms, entry)
   local list = {}
   for _, term in ipairs(terms) do
      if term.entry == nil or term.entry == entry then list[#list + 1] = term end
   end
   return list
end

-- Returns the terms of the gradient recorded last in a tensor's storage.
local function termsInStorage(t)
   local found, last = nil, 0
   for gradient, record in pairs(records) do
      if record.number > last then
         local isTensor = torch.isTensor(gradient)
         local entry = not isTensor and entryOf(gradient, t)
         if isTensor and gradient.storage_ == t.storage_ then
            found, last = record.terms, record.number
         elseif entry then
            found, last = termsOfEntry(record.terms, entry), record.number
         end
      end
   end
   return found
end

--- Returns the terms that were recorded for a gradient. For a table built by a script, returns the
-- terms of all its entries. Returns nil if there are none.
function M.find(gradient)
   local record = records[gradient]
   if record then return record.terms end
   if torch.isTensor(gradient) then
      return gradient.storage_ ~= nil and termsInStorage(gradient) or nil
   end
   if torch.type(gradient) ~= 'table' or #gradient == 0 then return nil end
   local terms = {}
   for _, entry in ipairs(gradient) do
      local inner = M.find(entry)
      if not inner then return nil end
      for _, term in ipairs(inner) do terms[#terms + 1] = term end
   end
   return terms
end

--- Records the terms of a network's gradOutput for its gradInput. nil removes the record.
function M.propagate(gradInput, terms)
   number = number + 1
   records[gradInput] = terms and {terms = terms, number = number} or nil
end

-- Returns true if the divisor of a term is proportional to the number of rows.
local function isProportionalToRows(term, rows)
   local divisor = term.denominator
   if divisor == nil then return true end
   if torch.isTensor(divisor) then divisor = divisor:view(-1)[1] end
   if term.count ~= nil then return divisor and divisor == term.count end
   return divisor and divisor > 0 and divisor % rows == 0
end

--- Returns the class of a criterion that has computed a gradient since the last claim and divides
-- by something other than rows (a sum, class weights, a mask). Returns nil if there is none.
function M.findNonRowCriterion()
   for _, one in ipairs(unused) do
      for _, term in ipairs(one.terms) do
         if not isProportionalToRows(term, one.rows) then return one.criterion end
      end
   end
end

--- Marks the recorded gradients as used by a network.
function M.markUsed() unused = {} end

return M
