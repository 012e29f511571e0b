#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gradnic doctor over links that are known: a plain one, one that clears DSCP and ECN in one
# direction, one that swallows long packets, one whose smaller MTU the kernel knows, and one that
# loses packets. Over IPv4 and IPv6.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
command -v nft >/dev/null || { echo "CANNOT: nft is missing (package nftables)" >&2; exit 77; }

begin 2 --no-nic
testbed_start 2 "$gradnic" doctor --listen >"$testbed_dir/listener.log"
listener=$testbed_pid
for ((i = 0; i < 250; i++)); do grep -q answers "$testbed_dir/listener.log" && break; sleep 0.02; done
expect "tries until it listens" "$i" -lt 250

# look ADDRESS: into found.json
look() { testbed_run 1 "$gradnic" doctor "$1" --json >"$testbed_dir/found.json" || true; }
# is NAME LEVEL TEXT
is() {
    jq -e --arg n "$1" --arg l "$2" --arg t "$3" 'any(.findings[]; .name == $n and .level == $l and (.found | contains($t)))' \
        "$testbed_dir/found.json" >/dev/null || fail "not $1 $2 '$3': $(jq -c '.findings[15:][] | [.name, .level, .found]' "$testbed_dir/found.json")"
}
four=$(testbed_link_address 2) six=$(testbed_link_address 2 6)
for address in "$four" "[$six]"; do
    look "$address"
    is peer ok answers
    is loss ok "0 of 100 lost"
    is mtu ok "1500 to the peer, 1500 back; the link here has 1500"
    is dscp ok "ToS 0x28 arrives there as 0x28 and here as 0x28"
    is ecn ok "kept there, kept back"
done

# The switch in between clears the mark towards host 2.
clear() { ip netns exec "$(testbed_netns 0)" nft -f - || fail "nft"; }
clear <<'N'
table bridge clear {
    chain on_the_way {
        type filter hook forward priority 0;
        oifname "p2" ip dscp set cs0
        oifname "p2" ip ecn set not-ect
        oifname "p2" ip6 dscp set cs0
        oifname "p2" ip6 ecn set not-ect
    }
}
N
for address in "$four" "[$six]"; do
    look "$address"
    is dscp warn "ToS 0x28 arrives there as 0x00 and here as 0x28"
    is ecn warn "cleared there, kept back"
    is mtu ok 1500
done
clear <<<'delete table bridge clear'

# A black hole: what is longer than 1300 bytes vanishes on the way to host 2; then on the way back.
hole() { # OUT-INTERFACE
    clear <<N
table bridge hole {
    chain on_the_way {
        type filter hook forward priority 0;
        oifname "$1" ip length > 1300 drop
        oifname "$1" ip6 length > 1260 drop
    }
}
N
}
hole p2
look "[$six]"
is mtu fail "1300 to the peer, 1300 back; the link here has 1500"
clear <<<'delete table bridge hole'
hole p1
look "$four"
is mtu fail "1500 to the peer, 1300 back; the link here has 1500"
clear <<<'delete table bridge hole'

# The kernel knows of a smaller MTU: that works.
ip -n "$(testbed_netns 1)" route add "$four" dev wire0 mtu 1400 || fail "route"
look "$four"
is mtu ok "1400 to the peer, 1400 back; the link here has 1400"
ip -n "$(testbed_netns 1)" route del "$four" dev wire0

# Losses: every fifth datagram.
clear <<'N'
table bridge losses {
    chain on_the_way {
        type filter hook forward priority 0;
        oifname "p2" udp dport 7779 numgen inc mod 5 0 drop
    }
}
N
look "$four"
is peer ok answers
is loss warn "20 of 100 lost"
clear <<<'delete table bridge losses'

kill "$listener"
wait "$listener" || fail "the listener ended with $?"
look "$four"
is peer fail "Connection refused"
ip -n "$(testbed_netns 0)" link set p2 down
look "$four"
is peer fail "no answer"
