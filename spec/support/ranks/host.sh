#!/bin/sh
# host.sh: mpirun's agent, instead of ssh: `host.sh NAME COMMAND...` runs a command on this machine
# under another host name.
#
# Invariant: the command does not inherit the variables that `dpt launch` must pass on; it inherits
# TMPDIR and the sanitizers' variables.
host=$1
shift
for name in $(env | sed -nE 's/^((DPT|OMP|LUA)_[A-Za-z_0-9]*)=.*/\1/p'); do unset "$name"; done
exec unshare --uts sh -c 'hostname "$0" && exec sh -c "$1"' "$host" "$*"
