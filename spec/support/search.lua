--- Tests methods that run to the end in one call: functions with known minima, common properties.
--
-- Invariant: calls counts the evaluations of rosenbrock.
local busted, luassert = require 'busted', require 'luassert'

local M = {calls = 0}

local types = {'torch.DoubleTensor', 'torch.FloatTensor'}
if cutorch then
   types[3], types[4] = 'torch.CudaTensor', 'torch.CudaDoubleTensor'
end

local function make(typename, list) return torch.DoubleTensor(list):type(typename) end

local function distance(a, list) return (a:double() - torch.DoubleTensor(list)):abs():max() end

local function rosenbrock(x)
   M.calls = M.calls + 1
   local a, b = x[1], x[2]
   local f = (1 - a) ^ 2 + 100 * (b - a * a) ^ 2
   return f, make(x:type(), {-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)})
end

-- Returns the sum of curvature/2 (x - target)^2, and its gradient.
local function bowl(x)
   local curvature, target = make(x:type(), {1, 3, 10}), make(x:type(), {1, -2, 0.5})
   local away = x - target
   local g = torch.cmul(away, curvature)
   return away:dot(g) / 2, g
end

-- Calls f(...), which must raise that message.
local function bad(text, f, ...)
   local ok, why = pcall(f, ...)
   luassert.is_false(ok)
   luassert.equal(text, (why:gsub('^.-:%d+: ', '')))
end

M.types, M.make, M.distance, M.rosenbrock, M.bowl, M.bad = types, make, distance, rosenbrock, bowl,
   bad

--- Describes a descent method that is called once.
-- @param config with which it reaches the minimum
function M.describe(name, method, config)
   busted.describe('optim.' .. name, function()
      busted.it('ends at the minimum of a quadratic, of every type', function()
         for _, typename in ipairs(types) do
            local x = make(typename, {0, 0, 0})
            local memory = x:storage():data()
            local y, history, evaluations = method(bowl, x, config, {})
            luassert.is_true(rawequal(x, y))
            luassert.equal(memory, x:storage():data())
            luassert.is_true(distance(x, {1, -2, 0.5}) < 1e-3, typename .. tostring(x))
            luassert.equal(7.75, history[1])
            luassert.is_true(evaluations >= #history)
         end
      end)

      busted.it("ends at the minimum of Rosenbrock's function", function()
         local x = torch.DoubleTensor{-1.2, 1}
         M.calls = 0
         local _, history, evaluations = method(rosenbrock, x, config, {})
         luassert.equal(M.calls, evaluations)
         luassert.is_true(distance(x, {1, 1}) < 1e-3, tostring(x))
         luassert.is_true(history[#history] < 1e-8)
         for i = 2, #history do luassert.is_true(history[i] <= history[i - 1]) end
      end)

      busted.it('raises for a wrong call, naming function and argument', function()
         local x, place = torch.DoubleTensor{0, 0}, 'optim.' .. name .. ': '
         bad(place .. "argument 'opfunc' is nil, wanted a function", method, nil, x)
         bad(place .. "argument 'x' is nil, wanted a tensor", method, rosenbrock)
         bad(place .. "argument 'config' is a string, wanted a table", method, rosenbrock, x, 's')
         bad(place .. "opfunc's value is nil, wanted a number", method, function() end, x)
         bad(place .. "opfunc's gradient is nil, wanted a torch.DoubleTensor of 2 elements as x",
            method, function() return 1 end, x)
      end)
   end)
end

return M
