--- Compares operations of tensors and modules whose result shares memory with operands with the
-- same operations on copies.
--
-- Invariant: the operation on copies has tensors of the same strides, so that both reject the same
-- calls. Memory around the result is unchanged.
local core = require 'dpt.tensor.core'
local dpt = require 'dpt'
local torch = dpt.torch
local aliased = require 'spec.support.aliased'
local operations = require 'spec.support.fuzz.operations'
local values = require 'spec.support.fuzz.values'

--- By name: the position of the result in a storage whose operand is an N x N matrix from element 5
-- on: offset, strides.
local relations = {
   same = function(N) return 5, N, 1 end,
   shifted = function(N) return 6, N, 1 end,
   before = function(N) return 4, N, 1 end,
   transposed = function(N) return 5, 1, N end,
   strided = function(N) return 5, 2 * N, 2 end,
   partial = function(N) return 5 + math.floor(N * N / 2), N, 1 end,
   reversed = function(N) return 5 + N, 1, N end,
}

local M = {runs = 0, offers = {}}

local function view(storage, offset, rows, columns, N)
   return torch.getmetatable(storage.tensor).new(storage.of, offset, N, rows, N, columns)
end

-- Returns a storage with values of a seed, as {of = storage, tensor = name of its tensors' class}.
local function filled(typename, N, seed)
   local plain = torch.range(1, 2 * N * N + 2 * N + 10):mul(seed):fmod(7):add(1)
   local t = plain:type(typename)
   return {of = t:storage(), tensor = typename, all = t}
end

local function names(typename, N, shared, beside)
   local offset, rows, columns = relations[beside.relation](N)
   local a, b = filled(typename, N, 3), filled(typename, N, 5)
   local operand = shared == 'a' and a or b
   local from = beside.apart and filled(typename, N, shared == 'a' and 3 or 5) or operand
   local cuda = typename:find 'Cuda' and 'torch.Cuda' or 'torch.'
   local numbers = torch.range(1, N * N):resize(N, N)
   local list = {
      N = N, a = view(a, 5, N, 1, N), b = view(b, 5, N, 1, N), r = view(from, offset, rows,
         columns, N),
      s = view(filled(typename, N, 1), 5, N, 1, N), t = view(filled(typename, N, 1), 5, N, 1, N),
      v = torch.range(1, N):type(typename),
      i = torch.range(N, 1, -1):type(cuda .. 'LongTensor'),
      I = numbers:clone():fmod(N):add(1):type(cuda .. 'LongTensor'),
      m = numbers:clone():fmod(2):type(cuda .. 'ByteTensor'),
   }
   return list, from
end

-- Returns the operation's result and, if that kept its size, the storage around it.
local function outcome(operation, typename, N, shared, relation, apart)
   local list, from = names(typename, N, shared, {relation = relation, apart = apart})
   local r = list.r
   local ok, why = pcall(operations.call, operation, list)
   if not ok then return nil, tostring(why) end
   local kept = r:dim() == 2 and r:size(1) == N and r:size(2) == N
   return {r:size():totable(), r:double():totable(), kept and from.all:double():totable()}
end

local function equal(x, y)
   if type(x) ~= 'table' or type(y) ~= 'table' then return x == y or x ~= x and y ~= y end
   for k, value in pairs(x) do
      if not equal(value, y[k]) then return false end
   end
   return #x == #y
end

--- Checks operation number `number` on N x N matrices, with a result in the memory of `shared`.
function M.offers.operation(number, typename, N, shared, relation)
   M.runs = M.runs + 1
   local operation = operations[number]
   if operation.draws then return end
   local wanted, rejected = outcome(operation, typename, N, shared, relation, true)
   local got, why = outcome(operation, typename, N, shared, relation, false)
   local title = ('wrong: %s of %s, r is %s %s, N is %d'):format(operation.text, typename,
      relation, shared, N)
   if wanted and not got then error(title .. ': ' .. why, 0) end
   if got and not wanted then error(title .. ': is rejected beside it: ' .. rejected, 0) end
   if got and not equal(wanted, got) then error(title, 0) end
end

--- Checks module number i of spec.support.aliased, with a result in the memory of an operand.
function M.offers.module(i, typename, what, form)
   M.runs = M.runs + 1
   local why = aliased.wrong(aliased.cases[i], typename, what, aliased.forms[form])
   if why then
      error(('wrong: nn.%s of %s, the result is %s %s: %s'):format(aliased.cases[i].name, typename,
         what, form,
         why), 0)
   end
end

local function keys(t)
   local list = {}
   for key in pairs(t) do list[#list + 1] = key end
   table.sort(list)
   return list
end

--- All lines, always in the same order.
M.lines = {}
local function add(...) M.lines[#M.lines + 1] = (...):format(select(2, ...)) end
for number, operation in ipairs(operations) do
   for _, kind in ipairs(values.kinds) do
      if core.realNames[core.kinds['torch.' .. kind .. 'Tensor']] or not operation.real then
         for _, relation in ipairs(keys(relations)) do
            for _, shared in ipairs{'a', 'b'} do
               for _, N in ipairs{5, 40} do
                  if N == 5 or kind == 'Float' or kind == 'Cuda' then
                     add("operation(%d, 'torch.%sTensor', %d, '%s', '%s')", number, kind, N,
                        shared, relation)
                  end
               end
            end
         end
      end
   end
end
for i in ipairs(aliased.cases) do
   for _, typename in ipairs{'torch.FloatTensor', 'torch.DoubleTensor', 'torch.CudaTensor'} do
      for _, what in ipairs(keys(aliased.pairs)) do
         for _, form in ipairs(keys(aliased.forms)) do
            add("module(%d, '%s', '%s', '%s')", i, typename, what, form)
         end
      end
   end
end

return M
