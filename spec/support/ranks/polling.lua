-- Prints whether MPI yields the core to other threads while this rank waits for others.
require('dpt.distributed').rank()
io.write(('yields %s\n'):format(os.getenv 'OMPI_MCA_mpi_yield_when_idle'))
