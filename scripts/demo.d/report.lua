--- report: prints the demo's results as a table and a summary, and writes the page demo.html.
--
--   scripts/dpt scripts/demo.d/report.lua FOLDER DEVICES...
--
-- FOLDER has for the run on N devices: run.N, its output; losses.N, of each epoch; machine.N, which
-- others.lua reads; profile.N.json.
--
-- Invariant: it ends with status 1, and without a page, unless all runs have reached the accuracy
-- below with the same losses.
local ACCURACY = 0.9 -- each run must reach it
local DIFFERENCE = 0.02 -- between the losses of runs: rounding differs, and grows over 120 steps
local NOTABLE = 0.1 -- part of the cores that other programs may use without being reported

require 'dpt'
local summary = require 'dpt.profiler.summary'
local timeline = require 'dpt.profiler.timeline'
local others = dofile((arg[0]:match '^.*/' or '') .. 'others.lua')
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

-- The page's first part, with the table and the curves.
local function above()
   local text, names = {}, {}
   local function add(...) text[#text + 1] = string.format(...) end
   for i, r in ipairs(runs) do names[i] = plural(r.n, 'device') end
   names = table.concat(names, ', '):gsub(', ([^,]*)$', ' and %1')
   add('<main><h1>dpt: the demo</h1>\n<p>A convolutional network learned to read handwritten '
      .. 'digits (1,500 images of 8 x 8 pixels), on %s. A device is one core of this machine. '
      .. 'Each device has a copy of the network and gets its part of every batch; the gradients '
      .. 'are summed over the devices before each update.</p>', names)
   add '<table><tr>'
   for _, name in ipairs(HEADER) do add('<th>%s</th>', name) end
   for _, row in ipairs(rows) do add('</tr><tr><td>%s</td>', table.concat(row, '</td><td>')) end
   add('</tr></table>\n<p>%s</p>', SPEED_UP)
   if busy then add('<p><b>Beware: %s.</b></p>', busy) end
   add '<h2>How the loss fell</h2>'
   local files = {}
   for i, r in ipairs(runs) do
      files[i] = {plural(r.n, 'device'), ('%s/losses.%d'):format(folder, r.n)}
   end
   if optim.Logger.compare(folder .. '/losses.svg', 'loss', files, 'epoch') then
      text[#text + 1] = read('losses.svg'):match '<svg.*'
   end
   add('<p>An epoch shows the network all images once. The loss is the mean of &minus;log p over '
      .. 'an epoch, where p is the probability that the network gave to the right digit.')
   if #runs > 1 then
      add('The curves of %s coincide: the results are the same but for rounding (at most %.4f '
         .. 'here), since data parallelism does not change what is computed, only where.', names,
         largest)
   end
   add('</p>\n<h2>Where the time went: the last ten steps on %s</h2></main>\n',
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
