#!/bin/sh
# host.sh: mpirun's agent in place of ssh: `host.sh NAME COMMAND...` runs a command on this machine
# under another host name.
#
# Invariant: the command gets none of the variables that `dpt launch` has to pass on; TMPDIR and
# what a sanitizer needs it does get.
host=$1
shift
for name in $(env | sed -nE 's/^((DPT|OMP|LUA)_[A-Za-z_0-9]*)=.*/\1/p'); do unset "$name"; done
exec unshare --uts sh -c 'hostname "$0" && exec sh -c "$1"' "$host" "$*"
