#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A daemon that answers with control characters moves no cursor: clients show them as \xNN, in
# strings, in names, in errors and in Prometheus text.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

# answer TEXT: from now on, the daemon says this once
answer() {
    rm -f x.sock
    $PYTHON - "$1" <<'P' &
import socket, sys
s = socket.socket(socket.AF_UNIX); s.bind("x.sock"); s.listen(); s.settimeout(20)
c = s.accept()[0]; c.settimeout(5)
while c.recv(4096): pass
c.sendall(sys.argv[1].encode("utf-8", "surrogateescape"))
P
    server=$!
    for ((i = 0; i < 500; i++)); do [ ! -S x.sock ] || break; sleep 0.01; done
}
# Without -c it is asked where it is by default.
expect 1 "/gnabsent.sock: No such file or directory (is the NIC running?" "$GRADNIC" nic status -d gnabsent

# shows TEXT COMMAND...: its output has TEXT, and no byte that a terminal would obey
shows() {
    local text=$1
    shift
    "$@" >said.txt 2>&1 || true
    wait "$server"
    if LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' \
        said.txt; then fail "control characters: $*: $(cat -v said.txt)"; fi
    grep -qF -- "$text" said.txt || fail "no '$text': $*: $(cat -v said.txt)"
}

csi=$'\xc2\x9b'
job='{"job": "a\u001b[2Jb", "state": "for\u0007ming", "for_s": 1.0, "joined": 1, "children": 2,
      "ranks": 2, "slots": 0, "absent": "x\u009by\u007f",
      "silent": [{"who": "w\u0008", "for_s": 1.0}], "waiting": [], "streams": [],
      "format": "int\u000d32", "packet_values": 1}'
answer "{\"listen\": \"l\\u001b]0;t\", \"mode\": \"partitioned\", \"jobs\": [$job],
    \"ended\": [{\"job\": \"e\\u001b\", \"for_s\": 1.0, \"why\": \"\\u009bm\"}]}"
shows "job 'a\\x1b[2Jb': for\\x07ming" "$GRADNIC" switch status -c x.sock
grep -qF 'x\xc2\x9by\x7f' said.txt || fail "absent: $(cat -v said.txt)"
grep -qF "job 'e\\x1b' ended" said.txt || fail "ended: $(cat -v said.txt)"
answer "{\"jobs\": [$job], \"ended\": []}"
shows 'a\x1b[2Jb' "$GRADNIC" switch jobs -c x.sock
answer "{\"jobs\": [${job/a?u001b/a|b|running}], \"ended\": []}"
shows 'a\x7cb\x7crunning' "$GRADNIC" switch jobs -c x.sock
answer "{\"jobs\": [$job], \"ended\": []}"
shows 'a\\x1b[2Jb' "$GRADNIC" switch jobs -c x.sock --json
answer '{"de\u001bvice": "gn0\u001b[31m", "peers": [{"name\u0000": 1}]}'
shows "is not JSON" "$GRADNIC" nic status -c x.sock
answer '{"de\u001bvice": "gn0\u001b[31m", "list": [{"na\u0009me": "\u0085"}]}'
shows 'de\x1bvice' "$GRADNIC" nic status -c x.sock
grep -qF 'gn0\x1b[31m' said.txt || fail "device: $(cat -v said.txt)"
answer '{"error": "no\u001b[2J, \u000a\u009b"}'
shows 'no\x1b[2J, \x0a\xc2\x9b' "$GRADNIC" nic stats -c x.sock
answer $'a_metric{x="\033[2J"} 1\n'"b_metric{x=\"${csi}m\"} 2"
shows 'a_metric{x="\x1b[2J"} 1' "$GRADNIC" switch stats --prometheus -c x.sock
grep -qxF 'b_metric{x="\xc2\x9bm"} 2' said.txt || fail "prometheus: $(cat -v said.txt)"
