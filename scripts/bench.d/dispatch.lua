--- bench dispatch: the time of one a:add(1, b) on 16 floats, compiled and interpreted
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame = require 'frame'

local a, b = torch.FloatTensor(16):fill(0), torch.FloatTensor(16):fill(1)
local function loop(n) for _ = 1, n do a:add(1, b) end end

local compiled, interpreted = {}, {}
local few, many = 20000, 400000
for _ = 1, 7 do
   jit.on()
   jit.flush()
   loop(few) -- compiles
   table.insert(compiled, frame.time(function() loop(many) end) / many * 1e9)
   jit.off()
   jit.flush()
   loop(100)
   table.insert(interpreted, frame.time(function() loop(few) end) / few * 1e9)
end
local fast, slow = frame.median(compiled), frame.median(interpreted)

frame.head('one a:add(1, b) on two torch.FloatTensor of 16 elements, median of 7 rounds')
frame.rows{
   {'', 'ns', 'target'},
   {'compiled', ('%.1f'):format(fast), 60},
   {'interpreted', ('%.1f'):format(slow), 400},
}
frame.finish{{'dispatch', ('%.1f ns compiled, %.1f ns interpreted'):format(fast, slow),
   'at most 60 and 400', fast <= 60 and slow <= 400}}
