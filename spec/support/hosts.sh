#!/bin/sh
# hosts.sh: emulates two hosts on one machine: network namespaces connected by a link, with a rank
# each, over TCP only.
#
#     hosts.sh check                    exit status 0 if namespaces can be created here
#     hosts.sh run FOLDER PROGRAM...    runs PROGRAM as two ranks
#     hosts.sh cut FOLDER               takes the link down while they run
#
# Invariant: `run` removes all that it creates. FOLDER contains the names of the namespaces.
set -u
case $1 in
  check)
    name=dpt-check-$$
    ip netns add $name 2>/dev/null && ip link add v1-$$ type veth peer name v2-$$ 2>/dev/null
    status=$?
    ip link del v1-$$ 2>/dev/null
    ip netns del $name 2>/dev/null
    exit $status
    ;;
  cut) exec ip netns exec "$(cat "$2/name")1" ip link set w1 down ;;
esac

folder=$2
shift 2
name=dpt$$-
echo $name >"$folder/name"
clean() {
  ip netns del ${name}1 2>/dev/null
  ip netns del ${name}2 2>/dev/null
}
trap clean EXIT
trap 'exit 1' INT TERM
for i in 1 2; do ip netns add $name$i || exit 1; done
ip link add w1 netns ${name}1 type veth peer name w2 netns ${name}2 || exit 1
for i in 1 2; do
  ip netns exec $name$i ip addr add 10.77.0.$i/24 dev w$i
  ip netns exec $name$i ip link set w$i up
  ip netns exec $name$i ip link set lo up
done
# Replaces ssh: host 10.77.0.K is namespace K.
cat >"$folder/agent" <<AGENT
#!/bin/sh
host=\$1
shift
exec ip netns exec $name\${host##*.} sh -c "\$*"
AGENT
chmod +x "$folder/agent"
ip netns exec ${name}1 mpirun --allow-run-as-root --mca plm_rsh_agent "$folder/agent" \
  --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
  --mca orte_keep_fqdn_hostnames 1 --host 10.77.0.1:1,10.77.0.2:1 "$@"
