--- A value that is not an object, or is a class, is rejected where it is added or passed.
local dpt = require 'dpt'
local nn = dpt.nn

--- Methods that accept a part, by the start of their messages; those in takeNil also accept nil.
local takers = {
   module = {
      ['nn.Sequential: add'] = function(value) nn.Sequential():add(value) end,
      ['nn.Sequential: insert'] = function(value) nn.Sequential():insert(value, 1) end,
      ['nn.ConcatTable: add'] = function(value) nn.ConcatTable():add(value) end,
      ['nn.MapTable: add'] = function(value) nn.MapTable():add(value) end,
   },
   criterion = {
      ['nn.MultiCriterion: add'] = function(value) nn.MultiCriterion():add(value) end,
      ['nn.ParallelCriterion: add'] = function(value) nn.ParallelCriterion():add(value) end,
   },
}

local takeNil = {['nn.ConcatTable: add'] = true, ['nn.MapTable: add'] = true}

local function rejected(f, value, words)
   local ok, why = pcall(f, value)
   assert(not ok, words .. ' is taken')
   assert(why:find 'child_spec.lua:%d+: ', why)
   assert(why:find(words, 1, true), why)
end

describe('A part of a module or criterion', function()
   it("is rejected as nil, number or class at the script's line", function()
      for kind, list in pairs(takers) do
         for start, take in pairs(list) do
            local message = ("%s: argument '%s' is %%s, wanted a %s"):format(start, kind, kind)
            if not takeNil[start] then rejected(take, nil, message:format 'nil') end
            rejected(take, 3, message:format 'number')
            rejected(take, nn.Tanh, message:format 'the class nn.Tanh')
            rejected(take, nn.MSECriterion, message:format 'the class nn.MSECriterion')
         end
      end
   end)

   it('is rejected as a class by constructors and nn.DataParallelTable', function()
      rejected(function(value) return (nn.WeightNorm(value)) end, nn.Linear,
         "nn.WeightNorm: argument 'module', wanted a module, got the class nn.Linear")
      rejected(function(value) return (nn.ModuleCriterion(value)) end, nn.MSECriterion,
         "nn.ModuleCriterion: argument 'criterion', wanted a criterion, "
            .. 'got the class nn.MSECriterion')
      rejected(function(value) nn.DataParallelTable(1):add(value, {1}) end, nn.Tanh,
         'add wants an nn.Module as argument 1, got the class nn.Tanh')
   end)

   it('may be an object of a class that is none of torch\'s', function()
      local own = {forward = function(_, input) return input end}
      assert.equal(own, nn.ConcatTable():add(own):get(1))
   end)
end)
