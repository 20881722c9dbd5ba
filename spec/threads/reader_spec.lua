-- dpt.threads.reader: creates the objects and classes of a message in the state that reads it.
local worker = require 'spec.support.remote'
local nn = require 'nn'
local torch = require 'torch'

describe('dpt.threads.reader', function()
   local remote, echo = worker()

   it('makes objects of classes, and finds classes and their methods', function()
      local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.Tanh())
      local input = torch.randn(4, 3)
      local output, back = remote(function(n, x) return n:forward(x):clone(), n end, net, input)
      assert.equals('nn.Sequential', torch.type(back))
      assert.same(net:forward(input):totable(), output:totable())
      local C, M = echo(nn.Linear, torch.getmetatable 'nn.Linear')
      assert.is_true(C == nn.Linear and M == torch.getmetatable 'nn.Linear')
   end)

   it('makes objects of user classes, also of those with a __write of their own', function()
      local function define()
         local place = {}
         local Counter = torch.class('valuesSpec.Counter', place)
         function Counter:__init(n) self.n, self.link = n, {self} end
         function Counter:__write(file)
            file:writeInt(self.n)
            file:writeString 'abc'
            file:writeObject(self.link)
            file:writeDouble(0.5)
         end
         function Counter:__read(file)
            self.n, self.text = file:readInt(), file:readChar(3):string()
            self.link = file:readObject()
            self.half = file:readDouble()
         end
         return place.Counter
      end
      local Counter = define()
      remote(define)
      local n, text, half, me, back = remote(function(c)
         return c.n, c.text, c.half, c.link[1] == c, c
      end, Counter(7))
      assert.same({7, 'abc', 0.5, true}, {n, text, half, me})
      assert.equals('valuesSpec.Counter', torch.type(back))
      assert.is_true(back.link[1] == back)
   end)

   it('finds a class that is defined by a function with the class among its upvalues', function()
      local place = {}
      torch.class('valuesSpec.Early', place)
      local Early = place.Early
      assert.same({'valuesSpec.Early', 3}, {remote(function()
         assert(not torch.getmetatable 'valuesSpec.Early')
         torch.class('valuesSpec.Early', {})
         Early.three = 3
         return torch.type(Early()), Early().three
      end)})
   end)

   it('raises for classes that are unknown to the worker, by name', function()
      torch.class('nn.ValuesSpecLayer', 'nn.Module')
      local Layer, methods = nn.ValuesSpecLayer, torch.getmetatable 'nn.ValuesSpecLayer'
      local unknown = "class 'nn.ValuesSpecLayer' is unknown in this thread"
      local function make()
         local layer = Layer()
         return layer
      end
      assert.error_matches(function() remote(make) end, unknown)
      assert.error_matches(function() remote(function() return Layer.forward end) end, unknown)
      assert.error_matches(function() remote(function() Layer.field = 1 end) end, unknown)
      assert.error_matches(function() remote(function() return methods end) end, unknown)
      assert.error_matches(function() remote(function(t) return t end, Layer()) end, unknown)
      package.loaded.valuesSpec = {} -- makes the writer search loaded modules again
      assert.error_matches(function() remote(make) end, unknown)
      local back = remote(function(t) return t end, {1, {Layer}})
      assert.is_true(rawequal(Layer, back[2][1]))
      package.loaded.valuesSpec, nn.ValuesSpecLayer = nil, nil
   end)
end)
