#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Wrong options of `gradnic switch` and of its workers: status 2, and an error that names the
# option.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

wrong() { # TEXT ARGUMENT...
    local text=$1
    shift
    expect 2 "$text" timeout 10 "$GRADNIC" switch -c none -l 127.0.0.1:7 "$@"
}

wrong "--windows is for --mode shared and preemptive" --windows 16
wrong "--windows is for --mode shared and preemptive" --role ps --windows 16
wrong "--windows 3: fewer than shards (4)" --mode shared --ps 127.0.0.1:9 --slots 4 --shards 4 --windows 3
wrong "--quota 65: there are only 64 (--slots)" --slots 64 --quota 65
wrong "--quota 257: there are only 256 (--windows)" --slots 64 --quota 257 --mode shared --ps 127.0.0.1:9
wrong "--quota 33: there are only 32 (--windows)" --windows 32 --quota 33 --mode shared --ps 127.0.0.1:9
wrong "--reserve: 51 is outside 0 to 50" --reserve 51
wrong "--job-channels: 17 is outside 1 to 16" --job-channels 17
wrong "--address-channels: 0 is outside 1 to 1024" --address-channels 0
wrong "--address-slots: 'x' is not a number" --address-slots x
wrong "--address-jobs: 0 is outside 1 to 65535" --address-jobs 0
wrong "shared slots need --ps with the parameter server, or --parent" --mode shared
wrong "--ps is for the root" --mode preemptive --ps 127.0.0.1:9 --parent 127.0.0.1:10
wrong "--ps is for --mode shared and preemptive" --ps 127.0.0.1:9
wrong "--role ps takes no --mode, --ps or --parent" --role ps --mode shared
wrong "--join-timeout 0: more than 0 is needed" --join-timeout 0
wrong "--parent 'root': HOST:PORT is needed" --parent root
wrong "--parent 'root:0': port is not a number from 1 to 65535" --parent root:0
wrong "--parent 'root:-1': port is not a number" --parent root:-1
wrong "--parent '::1:5': write an IPv6 address as [ADDRESS]:PORT" --parent ::1:5
wrong "--ps 'root': HOST:PORT is needed" --mode shared --ps root
wrong "--parent 127.0.0.1:7 is this switch itself, which listens on 127.0.0.1:7" --parent 127.0.0.1:7
wrong "--ps localhost:7 is this switch itself, which listens on 127.0.0.1:7" --mode shared --ps localhost:7
wrong "--user: no user 'no such' on this host" --user 'no such'
expect 2 "--user: no user 'no such' on this host" timeout 10 "$GRADNIC" nic --user 'no such'
wrong "--loss sideways:2%: write in (from the workers) or out (to them) before the colon" --loss sideways:2%
wrong "--loss: 'much' is not a probability" --loss in:much
wrong "--loss: 'in:' has no value after the colon" --loss in:
wrong "--jitter: 'out:' has no value after the colon" --jitter out:
wrong "--delay 1h: at most 10s" --delay 1h
wrong "--jitter 10001ms: at most 10s" --jitter out:10001ms
wrong "--reorder-delay 11s: at most 10s" --reorder-delay in:11s
wrong "--reorder-delay goes with --reorder" --reorder-delay 5ms
wrong "--reorder-delay goes with --reorder for the same direction" --reorder-delay in:5ms --reorder out:1%
wrong "--quota 65: there are" --reorder-delay 5ms --reorder in:1% --slots 64 --quota 65 # fine so far
expect 2 "--delay 1h: at most 10s" timeout 10 "$GRADNIC" nic set --delay 1h
expect 2 "--jitter 1min: at most 10s" timeout 10 "$GRADNIC" nic --jitter 1min
wrong "--listen 'local host:7777': give an address or a name" -l 'local host:7777'
wrong "--listen host 'no.such.host.invalid': " -l no.such.host.invalid:7777
wrong "'foo' is neither an option nor a command" foo
for address in 127.0.0.1 :7777 host: host:0 host:65536 host:-1 host:7777x ''; do
    for command in "train" "bench allreduce"; do
        # shellcheck disable=SC2086 # words are wanted
        expect 2 "gradnic $command: --switch '$address': HOST:PORT is needed" \
            timeout 10 "$GRADNIC" $command -N 1 --algorithm switch --switch "$address"
    done
done
for size in 0 1 4095 2097153 3M; do
    expect 2 "bench allreduce: --segment: $size is outside 4K to 2M" timeout 10 "$GRADNIC" bench allreduce -N 1 --segment "$size"
done
# Options without effect are refused. The error names the option that they need.
needless() { # TEXT ARGUMENT...
    local text=$1
    shift
    expect 2 "$text" timeout 10 "$GRADNIC" bench allreduce -N 1 "$@"
}
switched=(--algorithm switch --switch 127.0.0.1:9)
needless "--aggregator-weights goes with --algorithm worker-aggregator" --aggregator-weights "${switched[@]}"
needless "--aggregator-weights goes with --algorithm worker-aggregator" --aggregator-weights
needless "--segment goes with --algorithm ring, direct and worker-aggregator, not with switch" --segment 64K "${switched[@]}"
needless "--scale-target goes with --scale auto" --scale-target 0 -p dense
needless "with --algorithm switch, --no-quantise is the same as -p none" -p dense --no-quantise "${switched[@]}"
needless "--offload library: with --no-quantise only a NIC can compress" -p dense --no-quantise --offload library
needless "--offload none: with --no-quantise only a NIC can compress" -p dense --no-quantise --offload none
needless "--bound needs a profile (-p)" -k 10 -p none
needless "--bound needs a profile (-p)" -p none -k 10 "${switched[@]}"
expect 2 "--bound needs a profile (-p)" timeout 10 "$GRADNIC" train --data "$SOURCE/tests/data" -N 1 -p none -k 10
expect 2 "--json or --prometheus, not both" "$GRADNIC" switch stats --json --prometheus
expect 2 "--json or --prometheus, not both" "$GRADNIC" nic stats --json --prometheus
# An address of this test's own, where nothing else listens.
expect 1 "nowhere/switch.sock: No such file or directory (-c PATH names another place" \
    timeout 10 "$GRADNIC" switch -l "127.$((RANDOM % 200 + 1)).$((RANDOM % 200)).9" -c "$PWD/not/nowhere/switch.sock" -u "$(id -un)"
