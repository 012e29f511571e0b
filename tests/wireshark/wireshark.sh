#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Wireshark's dissector reads captures as the C side does, and stands damaged ones.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"
[ -n "$TSHARK" ] || exit 77
export TSHARK LUA=$SOURCE/packaging/wireshark/gradnic.lua HOME=$work XDG_CONFIG_HOME=$work/.config
python=("$PYTHON" "$SOURCE/tests/wireshark/wireshark.py")
captures=$SOURCE/tests/data/captures

profile=$work/.config/wireshark/profiles/gradnic
mkdir -p "$profile"
cp "$SOURCE"/packaging/wireshark/{preferences,colorfilters} "$profile"

dissect() { "$TSHARK" -C gradnic -n -X "lua_script:$LUA" "$@" 2>stderr || fail "tshark $*: $(cat stderr)"; }
lua_errors() { # CAPTURE: lines that tell of an error of Lua
    dissect -r "$1" -V >all
    cat stderr all | grep -i -E 'lua:|lua error' || true
}

"${python[@]}" golden "$SOURCE/tests/golden/packets.txt" golden.pcap
"$GRADNIC" pcap --direction tx --cut fill -q "$captures/offload.pcap" nic.pcap
"${python[@]}" same "$FIELDS" nic.pcap 20
"${python[@]}" same "$FIELDS" "$captures/switch.pcap" 100

# Some that the kernel had not cut yet are among them.
dissect -r "$captures/switch.pcap" -Y gradnic_agg.length -T fields -e gradnic_agg.length >uncut
[ -s uncut ] || fail "no frame has several datagrams"

# A switch that loses packets: those that were sent again name each other, in both directions.
dissect -2 -r "$captures/switch.pcap" -Y gradnic_agg.flags.resent==1 -T fields -e gradnic_agg.lost >lost
[ "$(grep -c . lost)" -gt 0 ] || fail "nothing was sent again"
dissect -2 -r "$captures/switch.pcap" -Y gradnic_agg.again_in -T fields -e frame.number -e gradnic_agg.again_in >again
while read -r frame later; do
    dissect -2 -r "$captures/switch.pcap" -Y "frame.number == $later" -T fields -e gradnic_agg.first_in | grep -x "$frame" >/dev/null ||
        fail "frame $later does not name frame $frame"
done < <(head -n 3 again)
[ -s again ] || fail "no frame says that it was sent again"

# The profile: its columns show, and each of its colours is a filter that Wireshark knows.
dissect -r "$captures/switch.pcap" -Y gradnic_agg.lost | grep "frame [0-9]" >/dev/null || fail "no column tells what was lost"
colours=0
while IFS=@ read -r _ name filter _; do
    dissect -r "$captures/switch.pcap" -Y "$filter" -c 1 >/dev/null || fail "colour $name"
    colours=$((colours + 1))
done <"$SOURCE/packaging/wireshark/colorfilters"
[ "$colours" -eq 5 ] || fail "$colours colours"

# What a stranger has filled with datagrams, or with what looks like them, is read up to a point. A
# kernel cuts no more than 128.
"${python[@]}" crowd crowd.pcap
dissect -r crowd.pcap -T fields -e gradnic_agg.length | awk '{ print gsub(/[0-9]+/, "") }' >lengths
[ "$(xargs <lengths)" = "100 128 2 0" ] || fail "datagrams in a frame: $(xargs <lengths)"

# The search for errors finds one.
echo 'local p = Proto("bad", "bad") function p.dissector() end
p:register_heuristic("udp", function(t, i, r) error("on purpose") end)' >bad.lua
LUA=$work/bad.lua lua_errors "$captures/switch.pcap" | grep "on purpose" >/dev/null || fail "an error of Lua is not seen"
for seed in 1 2 3; do
    for source in golden.pcap nic.pcap "$captures/switch.pcap"; do
        "${python[@]}" mutate "$seed" 700 "$source" damaged.pcap
        found=$(lua_errors damaged.pcap | head -n 3)
        [ -z "$found" ] || fail "seed $seed, $source: $found"
        grep -q gradnic all || fail "nothing of damaged packets is shown"
    done
done
