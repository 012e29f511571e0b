# SPDX-License-Identifier: Apache-2.0
"""gn_nic_lanes between plain AXI4-Streams with tid, tdest and tuser (plain_pins.v)."""
import cocotb
import model
from bench import Bench, receive, same_tags, some, tagged

STREAMS = ("s_axis_host", "m_axis_wire", "s_axis_wire", "m_axis_host")


def bench_of(dut):
    return Bench(dut, STREAMS, tagged, posted=False)


@cocotb.test()
async def there_and_back(dut):
    bench = bench_of(dut)
    await bench.begin(pauses=0.2)
    await bench.there_and_back(some(24), same_tags)


@cocotb.test()
async def tcp_is_compressed(dut):
    bench = bench_of(dut)
    await bench.begin(pauses=0.1)
    await bench.tcp_is_compressed(same_tags)


@cocotb.test()
async def bad_frames(dut):
    """What either side calls bad does not leave; the frames beside it do."""
    bench = bench_of(dut)
    await bench.begin()
    for out, back, turn in ((bench.host_out, bench.wire_in, model.tx), (bench.wire_out, bench.host_in, model.rx)):
        kept = []
        for number in range(some(15)):
            bad = int(number % 3 == 1)
            frame = tagged(bench.random, bench.frame(), number, bad)
            await out.send(frame)
            if not bad:
                kept.append((frame, turn(bytes(frame.tdata))))
        for frame, want in kept:
            same_tags(await receive(back), frame, want)
        await bench.cycles(some(2000))
        assert back.empty()
