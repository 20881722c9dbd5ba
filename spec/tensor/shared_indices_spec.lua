-- Indices, masks and sources that share memory with the result are read before it is written.
local dpt = require 'dpt'
local torch = dpt.torch

--- By name: f(result, tensor that may share memory with it, tensor constructor).
local indexed = {
   indexFill = function(x, i) return x:indexFill(1, i, 900) end,
   indexCopy = function(x, i, new) return x:indexCopy(1, i, new{10, 20, 30, 40}) end,
   ['indexCopy of a source'] = function(x, a, new) return x:indexCopy(1, new{2, 3, 1, 4}, a) end,
   indexAdd = function(x, i, new) return x:indexAdd(1, i, new{10, 20, 30, 40}) end,
   ['indexAdd of a source'] = function(x, a, new) return x:indexAdd(1, new{2, 3, 1, 4}, a) end,
   index = function(x, i, new) return x.index(x, new{10, 20, 30, 40}, 1, i) end,
   ['index of a source'] = function(x, a, new) return x.index(x, a, 1, new{2, 3, 1, 4}) end,
   gather = function(x, i, new) return x.gather(x, new{10, 20, 30, 40}, 1, i) end,
   ['gather of a source'] = function(x, a, new) return x.gather(x, a, 1, new{2, 3, 1, 4}) end,
   scatter = function(x, i, new) return x:scatter(1, i, new{10, 20, 30, 40}) end,
   ['scatter of a source'] = function(x, a, new) return x:scatter(1, new{2, 3, 1, 4}, a) end,
   ['scatter of a number'] = function(x, i) return x:scatter(1, i, 700) end,
   scatterAdd = function(x, i, new) return x:scatterAdd(1, i, new{10, 20, 30, 40}) end,
   ['indices of max'] = function(x, a, new)
      local _, i = torch.max(new{0}:resize(1, 1), x:resize(1, 4), a:view(1, 4), 2)
      return i
   end,
   ['indices of sort'] = function(x, a, new) return (select(2, torch.sort(new{0}, x, a))) end,
   ['indices of topk'] = function(x, a, new) return (select(2, torch.topk(new{0}, x, a, 4))) end,
}

local masked = {
   maskedFill = function(x, m) return x:maskedFill(m, 5) end,
   ['maskedFill with 0'] = function(x, m) return x:maskedFill(m, 0) end,
   maskedCopy = function(x, m, new) return x:maskedCopy(m, new{5, 6, 7, 8}) end,
   ['maskedCopy of a source'] = function(x, a, new) return x:maskedCopy(new{1, 0, 1, 1}, a) end,
   maskedSelect = function(x, m, new) return x.maskedSelect(x, new{5, 6, 7, 8}, m) end,
   ['maskedSelect of a source'] = function(x, a, new)
      return x.maskedSelect(x, a, new{1, 0, 1, 1})
   end,
}

--- Offsets of the result and the other tensor in one storage.
local places = {itself = {1, 1}, before = {1, 2}, behind = {2, 1}}

describe('Memory of the result is read before it is written by', function()
   local function check(name, f, numbers, typename)
      it(('%s (%s)'):format(name, typename), function()
         local function new(t) return torch.DoubleTensor(t):type(typename) end
         for place, at in pairs(places) do
            local all = new(numbers)
            local function part(t, k) return t:narrow(1, at[k], 4) end
            local wanted = f(part(all, 1):clone(), part(all, 2):clone(), new)
            local x = part(all, 1)
            local got = f(x, place == 'itself' and x or part(all, 2), new)
            assert.same(wanted:double():totable(), got:double():totable(), place)
         end
      end)
   end

   for _, device in ipairs{'', 'Cuda'} do
      for name, f in pairs(indexed) do
         check(name, f, {2, 3, 1, 4, 1}, 'torch.' .. device .. 'LongTensor')
      end
      for name, f in pairs(masked) do
         check(name, f, {0, 1, 1, 0, 1}, 'torch.' .. device .. 'ByteTensor')
      end
   end
end)
