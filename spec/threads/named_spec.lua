-- dpt.threads.named: values sent to another Lua state by name, and values that are not.
local named = require 'dpt.threads.named'
local worker = require 'spec.support.remote'
local nn = require 'nn'
local torch = require 'torch'
local threads = require 'threads'

describe('dpt.threads.named', function()
   local remote, echo = worker()

   it('sends functions of Lua and of dpt by their names', function()
      local insert, ceil, randn, Linear = table.insert, math.ceil, torch.randn, nn.Linear
      local sum = remote(function()
         local t = {}
         insert(t, ceil(1.5))
         return t[1] + randn(2, 3):nElement() + Linear(3, 2).weight:nElement()
      end)
      assert.equals(2 + 6 + 6, sum)
      local a, b, c, d, e = echo(print, string, _G, torch, io.stdout)
      assert.is_true(a == print and b == string and c == _G and d == torch and e == io.stdout)
      assert.is_true(echo(threads) == threads)
      assert.is_true(echo(require('dpt.ffi').C) == require('dpt.ffi').C)
   end)

   it("copies a script's additions to the tables of Lua and dpt", function()
      nn.valuesSpec = {a = {7}}
      rawset(math, 'valuesSpec', {b = 8})
      nn.utils.valuesSpec = function(x) return x + 1 end
      local settings, more, plus = nn.valuesSpec, rawget(math, 'valuesSpec'), nn.utils.valuesSpec
      local utils = nn.utils
      local a, b, c, same = remote(function()
         return settings.a[1], more.b, plus(8), utils == nn.utils
      end)
      nn.valuesSpec, nn.utils.valuesSpec = nil, nil
      rawset(math, 'valuesSpec', nil)
      assert.same({7, 8, 9, true}, {a, b, c, same})
   end)

   it('raises for a name that is missing in the worker', function()
      local cosh = math.cosh
      remote(function()
         kept = math.cosh
         rawset(math, 'cosh', nil)
      end)
      local ok, message = pcall(remote, function() return cosh end)
      remote(function() rawset(math, 'cosh', kept) end)
      assert.is_false(ok)
      assert.matches("threads: 'cosh' of the module 'math' is unknown in this thread", message)
   end)

   it('finds the module and the key of a value, and the value of these', function()
      assert.same({'math', 'floor'}, {named.find(math.floor)})
      assert.same({'dpt.nn'}, {named.find(nn)})
      assert.is_nil(named.find(function() end))
      assert.is_nil(named.find{})
      assert.equal(math.floor, named.get('math', 'floor'))
      assert.equal(nn, named.get 'dpt.nn')
   end)
end)
