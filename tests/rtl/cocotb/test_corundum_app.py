# SPDX-License-Identifier: Apache-2.0
"""gn_corundum_app with the streams of an interface of Corundum's around it."""
import cocotb
import model
from bench import ID, STORE, Bench, one, receive
from cocotbext.axi import AxiStreamFrame

STREAMS = ("s_axis_if_tx", "m_axis_if_tx", "s_axis_if_rx", "m_axis_if_rx")


def side(random, frame, number, bad=0):
    """A frame of a queue, with a tag or time stamp. Bit 0 of tuser: the MAC calls it bad."""
    return AxiStreamFrame(frame, tid=random.randrange(2), tdest=random.randrange(16), tuser=number << 1 | bad)


def check(got, sent, want):
    assert bytes(got.tdata) == want, (bytes(sent.tdata).hex(), bytes(got.tdata).hex(), want.hex())
    for name in ("tid", "tdest", "tuser"):
        assert one(getattr(got, name)) == one(getattr(sent, name)), (name, got, sent)


@cocotb.test()
async def identity(dut):
    """Software finds the NIC where the page says, and an error elsewhere."""
    bench = Bench(dut, STREAMS, side)
    await bench.begin()
    assert await bench.read(ID) == 0x474E4943
    assert int((await bench.registers.read(0x8000, 4)).resp) == 3  # DECERR: there is no such interface
    assert int((await bench.registers.write(0x8000, b"\0\0\0\0")).resp) == 3
    assert await bench.read(ID) == 0x474E4943


@cocotb.test()
async def there_and_back(dut):
    bench = Bench(dut, STREAMS, side)
    await bench.begin(pauses=0.2)
    await bench.there_and_back(40, check)


@cocotb.test()
async def what_is_dropped(dut):
    """Frames that are malformed, bad or too long take their side-bands with them."""
    bench = Bench(dut, STREAMS, side)
    await bench.begin(pauses=0.1)
    rnd, kept, count = bench.random, [], 60
    for number in range(count):
        frame = bytearray(model.tx(model.udp(model.gradient(rnd.choice([8, 100, 350]), 1e-3, rnd))))
        bad, fate = 0, rnd.randrange(5)
        if fate == 0:
            frame[42 + rnd.randrange(8)] ^= 1 << rnd.randrange(8)  # the shim
        elif fate == 1:
            bad = 1
        elif fate == 2 and number % 4 == 0:
            frame = bytearray(rnd.randbytes(STORE + rnd.choice([1, 33, 7000])))
        come = side(rnd, bytes(frame), number, bad)
        want = b"" if bad or len(frame) > STORE else model.rx(bytes(frame))
        if want:
            kept.append((come, want))
        await bench.wire_out.send(come)
    assert count // 3 < len(kept) < count - 4
    for come, want in kept:
        check(await receive(bench.host_in), come, want)


@cocotb.test()
async def many_short_frames(dut):
    bench = Bench(dut, STREAMS, side)
    await bench.begin()
    await bench.many_short_frames(check)
