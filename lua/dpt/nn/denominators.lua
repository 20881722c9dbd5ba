--- dpt.nn.denominators: records what the gradients of criterions were divided by.
--
-- Invariant: a gradient is identified by its memory. A tensor that shares the storage of a
-- criterion's gradInput, or of one of its entries, has the denominators of that criterion's last
-- backward; a copy has none. Nothing is recorded in a process that trains alone.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local C = require('dpt.ffi').C

local M = {}

--- True from the first network of several ranks on: criterions record denominators.
M.recorded = false

-- By gradient (a tensor or a table): {terms = , number = }, see M.record.
local records = setmetatable({}, {__mode = 'k'})

-- Gradients that criterions have computed since the last claim, MOST at most:
-- {terms = , criterion = its class, rows = of its input}.
local unclaimed = {}
local MOST = 64

local number = 0

-- Returns the number of rows of a criterion's input; one vector is a row.
local function rowsOf(input)
   if torch.isTensor(input) then return input:dim() > 1 and input:size(1) or 1 end
   return torch.type(input) == 'table' and input[1] ~= nil and rowsOf(input[1]) or 1
end

-- Returns a divisor that its criterion does not write to: the number in a host tensor, or a copy of
-- a device tensor, which is read when a network asks.
local function kept(divisor)
   if not torch.isTensor(divisor) then return divisor end
   if C.dpt_tensor_device(divisor) == 0 then return divisor:view(-1)[1] end
   return cutorch.withDeviceOf(divisor, divisor.clone, divisor)
end

--- Records what a gradient was divided by. The criterion may compute another loss before the
-- network's backward: divisors that are tensors are read or copied.
-- @param gradient tensor or table: the criterion's gradInput
-- @param terms list: {denominator = number, tensor of one element, false (the loss is a sum) or nil
-- (unknown: rows); count = what a tensor is if nothing is masked, or false; entry = the only one of
-- the gradient, a table, that the term reaches}
-- @param criterion string: its class
-- @param input tensor or table: the criterion's
function M.record(gradient, terms, criterion, input)
   for _, term in ipairs(terms) do term.denominator = kept(term.denominator) end
   number = number + 1
   records[gradient] = {terms = terms, number = number}
   if #unclaimed == MOST then table.remove(unclaimed, 1) end
   unclaimed[#unclaimed + 1] = {terms = terms, criterion = criterion, rows = rowsOf(input)}
end

-- Returns the entry of a table of gradients that shares a tensor's storage.
local function entryOf(list, t)
   for key, value in pairs(list) do
      if torch.isTensor(value) and value.storage_ == t.storage_
         or torch.type(value) == 'table' and entryOf(value, t) then return key end
   end
end

-- Returns the terms that reach one entry.
local function termsOfEntry(terms, entry)
   local list = {}
   for _, term in ipairs(terms) do
      if term.entry == nil or term.entry == entry then list[#list + 1] = term end
   end
   return list
end

-- Returns the terms of the gradient that was recorded last in a tensor's storage.
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

--- Returns what a gradient was divided by: the terms that were recorded for it, those of all
-- entries of a table that a script has made, or nil.
function M.of(gradient)
   local record = records[gradient]
   if record then return record.terms end
   if torch.isTensor(gradient) then
      return gradient.storage_ ~= nil and termsInStorage(gradient) or nil
   end
   if torch.type(gradient) ~= 'table' or #gradient == 0 then return nil end
   local terms = {}
   for _, entry in ipairs(gradient) do
      local inner = M.of(entry)
      if not inner then return nil end
      for _, term in ipairs(inner) do terms[#terms + 1] = term end
   end
   return terms
end

--- Lets a network's gradInput have the terms of its gradOutput; nil: it has none.
function M.follow(gradInput, terms)
   number = number + 1
   records[gradInput] = terms and {terms = terms, number = number} or nil
end

-- Returns whether a term is divided by what the number of rows gives.
local function goesByRows(term, rows)
   local divisor = term.denominator
   if divisor == nil then return true end
   if torch.isTensor(divisor) then divisor = divisor:view(-1)[1] end
   if term.count ~= nil then return divisor and divisor == term.count end
   return divisor and divisor > 0 and divisor % rows == 0
end

--- Returns the name of a criterion that has computed a gradient since the last claim and divides by
-- something else than rows (a sum, class weights, a mask); nil if there is none.
function M.unusual()
   for _, one in ipairs(unclaimed) do
      for _, term in ipairs(one.terms) do
         if not goesByRows(term, one.rows) then return one.criterion end
      end
   end
end

--- Notes that a network has used the gradients that were recorded.
function M.claim() unclaimed = {} end

return M
