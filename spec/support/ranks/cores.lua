-- Prints the number of cores that this rank uses.
io.write(('%d cores\n'):format(require('dpt.ffi').C.dpt_cores()))
