-- The reference: every entry is whole, and its examples are right.
require 'dpt'
local reference = require 'dpt.launcher.reference'
local help = require 'dpt.launcher.help'
local usage = require 'spec.support.usage'
local inFolder = require 'spec.support.folder'
local read = require 'spec.support.read'
local run = require 'spec.support.run'
local names = require 'dpt.launcher.names'

describe('The reference', function()
   local entries = reference.entries()

   it('has examples that return what they say #devices2', function()
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

   it('would see an example that is wrong', function()
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
         for page, listed in read 'reference/README.md':gmatch '%]%((%S+)%): (%d+)\n' do
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

   it('has no entry for what is not there', function()
      local there, gone = {}, {}
      for _, name in ipairs(names.all{image = require 'image'}) do there[name] = true end
      -- what a class has from the one above it, or as a field
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

   it('finds methods however they are written', function()
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

   it('lists what is nearest to a name with a wrong letter', function()
      assert.equal("there is no 'nn.Lineer'; there are nn.Linear", (help.text 'nn.Lineer'))
      assert.matches('torch%.narrow', (help.text 'torch.narow'))
      assert.matches('Tensor:resize', (help.text 'Tensor:reseze'))
   end)

   it('lists what resembles a name that is not there', function()
      local text, found = help.text 'MaxPool'
      assert.is_false(found)
      assert.matches('nn%.SpatialMaxPooling', text)
      assert.equal("the reference has no 'zzzzzz'", (help.text 'zzzzzz'))
   end)
end)
