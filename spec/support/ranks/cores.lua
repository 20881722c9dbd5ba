-- Says how many cores this rank takes for its own.
io.write(('%d cores\n'):format(require('dpt.ffi').C.dpt_cores()))
