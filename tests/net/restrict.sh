#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The packet filter of docs/security.md, to the letter: the hosts that it names reach a switch, and
# nobody else does, neither over IPv4 nor over IPv6.
# shellcheck source=tests/net/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
command -v nft >/dev/null || { echo "CANNOT: nft is missing (package nftables)" >&2; exit 77; }

begin 3 --no-nic
ip -n "$(testbed_netns 1)" addr add 192.0.2.1/24 dev wire0
ip -n "$(testbed_netns 2)" addr add 192.0.2.2/24 dev wire0
ip -n "$(testbed_netns 3)" addr add 192.0.2.66/24 dev wire0
testbed_start 1 "$gradnic" switch -q -l '[::]' -c none
reaches() { testbed_run "$1" timeout 2 bash -c "exec 3<>/dev/tcp/$2/7777" 2>/dev/null; }
for _ in $(seq 100); do ! reaches 1 127.0.0.1 || break; sleep 0.05; done
six=$(testbed_link_address 1 6)
for address in 192.0.2.1 "$six"; do reaches 3 "$address" || fail "$address is not open without a filter"; done

commands=$(sed -n '/^## Restricting ports/,/^## Marking/s/^    nft /nft /p' "$here/../../docs/security.md")
[ "$(wc -l <<<"$commands")" -ge 4 ] || fail "no filter in security.md"
testbed_run 1 bash -e -c "$commands" || fail "the filter"
reaches 1 127.0.0.1 || fail "the host does not reach itself"
reaches 2 192.0.2.1 || fail "a host of the job does not reach the switch"
for address in 192.0.2.1 "$six"; do ! reaches 3 "$address" || fail "a stranger reaches $address"; done
