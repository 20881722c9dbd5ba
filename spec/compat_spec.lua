-- dpt.compat: Torch7's names.
local dpt = require 'dpt'
local torch = dpt.torch
local compat = require 'dpt.compat'
local run = require 'spec.support.run'

describe('dpt.compat', function()
   it('defines the packages as globals and for require', function()
      for _, name in ipairs{'torch', 'nn', 'optim', 'cutorch', 'xlua', 'paths', 'sys'} do
         assert.equal('table', type(dpt[name]), name)
         assert.equal(dpt[name], rawget(_G, name), name)
         assert.equal(dpt[name], package.preload[name](), name)
      end
      assert.equal(dpt.nn, package.preload.cunn())
   end)

   it('names a remedy in one line if a package is missing', function()
      for name, text in pairs{stn = 'needs a C library made for Torch7',
         ['lua-nothing'] = '', nngraph = 'luarocks install --deps-mode none nngraph',
         lfs2 = ''} do
         local ok, why = pcall(require, name)
         assert.is_false(ok)
         local line = why:find("\n\tdpt: '" .. name .. "' is not installed; it ", 1, true)
         assert.equal(text ~= '', line ~= nil)
         assert.truthy(why:find(text, 1, true))
      end
      local out = run.lua("require 'dpt' print(select(2, pcall(require, 'cunn')))",
         {DPT_DEVICES = 'none'})
      assert.truthy(out:find("there is no 'cunn': there is no device (DPT_DEVICES=none)", 1, true))
      -- an installation of dpt without the image rock
      local folder = os.tmpname()
      os.remove(folder)
      assert(os.execute(("mkdir '%s' && cp -r lua/dpt '%s'"):format(folder, folder)))
      out = run.lua("require 'dpt' print(select(2, pcall(require, 'image')))",
         {LUA_PATH = folder .. '/?.lua;' .. folder .. '/?/init.lua',
            DPT_LIBRARY = os.getenv 'DPT_LIBRARY' or 'build/libdpt.so'})
      os.execute("rm -r '" .. folder .. "'")
      assert.truthy(out:find("'image' is not installed; it is a rock beside dpt", 1, true), out)
   end)

   it("makes require find the packages' files, also in workers", function()
      local program = [[
         require 'dpt'
         local function check()
            local names = {['optim.sgd'] = optim.sgd, ['nn.Linear'] = nn.Linear,
               ['nn.LSTM'] = nn.LSTM, ['torch.File'] = torch.File, ['sys.colors'] = sys.COLORS,
               ['trepl.colorize'] = require('trepl').colorize,
               ['cudnn.ReLU'] = cudnn.ReLU, ['xlua.Profiler'] = xlua.Profiler,
               ['cunn.Linear'] = nn.Linear, ['threads.Mutex'] = require('threads').Mutex}
            for name, value in pairs(names) do assert(value and require(name) == value, name) end
            assert(require 'env' == true) -- the prompt of Torch7 as a module
            assert(not pcall(require, 'nn.NothingOfTheKind'))
            assert(table.unpack{7} == 7 and ('a b'):gfind('b')() == 'b')
            assert(('a,b'):split(',')[2] == 'b')
            assert(type(torch.FloatTensor()) == 'userdata')
            return 'well'
         end
         local pool = require('threads').Threads(1)
         pool:addjob(check, function(word) print(check(), word) end)
         pool:synchronize()
      ]]
      assert.equal('well\twell\n', (run.lua(program)))
   end)

   it('lists classes and functions by pairs without loading them', function()
      local out = run.lua [[
         require 'dpt'
         local count = {}
         for name, package_ in pairs{nn = nn, cudnn = cudnn, optim = optim} do
            count[name] = 0
            for key, value in pairs(package_) do
               local methods = getmetatable(value)
               if type(value) == 'function' or methods and methods.__typename == name .. '.' .. key
               then count[name] = count[name] + 1 end
            end
         end
         assert(not package.loaded['dpt.nn.Linear'] and not package.loaded['dpt.optim.sgd'])
         assert(getmetatable(getmetatable(nn.ReLU)).__typename == 'nn.Threshold')
         assert(rawget(nn, 'LSTM') == nil and torch.typename(nn.LSTM(2, 2)) == 'nn.LSTM')
         print(count.nn > 150, count.cudnn > 20, count.optim > 15)
      ]]
      assert.equal('true\ttrue\ttrue\n', out)
   end)

   it('declares every class with the parent that its file defines', function()
      local out = run.lua [[
         require 'dpt'
         local class = require 'dpt.class'
         local n = 0
         for name, methods in pairs(debug.getregistry()) do
            if type(name) == 'string' and (name:find '^nn%.' or name:find '^cudnn%.') then
               local parent = getmetatable(methods)
               local _ = methods.anything -- loads it
               assert(getmetatable(methods) == parent and rawget(methods, 'new'), name)
               n = n + 1
            end
         end
         print(n > 200)
      ]]
      assert.equal('true\n', out)
   end)

   it('allows a script to define the classes that dpt adds to nn', function()
      local out = run.lua [[
         require 'dpt'
         local before = nn.LSTM(2, 3)
         local LSTM = torch.class('nn.LSTM', 'nn.Module')
         function LSTM:__init() self.mine = true end
         torch.class('nn.GRU', 'nn.Module')
         assert(nn.LSTM().mine and torch.typename(nn.GRU()) == 'nn.GRU')
         assert(not before.mine and torch.isTypeOf(before, 'nn.StepRNN'))
         assert(torch.typename(nn.SeqLSTM(2, 3)) == 'nn.SeqLSTM')
         assert(not pcall(torch.class, 'nn.LSTM', 'nn.Module'))
         print(rawget(nn, 'Recursor'), require 'rnn' == nn, rawget(nn, 'Recursor') ~= nil)
      ]]
      assert.equal('nil\ttrue\ttrue\n', out)
   end)

   it('allows a script to define a class of nn that was not used yet', function()
      local out = run.lua [[
         require 'dpt'
         local threads = require 'threads'
         local kept = nn.DistanceRatioCriterion -- a field alone is no use
         local function define()
            local OneHot, parent = torch.class('nn.OneHot', 'nn.Module')
            function OneHot:__init(n)
               parent.__init(self)
               self.n = n
            end
            function OneHot:updateOutput(input) return input * self.n end
            function OneHot.name() return 'mine' end
         end
         define()
         local m = nn.OneHot(3)
         print(m:forward(torch.ones(1))[1], torch.isTypeOf(m, 'nn.Module'), m:clone().name(),
            torch.deserialize(torch.serialize(m)):name(), nn.OneHot == torch.getconstructortable
            'nn.OneHot')
         local with, without = threads.Threads(1, define), threads.Threads(1)
         with:addjob(function() return m.name(), nn.OneHot(2).n end, print)
         with:synchronize()
         without:addjob(function() return m.name() end)
         print((select(2, pcall(without.synchronize, without)):match 'threads: class[^:]*'))
         with:terminate()
         without:terminate()

         torch.class('nn.DistanceRatioCriterion', 'nn.Criterion')
         print(rawget(nn.DistanceRatioCriterion(), 'sizeAverage'), kept().sizeAverage)

         local function try(...)
            return select(2, pcall(torch.class, ...)):match 'torch.class: .*'
         end
         nn.Linear(2, 2)
         torch.class('Sub', 'nn.Tanh')
         assert(nn.Sigmoid.updateOutput)
         print(try('nn.Linear', 'nn.Module'), try('nn.Tanh', 'nn.Module'))
         print(try('nn.Sigmoid', 'nn.Module'), try('nn.Exp'), try('nn.OneHot', 'nn.Module'))
      ]]
      local function taken(...)
         local list = {...}
         for i, name in ipairs(list) do
            list[i] = ("torch.class: class 'nn.%s' exists already"):format(name)
         end
         return table.concat(list, '\t')
      end
      assert.equal(table.concat({
         '3\ttrue\tmine\tmine\ttrue', 'mine\t2', "threads: class 'nn.OneHot' is unknown in this"
         .. ' thread', 'nil\ttrue',
         taken('Linear', 'Tanh'), taken('Sigmoid', 'Exp', 'OneHot'), ''}, '\n'), out)
   end)

   it('leaves the names to the package rnn if it is installed', function()
      local folder = os.tmpname()
      os.remove(folder)
      assert(dpt.paths.mkdir(folder))
      local file = assert(io.open(folder .. '/rnn.lua', 'w'))
      file:write [[
         assert(not nn.AbstractRecurrent)
         torch.class('nn.LSTM', 'nn.Module')
         return 'real'
      ]]
      file:close()
      local out = run.lua(([[
         package.path = '%s/?.lua;' .. package.path
         require 'dpt'
         local _ = nn.LSTM, nn.AbstractRecurrent
         print(require 'rnn', nn.AbstractRecurrent, torch.typename(nn.LSTM()), nn.Sequencer)
         print(cudnn.BLSTM(2, 3, 1):float():forward(torch.FloatTensor(4, 1, 2)):size(3))
      ]]):format(folder))
      assert(dpt.paths.rmall(folder, 'yes'))
      assert.equal('real\tnil\tnn.LSTM\tnil\n6\n', out)
   end)

   it("allows a script to replace a parent of cudnn's classes from the package rnn", function()
      local out = run.lua [[
         require 'dpt'
         torch.class('nn.RNN', 'nn.Module')
         print(torch.isTypeOf(cudnn.GRU(2, 3), 'nn.RNN'), nn.RNN())
      ]]
      assert.equal('true\tnn.RNN\n', out)
   end)

   it("makes type() answer 'userdata' for tensors, getmetatable() their class, whenever libraries"
      .. ' are loaded', function()
      for _, order in ipairs{'before', 'after'} do
         local out = run.lua(([[
            local function load()
               for _, name in ipairs{'pl.types', 'pl.tablex', 'pl.pretty', 'luassert', 'cjson'} do
                  pcall(require, name)
               end
            end
            if '%s' == 'before' then load() end
            require 'dpt'
            load()
            local ffi, pl, tablex = require 'ffi', require 'pl.types', require 'pl.tablex'
            local x = torch.FloatTensor(2)
            print(type(x), type(x:storage()), type(torch.Generator()), type(ffi.new 'int[1]'),
               type(1LL), type(nil), type(print), torch.type(x), torch.type(1LL))
            assert(tablex.deepcompare({x}, {x}) and tablex.deepcopy{x}[1] == x)
            assert(pl.is_callable(x)) -- as in Torch7: its class has __call
            for _, v in ipairs{x, x:storage(), torch.Generator()} do
               assert(getmetatable(v) == torch.getmetatable(torch.type(v)))
            end
            assert(getmetatable('').__index == string and getmetatable{} == nil)
            assert(getmetatable(1LL) == 'ffi')
            require('luassert').same({x, 1}, {x, 1})
            assert(not pcall(require('luassert').same, {x}, {torch.FloatTensor(2)}))
            assert(require('pl.pretty').write{x}:find 'torch.FloatTensor')
         ]]):format(order))
         assert.equal('userdata\tuserdata\tuserdata\tcdata\tcdata\tnil\tfunction\t'
            .. 'torch.FloatTensor\tcdata\n', out)
      end
   end)

   it("keeps existing functions, and restores xlua's own when it is required", function()
      local out = run.lua [[
         function string.split() return 'mine' end
         require 'dpt'
         local before = ('a,b'):split(',')
         require 'xlua'
         print(before, #('a,b'):split(','), ('nn.Linear'):tosymbol() == nn.Linear,
            table.concat(table.splice({1, 2, 3, 4}, 2, 2), ' '),
            table.concat(table.prune{1, 2, 1}, ' '), xprint == xlua.print,
            xerror == xlua.error, xrequire == xlua.require)
      ]]
      assert.equal('mine\t2\ttrue\t1 4\t1 2\ttrue\ttrue\ttrue\n', out)
   end)

   it('supports every public name of older versions #devices2', function()
      assert.equal(dpt.comm.setTransport, dpt.comm.use)
      local net = dpt.nn.DataParallelTable(1)
      local class = torch.class('compat.Derived', 'nn.DataParallelTable', {})
      for _, object in ipairs{net:clone(), class.new(1)} do
         object:add(nn.ParallelTable():add(nn.Linear(2, 2):cuda()):add(nn.Identity()), {1, 2})
         object.policy, object.times = {1, 'replicate'}, {}
         local output = object:forward{torch.CudaTensor(4, 2), torch.CudaTensor(3)}
         assert.equal(2 * 3, output[2]:nElement())
         assert.is_true(object.times.scatter > 0)
         if torch.type(object) == 'nn.DataParallelTable' then
            assert.same({1, 'replicate'}, torch.deserialize(torch.serialize(object)).splitSpec)
         end
      end
      net:add(dpt.nn.Linear(2, 2):cuda(), {1})
      net.policy, net.times = nil, {}
      net:forward(torch.CudaTensor(3, 2):zero())
      assert.is_true(net.times.forward > 0 and net.times.scatter > 0)
   end)

   it('uses the fields that files of older versions have', function()
      local net = dpt.nn.DataParallelTable(1):add(dpt.nn.Linear(2, 2):cuda(), {1})
      local methods = torch.getmetatable 'nn.DataParallelTable'
      local write = rawget(methods, '__write')
      rawset(methods, '__write', function(object, file)
         file:writeObject(object.gpuAssignments)
         file:writeObject{modules = object.modules, dimension = 1, _type = object._type,
            policy = {2}, buffers = 'first', train = true}
      end)
      local bytes = torch.serialize(net)
      rawset(methods, '__write', write)
      local read = torch.deserialize(bytes)
      assert.same({2}, read.policy)
      assert.same({2}, torch.deserialize(torch.serialize(read)).splitSpec)
   end)

   it('rejects names that are taken', function()
      -- dpt itself has already loaded them in this process
      assert.error_matches(compat.reject, "'torch' is loaded from elsewhere already")
   end)
end)
