-- gnuplot: curves in files, and no error if they cannot be drawn.
local dpt = require 'dpt'
local bad = require 'spec.support.raises'
local read = require 'spec.support.read'
local run = require 'spec.support.run'
local gnuplot = require 'dpt.util.gnuplot'
local torch = dpt.torch

local there = os.execute 'command -v gnuplot >/dev/null'
there = there == 0 or there == true

describe('gnuplot', function()
   local name
   before_each(function() name = os.tmpname() end)
   after_each(function()
      gnuplot.closeall()
      os.remove(name)
   end)

   it('draws curves of several runs into an SVG', function()
      if not there then return pending 'there is no gnuplot (scripts/setup)' end
      gnuplot.svgfigure(name)
      gnuplot.plot({"one's", torch.Tensor{3, 2, 1}, '+-'}, {'two', {1, 2, 4}, {3, 1, 0.5}, '~'},
         {'pairs', torch.Tensor{{1, 1}, {2, 2}}, 'with points'})
      gnuplot.title 'losses'
      gnuplot.xlabel 'epoch'
      gnuplot.ylabel 'loss_a'
      gnuplot.grid(true)
      gnuplot.axis{0, 5, '', ''}
      gnuplot.movelegend('left', 'bottom')
      assert.is_true(gnuplot.plotflush())
      local svg = read(name)
      for _, text in ipairs{'<svg', "one", 'two', 'losses', 'epoch', 'loss_a'} do
         assert.matches(text, svg, 1, true)
      end
   end)

   it('draws PNG, EPS, histograms and images', function()
      if not there then return pending 'there is no gnuplot (scripts/setup)' end
      gnuplot.pngfigure(name)
      gnuplot.hist(torch.linspace(0, 1, 50), 10)
      gnuplot.close()
      assert.equal('\137PNG', read(name):sub(1, 4))
      gnuplot.epsfigure(name)
      gnuplot.imagesc(torch.Tensor{{1, 2}, {3, 4}})
      gnuplot.logscale 'off'
      gnuplot.close()
      assert.equal('%!PS', read(name):sub(1, 4))
   end)

   it('draws surfaces, points in space and bars, and prints a figure into another file', function()
      if not there then return pending 'there is no gnuplot (scripts/setup)' end
      local z, x = torch.rand(4, 5), torch.linspace(0, 1, 7)
      for _, draw in ipairs{function() return gnuplot.splot(z) end,
         function() return gnuplot.splot({"one's", z}, {'two', z, z, z}) end,
         function() return gnuplot.scatter3(x, x, x) end,
         function() return gnuplot.scatter3{{"one's", x, x, x}, {'two', x, x, x}} end,
         function() return gnuplot.bar(x) end, function() return gnuplot.bar(x, x) end} do
         gnuplot.svgfigure(name)
         assert.is_number(draw())
         assert.is_true(gnuplot.plotflush())
         assert.matches('<svg', read(name), 1, true)
      end
      gnuplot.axis 'auto'
      assert.is_true(gnuplot.figprint(name .. '.png'))
      assert.equal('\137PNG', read(name .. '.png'):sub(1, 4))
      os.remove(name .. '.png')
      gnuplot.axis 'fill'
      assert.is_true(gnuplot.plotflush())
      assert.matches('<svg', read(name), 1, true)
   end)

   it('counts what a histogram draws', function()
      local h = gnuplot.histc(torch.Tensor{0, 0, 0.4, 1}, 4)
      assert.same({4, 0.25, 1, 3}, {h.bins, h.binwidth, h.max, h.min})
      assert.same({{val = 0.125, nb = 2}, {val = 0.375, nb = 1}, {val = 0.625, nb = 0},
         {val = 0.875, nb = 1}}, {unpack(h)})
      assert.same({2, 1, 0, 1}, h.raw:totable())
      local raw = gnuplot.histc(torch.Tensor{0, 0, 0.4, 1}, 4, nil, nil, true)
      assert.same({2, 1, 0, 1}, raw:totable())
      assert.matches('0.125 +2 |+\n +0.375 +1 |+\n', tostring(h))
      gnuplot.svgfigure(name)
      assert.same({unpack(h)}, {unpack(gnuplot.hist(torch.Tensor{0, 0, 0.4, 1}, 4))})
      assert.equal(72, #gnuplot.histc(torch.rand(9)))
   end)

   it('raises for wrong calls', function()
      bad('gnuplot.splot: got a tensor of size 3, wanted tensors of 2 dimensions and one size',
         function() gnuplot.splot(torch.rand(3)) end)
      bad('gnuplot.splot: got 2 tensors, wanted {[name,] z} or {[name,] x, y, z}',
         function() gnuplot.splot(torch.rand(3, 2), torch.rand(3, 2)) end)
      bad('gnuplot.scatter3: got 1 tensors, wanted {[name,] x, y, z}',
         function() gnuplot.scatter3(torch.rand(3)) end)
      bad('gnuplot.histc: wants a tensor with elements as argument 1, got one without',
         function() gnuplot.histc(torch.Tensor()) end)
      bad("gnuplot.figprint: argument 'path' is 'loss', wanted a name that ends in .eps, .pdf, .png"
         .. ' or .svg', function() gnuplot.figprint 'loss' end)
      bad('gnuplot.plot: got 2 x for 3 y', function() gnuplot.plot({1, 2}, {1, 2, 3}) end)
      bad('gnuplot.plot: got a boolean, wanted {[name,] [x,] y [, style]}',
         function() gnuplot.plot('a', true) end)
      bad("gnuplot.svgfigure: argument 'path' is a number, wanted a string",
         function() gnuplot.svgfigure(7) end)
   end)

   it('reports once per reason why a file is not written, and keeps the old one', function()
      if not there then return pending 'there is no gnuplot (scripts/setup)' end
      local file = io.open(name, 'w')
      file:write 'old'
      file:close()
      local text = run.ended(([[
         require 'dpt'
         require 'gnuplot' -- sets the global
         for _ = 1, 2 do
            for _, path in ipairs{%q, '/dev/full', '/nowhere/x.svg'} do
               gnuplot.svgfigure(path)
               gnuplot.plot{1, 2, 3}
               io.stderr:write(tostring(gnuplot.plotflush()), '\n')
               gnuplot.raw 'no command'
               io.stderr:write(tostring(gnuplot.plotflush()), '\n')
            end
         end]]):format(name), "trap '' XFSZ; ulimit -f 8")
      local first = 'gnuplot: no picture is drawn: '
      assert.equal(first .. 'cannot write ' .. name .. ': file too large; the previous file is'
         .. ' unchanged\nfalse\n' .. first .. 'gnuplot ends with status 1: invalid command\nfalse\n'
         .. first .. 'cannot write /dev/full: no space left on device\nfalse\nfalse\n'
         .. first .. 'cannot write /nowhere/x.svg: no such file or directory\nfalse\nfalse\n'
         .. ('false\n'):rep(6) .. '0', text)
      assert.equal('old', read(name))
   end)

   it('reports in one line that gnuplot is missing, and continues', function()
      local text = run.lua([[
         require 'dpt'
         require 'gnuplot' -- sets the global
         gnuplot.setgnuplotexe 'nosuchprogram'
         for _ = 1, 3 do
            gnuplot.svgfigure '/tmp/none.svg'
            gnuplot.plot(torch.Tensor{1, 2})
            print(gnuplot.plotflush())
         end]])
      assert.equal('gnuplot: no picture is drawn: there is no nosuchprogram (apt-get install'
         .. ' gnuplot-nox)\nfalse\nfalse\nfalse\n', text)
   end)
end)
