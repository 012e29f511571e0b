# SPDX-License-Identifier: Apache-2.0
"""gn_corundum_app with the streams of an interface of Corundum's around it."""
import cocotb
import model
from bench import ID, STORE, Bench, one, receive, same_tags, some, tagged
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiStreamFrame

STREAMS = ("s_axis_if_tx", "m_axis_if_tx", "s_axis_if_rx", "m_axis_if_rx")


def bench_of(dut):
    dut.s_axis_if_tx_cpl_valid.value = 0
    dut.m_axis_if_tx_cpl_ready.value = 1
    return Bench(dut, STREAMS, tagged)


@cocotb.test()
async def identity(dut):
    """Software finds the NIC where the page says, and an error elsewhere."""
    bench = bench_of(dut)
    await bench.begin()
    assert await bench.read(ID) == 0x474E4943
    assert int((await bench.registers.read(0x8000, 4)).resp) == 3  # DECERR: there is no such interface
    assert int((await bench.registers.write(0x8000, b"\0\0\0\0")).resp) == 3
    assert await bench.read(ID) == 0x474E4943


@cocotb.test()
async def there_and_back(dut):
    bench = bench_of(dut)
    await bench.begin(pauses=0.2)
    await bench.there_and_back(some(40), same_tags)


@cocotb.test()
async def tcp_is_compressed(dut):
    bench = bench_of(dut)
    await bench.begin(pauses=0.1)
    await bench.tcp_is_compressed(same_tags)


@cocotb.test()
async def what_is_dropped(dut):
    """Frames that are malformed, bad or too long take their side-bands with them."""
    bench = bench_of(dut)
    await bench.begin(pauses=0.1)
    rnd, kept, count = bench.random, [], max(some(60), 30)
    for number in range(count):
        frame = bytearray(model.tx(model.udp(model.gradient(rnd.choice([8, 100, 350]), 1e-3, rnd))))
        bad, fate = 0, rnd.randrange(5)
        if fate == 0:
            frame[42 + rnd.randrange(8)] ^= 1 << rnd.randrange(8)  # the shim
        elif fate == 1:
            bad = 1
        elif fate == 2 and number % 4 == 0:
            frame = bytearray(rnd.randbytes(STORE + rnd.choice([1, 33, 7000])))
        come = tagged(rnd, bytes(frame), number, bad)
        want = b"" if bad or len(frame) > STORE else model.rx(bytes(frame))
        if want:
            kept.append((come, want))
        await bench.wire_out.send(come)
    assert count // 3 < len(kept) < count - 4
    for come, want in kept:
        same_tags(await receive(bench.host_in), come, want)


@cocotb.test()
async def many_short_frames(dut):
    bench = bench_of(dut)
    await bench.begin()
    await bench.many_short_frames(same_tags)


@cocotb.test()
async def completions(dut):
    """Each packet from the host is completed once: by the MAC if it left, else by the NIC, in time.

    A packet that is too long never reaches the MAC. More of them are lost than the engine has tags.
    """
    bench = bench_of(dut)
    await bench.begin()
    rnd, tags, count = bench.random, 4, max(some(16), 11)
    lost = {number for number in range(count) if number % 2}
    free, completed, waiting = list(range(tags)), [], []

    async def mac():
        """Completes what arrives, some cycles later; the transmit engine is not always ready."""
        while True:
            dut.s_axis_if_tx_cpl_valid.value = offered = bool(waiting)
            if offered:
                dut.s_axis_if_tx_cpl_tag.value, dut.s_axis_if_tx_cpl_ts.value = waiting[0], 1000 + waiting[0]
            dut.m_axis_if_tx_cpl_ready.value = ready = rnd.random() < 0.5
            await RisingEdge(dut.clk)
            if offered and int(dut.s_axis_if_tx_cpl_ready.value):
                waiting.pop(0)
            if ready and int(dut.m_axis_if_tx_cpl_valid.value):
                completed.append((int(dut.m_axis_if_tx_cpl_tag.value), int(dut.m_axis_if_tx_cpl_ts.value)))
                free.append(completed[-1][0])

    async def wire():
        for number in range(count):
            if number not in lost:
                got = await receive(bench.wire_in)
                assert one(got.tuser) & 1 == 0
                waiting.append(one(got.tuser) >> 1)

    cocotb.start_soon(mac())
    wiring = cocotb.start_soon(wire())
    used = []
    for number in range(count):
        for _ in range(30000):
            if free:
                break
            await bench.cycles(1)
        assert free, f"no tag is left for packet {number}: {len(completed)} completions"
        used.append(free.pop(0))
        frame = rnd.randbytes(STORE + rnd.randrange(1, 40)) if number in lost else bench.frame()
        await bench.host_out.send(AxiStreamFrame(frame, tid=0, tdest=0, tuser=used[-1] << 1))
    await wiring
    for _ in range(20000):
        if len(completed) == count:
            break
        await bench.cycles(1)
    assert sorted(tag for tag, _ in completed) == sorted(used)
    assert sum(stamp == 0 for _, stamp in completed) == len(lost)
    assert all(stamp in (0, 1000 + tag) for tag, stamp in completed)
