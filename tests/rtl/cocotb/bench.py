# SPDX-License-Identifier: Apache-2.0
"""What the benches of the wrappers share: the streams around a NIC, frames, and what must come out.

Every frame has a side-band of its own (a queue, a tag, a time stamp), and must leave with it.
"""
import logging
import os
import random

import cocotb
import model
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

ID, SNAPSHOT = 0x000, 0x010
FROM_HOST, FLOWS, RULE_0_COMPRESSED, FROM_WIRE = 0x400, 0x480, 0x500, 0x800
STORE = 32768  # bytes that a direction's store holds


def some(count):
    """So many frames or values, or a third of them with run.py --quick."""
    return -(-count // 3) if os.environ.get("GN_QUICK") else count


class Bench:
    """streams: names of the four, from the host, to the wire, from the wire, to the host.

    posted: a read waits behind a write that is under way, as it does in a shell.
    least: bytes that a frame to the wire has at least.
    """

    def __init__(self, dut, streams, side, clock=None, reset=None, axil_clock=None, axil_reset=None, posted=True,
                 least=0):
        self.clock, self.reset = clock or dut.clk, reset or dut.rst
        self.random = random.Random(cocotb.RANDOM_SEED)
        self.least = least
        self.side = side  # (random, frame, number) -> AxiStreamFrame
        cocotb.start_soon(Clock(self.clock, 4, "ns").start())
        self.resets = [self.reset]
        self.lanes, self.posted = int(dut.LANES.value), posted
        if axil_clock is not None:
            cocotb.start_soon(Clock(axil_clock, 8, "ns").start())
            self.resets.append(axil_reset)
        kinds = (AxiStreamSource, AxiStreamSink, AxiStreamSource, AxiStreamSink)
        self.ends = [kind(AxiStreamBus.from_prefix(dut, name), self.clock, self.reset) for kind, name in zip(kinds, streams)]
        self.host_out, self.wire_in, self.wire_out, self.host_in = self.ends
        self.registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), axil_clock if axil_clock is not None else self.clock,
                                       axil_reset if axil_reset is not None else self.reset)
        for name in ("", *streams, "s_axil"):
            logging.getLogger(f"cocotb.{dut._name}.{name}".rstrip(".")).setLevel(logging.WARNING)

    async def cycles(self, count):
        for _ in range(count):
            await RisingEdge(self.clock)

    async def begin(self, pauses=0.0):
        for reset in self.resets:
            reset.value = 1
        await self.cycles(8)
        model.begin(self.lanes)
        for reset in self.resets:
            reset.value = 0
        await self.cycles(8)
        self.longest_at_reset = await self.read(model.MAX_RESTORED)
        for limit in (model.MTU, model.MAX_RESTORED):
            await self.registers.write(limit, model.LONGEST.to_bytes(4, "little"))
        if pauses:
            for end in self.ends:
                end.set_pause_generator(self.random.random() < pauses for _ in iter(int, 1))

    async def read(self, address):
        return int.from_bytes((await self.registers.read(address, 4)).data, "little")

    async def counter(self, address):
        """Of one moment. As over PCIe, nobody waits for the write before the read, if posted."""
        written = cocotb.start_soon(self.registers.write(SNAPSHOT, b"\1\0\0\0"))
        await self.cycles(2)
        if not self.posted:
            await written
        value = await self.read(address)
        await written
        return value

    def frame(self):
        """A frame of the host's, of any kind and length, up to jumbo frames."""
        rnd = self.random
        kind = rnd.randrange(8)
        if kind == 0:
            return model.udp(rnd.randbytes(rnd.randrange(1, 1400)), tos=0)
        if kind == 1:
            return model.tcp(model.gradient(rnd.randrange(1, 300), 1e-3, rnd))
        if kind == 2:
            return model.udp(model.gradient(rnd.choice([700, 2000, 2240]), 1e-3, rnd))
        if kind == 3:
            return rnd.randbytes(rnd.randrange(15, 64))  # no IP at all
        return model.udp(model.gradient(rnd.choice([1, 3, 8, 100, 350]), 10 ** rnd.uniform(-4, -1), rnd) + rnd.randbytes(rnd.randrange(4)))

    def on_wire(self, frame):
        """What leaves of a frame of the host's."""
        return model.tx(frame).ljust(self.least, b"\0")

    async def there_and_back(self, count, check):
        """Sends frames of all kinds to the wire, and from there back.

        check(got, sent, expected): expected are bytes.
        """
        sent = [self.side(self.random, self.frame(), n) for n in range(count)]
        came = []

        async def to_wire():
            for frame in sent:
                await self.host_out.send(frame)

        async def turn():
            for number, frame in enumerate(sent):
                want = self.on_wire(bytes(frame.tdata))
                check(await receive(self.wire_in), frame, want)
                came.append(self.side(self.random, want, number))
                await self.wire_out.send(came[-1])

        cocotb.start_soon(to_wire())
        turning = cocotb.start_soon(turn())
        for number in range(count):
            got = await receive(self.host_in)
            check(got, came[number], model.rx(bytes(came[number].tdata)))
        await turning
        assert await self.counter(FROM_HOST) == count
        assert await self.counter(FROM_WIRE) == count
        assert await self.counter(RULE_0_COMPRESSED) > count // 6

    async def tcp_is_compressed(self, check):
        """Behind its SYN, wherever a segment begins within a value, until its FIN.

        There are several flows at a time, so that all lanes have some of them.
        """
        rnd, values = self.random, model.gradient(some(3000), 1e-3, self.random)
        ports = range(70, 74)
        begin = {port: rnd.randrange(1 << 32) for port in ports}
        at = dict.fromkeys(ports, 0)
        frames = [model.tcp(b"", flags="S", seq=begin[port], port=port) for port in ports]
        while any(at[port] < len(values) for port in ports):
            port = rnd.choice([port for port in ports if at[port] < len(values)])
            end = min(at[port] + rnd.choice([1, 5, 400, 1001, 1399]), len(values))
            frames.append(model.tcp(values[at[port]:end], seq=(begin[port] + 1 + at[port]) % (1 << 32), port=port,
                                    flags="FA" if end == len(values) else "A"))
            at[port] = end
        frames += [model.tcp(values[:400], seq=begin[port] + 1, port=port) for port in ports]
        sent = [self.side(rnd, frame, number) for number, frame in enumerate(frames)]
        want = [self.on_wire(frame) for frame in frames]
        for frame in sent:
            self.host_out.send_nowait(frame)
        for frame, wanted in zip(sent, want):
            check(await receive(self.wire_in), frame, wanted)
        for frame, wanted in list(zip(frames, want))[-len(ports):]:
            assert len(wanted) == len(frame) + 8, "behind the FIN segments go stored"
        shorter = sum(len(wanted) < len(frame) for frame, wanted in zip(frames, want))
        assert shorter > len(frames) // 3, (shorter, len(frames))
        added, _, closed = [await self.counter(FLOWS + 8 * n) for n in range(3)]
        assert (added, closed) == (len(ports), len(ports))

    async def many_short_frames(self, check):
        """More frames at once than there are places for side-bands.

        The sender is held up, and nothing is lost.
        """
        self.wire_in.pause = True
        sent = [self.side(self.random, model.udp(bytes([n]) * 18, tos=0), n) for n in range(200)]
        for frame in sent:
            self.host_out.send_nowait(frame)
        await self.cycles(3000)
        self.wire_in.pause = False
        for frame in sent:
            check(await receive(self.wire_in), frame, bytes(frame.tdata))


async def receive(sink):
    return await with_timeout(sink.recv(), 400, "us")


def one(value):
    return value[0] if isinstance(value, list) else value


def tagged(random, frame, number, bad=0):
    """A frame of a queue, with a tag or time stamp. Bit 0 of tuser: who sends it calls it bad."""
    return AxiStreamFrame(frame, tid=random.randrange(2), tdest=random.randrange(16), tuser=number << 1 | bad)


def same_tags(got, sent, want):
    assert bytes(got.tdata) == want, (bytes(sent.tdata).hex(), bytes(got.tdata).hex(), want.hex())
    for name in ("tid", "tdest", "tuser"):
        assert one(getattr(got, name)) == one(getattr(sent, name)), (name, got, sent)
