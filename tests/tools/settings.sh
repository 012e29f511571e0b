#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configuration files of the NIC and the switch: --config, --check-config, and SIGHUP while a job
# runs.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

host=127.$((RANDOM % 200 + 20)).$((RANDOM % 200)).4
switch=
trap 'kill $switch 2>/dev/null || true; rm -rf "$work"' EXIT

# check STATUS TEXT COMMAND ARGS: what is said of the file
check() {
    local status=$1 text=$2
    shift 2
    expect "$status" "$text" timeout 10 "$GRADNIC" "$@" --check-config
}

# Every error with its line, and nothing is started.
cat >bad.conf <<'E'
# line 1
slots = x           # a number
colour = red
quota
no-offload = maybe

= 3
slots = 4
slots = 5
config = other.conf
join-timeout = 0
loss = in:much
E
"$GRADNIC" switch --config bad.conf --check-config 2>err && fail "a wrong file is called good"
cat >wanted <<'E'
gradnic switch: bad.conf:2: slots: 'x' is not a number
gradnic switch: bad.conf:3: 'colour' is not an option
gradnic switch: bad.conf:4: quota: a value is missing
gradnic switch: bad.conf:5: no-offload: yes or no is needed, not 'maybe'
gradnic switch: bad.conf:7: KEY = VALUE is needed
gradnic switch: bad.conf:8: slots: line 2 has it already
gradnic switch: bad.conf:9: slots: line 2 has it already
gradnic switch: bad.conf:10: config belongs on the command line
gradnic switch: bad.conf:11: join-timeout 0: more than 0 is needed
gradnic switch: bad.conf:12: loss: 'much' is not a probability; write it as 1% or 0.01
E
diff wanted err || fail "errors of a file"
check 2 "bad.conf:12:" switch --config bad.conf
expect 2 "bad.conf:3: 'colour' is not an option" timeout 10 "$GRADNIC" switch --config bad.conf
check 2 "/nowhere/x.conf: No such file or directory" nic --config /nowhere/x.conf
check 2 "$work: not a regular file" nic --config "$work"
check 2 "--check-config: give the file with --config FILE" nic

# What does not go together is said of the file.
printf 'quota = 300\nslots = 256\n' >switch.conf
check 2 "switch.conf: --quota 300: there are only 256 (--slots)" switch --config switch.conf
check 0 "" switch --config switch.conf --quota 200
echo "secret = $work/secret" >secret.conf
check 2 "secret.conf:1: secret file $work/secret: " switch --config secret.conf
(umask 077 && head -c 32 /dev/urandom | base64 >"$work/secret")
check 0 "" switch --config secret.conf
check 2 "--quota 300: there are only 128 (--slots)" switch --config switch.conf --slots 128
# The last port may be 65535, and no port is behind it.
printf 'shards = 2\nchannels = 4\nslots = 256\n' >ports.conf
check 0 "" switch --config ports.conf --udp 65528
check 2 "--udp 65529: 8 ports are needed from there on" switch --config ports.conf --udp 65529
cat >nic.conf <<'E'
address = 10.77.0.1/24
peer = 10.77.0.2/32=192.0.2.2
peer = 10.77.0.3/32=192.0.2.3
rule = tos=0x28,k=12
rule = tos=0x48
bypass = no
no-offload
E
[ "$("$GRADNIC" nic --config nic.conf --check-config)" = "nic.conf: no errors" ] || fail "a good file"
check 2 "--existing leaves the device's addresses alone" nic --config nic.conf --existing
sed 's/^rule.*48/rule = tos=0x48,k=x/' nic.conf >rule.conf
check 2 "rule.conf: --rule tos=0x48,k=x" nic --config rule.conf
# The command line replaces all lines with its key.
check 0 "" nic --config rule.conf --rule tos=0x28
printf 'address = 10.77.0.1/24\n' >nic.conf
check 2 "nic.conf: no peer: give --peer" nic --config nic.conf
check 0 "" nic --config nic.conf -P 10.77.0.2/32=192.0.2.2
# Files and names that a start needs are looked at. None of them is cut short.
long=/tmp/$(printf 'x%.0s' $(seq 120))
for kind in nic switch; do
    printf 'address = 10.77.0.1/24\npeer = 10.77.0.2/32=192.0.2.2\n' >long.conf
    [ $kind = nic ] || : >long.conf
    echo "control = $long" >>long.conf
    check 2 "the path of a control socket has 1 to 107 bytes" $kind --config long.conf
    check 0 "" $kind --config long.conf -c "${long:0:107}"
    check 0 "" $kind --config long.conf -c none
done
for name in sixteen-letters- a/b 'a b' '' .. $'g\xff' $'g\e[1m' $'g\x7f'; do
    check 2 "--device: " nic --config nic.conf -P 10.77.0.2/32=192.0.2.2 -d "$name"
done
check 0 "" nic --config nic.conf -P 10.77.0.2/32=192.0.2.2 -d fifteen-letters
# What else the start would refuse, before it opens anything.
check 2 "a wire MTU of 600 is too small; it must be at least 612" nic --config nic.conf -P 10.77.0.2/32=192.0.2.2 -m 600
check 0 "" nic --config nic.conf -P 10.77.0.2/32=192.0.2.2 -m 612
check 2 "a wire MTU of 1310 is too small" nic --config nic.conf -P '10.77.0.2/32=[2001:db8::2]' -m 1310
check 2 "address fd99::1/64: IPv6 needs a device MTU of 1280 (RFC 8200)" \
    nic --config nic.conf -P 10.77.0.2/32=192.0.2.2 -a fd99::1/64 -m 1290
check 0 "" nic --config nic.conf -P 10.77.0.2/32=192.0.2.2 -d gé
echo "secret = $work/nowhere" >secret.conf
check 2 "secret file $work/nowhere: No such file or directory" switch --config secret.conf
expect 2 "secret file $work/nowhere: No such file or directory" timeout 10 "$GRADNIC" switch --config secret.conf
(umask 077 && head -c 32 /dev/urandom | base64 >nowhere)
check 0 "" switch --config secret.conf
chmod 644 nowhere
check 2 "others can read or write it (mode 0644)" switch --config secret.conf
GRADNIC_SECRET_FILE=$work/nowhere check 2 "others can read or write it (mode 0644)" switch --config switch.conf \
    --quota 200
rm nowhere
expect 2 "--cut sideways: mtu or fill is needed" timeout 10 "$GRADNIC" nic --config nic.conf --cut sideways

# A switch that is started with a file.
cat >switch.conf <<E
listen = $host:7870
control = $PWD/switch.sock
user = $(id -un)
slots = 256
values = 2048
quota = 64
seed = 7
E
said_in=log
ask() { "$GRADNIC" switch status -c "$PWD/switch.sock" --json | jq -e "$1" >/dev/null; }
says() { until_holds "no '$1' in the log" grep -F -- "$1" log; }
"$GRADNIC" switch --config switch.conf --channels 32 2>log &
switch=$!
until_holds "the switch did not start" ask '.slots == 256 and .quota == 64'

# A job runs while the file changes.
"$GRADNIC" bench allreduce -N 2 -b 256K -e 256K -n 4000 -w 0 --algorithm switch --switch "$host:7870" --timeout 20s \
    >job.out 2>job.err &
job=$!
until_holds "no job" ask '.jobs[0].state == "running"'
reloads=0
while [ "$reloads" -lt 40 ] && kill -0 $job 2>/dev/null; do
    reloads=$((reloads + 1))
    sed -i "s/^quota.*/quota = $((16 + reloads))/" switch.conf
    kill -HUP $switch
    until_holds "reload $reloads did not take" ask ".quota == 16 + $reloads"
done
wait $job || fail "the job: $(cat job.err log)"
[ "$reloads" -ge 2 ] || fail "only $reloads reloads while the job ran"
[ "$(awk '/^ *[0-9]/ {print $8, $9}' job.out | sort -u)" = "0 yes" ] || fail "wrong sums: $(cat job.out)"
says "switch.conf was read again; changed: quota"
says "is over: all have left"

# What needs a restart is named, and stays. A bad link comes and goes.
sed -i 's/^slots.*/slots = 512/; s/^values.*/values = 1000/; s/^seed.*/seed = 7\nloss = in:1%\nloss = out:2%/' \
    switch.conf
kill -HUP $switch
says "switch.conf: these stay as they are until a restart: slots, values"
until_holds "the bad link" ask \
    '.slots == 256 and .slot_values == 2048 and .fault_in.loss == 0.01 and .fault_out.loss == 0.02'

# A wrong file changes nothing, and each error is named.
printf 'loss = in:3%%\nquota = 0\nslots = 99999999\n' >>switch.conf
kill -HUP $switch
says "switch.conf: everything stays as it was"
grep -q "switch.conf:11: quota: line 6 has it already" log || fail "$(cat log)"
sed -i '/99999999/d; /^quota = 0/d; s/^quota.*/quota = 400/' switch.conf
: >log
kill -HUP $switch # the file by itself is right, but the switch that runs has 256 slots
says "switch.conf: quota 400: the running switch has only 256 slots for jobs"
says "switch.conf: everything stays as it was"
rm switch.conf
: >log
kill -HUP $switch
says "switch.conf: No such file or directory"
ask ".quota == 16 + $reloads and .fault_in.loss == 0.01" || fail "a wrong file changed something"
kill $switch
wait $switch || fail "the switch ended with $?: $(cat log)"

# Without a file SIGHUP ends it, as before.
"$GRADNIC" switch -q -l "$host:7871" -c "$PWD/switch.sock" -u "$(id -un)" 2>log &
switch=$!
until_holds "the switch did not start" ask '.slots == 8192'
kill -HUP $switch
wait $switch || fail "SIGHUP without --config: status $?"
