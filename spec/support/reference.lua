-- Checks the reference: every entry is complete, and its examples are right.
require 'dpt'
local reference = require 'dpt.launcher.reference'
local help = require 'dpt.launcher.help'
local topics = require 'dpt.launcher.topics'
local usage = require 'spec.support.usage'
local inFolder = require 'spec.support.folder'
local read = require 'spec.support.read'
local run = require 'spec.support.run'
local names = require 'dpt.launcher.names'

describe('The reference', function()
   local entries = reference.entries()

   it('has examples that return the documented results #devices2', function()
      local wrong, before = {}, torch.tic()
      for _, entry in ipairs(entries) do
         for _, example in ipairs(entry.usage) do
            torch.manualSeed(1)
            wrong[#wrong + 1] = usage.wrong(example)
         end
      end
      assert.same({}, wrong)
      print(('%d entries, their examples took %.1f s'):format(#entries, torch.toc(before)))
   end)

   it('would detect a wrong example', function()
      assert.equal('1 + 1 --> 3: got 2', usage.wrong '1 + 1 --> 3')
      assert.matches('nosuch', usage.wrong 'nosuch.field')
      assert.is_nil(usage.wrong '1 + 1 --> 2')
   end)

   it('is whole #hostonly', function()
      local pipe = io.popen 'DPT_DEVICES=host:2 scripts/docs --check 2>&1'
      local text = pipe:read '*a'
      pipe:close()
      assert.matches('^docs: %d+ entries, 0 faults\n$', text)
   end)

   it('is written by chapters where no library is built', function()
      local script, count = paths.cwd() .. '/scripts/docs', 0
      inFolder(function()
         assert.equal(0, os.execute(("DPT_LIBRARY=/nonexistent '%s' ."):format(script)))
         for page, listed in read 'reference/README.md':gmatch '%]%((%S+)%): (%d+), ' do
            local _, written = read('reference/' .. page):gsub('\n## ', '')
            assert.equal(tonumber(listed), written, page)
            count = count + written
         end
         assert.is_truthy(read 'reference/nn-linear.md':find(
            '\n`nn.Linear(inputSize, outputSize, [bias])`\n', 1, true))
      end)
      assert.equal(#entries, count)
   end)

   it('is about every public name that a script can reach', function()
      local missing = run.lua [[
         local reference, known = require 'dpt.launcher.reference', {}
         require 'dpt'
         for _, entry in ipairs((reference.entries())) do
            for _, name in ipairs(reference.names(entry)) do known[name] = true end
         end
         print(table.concat(reference.missing(known, {image = require 'image'}), ' '))
         function torch.aFunction() end
         function nn.Module:aMethod() end
         function nn.Linear:ofItsOwn() end
         function nn.Linear:clearState() end
         torch.getmetatable('torch.FloatTensor').aKind = function() end
         cutorch.aTable = {inside = 1}
         function torch._hidden() end
         print(table.concat(reference.missing(known, {image = require 'image'}), ' '))
      ]]
      assert.equal('\nTensor:aKind cutorch.aTable cutorch.aTable.inside nn.Linear:ofItsOwn'
         .. ' nn.Module:aMethod torch.aFunction\n', missing)
   end)

   it('has no entry for unknown names', function()
      local there, gone = {}, {}
      for _, name in ipairs(names.all{image = require 'image'}) do there[name] = true end
      -- inherited entries, and those that are fields
      local function isField(name)
         local value = {torch = torch, nn = nn, cudnn = cudnn, optim = optim, tds = require 'tds',
            Tensor = torch.Tensor, Storage = torch.Storage, threads = require 'threads'}
         for part in name:gmatch '[^.:]+' do value = value and value[part] end
         return value ~= nil
      end
      for _, entry in ipairs(entries) do
         for _, name in ipairs(reference.names(entry)) do
            if not there[name] and not isField(name) then gone[#gone + 1] = name end
         end
      end
      assert.same({}, gone)
   end)

   it('is not loaded with dpt', function()
      assert.equal('nil\n',
         run.lua "require 'dpt' print(package.loaded['dpt.launcher.reference'])")
   end)
end)

describe('The help', function()
   it('prints the reference of a name, of its last part and in any case', function()
      local text, found = help.text 'nn.Linear'
      assert.is_true(found)
      assert.matches('^nn%.Linear%(inputSize, outputSize, %[bias%]%)\n', text)
      assert.matches('inputSize number: features of an input', text)
      assert.matches('e%.g%. nn%.Linear%(3, 2%)', text)
      assert.equal(text, (help.text 'nn.linear'))
      assert.equal(text, (help.text 'Linear'))
   end)

   it('prints the text of every entry under each of its names, also by dpt help', function()
      local wrong, printed = {}, nil
      local silent = stub(_G, 'print', function(text) printed = text end)
      for _, entry in ipairs(reference.entries()) do
         for _, name in ipairs(reference.names(entry)) do
            local text, found = help.text(name)
            local status = help.main{name}
            if not found or not text:find(reference.text(entry), 1, true) or printed ~= text
               or status ~= 0 then
               wrong[#wrong + 1] = name
            end
         end
      end
      silent:revert()
      assert.same({}, wrong)
   end)

   it('finds methods in any spelling', function()
      local add = help.text 'torch.add'
      for _, name in ipairs{'Tensor:add', 'torch.Tensor.add', 'torch.FloatTensor:add',
         'torch.CudaTensor.add()', 'tensor.add'} do
         assert.equal(add, (help.text(name)))
      end
      local narrow = help.text 'x:narrow'
      assert.matches('^torch%.narrow', narrow)
      assert.equal((help.text 'nn.Module:forward'), (help.text 'nn.Linear:forward'))
      assert.equal((help.text 'nn.Module:forward'), (help.text 'cudnn.SpatialConvolution.forward'))
      assert.equal((help.text 'distributed.rank'), (help.text 'dpt.distributed.rank'))
   end)

   it('suggests the nearest names for an unknown one', function()
      for name, text in pairs{['nn.Lineer'] = 'Did you mean nn.Linear?',
         ['nn.Linaer'] = 'Did you mean nn.Linear?', ['torch.narow'] = 'Did you mean torch.narrow?',
         ['Tensor:reseze'] = 'Did you mean Tensor:resize?', zzzzzz = 'dpt help lists the topics.',
         GERU = 'Did you mean cudnn.GRU, nn.GELU or nn.GRU?'} do
         assert.same({("No entry '%s'. %s"):format(name, text), false}, {help.text(name)})
      end
   end)

   it('finds words in names and texts, names first', function()
      local function results(words)
         local text, found = help.text(words)
         assert.is_true(found)
         local list = {}
         for name in text:gmatch '\n  (%S+)  ' do list[#list + 1] = name end
         return list, text
      end
      local list, text = results 'maxpool'
      assert.equal(12, #list)
      assert.matches('cudnn%.SpatialMaxPooling.* nn%.SpatialMaxPooling.*\n  and %d+ more$', text)
      for _, line in ipairs(text:split '\n') do assert.is_true(#line <= 78, line) end
      assert.same({'nn.utils.clipGradNorm', 'nn.Module:clipGradNorm'}, results 'clip norm')
      assert.same({'nn.LogSoftMax', 'nn.SoftMax', 'nn.ScaledDotProductAttention', 'nn.SoftMin'},
         results 'softmax dim')
      assert.matches(' optim%.adam .* optim%.schedule ', table.concat(results 'learning rate', ' '))
      list, text = results 'loss zzzzzz'
      assert.is_true(#list > 0)
      assert.matches("^No entry 'loss zzzzzz'. Some of its words are in:", text)
      assert.same({"No entry 'loss zzzzzz yyyyyy'. dpt help lists the topics.", false},
         {help.text 'loss zzzzzz yyyyyy'})
   end)

   it('lists the names of topics', function()
      local text, found = help.text 'nn'
      assert.is_true(found)
      assert.matches('^nn containers: .*\n  nn%.Bottle .*\nnn transfer: .* nn%.Tanh', text)
      assert.is_nil(text:find ':%l') -- no methods
      assert.is_nil(text:find 'nn%.utils%.')
      text = help.text 'nn containers'
      assert.matches('^nn containers: [^\n]*\n', text)
      assert.matches(' nn%.Container:add\n', text)
      local printed
      local silent = stub(_G, 'print', function(all) printed = all end)
      assert.equal(0, help.main{})
      silent:revert()
      for _, chapter in ipairs(topics.chapters) do
         assert.equal(chapter[1] .. ': ' .. chapter[3], help.text(chapter[1]):match '[^\n]*')
         assert.is_truthy(printed:find('\n' .. chapter[1] .. '  ', 1, true), chapter[1])
      end
   end)

   it('leads from the names of PyTorch to those of dpt', function()
      local there = {}
      for _, entry in ipairs((reference.entries())) do there[entry['function']] = true end
      for name, text in pairs(topics.elsewhere) do
         assert.is_true(there[text] or text:find ' ' ~= nil, name)
      end
      for _, name in ipairs{'nn.Conv2d', 'Conv2d', 'torch.nn.Conv2d'} do
         local text, found = help.text(name)
         assert.is_true(found)
         assert.equal(("PyTorch's %s is nn.SpatialConvolution here:\n\n%s"):format(name,
            help.text 'nn.SpatialConvolution'), text)
      end
      for words, text in pairs{['early stopping'] = 'keep the best loss', EMA = 'ema:update',
         clip_grad = 'clipGradNorm',
         scheduler = 'config.learningRate', ['lr_scheduler'] = 'learningRateDecay'} do
         assert.is_truthy((help.text(words)):find(text, 1, true), words)
      end
      -- the table of calls on the page
      local count, page = 0, read('docs/from-pytorch.md'):match '## Equivalents\n.-\n## '
      for left, right in page:gmatch '\n| (`[^|]*) | ([^|]*) |' do
         for span in left:gmatch '`([^`]+)`' do
            local name = span:match '^[%a_.]*[%w_]+'
            if not span:find '^x[ .%[]' and not span:find '^loss' then
               local text, found = help.text(name)
               local meant = not right:find '`'
               for word in right:gmatch '%a%w%w+' do
                  meant = meant or text:find(word, 1, true) ~= nil
               end
               assert.is_true(found and meant, name .. ': ' .. text)
               count = count + 1
            end
         end
      end
      assert.is_true(count > 25)
   end)

   it('suggests a name for one that an error calls nil', function()
      local NIL = " '%s' (a nil value)"
      local function asked(kind, name, source, question)
         local message = ('a.lua:3: attempt to call %s' .. NIL):format(kind, name)
         assert.equal(message .. question .. '\nstack traceback:',
            help.explain(message .. '\nstack traceback:', source))
      end
      asked('field', 'Linaer', 'net:add(nn.Linaer(2, 2))', '; did you mean nn.Linear?')
      asked('field', 'Conv2d', 'nn.Conv2d(3, 8, 3)', '; did you mean nn.SpatialConvolution?')
      asked('field', 'Adam', 'optim.Adam(f, x)', '; did you mean optim.adam or optim.adamw?')
      asked('method', 'zero_grad', '', '; did you mean nn.Module:zeroGradParameters?')
      asked('method', 'squeze', '', '; did you mean Tensor:squeeze?')
      asked('field', 'Linaer', 'mine.Linaer(2, 2)', '')
      asked('field', 'Conv2d', 'mine.Conv2d(3, 8, 3)', '')
      asked('field', 'zzzzzz', 'nn.zzzzzz()', '')
      asked('global', 'prnt', 'prnt(3)', '')
      asked('method', 'zzzzzz', '', '')
      assert.equal('no', help.explain 'no')
   end)
end)
