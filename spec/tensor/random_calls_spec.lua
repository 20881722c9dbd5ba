-- Random calls of every function and method with random arguments: each succeeds or raises one
-- error message at the caller's line; nothing crashes, hangs or raises inside dpt.
local torch = require 'dpt.tensor'
local dpt = require 'dpt'
local elements = require 'spec.support.elements'
local inFolder = require 'spec.support.folder'

local seed = tonumber(os.getenv 'DPT_SEED') or os.time() % 100000
local calls = tonumber(os.getenv 'DPT_SPEC_CALLS') or 3000

--- Functions that have nothing to do with tensors, or would affect other specs.
local others = {}
for name in ([[setdefaulttensortype setnumthreads class newmetatable CmdLine Tester TestSuite Timer
   include tic toc packageLuaPath setenv getenv isatty setheaptracking setmetatable factory
   getconstructortable]]):gmatch '%S+' do
   others[name] = true
end

local function namesOf(from)
   local list = {}
   for name, f in pairs(from) do
      if type(f) == 'function' and name:sub(1, 2) ~= '__' and not others[name] then
         list[#list + 1] = name
      end
   end
   table.sort(list) -- so that a seed gives the same calls
   return list
end

local functions = namesOf(torch)
local methods = namesOf(torch.getmetatable 'torch.FloatTensor')
local storageMethods = namesOf(torch.getmetatable 'torch.FloatStorage')
local random = math.random

local function one(...) return (select(random(select('#', ...)), ...)) end

local function tensor()
   local kind = random(2) == 1 and 'Float' or one(unpack(elements.everywhere))
   local T = torch[kind .. 'Tensor']
   local shape = random(8)
   local t = shape == 1 and T() or shape == 2 and T(0, 3) or shape == 3 and T(3, 4):t()
      or shape <= 5 and T(random(4)) or shape <= 7 and T(random(3), random(4))
      or T(random(2), random(3), random(3))
   return t:nElement() > 0 and t:fill(random(0, 3)) or t
end

local function argument()
   local kind = random(20)
   if kind <= 9 then return tensor() end
   if kind <= 14 then
      return one(0, 1, 2, 3, 4, 5, -1, -2, 1.5, 0 / 0, 1 / 0, -1 / 0, 2 ^ 53, 2 ^ 60, -2 ^ 60,
         1e300)
   end
   if kind == 15 then return nil end
   if kind == 16 then
      return one('x', '2', 'V', 'F', 'N', 'torch.FloatTensor', 'torch.CudaTensor')
   end
   if kind == 17 then return one({}, {1, 2}, {{1, 2}, {3, 4}}, {{}}, {tensor(), tensor()}) end
   if kind == 18 then return torch.LongStorage(one({2, 3}, {4}, {}, {2, -1})) end
   if kind == 19 then return random(2) == 1 end
   return function() return random() end
end

--- Returns a random call: a function, its arguments, their number and a description.
local function call()
   local given, n = {}, random(0, 5)
   for i = 1, n do given[i] = argument() end
   local kind = random(10)
   if kind <= 4 then
      local name = one(unpack(functions))
      return torch[name], given, n, 'torch.' .. name
   elseif kind <= 8 then
      local name, t = one(unpack(methods)), tensor()
      table.insert(given, 1, t)
      return t[name], given, n + 1, 'tensor:' .. name
   elseif kind == 9 then
      local name = one(unpack(storageMethods))
      local s = one(torch.LongStorage{1, 2}, torch.CudaStorage(3), torch.ByteStorage(4))
      table.insert(given, 1, s)
      return s[name], given, n + 1, 'storage:' .. name
   end
   local t, key, value = tensor(), argument(), argument()
   return function()
      if value == nil then return t[key] end
      t[key] = value
   end, {}, 0, 'index'
end

describe('Random calls', function()
   it(('end well or with one error message, seed %d'):format(seed), function()
      math.randomseed(seed)
      local succeeded = 0
      inFolder(function() -- torch.save accepts any string
         for k = 1, calls do
            local f, given, n, what = call()
            local ok, why = pcall(f, unpack(given, 1, n))
            if ok then
               succeeded = succeeded + 1
            else
               local at = ('call %d, %s: %s'):format(k, what, tostring(why))
               assert.equal('string', type(why), at)
               assert.truthy(why:find('random_calls_spec.lua:%d+: '), at)
               assert.is_nil(why:find('\n'), at)
            end
         end
      end)
      assert.is_true(succeeded > calls / 10)
      pcall(dpt.cutorch.synchronizeAll) -- queued work may have failed
   end)
end)
