--- Fuzzes calls of all public functions, except those of modules (spec.support.fuzz.layers).
--
-- Invariant: functions are found in the tables that scripts see, so that a new one is fuzzed
-- without a change here; spec.support.fuzz.excluded lists the exceptions with their reasons.
local dpt = require 'dpt'
local torch, cutorch = dpt.torch, dpt.cutorch
local excluded = require 'spec.support.fuzz.excluded'
local templates = require 'spec.support.fuzz.templates'
local values = require 'spec.support.fuzz.values'
local type = require('dpt.ffi').type -- Lua's own

local kind = 'Float'

-- Returns the sorted names of the functions in a table, without excluded and private ones.
local function names(of, prefix)
   local list = {}
   for name, value in pairs(of) do
      local callable = type(value) == 'function' or type(getmetatable(value)) == 'table'
         and rawget(getmetatable(value), '__call')
      if type(name) == 'string' and callable and not name:find '^_'
         and not excluded[prefix .. '.' .. name] then
         list[#list + 1] = name
      end
   end
   table.sort(list)
   return list
end

local methods = names(torch.getmetatable 'torch.FloatTensor', 'tensor')
local storageMethods = names(torch.getmetatable 'torch.FloatStorage', 'storage')
local functions = {} -- those of torch that are also methods
local creators = {}  -- the others
for _, name in ipairs(names(torch, 'torch')) do
   table.insert(templates[name] and functions or creators, name)
end

-- Packages: the text that names them, functions, templates of typical arguments.
local packages = {
   {'torch', creators, {'k', 's', 't', 'x', 'w', 'x w', 'w x', 'G', 'G k', 't x'}},
   {'cutorch', names(cutorch or {}, 'cutorch'), {'D', 'D k', 'D D', 'D f', 'k', 'x', 'D T', 'L',
      'D D b', 'D k L', 'k T', 'b', 't', 's', 'f', ''}},
   {"require('dpt').comm", names(dpt.comm, 'comm'), {'T', 'x L', 'T L', 'T T', 'x T', 'T D', 'T x',
      'x L d L', 'T D d', 'T x d L', 'x T d L L', 'T n b', 'w', 'w b', 'x'}},
   {'nccl', names(dpt.nccl or {}, 'nccl'), {'T', 'T T', 'T b', 'T T b', 'T T k', 'T T b k'}},
   {'nn.utils', names(dpt.nn.utils, 'nn.utils'), {'x t', 'x x', 'T t', 'T T', 'M t', 'x', 'T', 'M',
      'T f', 'M w', 'x k', 'T n', 'w x'}},
   {'xlua', names(dpt.xlua, 'xlua'), {'w', 'x', 'T', 'L', 'w w', 'f', 'w x', ''}},
   {'paths', names(dpt.paths, 'paths'), {'w', 'w w', ''}},
   {'sys', names(dpt.sys, 'sys'), {'w', 'w w', 'n', ''}},
   {'nn.hessian', names(dpt.nn.hessian or {}, 'nn.hessian'), {''}},
}

-- Objects with methods, each created in one line.
local objects = {
   {"torch.MemoryFile()", 'torch.MemoryFile', {'x', 'w', 'k', 'o', 'n', 'L', '', 'T'}},
   {"torch.DiskFile('file', 'w')", 'torch.DiskFile', {'x', 'w', 'k', 'o', 'n', 'L', '', 'T'}},
   {"torch.DiskFile('file', 'r')", 'torch.DiskFile', {'k', 'w', 'o', ''}},
   {'torch.Generator()', 'torch.Generator', {'', 'k', 'x'}},
   {'torch.Timer()', 'torch.Timer', {''}},
   {'torch.Tester()', 'torch.Tester', {'x x', 'x x n', 'n n', 'f', 'f w', 'L L', 'T T', 'b',
      'w f'}},
   {'optim.ConfusionMatrix(3)', 'optim.ConfusionMatrix', {'x k', 'k k', 'x x', '', 'w'}},
   {"optim.Logger('log.txt')", 'optim.Logger', {'L', 'T', 'w', 'w w', '', 'b'}},
   {'cutorch.Event()', 'cutorch.Event', {'', 'k', 'D k'}},
   {"require('threads').Queue(3, 'q')", nil, {'x', 'w', 'k', ''}},
   {"require('threads').Mutex()", nil, {''}},
   {"require('threads').Condition()", nil, {'', 'W'}},
   {"xlua.Profiler()", nil, {'w', 'w w', ''}},
   {"torch.TestSuite()", nil, {'f'}},
}

local function keep(random, text)
   local k = random(12)
   return ('v[%d] = %s'):format(k, text)
end

local function arguments(random, v, forms)
   return values.arguments(random, v, kind, forms and random(forms))
end

-- Returns a line for a call; it keeps the result or drops it.
local function call(random, text)
   if random(3) == 1 then return ('local x = %s'):format(text) end
   return keep(random, text)
end

local function method(random, v)
   local name = random(methods)
   return call(random, ('(%s):%s(%s)'):format(values.tensor(random, v, kind), name,
      arguments(random, v, templates[name])))
end

local function torchFunction(random, v)
   local name = random(functions)
   local result = random(3) == 1 and values.tensor(random, v, kind) .. ', ' or ''
   local rest = arguments(random, v, templates[name])
   return call(random, ('torch.%s(%s%s%s)'):format(name, result, values.tensor(random, v, kind),
      rest == '' and '' or ', ' .. rest))
end

local function ofPackage(random, v)
   local at = random(packages)
   if #at[2] == 0 then return method(random, v) end
   return call(random, ('%s.%s(%s)'):format(at[1], random(at[2]), arguments(random, v, at[3])))
end

local function storage(random, v)
   local text = values.letters.o(random, v, kind)
   return call(random, ('%s:%s(%s)'):format(text, random(storageMethods),
      arguments(random, v, {'', 'k', 'n', 'o', 'w', 'k k', 'k o k'})))
end

local operators = {'%s + %s', '%s - %s', '%s * %s', '%s / %s', '-%s', '#%s', '%s %% %s', '%s ^ %s',
   '%s == %s', '%s .. %s', 'tostring(%s)', '%s < %s', 'print2(%s)'}
local function operator(random, v)
   local function operand()
      return random(3) == 1 and values.wild(random, v, kind) or values.tensor(random, v, kind)
   end
   return call(random, random(operators):format('(' .. operand() .. ')', '(' .. operand() .. ')'))
end

local indices = {'[k]', '[n]', '[W]', '[{k, k}]', '[{{k, k}, k}]', '[{{}, k}]', '[m]',
   '[{{}, {k, k}}]',
   '[L]', '[S]', '[i]', '[{n, n}]', '[x]'}
local function indexing(random, v)
   local index = random(indices):gsub('%a', function(letter)
      return values.letters[letter](random, v, kind)
   end)
   local target = '(' .. values.tensor(random, v, kind) .. ')'
   if random() then return call(random, target .. index) end
   return ('local x = %s x%s = %s'):format(target, index,
      random() and values.letters.n(random) or values.wild(random, v, kind))
end

local steps = {'sgd', 'adam', 'adamw', 'adagrad', 'adadelta', 'adamax', 'rmsprop', 'nag', 'asgd',
   'rprop', 'cg',
   'lbfgs', 'de', 'cmaes', 'FistaLS'}
local options = {'learningRate', 'momentum', 'weightDecay', 'beta1', 'beta2', 'epsilon', 'maxIter',
   'dampening', 'nesterov', 'learningRates', 'weightDecays', 'alpha', 'rho', 'maxEval',
      'lineSearch', 'm',
   'v', 'amsgrad', 'vmax', 'dfdx', 't', 'evalCounter', 'popsize', 'sigma', 'verbose'}
local function optimizer(random, v)
   local name = random(steps)
   local state = {}
   for i = 1, random(4) - 1 do
      state[i] = random(options) .. ' = ' .. (random(3) == 1 and values.wild(random, v, kind)
         or values.letters.n(random))
   end
   if name == 'de' or name == 'cmaes' or name == 'cg' or name == 'lbfgs' or name == 'FistaLS' then
      -- otherwise they would take very long
      state[#state + 1] = 'maxIter = 2, maxEval = 4, popsize = 4'
   end
   local x = values.tensor(random, v, random{'Float', 'Double', 'Cuda', kind})
   local f = random(8) == 1 and values.wild(random, v, kind)
      or ('function(x) return x:nElement() > 0 and x:sum() or 0, %s end'):format(
         random(4) == 1 and values.tensor(random, v, kind) or 'x:clone()')
   return call(random, ('optim.%s(%s, %s, {%s}%s)'):format(name, f, x, table.concat(state, ', '),
      random(4) == 1 and ', ' .. values.wild(random, v, kind) or ''))
end

local function object(random, v)
   local entry = random(objects)
   local class = entry[2] and torch.getmetatable(entry[2])
   local list = class and names(class, entry[2]) or {'lock', 'unlock', 'free', 'wait', 'signal',
      'id',       'addjob', 'dojob', 'start', 'lap', 'printAll', 'cpu'}
   -- a wait for a signal that never comes, or for a held lock, would be forever
   local lines = {}
   for i = 1, random(3) do
      local name = random(list)
      if name ~= 'wait' and name ~= 'lock' and name ~= 'dojob' and name ~= 'addjob' then
         lines[i] = ('pcall(function() x:%s(%s) end)'):format(name, arguments(random, v, entry[3]))
      else
         lines[i] = ''
      end
   end
   return ('local x = %s %s'):format(entry[1], table.concat(lines, ' '))
end

local function creation(random, v)
   if random(4) > 1 then return keep(random, values.newTensor(random, kind)) end
   local name = random(values.kinds) .. random{'Tensor', 'Storage'}
   return keep(random, ('torch.%s(%s)'):format(name,
      arguments(random, v, {'s', 'S', 'x', 'o', 'o k s', 'L', 'o k S', 'k', 'S S', 'x b', 'w',
         'w b k'})))
end

local families = {method, method, method, method, torchFunction, torchFunction, torchFunction,
   ofPackage, ofPackage,
   storage, operator, indexing, optimizer, object, creation, creation}

local M = {offers = {
   view = values.offers.view,
   print2 = function(x) return tostring(x) end,
   print = function() end, -- discards output
}}

function M.begin(random) kind = random(values.kinds) end

function M.line(random, v)
   if #values.slots(v, values.isTensor) < 4 and random() then
      return keep(random, values.newTensor(random, kind))
   end
   return random(families)(random, v)
end

return M
