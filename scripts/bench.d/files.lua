--- bench files: torch.save and torch.load of 100 MiB of tensors against cp, from warm cache
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame = require 'frame'

local folder = os.getenv 'DPT_BENCH_FOLDER'
local path, copy = folder .. '/model.t7', folder .. '/copy.t7'

local tensors = {}
for i = 1, 25 do tensors[i] = torch.FloatTensor(1024, 1024):fill(i) end
local small = {}
for i = 1, 100000 do small[i] = i % 2 == 0 and i or 'entry ' .. i end

local save, load, peer = frame.alternate(9, function() torch.save(path, tensors) end,
   function() torch.load(path) end,
   function() assert(frame.succeeds(("cp '%s' '%s'"):format(path, copy))) end)
local saveSmall, loadSmall = frame.alternate(5, function() torch.save(path, small) end,
   function() torch.load(path) end)

frame.head('100 MiB in 25 torch.FloatTensor, in ' .. folder:match '^/[^/]+/?[^/]*'
   .. ', median of 9 rounds')
local rows = {{'', 'ms', 'GB/s', "of cp's speed", 'target'}}
for _, row in ipairs{{'cp', peer}, {'torch.save', save, 0.8}, {'torch.load', load, 0.8}} do
   local name, seconds, target = unpack(row)
   rows[#rows + 1] = {name, ('%.1f'):format(seconds * 1e3), ('%.1f'):format(0.1048576 / seconds),
      ('%.2f'):format(peer / seconds), target or ''}
end
frame.rows(rows)
print(('a table of 100,000 numbers and strings: saved in %.0f ms, loaded in %.0f ms\n'):format(
   saveSmall * 1e3, loadSmall * 1e3))
frame.finish{{'files', ("saves at %.2f and loads at %.2f of cp's speed"):format(peer / save,
   peer / load), 'at least 0.8', peer / save >= 0.8 and peer / load >= 0.8}}
