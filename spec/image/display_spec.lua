local dpt = require 'dpt'
local image = require 'image'
local raises = require 'spec.support.raises'
local run = require 'spec.support.run'
local torch = dpt.torch

describe('image.toDisplayTensor', function()
   it('lays pictures out as a grid', function()
      local list = torch.Tensor(5, 3, 4, 6)
      for i = 1, 5 do list[i]:fill(i) end
      local out = image.toDisplayTensor{input = list, nrow = 2, padding = 2}
      assert.same({3, 18, 16}, out:size():totable())
      assert.equal(0, out[1][2][2])
      assert.equal(0.25, out[1][2][10])
      assert.equal(1, out[1][1][1])
      assert.same({3, 4, 30}, image.toDisplayTensor(list):size():totable())
      assert.same({8, 12}, image.toDisplayTensor{input = torch.rand(4, 4, 6), nrow = 2}:size()
         :totable())
      assert.same({1, 4, 12}, image.toDisplayTensor{input = {torch.rand(4, 6), torch.rand(4, 6)}}
         :size():totable())
   end)

   it('scales all together, or each', function()
      local list = torch.Tensor(2, 1, 1, 2)
      list[1]:copy(torch.Tensor{0, 1})
      list[2]:copy(torch.Tensor{0, 4})
      assert.same({0, 0.25, 0, 1}, image.toDisplayTensor{input = list}:view(-1):totable())
      assert.same({0, 1, 0, 1}, image.toDisplayTensor{input = list, scaleeach = true}:view(-1)
         :totable())
   end)

   it('rejects values that are not images', function()
      raises("image.toDisplayTensor: argument 'input' is a number, wanted a tensor, or a list of"
         .. ' pictures', function() image.toDisplayTensor(5) end)
   end)
end)

describe('image.display', function()
   it('writes a file and prints its name', function()
      local text = run.lua [[
         require 'dpt'
         local image = require 'image'
         local win = image.display{image = torch.rand(3, 4, 5), zoom = 2, legend = 'seen'}
         print(table.concat(image.getSize(win.file):totable(), 'x'))
         assert(image.display{image = torch.rand(6, 6), win = win} == win)
         print(table.concat(image.getSize(win.file):totable(), 'x'))
         os.remove(win.file)
      ]]
      assert.matches('^seen: written to /%S+%.png\n3x8x10\nimage.display: written to %S+\n1x6x6\n$',
         text)
   end)
end)
