#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One TCP flow between two hosts (network namespaces on this machine), in turns: plain veth with
# and without offloads, in-kernel vxlan, wireguard-go, openvpn without cipher, and gradnic with
# untouched traffic and with gradients, in all profiles and with both cuts. Gradients are counted
# before compression. Medians, ratios, claims; round trips too.
#
#   bench/nic.sh RESULT.json [ROUNDS [SECONDS]]     default: 7 rounds of 2 s a case; needs root
#   GRADNIC=path        the program (default: build/release/tools/gradnic)
#   GRADIENTS=file      what is sent (default: tests/data/gradients/cnn-it100-w0.npy.gz)
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/testbed
source "$root/scripts/testbed"
[ $# -ge 1 ] || { sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
result=$1 rounds=${2:-7} seconds=${3:-2}
gradients=${GRADIENTS:-$root/tests/data/gradients/cnn-it100-w0.npy.gz}
missing=()

die() { echo "nic.sh: $*" >&2; exit 1; }
for tool in jq ethtool column; do command -v $tool >/dev/null || die "$tool is needed (scripts/setup --check)"; done
testbed_up 2 || die "the testbed did not come up"

vxlan_up() {
    local i
    for i in 1 2; do
        ip -n "$(testbed_netns $i)" link add vxlan0 type vxlan id 7 remote "$(testbed_link_address $((3 - i)))" dstport 4789 dev wire0 &&
            ip -n "$(testbed_netns $i)" addr add "10.81.0.$i/24" dev vxlan0 && ip -n "$(testbed_netns $i)" link set vxlan0 up || return 1
    done
}

# Its control sockets lie in one folder for all namespaces, so names of devices must be unique.
wireguard_up() {
    local i
    command -v wireguard-go >/dev/null && command -v wg >/dev/null || return 1
    for i in 1 2; do
        (umask 077 && wg genkey >"$testbed_dir/wg$i.key") && wg pubkey <"$testbed_dir/wg$i.key" >"$testbed_dir/wg$i.pub"
        testbed_start "$i" env WG_PROCESS_FOREGROUND=1 LOG_LEVEL=error wireguard-go "gnwg$i-$$" >/dev/null 2>&1
    done
    sleep 1
    for i in 1 2; do
        testbed_run "$i" wg set "gnwg$i-$$" private-key "$testbed_dir/wg$i.key" listen-port 51820 peer "$(cat "$testbed_dir/wg$((3 - i)).pub")" \
            allowed-ips 10.82.0.0/24 endpoint "$(testbed_link_address $((3 - i))):51820" &&
            ip -n "$(testbed_netns "$i")" addr add "10.82.0.$i/24" dev "gnwg$i-$$" && ip -n "$(testbed_netns "$i")" link set "gnwg$i-$$" mtu 1420 up || return 1
    done
}

openvpn_up() {
    local i
    command -v openvpn >/dev/null || return 1
    for i in 1 2; do
        testbed_start "$i" openvpn --dev tunvpn --dev-type tun --proto udp --port 1194 --remote "$(testbed_link_address $((3 - i)))" --ifconfig "10.83.0.$i" \
            "10.83.0.$((3 - i))" --cipher none --auth none --data-ciphers none --allow-compression no --sndbuf 4194304 --rcvbuf 4194304 \
            >"$testbed_dir/openvpn$i.log" 2>&1
    done
    for ((i = 0; i < 60; i++)); do
        testbed_run 1 ping -c 1 -W 1 -q 10.83.0.2 >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    tail -n 2 "$testbed_dir/openvpn1.log" >&2
    return 1
}

add_case() { names+=("$1") addresses+=("$2") tos+=("$3"); }
names=() addresses=() tos=()
add_case veth "$(testbed_link_address 2)" 0
add_case veth-no-offloads "$(testbed_link_address 2)" 0
if vxlan_up; then add_case vxlan 10.81.0.2 0; else missing+=(vxlan); fi
if wireguard_up; then add_case wireguard-go 10.82.0.2 0; else missing+=(wireguard-go); fi
if openvpn_up; then add_case openvpn 10.83.0.2 0; else missing+=(openvpn); fi
add_case gradnic-untouched "$(testbed_address 2)" 0
for profile in dense lattice paper; do for cut in fill mtu; do add_case "gradnic-$profile-$cut" "$(testbed_address 2)" 0x28; done; done
[ ${#missing[@]} -eq 0 ] || echo "nic.sh: not on this machine, left out: ${missing[*]}" >&2
testbed_start 2 "$testbed_gradnic" bench nic --serve
sleep 0.3

offloads() { for i in 1 2; do testbed_run $i ethtool -K wire0 tso "$1" gso "$1" gro "$1" >/dev/null; testbed_run 0 ethtool -K "p$i" tso "$1" gso "$1" gro "$1" >/dev/null; done; }
ticks() { sed 's/.*) //' "/proc/${testbed_nic_pid[1]}/stat" "/proc/${testbed_nic_pid[2]}/stat" | awk '{n += $12 + $13} END {print n}'; }

# One measurement as a JSON line.
measure() { # NAME ADDRESS TOS ROUND
    local rest before after stream trip
    case $1 in
    veth-no-offloads) offloads off ;;
    gradnic-dense-* | gradnic-lattice-* | gradnic-paper-*) rest=${1#gradnic-} && testbed_set 1 -p "${rest%-*}" --cut "${rest#*-}" ;;
    esac
    before=$(ticks)
    stream=$(testbed_run 1 "$testbed_gradnic" bench nic "$2" -i "$gradients" --tos "$3" -t "$seconds" --json) || die "$1: the stream failed"
    after=$(ticks)
    trip=$(testbed_run 1 "$testbed_gradnic" bench nic "$2" --round-trip 64 -n 2000 --json) || die "$1: the round trips failed"
    [ "$1" != veth-no-offloads ] || offloads on
    jq -nc --arg name "$1" --argjson round "$4" --argjson stream "$stream" --argjson trip "$trip" --argjson ticks $((after - before)) \
        '{name: $name, round: $round, gbit_per_s: $stream.gbit_per_s, round_trip_us: $trip.median_us, nic_cpu_ms_per_gb: ($ticks * 10 / ($stream.bytes / 1e9))}'
}

for ((round = 1; round <= rounds; round++)); do
    for i in "${!names[@]}"; do
        [ ! -t 2 ] || printf '\rround %d of %d: %-24s' "$round" "$rounds" "${names[$i]}" >&2
        measure "${names[$i]}" "${addresses[$i]}" "${tos[$i]}" "$round" >>"$testbed_dir/all.json"
    done
done
[ ! -t 2 ] || printf '\r%60s\r' '' >&2

jq -s --arg date "$(date -u +%FT%TZ)" --arg kernel "$(uname -r)" --arg cpu "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" \
    --argjson cores "$(nproc)" --arg missing "${missing[*]-}" --argjson stats "$(testbed_stats 1)" --arg tcp "$(cat /proc/sys/net/ipv4/tcp_congestion_control)" '
  def median: sort | .[length / 2 | floor];
  . as $all
  | ([.[].name] | unique) as $names
  | (reduce $names[] as $n ({}; .[$n] = ($all | map(select(.name == $n)) | {gbit_per_s: (map(.gbit_per_s) | median),
       lowest: (map(.gbit_per_s) | min), highest: (map(.gbit_per_s) | max), round_trip_us: (map(.round_trip_us) | median),
       nic_cpu_ms_per_gb: (map(.nic_cpu_ms_per_gb) | median)}))) as $median
  # A ratio is the median of the rounds own ratios: both sides were measured within a minute.
  | def ratio($a; $b; f): [range(1; ($all | map(.round) | max) + 1) as $r
        | ($all | map(select(.round == $r and .name == $a)) | .[0] | f) as $x | ($all | map(select(.round == $r and .name == $b)) | .[0] | f) as $y
        | select($x and $y) | $x / $y] | if length > 0 then median else null end;
  ([$median["wireguard-go"], $median["openvpn"]] | map(select(.)) | max_by(.gbit_per_s)) as $tunnel
  | {benchmark: "nic.sh", environment: {date: $date, cpu: $cpu, cores: $cores, kernel: $kernel, congestion_control: $tcp}, missing: $missing,
     medians: $median,
     claims: [
       {name: "untouched over veth with offloads", value: ratio("gradnic-untouched"; "veth"; .gbit_per_s), least: 0.5},
       {name: "untouched over the fastest userspace tunnel", value: (if $tunnel then $median["gradnic-untouched"].gbit_per_s / $tunnel.gbit_per_s else null end), least: 15},
       {name: "gradients (dense, fill) over untouched", value: ratio("gradnic-dense-fill"; "gradnic-untouched"; .gbit_per_s), least: 0.9},
       {name: "gradients (lattice, fill) over untouched", value: ratio("gradnic-lattice-fill"; "gradnic-untouched"; .gbit_per_s), least: 0.9},
       {name: "gradients (paper, fill) over untouched", value: ratio("gradnic-paper-fill"; "gradnic-untouched"; .gbit_per_s), least: 0.9},
       {name: "gradients, fill over mtu (dense)", value: ratio("gradnic-dense-fill"; "gradnic-dense-mtu"; .gbit_per_s)},
       {name: "gradients, fill over mtu (lattice)", value: ratio("gradnic-lattice-fill"; "gradnic-lattice-mtu"; .gbit_per_s)},
       {name: "round trip of 64 bytes over veth", value: ratio("gradnic-untouched"; "veth"; .round_trip_us), most: 4}],
     nic_1: $stats, measurements: $all}' "$testbed_dir/all.json" >"$testbed_dir/result.json" || die "the results could not be put together"

jq -r '(["case", "Gbit/s", "lowest", "highest", "64-byte round trip us", "both NICs: CPU ms/GB"] | @tsv),
  (.medians | to_entries | sort_by(-.value.gbit_per_s)[] | [.key, (.value.gbit_per_s * 100 | round / 100), (.value.lowest * 100 | round / 100),
    (.value.highest * 100 | round / 100), (.value.round_trip_us * 10 | round / 10), (.value.nic_cpu_ms_per_gb | round)] | @tsv)' "$testbed_dir/result.json" | column -t -s $'\t'
echo
jq -r '.claims[] | "\(.name): \(if .value then .value * 100 | round / 100 else "not measured" end)" +
  (if .least then " (at least \(.least)): \(if .value == null then "unknown" elif .value >= .least then "holds" else "FAILS" end)"
   elif .most then " (at most \(.most)): \(if .value == null then "unknown" elif .value <= .most then "holds" else "FAILS" end)" else "" end)' "$testbed_dir/result.json"
cp "$testbed_dir/result.json" "$result.part" && mv "$result.part" "$result" && echo "written: $result"
