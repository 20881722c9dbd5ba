-- optim.Logger: rows in files and plots.
local bad = require 'spec.support.raises'
local read = require 'spec.support.read'

describe('optim.Logger', function()
   local name
   before_each(function() name = os.tmpname() end)
   after_each(function() os.remove(name) end)

   local function contents() return read(name) end

   it('has every row on disk when add returns', function()
      local logger = optim.Logger(name)
      logger:setNames{'train', 'note'}
      assert.equal('train\tnote\t\n', contents())
      logger:add{0.5, 'first'}
      assert.equal('train\tnote\t\n 5.0000e-01\tfirst\t\n', contents())
      logger:add{note = 'second', train = 12345.678}
      assert.equal(' 1.2346e+04\tsecond\t\n', contents():match '[^\n]*\n$')
      assert.same({0.5, 12345.678}, logger.symbols[1])
   end)

   it("uses the first row's names", function()
      local logger = optim.Logger(name)
      logger:add{loss = 1.5}:add{loss = 0.75}
      assert.equal('loss\t\n 1.5000e+00\t\n 7.5000e-01\t\n', contents())
      assert.same({loss = {1.5, 0.75}}, logger.symbols)
      assert.same({{loss = 'loss'}, {loss = 'loss'}, {loss = {'+'}}},
         {logger.names, logger.idx, logger.styles})
      logger:style{loss = '-'}:add{loss = 3}
      assert.same({loss = {'-'}}, logger.styles)
      assert.equal(' 3.0000e+00\t\n', contents():match '[^\n]*\n$')
      bad('optim.Logger: there is no column 1', function() logger:add{4} end)
      assert.equal(0, logger.nsymbols)
   end)

   it('accepts styles of columns that do not exist yet', function()
      assert.same({later = {'-'}}, optim.Logger(name):style{later = '-'}.styles)
      assert.same({{'-'}, {'+'}}, optim.Logger(name):setNames{'a', 'b'}:style{a = '-'}.styles)
   end)

   it('accepts rows with missing values', function()
      local logger = optim.Logger(name):setNames{'a', 'b', 'c'}
      logger:add{1}:add{c = 2}:add{}:add{b = 3}
      assert.equal('a\tb\tc\t\n 1.0000e+00\t\n\t\t 2.0000e+00\t\n\n\t 3.0000e+00\t\n', contents())
      assert.same({{1}, {3}, {2}}, logger.symbols)
   end)

   it('discards an invalid row', function()
      local logger = optim.Logger(name):setNames{'a', 'b'}
      bad('optim.Logger: there is no column c', function() logger:add{a = 1, c = 2} end)
      assert.equal('a\tb\t\n', contents())
      assert.same({{}, {}}, logger.symbols)
   end)

   it('raises if it cannot write, with the reason', function()
      bad('optim.Logger: cannot write ' .. name .. '/log: not a directory',
         function() optim.Logger(name .. '/log') end)
   end)

   it('makes the folder of its file', function()
      local folder = name .. '.d/deep'
      local logger = optim.Logger(folder .. '/train.log'):add{1}
      logger.file:close()
      assert.truthy(os.remove(folder .. '/train.log'))
      os.remove(folder)
      os.remove(name .. '.d')
   end)

   it("appends the time to the file's name", function()
      local logger = optim.Logger(name .. '.log', true)
      logger.file:close()
      assert.equal(name .. '.log', logger.name)
      assert.equal(name .. '.log.eps', logger.epsfile)
      local files = io.popen('ls ' .. name .. '.log-*'):read '*a'
      local made = files:match('^' .. name .. '%.log%-%d+_%d+_%d+_%d+:%d+:%d+')
      assert.truthy(os.remove(made))
   end)

   it('plots columns by name, and continues if gnuplot fails', function()
      local logger, drawn = optim.Logger(name):setNames{'a', 'b'}, nil
      logger:add{1, 2}
      logger:add{3, 4}
      local nothing = function() end
      package.loaded.gnuplot = setmetatable({plot = function(list) drawn = list end},
         {__index = function() return nothing end})
      logger:plot 'b'
      assert.same('b', drawn[1][1])
      assert.same({2, 4}, drawn[1][2]:totable())
      logger:plot()
      assert.equal(2, #drawn)
      bad('optim.Logger: there is no column c', function() logger:plot 'c' end)
      package.loaded.gnuplot.plot = function() error 'Gnuplot terminal is not set' end
      logger.warned = true -- suppresses the warning on stderr
      logger:plot()
      package.loaded.gnuplot = nil
   end)

   local there = os.execute 'command -v gnuplot >/dev/null'
   there = there == 0 or there == true

   it('plots to an SVG and an EPS next to its file, in the styles that were set', function()
      if not there then return pending 'there is no gnuplot (scripts/setup)' end
      local logger = optim.Logger(name):setNames{'train', 'test'}:style{'-', '+-'}
      for i = 1, 4 do logger:add{1 / i, 2 / i} end
      logger.plotRawCmd = 'set xlabel "epoch"'
      logger:plot()
      assert.matches('<title>Gnuplot</title>.*>epoch<.*>test<', read(name .. '.svg'))
      assert.equal('%!PS', read(name .. '.eps'):sub(1, 4))
      os.remove(name .. '.svg')
      os.remove(name .. '.eps')
      logger.epsfile = nil
      logger:plot 'test'
      assert.truthy(os.remove(name .. '.svg'))
      assert.is_nil(io.open(name .. '.eps'))
   end)

   it('plots with a title and axis labels', function()
      local logger = optim.Logger(name):setNames{'train', 'test'}:style{train = {'-', '+'}}
      logger:add{1, 2}:add{3, 4}
      local said = {}
      package.loaded.gnuplot = setmetatable({}, {__index = function(_, key)
         return function(text) said[key] = text end
      end})
      finally(function() package.loaded.gnuplot = nil end)
      logger:plot()
      local base = paths.basename(name)
      assert.same({'train, test in ' .. base, 'row', 'value'},
         {said.title, said.xlabel, said.ylabel})
      logger:plot 'train'
      assert.same({'train in ' .. base, 'row', 'train'}, {said.title, said.xlabel, said.ylabel})
   end)

   it('draws a column of several runs into one picture', function()
      if not there then return pending 'there is no gnuplot (scripts/setup)' end
      local other, path = os.tmpname(), os.tmpname() .. '.svg'
      optim.Logger(name):add{loss = 3}:add{loss = 2}.file:close()
      optim.Logger(other):add{loss = 5}:add{loss = 1}.file:close()
      local runs = {{'one', name}, {'two', other}}
      assert.is_true(optim.Logger.compare(path, 'loss', runs, 'epoch'))
      local svg = read(path)
      for _, text in ipairs{'one', 'two', 'loss by epoch', 'loss', 'epoch'} do
         assert.matches('>' .. text .. '<', svg, 1, true)
      end
      -- the wide line of the first run shows through the gaps of the second
      assert.matches("stroke%-width='6%.00'.*stroke%-dasharray='[^']+'", (svg:gsub('"', "'")))
      optim.Logger.compare(path, 'loss', runs)
      assert.matches('>loss by row<', read(path), 1, true)
      bad('optim.Logger: ' .. name .. ' has no column gain',
         function() optim.Logger.compare(path, 'gain', {{'one', name}}) end)
      bad('optim.Logger: got x.bmp, wanted a path that ends with .svg or .png',
         function() optim.Logger.compare('x.bmp', 'loss', {}) end)
      os.remove(other)
      os.remove(path)
      os.remove((path:gsub('%.svg$', '')))
   end)
end)
