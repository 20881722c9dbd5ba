--- bench startup: the time of `require 'dpt'` in a fresh process
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame = require 'frame'

local root = arg[0]:match '^(.*)/scripts/' or '.'
local times = {}
for i = 1, 11 do
   local pipe = io.popen(("luajit '%s/spec/support/startup.lua'"):format(root))
   times[i] = tonumber(pipe:read '*l')
   pipe:close()
end
local middle = frame.median(times) -- sorts
frame.head "require 'dpt' in a fresh process, 11 times"
frame.rows{{'', 'ms'}, {'best', times[1]}, {'median', middle}, {'worst', times[#times]}}
frame.finish{{'startup', ('%.1f ms'):format(middle), 'at most 30', middle <= 30}}
