#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Training for a long time while everything around it fails.
#
#   tests/net/soak.sh [MINUTES [SEED]]     (default 3, or 60 with GN_LONG=1; a seed by the clock)
#
# Four hosts train twice at once: a ring over NICs that lose, repeat and overtake packets, and a job
# at a switch with such links. NICs are killed and started again. Ranks of the switch's job are
# killed, and the job goes on from its checkpoints. A fifth host floods every open port.
# Each training that ends must have the weights of an undisturbed one. Memory and descriptors of the
# switch and of the one NIC that lives throughout must not grow.
# shellcheck source=tests/net/switch_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/switch_lib.sh"
# shellcheck source=tests/net/ranks.sh
source "$here/ranks.sh"

minutes=3
[ "${GN_LONG:-0}" = 0 ] || minutes=60
minutes=${1:-$minutes}
RANDOM=${2:-$(date +%s)}
seed=$RANDOM
data=${GN_TEST_DATA:-$here/../data}
training=(--data "$data" --augment 1 --hidden 64 --batch 5 --steps 400 --feedback -p dense -k 10 --timeout 30s)
ranks_command=(train)
between() { echo $(($1 + RANDOM % ($2 - $1 + 1))); } # between LOW HIGH
log() { echo "$(date +%T) $*" >>"$testbed_dir/soak.log"; }

need_namespaces
links=(--loss 1% --duplicate 1% --reorder 1%)
testbed_up 5 --rate 500mbit --nic "-k 10 ${links[*]}" || fail "the testbed did not come up"
trap 'kill $(jobs -p) 2>/dev/null; testbed_down' EXIT
ip -n "$(testbed_netns 0)" addr add "$switch_address/24" dev br0 || fail "the switch's address"
switch_start --udp 9000 --channels 4 "${links[@]}"
"$testbed_gradnic" train "${training[@]}" -N 4 -q --json="$testbed_dir/undisturbed.json" ||
    fail "the undisturbed training"
weights=$(jq -r .weights "$testbed_dir/undisturbed.json")
until=$(($(date +%s) + minutes * 60))
going_on() { [ "$(date +%s)" -lt "$until" ] && [ ! -e "$testbed_dir/failed" ]; }
wrong() { echo "$*" >>"$testbed_dir/failed"; }

# start NAME PORT ARGS...: one rank on each of the hosts 1 to 4; processes in ${pids[@]}
start() {
    local name=$1 port=$2 i
    shift 2
    ranks_offload "$@"
    pids=()
    rm -f "$testbed_dir/$name.json"
    for i in 1 2 3 4; do
        testbed_start "$i" "$testbed_gradnic" train "${training[@]}" --rank $((i - 1)) --world-size 4 -q \
            --rendezvous "tcp://$(testbed_address 1):$port" --json="$testbed_dir/$name.json" -f "$@" \
            >"$testbed_dir/$name-$((i - 1)).out" 2>"$testbed_dir/$name-$((i - 1)).err"
        pids+=("$testbed_pid")
    done
}
# finish NAME: waits for all. @return whether all ended well; then the weights count
finish() {
    local pid bad=0
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || bad=1; done
    [ $bad -eq 0 ] || return 1
    [ "$(jq -r .weights "$testbed_dir/$1.json")" = "$weights" ] || wrong "$1 ended with other weights"
}

# Nobody is killed here: each training must come to its end.
rings() {
    local runs=0
    while going_on; do
        start ring 5000
        finish ring || wrong "ring: $(cat "$testbed_dir"/ring-*.err)"
        runs=$((runs + 1))
    done
    echo $runs >"$testbed_dir/ring.runs"
}

# Each training is killed up to three times, at any moment, and goes on from its checkpoints.
switched() {
    local runs=0 kills=0 tries checkpoint=$testbed_dir/checkpoint
    while going_on; do
        rm -f "$checkpoint"*
        for ((tries = 0; tries < 4; tries++)); do
            start switched 5001 --algorithm switch --switch "$switch_address:7777" --checkpoint "$checkpoint" \
                --checkpoint-steps 20 --resume
            if [ $tries -lt 3 ]; then
                sleep "$(between 1 6).$(between 0 9)"
                ! kill -KILL "${pids[$(between 0 3)]}" 2>/dev/null || kills=$((kills + 1))
            fi
            ! finish switched || break
            grep -qE 'rank [0-9]|switch' "$testbed_dir"/switched-*.err ||
                wrong "switched: nobody is named: $(cat "$testbed_dir"/switched-*.err)"
            [ $tries -lt 3 ] || wrong "switched, nobody killed: $(cat "$testbed_dir"/switched-*.err)"
        done
        runs=$((runs + 1))
    done
    echo "$runs $kills" >"$testbed_dir/switched.runs"
}

# Host 5 is a stranger to the switch, and its address is one that NICs do not know either.
floods() {
    local count=0 host
    while going_on; do
        host=$(between 1 4)
        case $(between 0 2) in
        0) testbed_run 5 python3 "$here/flood.py" 10.78.0.99 "$(testbed_link_address "$host")" random 3 10.77.0.9 \
            "$(testbed_address "$host")" ;;
        1) testbed_run 5 python3 "$here/switch_noise.py" "$switch_address" 7777 9000-9003 3 >/dev/null ;;
        2) testbed_run "$host" python3 "$here/tcp_noise.py" "$(testbed_address 1)" 3 5000 5001 ;;
        esac || wrong "a flood failed"
        count=$((count + 1))
        sleep "$(between 2 10)"
    done
    echo $count >"$testbed_dir/floods.runs"
}

# A line for each process: seconds, name, KiB in memory, descriptors, threads
watch() {
    local began name pid memory files threads
    began=$(date +%s)
    while going_on; do
        for name in nic1 switch; do
            pid=${testbed_nic_pid[1]}
            [ $name = nic1 ] || pid=$switch_pid
            memory=$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status") || true # the process may just be gone
            files=$(find "/proc/$pid/fd" -mindepth 1 | wc -l) || true
            threads=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l) || true
            echo "$(($(date +%s) - began)) $name $memory $files $threads"
        done
        sleep 5
    done >"$testbed_dir/watch"
}

testbed_nic_stop 5
ip -n "$(testbed_netns 5)" addr add 10.78.0.99/24 dev wire0 || fail "the stranger's address"
rings & parts=($!)
switched & parts+=($!)
floods & parts+=($!)
watch & parts+=($!)
restarts=0
while going_on; do
    sleep "$(between 4 20)"
    host=$(between 2 4)
    signal=TERM
    [ "$(between 0 1)" = 0 ] || signal=KILL
    testbed_nic_stop "$host" $signal
    sleep "0.$(between 1 9)"
    testbed_nic_start "$host" || wrong "NIC $host did not start again"
    restarts=$((restarts + 1))
done
for pid in "${parts[@]}"; do wait "$pid" || wrong "a part of the soak failed"; done
[ ! -e "$testbed_dir/failed" ] || fail "seed $seed: $(cat "$testbed_dir/failed")"
kill -0 "${testbed_nic_pid[1]}" || fail "NIC 1 ended"
switch_ask status >/dev/null || fail "the switch does not answer"

read -r runs kills <"$testbed_dir/switched.runs"
echo "soak of $minutes minutes, seed $seed: $(cat "$testbed_dir/ring.runs") trainings over NICs," \
    "$runs over the switch, all with the same weights"
echo "$restarts restarts of NICs, $kills ranks killed, $(cat "$testbed_dir/floods.runs") floods"
# Growth: the most in the last quarter against the most in the second; the first warms up.
awk -v minutes="$minutes" '
    { quarter = int($1 / (minutes * 15)); if (quarter > 3) quarter = 3
      for (i = 3; i <= 5; i++) if ($i > most[$2, quarter, i]) most[$2, quarter, i] = $i; names[$2] = 1 }
    END {
        for (name in names) {
            printf "%s: memory %d KiB in the second quarter, %d in the last; ", name, most[name, 1, 3], most[name, 3, 3]
            printf "descriptors %d, %d; threads %d, %d\n",
                most[name, 1, 4], most[name, 3, 4], most[name, 1, 5], most[name, 3, 5]
            if (most[name, 3, 3] > 1.1 * most[name, 1, 3] + 1024 || most[name, 3, 4] > most[name, 1, 4] + 8 ||
                most[name, 3, 5] > most[name, 1, 5]) bad = 1
        }
        exit bad
    }' "$testbed_dir/watch" || fail "memory, descriptors or threads grew"
