# SPDX-License-Identifier: Apache-2.0
"""The NIC within Corundum, from PCIe to the MAC and back, in Corundum's own bench.

It stands beside Corundum's test_mqnic_core_pcie_us.py and takes the bench, TB, from there. The
transmit checksum is left to Corundum's offload, as Linux does.
"""
import logging
import os
import random
import struct
import sys

import cocotb
import scapy.utils
from cocotb.triggers import Timer, with_timeout

sys.path.insert(0, os.getcwd())

import model  # noqa: E402
import mqnic  # noqa: E402
from test_mqnic_core_pcie_us import TB  # noqa: E402

QUEUES = 3
PACKETS = 40  # more than the transmit engine has tags (32): they must come back
ID, SNAPSHOT = 0x000, 0x010
FROM_HOST, FROM_HOST_PASSED, RULE_0_COMPRESSED, RULE_0_STORED = 0x400, 0x410, 0x500, 0x508
FROM_WIRE, FROM_WIRE_PASSED = 0x800, 0x810


async def start(dut):
    tb = TB(dut, msix_count=2 ** len(dut.core_pcie_inst.irq_index))
    for name in list(logging.Logger.manager.loggerDict):
        if name.startswith("cocotb.") and name != "cocotb.regression":  # which says how it ended
            logging.getLogger(name).setLevel(logging.WARNING)
    await tb.init()
    await tb.driver.init_pcie_dev(tb.rc.find_device(tb.dev.functions[0].pcie_id))
    interface = tb.driver.interfaces[0]
    await interface.open()
    scheduler = interface.sched_blocks[0].schedulers[0]
    await scheduler.rb.write_dword(mqnic.MQNIC_RB_SCHED_RR_REG_CTRL, 1)
    for queue in range(QUEUES):
        await scheduler.hw_regs.write_dword(4 * queue, 3)
    await tb.driver.hw_regs.read_dword(0)  # the writes have arrived
    return tb, interface, tb.port_mac[0], tb.driver.app_hw_regs


def say(dut, text, *values):
    """Progress, which corundum.sh shows as it comes."""
    dut._log.warning("gradnic: " + text, *values)


async def send(interface, frame, queue=0):
    """Hands a UDP frame over with its pseudo header's sum in the checksum field."""
    left = bytearray(frame)
    total = sum(struct.unpack("!4H", left[26:34])) + 17 + struct.unpack("!H", left[38:40])[0]
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    left[40:42] = struct.pack("!H", total)
    await interface.start_xmit(bytes(left), queue, 34, 6)


async def on_the_wire(mac):
    return await with_timeout(mac.tx.recv(), 200, "us")


async def at_the_host(interface):
    return await with_timeout(interface.recv(), 200, "us")


async def counters(registers, *addresses):
    await registers.write_dword(SNAPSHOT, 1)
    return [await registers.read_dword(address) for address in addresses]


def packet(rnd, count):
    return model.udp(model.gradient(count, 10 ** rnd.uniform(-4, -1), rnd) + rnd.randbytes(rnd.randrange(4)))


def checksum_is_right(interface, got):
    return not interface.if_feature_rx_csum or got.rx_checksum == ~scapy.utils.checksum(bytes(got.data[14:])) & 0xFFFF


@cocotb.test()
async def through_corundum(dut):
    say(dut, "starts PCIe and the driver")
    tb, interface, mac, registers = await start(dut)
    say(dut, "both are up")
    rnd = random.Random(cocotb.RANDOM_SEED)
    assert await registers.read_dword(ID) == 0x474E4943, "no NIC in the application's control space"

    for limit in (model.MTU, model.MAX_RESTORED):
        await registers.write_dword(limit, model.LONGEST)

    # what no rule matches
    plain = model.udp(bytes(range(256)), tos=0)
    await send(interface, plain)
    got = await on_the_wire(mac)
    assert bytes(got.data) == plain

    # gradients of three queues, there and back; in the end jumbo frames
    before = after = compressed = 0
    stamps = []
    counts = [rnd.choice([8, 100, 350]) for _ in range(PACKETS)] + [2000, 2240, 2240]
    for number, count in enumerate(counts):
        frame = packet(rnd, count)
        await send(interface, frame, number % QUEUES)
        got = await on_the_wire(mac)
        wire, want = bytes(got.data), model.tx(frame)
        assert wire == want, (number, wire.hex(), want.hex())
        assert model.checksums_hold(wire)
        compressed += len(wire) < len(frame)
        before, after = before + len(frame), after + len(wire)
        await mac.rx.send(wire)
        back = await at_the_host(interface)
        assert bytes(back.data) == model.rx(wire), number
        assert checksum_is_right(interface, back), number
        stamps.append((back.timestamp_s, back.timestamp_ns))
        if number % 5 == 4:
            say(dut, "%d of %d packets out and back", number + 1, len(counts))
    assert compressed > PACKETS // 2
    assert stamps == sorted(set(stamps)), "time stamps of PTP do not grow"
    say(dut, "%d gradient packets out and back: %d bytes, %d on the wire", len(counts), before, after)

    # malformed ones within a burst: all others arrive, each once
    burst, want = [], []
    for number in range(30):
        wire = bytearray(model.tx(packet(rnd, rnd.choice([8, 100, 350]))))
        if number % 3 == 1:
            wire[43 + 7] ^= 0x55  # within the shim, or behind it: the checksum no longer holds
        burst.append(bytes(wire))
        if restored := model.rx(bytes(wire)):
            want.append(restored)
    assert 15 < len(want) < 30
    for wire in burst:
        await mac.rx.send(wire)
    for expected in want:
        assert bytes((await at_the_host(interface)).data) == expected
    say(dut, "malformed ones dropped from a burst of %d, all others arrived", len(burst))

    # the transmit engine has no descriptor lost: still as many packets at once as it has tags
    for number in range(PACKETS):
        await send(interface, plain, number % QUEUES)
    for _ in range(PACKETS):
        assert bytes((await on_the_wire(mac)).data) == plain

    await Timer(1000, "ns")
    sent, passed, shortened, stored, came, came_passed = await counters(
        registers, FROM_HOST, FROM_HOST_PASSED, RULE_0_COMPRESSED, RULE_0_STORED, FROM_WIRE, FROM_WIRE_PASSED)
    assert (sent, passed) == (len(counts) + 1 + PACKETS, 1 + PACKETS)
    assert shortened + stored == len(counts) and came == len(counts) + len(burst) and came_passed <= 1
