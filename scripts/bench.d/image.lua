--- bench image: pictures decoded, resized, cropped and flipped per second, against Pillow
-- (and resizing on all threads against Torch7's formulas in plain C)
package.path = package.path .. ';' .. arg[0]:match '^.*/' .. '?.lua' -- last: this is image.lua, too
local frame = require 'frame'
local peer = require 'peer'
local image = require 'image'

local TARGET = 0.9
local FILES, ROUNDS = 40, 15
local python = os.getenv 'DPT_PEER_PYTHON' or 'python3'
if not frame.succeeds(python .. " -c 'import PIL' 2>/dev/null") then
   print 'Pillow not found: install python3-pil (Debian), or set DPT_PEER_PYTHON to a Python'
   print 'that has it.'
   print(('image: no peer (target %.1f of its pictures) short'):format(TARGET))
   os.exit(1)
end

-- Images of ImageNet's typical size: 500 x 375, with noise like a photograph's.
local threads = torch.getnumthreads()
torch.setnumthreads(1)
local folder = os.getenv 'DPT_BENCH_FOLDER'
local base, paths_ = image.scale(image.lena(), 500, 375):float(), {}
for i = 1, FILES do
   local picture = base:clone():add(torch.FloatTensor(3, 375, 500):normal(0, 0.03))
   paths_[i] = ('%s/%d.jpg'):format(folder, i)
   image.save(paths_[i], i % 2 == 0 and image.hflip(picture) or picture)
end

-- Both sides end with a 224 x 224 image of bytes, channels first.
local function ours()
   for i = 1, FILES do
      local picture = image.scale(image.load(paths_[i], 3, 'byte'), '^256')
      image.hflip(image.crop(picture, 'c', 224, 224))
   end
end

local theirs, version = peer.start(python, ([[
import sys, time, PIL
from PIL import Image
print(PIL.__version__, flush=True)
for line in sys.stdin:
    start = time.perf_counter()
    for i in range(1, %d + 1):
        p = Image.open('%s/%%d.jpg' %% i).convert('RGB')
        p = p.resize((341, 256), Image.BILINEAR).crop((58, 16, 282, 240))
        p = p.transpose(Image.FLIP_LEFT_RIGHT)
        bytes_ = p.tobytes()
    print(time.perf_counter() - start, flush=True)
]]):format(FILES, folder), '')

local mine, its = math.huge, math.huge
for _ = 1, ROUNDS do
   local timer = torch.Timer()
   ours()
   mine = math.min(mine, timer:time().real)
   its = math.min(its, theirs())
end

-- Only resizing, of floats on all threads: reducing, as a loader does, and enlarging.
local program = os.tmpname()
assert(frame.succeeds(("cc -O2 -o '%s' '%s'"):format(program, arg[0]:match '^.*/' .. 'resize.c')))
torch.setnumthreads(threads)
local ratios, rows = {}, {{'', 'resizing', 'plain C', 'dpt'}}
for _, case in ipairs{{'smaller', 375, 500, 256, 341}, {'larger', 256, 341, 512, 682}} do
   local source, target = torch.rand(3, case[2], case[3]):float(),
      torch.FloatTensor(3, case[4], case[5])
   local plain, best = math.huge, math.huge
   for _ = 1, ROUNDS do
      local pipe = io.popen(("'%s' 3 %d %d %d %d 20"):format(program, case[2], case[3], case[4],
         case[5]))
      plain = math.min(plain, tonumber(pipe:read '*n'))
      pipe:close()
      for _ = 1, 20 do
         local timer = torch.Timer()
         image.scale(target, source)
         best = math.min(best, timer:time().real)
      end
   end
   ratios[case[1]] = plain / best
   rows[#rows + 1] = {case[1], ('%dx%d to %dx%d'):format(case[3], case[2], case[5], case[4]),
      ('%.2f ms'):format(1e3 * plain), ('%.2f ms'):format(1e3 * best)}
end
os.remove(program)

frame.head(('%d JPEG files of 500 x 375, one thread, the best of %d rounds in turn'):format(FILES,
   ROUNDS))
frame.rows{{'', 'pictures/s'}, {'dpt', ('%.0f'):format(FILES / mine)},
   {'Pillow ' .. version, ('%.0f'):format(FILES / its)}}
frame.rows(rows)
frame.finish{{'image', ("%.2f of Pillow's pictures/s"):format(its / mine), ('at least %.1f')
   :format(TARGET), its >= TARGET * mine},
   {'resize', ('%.1f and %.1f times as fast as plain C'):format(ratios.smaller, ratios.larger),
   'at least 1', math.min(ratios.smaller, ratios.larger) >= 1}}
