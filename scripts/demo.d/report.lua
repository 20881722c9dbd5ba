--- report: prints the demo's results as a table and a summary, and writes the page demo.html.
--
--   scripts/dpt scripts/demo.d/report.lua FOLDER DEVICES...
--
-- For the run on N devices, FOLDER contains run.N (the output), losses.N (the loss of each epoch),
-- machine.N (see others.lua) and profile.N.json.
--
-- Invariant: it ends with status 1, and without a page, unless all runs have reached the accuracy
-- below with the same losses.
local ACCURACY = 0.9 -- each run must reach it
local DIFFERENCE = 0.02 -- between the losses of runs: rounding differs, and grows over 120 steps
local NOTABLE = 0.1 -- part of the cores that other programs may use without being reported

local summary = require 'dpt.profiler.summary'
local timeline = require 'dpt.profiler.timeline'
local here = arg[0]:match '^.*/' or ''
local others, figures = dofile(here .. 'others.lua'), dofile(here .. 'figures.lua')
local folder = table.remove(arg, 1)

local function read(name)
   local file = assert(io.open(folder .. '/' .. name))
   local text = file:read '*a'
   file:close()
   return text
end

local function plural(n, word) return ('%d %s%s'):format(n, word, n == 1 and '' or 's') end

local runs = {}
for i, n in ipairs(arg) do
   local text, losses = read('run.' .. n), {}
   for loss in read('losses.' .. n):gmatch '%d%.%d+e[-+]%d+' do
      losses[#losses + 1] = tonumber(loss)
   end
   local last, rate, seconds = text:match '\nepochs[^\n]*\n *%d+ +(%S+) +(%S+) +(%S+)'
   runs[i] = {n = tonumber(n), losses = losses, last = last, rate = tonumber(rate),
      seconds = seconds, accuracy = text:match 'test accuracy: (%S+)'}
   runs[i].others, runs[i].cores = others(read('machine.' .. n))
end
local biggest = runs[#runs]

local HEADER = {'devices', 'seconds', 'images/s', 'speed-up', 'last loss', 'test accuracy'}
local rows = {}
for i, r in ipairs(runs) do
   rows[i] = {r.n, r.seconds, r.rate, ('%.2f'):format(r.rate / runs[1].rate), r.last, r.accuracy}
end
local SPEED_UP = 'speed-up: images/s against those of 1 device of one core'

-- Returns a line about the runs during which the machine was busy; nil if there are none.
local busy = {}
for _, r in ipairs(runs) do
   if r.others and r.others > NOTABLE * r.cores then
      busy[#busy + 1] = ('%.1f of the %s while %s ran'):format(r.others, plural(r.cores, 'core'),
         plural(r.n, 'device'))
   end
end
busy = #busy > 0 and ('other programs used about %s: the times are not representative'):format(
   table.concat(busy, ' and ')) or nil

local FORMAT = '%-8s %8s %9s %9s %10s %14s'
print('\n' .. FORMAT:format(unpack(HEADER)))
for _, row in ipairs(rows) do print(FORMAT:format(unpack(row))) end
print(SPEED_UP)
if busy then print(busy) end

local largest = 0
for _, r in ipairs(runs) do
   local difference = 0
   for i, loss in ipairs(r.losses) do
      difference = math.max(difference, math.abs(loss - runs[1].losses[i]))
   end
   largest = math.max(largest, difference)
   local wrong = difference > DIFFERENCE and 'the losses differ by ' .. difference
      or tonumber(r.accuracy) < ACCURACY and 'the accuracy is below ' .. ACCURACY
   if wrong then
      print(('demo: on %s %s'):format(plural(r.n, 'device'), wrong))
      os.exit(1)
   end
end

-- Returns the figures: the speed, the losses, and how they differ.
local function curves(names)
   local text, series, differences, bars = {}, {}, {}, {}
   local function add(title, svg, caption, ...)
      text[#text + 1] = ('<figure><h3>%s</h3>\n%s\n<figcaption>%s</figcaption></figure>'):format(
         title, svg, caption:format(...))
   end
   for i, r in ipairs(runs) do
      series[i] = {name = plural(r.n, 'device'), values = r.losses}
      bars[i] = {name = tostring(r.n), value = r.rate, ideal = r.n * runs[1].rate}
      if i > 1 then
         local values = {}
         for k, loss in ipairs(r.losses) do values[k] = loss - runs[1].losses[k] end
         differences[i - 1] = {name = series[i].name, values = values}
      end
   end
   if #runs > 1 then
      add('How fast', figures.bars('Bars of images per second by the number of devices',
         'images per second', 'devices', bars), 'The dashes show n times the speed of 1 device. '
         .. 'Look how far below them a bar ends: that part went to copies, sums and waiting%s.',
         busy and ', and to other programs' or '')
   end
   add('How the loss fell', figures.curves('Curves of the loss by epoch',
      '<tspan>loss</tspan> in nats', 'epoch', series),
      'An epoch shows the network all images once. The loss is the mean of &minus;log p over an '
      .. 'epoch (natural logarithm), where p is the probability that the network gave to the right '
      .. 'digit.%s', #runs > 1 and (' The curves of %s coincide: the results are the same but for '
      .. 'rounding (at most %.4f here), since data parallelism does not change what is computed, '
      .. 'only where.'):format(names, largest) or '')
   if #runs > 1 then
      add('How the losses differ', figures.curves('Curves of the difference of losses by epoch',
         'loss minus that of 1 device', 'epoch', differences, 2), 'The same losses, each minus '
         .. 'that of 1 device. Look at the numbers at the axis: several devices sum in another '
         .. 'order, so they round differently, and training amplifies the difference.')
   end
   return figures.STYLE .. '<div class="figures">' .. table.concat(text, '\n') .. '</div>'
end

-- Returns the page's first part, with the table and the figures.
local function above()
   local text, names = {}, {}
   local function add(...) text[#text + 1] = string.format(...) end
   for i, r in ipairs(runs) do names[i] = plural(r.n, 'device') end
   names = table.concat(names, ', '):gsub(', ([^,]*)$', ' and %1')
   add '<header><h1>dpt: the demo</h1>'
   if #runs > 1 then
      add('<p class="lede"><b>%s</b> trained a network <b>%.2f times</b> as fast as 1 device, with '
         .. 'the same losses.</p>', plural(biggest.n, 'device'), biggest.rate / runs[1].rate)
   end
   add('<p>A convolutional network learned to read handwritten '
      .. 'digits (1,500 images of 8 &times; 8 pixels), on %s. A device is one core of this '
      .. 'machine. Each device has a copy of the network and gets its part of every batch; the '
      .. 'gradients are summed over the devices before each update.</p>', names)
   if busy then add('<p class="warning"><b>Beware: %s.</b></p>', busy) end
   add '</header><section>'
   text[#text + 1] = curves(names)
   add '<h2>The runs</h2><div class="scroll" style="max-width: 720px" tabindex="0">'
   add '<table><thead><tr>'
   for _, name in ipairs(HEADER) do add('<th scope="col">%s</th>', name) end
   add '</tr></thead><tbody>'
   for _, row in ipairs(rows) do add('<tr><td>%s</td></tr>', table.concat(row, '</td><td>')) end
   add('</tbody></table></div>\n<p class="note">%s; last loss: of the last epoch; test accuracy: '
      .. 'the part of other images that the network read correctly.</p>', SPEED_UP)
   add('<h2>Where the time went: the last ten steps on %s</h2></section>\n',
      plural(biggest.n, 'device'))
   return table.concat(text, '\n')
end

local profile = timeline.read(('%s/profile.%d.json'):format(folder, biggest.n))
print(('\nThe last ten steps on %s:\n%s'):format(plural(biggest.n, 'device'),
   tostring(summary(profile.events))))
local file = assert(io.open(folder .. '/demo.html', 'w'))
assert(file:write(timeline.page({profile}, 'dpt: demo', above())))
assert(file:close())
print(("\nopen %s/demo.html in a browser for the losses' curves and the timeline of the last steps")
   :format(folder))
print 'the losses are the same on all devices'
