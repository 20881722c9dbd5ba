--- Prints how many milliseconds `require 'dpt'` takes in this fresh process.
local ffi = require 'ffi'
ffi.cdef [[
   typedef struct { long seconds, nanoseconds; } dpt_startup_time;
   int clock_gettime(int clock, dpt_startup_time *time);
]]
local time = ffi.new 'dpt_startup_time[2]'
ffi.C.clock_gettime(1, time)
require 'dpt'
ffi.C.clock_gettime(1, time + 1)
print(('%.2f'):format(tonumber(time[1].seconds - time[0].seconds) * 1e3
   + tonumber(time[1].nanoseconds - time[0].nanoseconds) * 1e-6))
