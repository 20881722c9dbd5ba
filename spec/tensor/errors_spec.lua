-- Messages of invalid calls: one message, at the caller's line, with function, argument and sizes.
local torch = require 'dpt.tensor'

local x, y = torch.FloatTensor(2, 3):fill(1), torch.FloatTensor(4):fill(1)

--- Title, call, and a pattern that its message must match.
local cases = {
   {'a method that is not there', function() x:foo() end,
      "attempt to call method 'foo' %(a nil value%)"},
   {'a method of a storage', function() x:storage():foo() end,
      "attempt to call method 'foo' %(a nil value%)"},
   {'a field', function() x.foo = 1 end, "no fields, got an assignment to 'foo'"},
   {'an index too large', function() return #x[3] end, 'index 3 is out of range, wanted 1 to 2'},
   {'an index of zero', function() return #x[0] end, 'index 0 is out of range'},
   {'an index of a vector', function() return #{y[5]} end, 'index 5 is out of range'},
   {'an assignment out of range', function() y[5] = 1 end, 'index 5 is out of range'},
   {'an assignment of a table', function() y[1] = {} end, 'wanted a number'},
   {'more threads than can be', function() torch.setnumthreads(1e6) end,
      'setnumthreads: got 1000000 threads, wanted 1 to 4096'},
   {'too many indices', function() return #x[{1, 1, 1}] end, 'got 3 indices, wanted at most 2'},
   {'a range that ends first', function() return #x[{{2, 1}}] end, 'ends before it begins'},
   {'an index of another type', function() return #x[torch.Tensor(1)] end, 'an index is a number'},
   {'another count', function() x:add(y) end, 'add.*2x3.*'},
   {'another type', function() x:add(torch.DoubleTensor(2, 3)) end, 'DoubleTensor'},
   {'no operand', function() x:add() end, 'add: wanted .* got torch%.FloatTensor$'},
   {'nil', function() x:cmul(nil) end, 'cmul: wanted'},
   {'a string', function() x:mul('two') end, 'mul: wanted .* got torch%.FloatTensor, string'},
   {'a table', function() x:fill({}) end, 'fill: wanted'},
   {'no tensor', function() torch.sum('x') end, 'sum: wanted .* got string'},
   {'no self', function() x.add({}, 1) end, 'add: wanted .* got table, number'},
   {'a dimension too large', function() x:sum(3) end, "'dim' is 3, wanted 1 to 2"},
   {'a dimension that is no number', function() x:narrow('a', 1, 1) end, 'wanted a number'},
   {'a size that is no number', function() torch.zeros('x') end, 'sizes are numbers'},
   {'thirteen dimensions', function() torch.zeros(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) end,
      'at most 12 dimensions'},
   {'an irregular table', function() torch.Tensor{{1, 2}, {3}} end, 'not regular'},
   {'a table of words', function() torch.Tensor{'a'} end, 'wanted a number'},
   {'a type that is not there', function() x:type('torch.NoTensor') end, "'torch%.NoTensor'"},
   {'no such default type', function() torch.setdefaulttensortype('no') end, "'no' is no tensor"},
   {'a size below zero', function() torch.FloatStorage(-1) end, 'wanted 0 or more'},
   {'a storage index', function() return torch.FloatStorage(2)[3] end, 'index 3 .* wanted 1 to 2'},
   {'mm of wrong sizes', function() torch.mm(x, x) end, '2x3'},
   {'mm into a result of another size', function() torch.mm(torch.FloatTensor(), x, x:t()) end,
      'mm: the result'},
   {'eig of inf', function() torch.eig(torch.DoubleTensor(4, 4):fill(1 / 0), 'V') end,
      "eig: argument 'a' has inf at %(1, 1%), wanted finite numbers"},
   {'eig of nan', function() torch.eig(torch.FloatTensor(4, 4):fill(0 / 0)) end,
      "eig: argument 'a' has nan at %(1, 1%), wanted finite numbers"},
   {'symeig of nan', function() torch.symeig(torch.Tensor(3, 3):fill(0 / 0)) end,
      "symeig: argument 'a' has nan at %(1, 1%), wanted finite numbers"},
   {'svd of inf', function() torch.svd(torch.DoubleTensor(4, 2):fill(-1 / 0)) end,
      "svd: argument 'a' has inf at %(1, 1%), wanted finite numbers"},
   {'a sum with a string', function() return #(x + 'a') end, 'operator %+'},
   {'a quotient of tensors', function() return #(x / x) end, 'operator /'},
   {'a map over another count', function() x:map(y, function() end) end, 'as many elements'},
   {'an apply that returns a table', function() x:apply(function() return {} end) end,
      'returned a table'},
}

describe('A bad call', function()
   for _, case in ipairs(cases) do
      it('raises one message that names the fault: ' .. case[1], function()
         local ok, why = pcall(case[2])
         assert.is_false(ok)
         assert.equal('string', type(why))
         local line, message = why:match '^[^:]*errors_spec%.lua:(%d+): (.*)$'
         assert.truthy(line, 'no line of this file in: ' .. why)
         local info = debug.getinfo(case[2], 'S')
         line = tonumber(line)
         assert.is_true(line >= info.linedefined and line <= info.lastlinedefined, why)
         assert.truthy(message:find(case[3]), why)
         assert.is_nil(message:find '\n')
         assert.equal(6, x:sum())
      end)
   end
end)
