-- gnuplot: curves in files, and no error where they cannot be drawn.
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

   it('raises what a script does wrong', function()
      bad('gnuplot.plot: got 2 x for 3 y', function() gnuplot.plot({1, 2}, {1, 2, 3}) end)
      bad('gnuplot.plot: got a boolean, wanted {[name,] [x,] y [, style]}',
         function() gnuplot.plot('a', true) end)
      bad("gnuplot.svgfigure: argument 'path' is a number, wanted a string",
         function() gnuplot.svgfigure(7) end)
   end)

   it('says in one line that there is no gnuplot, and goes on', function()
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
