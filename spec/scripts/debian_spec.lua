-- Debian's C libraries for Lua that old scripts use with Torch7 work with dpt unchanged.
require 'dpt'
local run = require 'spec.support.run'

local function installed(name)
   if package.searchpath(name, package.cpath) then return true end
   pending('there is no ' .. name .. ': scripts/setup --rest')
end

describe('libraries from Debian', function()
   it("cjson writes and reads a training script's log", function()
      if not installed 'cjson' then return end
      local out = run.lua [[
         require 'dpt'
         local cjson = require 'cjson'
         local loss = nn.MSECriterion():forward(torch.ones(4), torch.zeros(4))
         local text = cjson.encode{loss = loss, sizes = torch.ones(2, 3):size():totable(),
            rows = torch.range(1, 2):totable(), name = 'a'}
         local back = cjson.decode(text)
         print(back.loss, back.sizes[2], back.rows[2], back.name)
         print(pcall(cjson.encode, {torch.ones(2)}))
         print(select(2, pcall(cjson.decode, '{')) ~= nil, type(torch.ones(1)))
      ]]
      local lines = {}
      for line in out:gmatch '[^\n]+' do lines[#lines + 1] = line end
      assert.equal('1\t3\t2\ta', lines[1])
      assert.truthy(lines[2]:find '^false\t') -- JSON has no tensors
      assert.equal('true\tuserdata', lines[3])
   end)

   it('bit32 accepts numbers of tensors', function()
      if not installed 'bit32' then return end
      assert.equal('4\t5\t6\n', (run.lua [[
         require 'dpt'
         local bit32, x = require 'bit32', torch.IntTensor{12, 6}
         print(bit32.band(x[1], x[2]), bit32.bxor(3, x[2]), bit32.rshift(x[1], 1))
      ]]))
   end)
end)
