#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nic-regs on a file that stands for a PCIe device's memory: what it reads, writes and refuses."""
import functools
import pathlib
import struct
import tempfile

import tool

run = functools.partial(tool.run, pathlib.Path(__file__).resolve().parents[3] / "rtl/corundum/nic-regs")


def off(memory, words):
    """A rule is switched off whatever it says, and whatever the NIC was built with."""
    words = words.copy()
    words[2] = 0x000A0403  # without dense
    words[64 + 12:64 + 15] = [0x80010648, 5010 << 16 | 5000, 0x14FF]
    memory.write_bytes(struct.pack("<2048I", *words))
    run(memory, "rule", 3, "--off")
    words[64 + 12], words[5] = 0x00010648, 1
    assert memory.read_bytes() == struct.pack("<2048I", *words)
    assert "built without it" in run(memory, "rule", 3, status=1)


def main():
    with tempfile.TemporaryDirectory() as folder:
        memory = pathlib.Path(folder) / "resource2"
        words = [0] * 2048  # two interfaces
        for at in (0, 1024):
            words[at:at + 12] = [0x474E4943, 0x00010002, 0x000A0407, 0, 0, 0, 1500, 9000, 11, 0x1234, 0, 0]
            words[at + 64:at + 67] = [0x80020028, 0xFFFF0000, 10]
            words[at + 256 + 2 * 16] = 5  # flows added
            words[at + 256 + 2 * 18 + 1] = 1  # flows closed, the high word
            words[at + 320 + 16 + 2] = 7  # stored, of rule 1
            words[at + 512 + 2 * 20] = 9  # too large
        memory.write_bytes(struct.pack("<2048I", *words))

        shown = run(memory)
        for text in ("version 1.2, rules: 4", "1500 with a shim, 9000 restored", "TCP flows: 2048", "dense 2^-10"):
            assert text in shown, shown
        counters = run(memory, "counters").splitlines()
        for line in ("from the host: TCP flows: added: 5", f"from the host: TCP flows: closed: {1 << 32}", "rule 1: stored: 7",
                     "from the wire: malformed: longer than MAX_RESTORED or the buffer when restored: 9"):
            assert line in counters, counters
        assert len(counters) == 19 + 4 * 5 + 21, len(counters)

        run(memory, "--interface", 1, "limits", "--mtu", 4000)
        run(memory, "--interface", 1, "rule", 2, "--tos", "0x48", "--ports", "5000-5010", "--profile", "paper", "--bound", 7)
        after = list(struct.unpack("<2048I", memory.read_bytes()))
        assert after[1024 + 6] == 4000 and after[6] == 1500
        assert after[1024 + 72:1024 + 75] == [0x80000048, 5010 << 16 | 5000, 7] and after[1024 + 5] == 1
        assert after[4] == 1  # SNAPSHOT

        assert "interface 2 would end" in run(memory, "--interface", 2, status=1)
        before = memory.read_bytes()
        for number in (4, -1):
            assert f"no rule {number}" in run(memory, "rule", number, status=1)
        assert "68 to 65535" in run(memory, "limits", "--mtu", 12, status=1)
        assert "68 to 65535" in run(memory, "limits", "--mtu", 4000, "--max-restored", 12, status=1)
        assert run(memory, "limits") == "longest IP packets: 1500 with a shim, 9000 restored\n"
        fields = {"tos": 0, "protocol": "any", "ports": 5000, "profile": "dense", "bound": 10, "head": 0}
        for field, value in fields.items():
            assert f"without --{field}" in run(memory, "rule", 0, "--off", f"--{field}", value, status=1)
        assert memory.read_bytes() == before, "what is refused or shown writes nothing"
        off(memory, words)
        # OpenNIC's box lies further on, and each interface has a second window
        box = pathlib.Path(folder) / "box"
        box.write_bytes(bytes(0x100000) + struct.pack("<2048I", *words) + struct.pack("<1024I", *words[1024:]))
        assert "1500 with a shim" in run(box, "--shell", "opennic")
        assert "1500 with a shim" in run(box, "--shell", "opennic", "--interface", 1)
        assert "interface 2 would end at 1069056" in run(box, "--shell", "opennic", "--interface", 2, status=1)
        assert "has no NIC" in run(box, status=1)

        words[0] = 0
        memory.write_bytes(struct.pack("<2048I", *words))
        assert "has no NIC" in run(memory, status=1)
    print("nic-regs: reads, writes and refuses")


main()
