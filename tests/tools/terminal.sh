#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a terminal there is colour, and a progress line after a second (bytes, share, rate, time
# left) that is gone at the end. None of it appears elsewhere, with -q, or with NO_COLOR.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

"$PYTHON" - <<'PY'
import os, pty, re, subprocess, threading, time
gradnic = os.environ["GRADNIC"]
os.environ["TERM"] = "xterm"
os.environ.pop("NO_COLOR", None)

def on_terminal(command, feed=None, **more):
    """Runs a command with stderr on a new terminal; returns status and what the terminal saw."""
    ours, theirs = pty.openpty()
    p = subprocess.Popen([gradnic] + command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=theirs, env=os.environ | more)
    os.close(theirs)
    seen = b""
    def listen():
        nonlocal seen
        try:
            while chunk := os.read(ours, 4096):
                seen += chunk
        except OSError:
            pass
    listener = threading.Thread(target=listen)
    listener.start()
    if feed:
        feed(p.stdin)
    p.stdin.close()
    status = p.wait()
    listener.join()
    os.close(ours)
    return status, seen.decode()

def slowly(stdin):
    for _ in range(20):
        stdin.write(bytes(1 << 20))
        stdin.flush()
        time.sleep(0.1)

status, seen = on_terminal(["compress", "-o", "a.gn", "-"], slowly)
assert status == 0, seen
assert "standard input: " in seen and "B/s" in seen and "MiB" in seen, repr(seen)
assert seen.index("\r\x1b[K") < seen.rindex("a.gn: "), repr(seen)  # cleared before the summary
status, seen = on_terminal(["compress", "-q", "-f", "-o", "a.gn", "-"], slowly)
assert status == 0 and seen == "", repr(seen)

# A file's name does nothing to the terminal.
name = "fifo\x1b]0;title\x07.f32"
os.mkfifo(name)
def write():
    with open(name, "wb", 0) as fifo:
        slowly(fifo)
threading.Thread(target=write).start()
status, seen = on_terminal(["compress", "-f", "-o", "a.gn", name])
assert status == 0 and "fifo\\x1b]0;title\\x07.f32: " in seen and "\x07" not in seen, repr(seen)

# The runs of a sweep are one whole: what is done only grows, and there is a time left.
with open("s.json", "w") as f:
    f.write('{"jobs": [{"workers": 8, "values": 10000000}]}')
status, seen = on_terminal(["sim", "net", "--sweep", "seed=1,2,3,4,5,6,7,8,9,10", "s.json"])
shares = [int(share) for share in re.findall(r"\((\d+) %\)", seen)]
assert status == 0 and shares == sorted(shares) and shares[-1] > 60 and "s.json: " in seen, (status, seen)
assert re.search(r"sums of 800 M \(\d+ %\), .* left", seen) and seen.endswith("\r\x1b[K"), repr(seen)

# Colour
status, seen = on_terminal(["ratio", "missing.npy"])
assert status == 1 and seen == "\x1b[1;31mgradnic ratio:\x1b[0m missing.npy: No such file or directory\r\n", repr(seen)
status, seen = on_terminal(["ratio", "missing.npy"], NO_COLOR="1")
assert seen == "gradnic ratio: missing.npy: No such file or directory\r\n", repr(seen)
status, seen = on_terminal(["ratio", "missing.npy"], TERM="dumb")
assert seen == "gradnic ratio: missing.npy: No such file or directory\r\n", repr(seen)

# Without a terminal: a summary, nothing else.
p = subprocess.Popen([gradnic, "compress", "-f", "-o", "a.gn", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
slowly(p.stdin)
p.stdin.close()
seen = p.stderr.read().decode()
assert p.wait() == 0 and seen.startswith("a.gn: 5.24 M values, 20 MiB to ") and "\x1b" not in seen and "\r" not in seen, repr(seen)
PY
