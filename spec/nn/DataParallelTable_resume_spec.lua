--- A training run that is saved, killed and resumed in another process has the bits of an
-- uninterrupted run.
local dpt = require 'dpt'
local run = require 'spec.support.run'
local same = require 'spec.support.parallel'
local torch, cutorch = dpt.torch, dpt.cutorch

describe('A training run that resumes in another process', function()
   local saved, first, second

   before_each(function() saved, first, second = os.tmpname(), os.tmpname(), os.tmpname() end)
   after_each(function() for _, path in ipairs{saved, first, second} do os.remove(path) end end)

   for _, case in ipairs{{'layers', 'adam', false}, {'layers', 'sgd', true},
      {'recurrent', 'sgd', false}, {'recurrent', 'adam', true}} do
      local network, method, threads = unpack(case)
      it(('has the same bits 50 steps later: %s, %s, %s'):format(network, method,
         threads and 'threads' or 'basic'), function()
         local start = "local resume = require 'spec.support.resume'\n"
         local out = run.lua(start .. ([[
            local run = resume.begin('%s', '%s', %s)
            resume.steps(run, 7)
            resume.save('%s', run)
            torch.save('%s', resume.steps(run, 50))
            local pid = io.open '/proc/self/stat':read '*n'
            os.execute('kill -9 ' .. pid)
         ]]):format(network, method, tostring(threads), saved, first))
         assert.equal('', (out:gsub('Killed%s*', '')))
         out = run.lua(start .. ([[
            nn.Sequential():add(nn.Dropout()):cuda():forward(torch.CudaTensor(3, 3):uniform())
            torch.save('%s', resume.steps(resume.load '%s', 50))
         ]]):format(second, saved))
         assert.equal('', out)
         same.bits(torch.load(first), torch.load(second))
      end)
   end
end)

describe('The generators of all devices', function()
   it('are saved and set at once', function()
      local states, list = cutorch.getRNGStateAll(), {}
      assert.equal(cutorch.getDeviceCount(), #states)
      local function draw(i)
         return cutorch.withDevice(i, function() return torch.CudaTensor(5):uniform() end)
      end
      for i = 1, #states do list[i] = draw(i) end
      cutorch.setRNGStateAll(states)
      for i = 1, #states do same.bits(list[i], draw(i)) end
      for _, case in ipairs{{nil, 'nil'}, {3, 'number'}, {{}, 'a list of 0'}} do
         assert.error_matches(function() cutorch.setRNGStateAll(case[1]) end,
            'setRNGStateAll: .* wanted a list of ' .. #states .. ' states')
      end
   end)
end)
