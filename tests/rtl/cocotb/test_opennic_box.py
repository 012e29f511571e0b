# SPDX-License-Identifier: Apache-2.0
"""gn_opennic_box: sizes are what leaves, and source and destination go along.

Registers have a clock of their own. No frame to the wire has fewer than 60 bytes.
"""
import cocotb
from bench import ID, Bench, one
from cocotbext.axi import AxiStreamFrame

STREAMS = ("s_axis_h2c", "m_axis_tx", "s_axis_rx", "m_axis_c2h")


def side(random, frame, number):
    return AxiStreamFrame(frame, tuser=len(frame) << 32 | random.randrange(1 << 16) << 16 | number)


def check(got, sent, want):
    assert bytes(got.tdata) == want, (bytes(sent.tdata).hex(), bytes(got.tdata).hex(), want.hex())
    user = one(got.tuser)
    assert user >> 32 == len(want), f"size {user >> 32} of a frame of {len(want)} bytes"
    assert user & 0xFFFFFFFF == one(sent.tuser) & 0xFFFFFFFF


def bench_of(dut):
    return Bench(dut, STREAMS, side, dut.axis_aclk, dut.axis_rst, dut.axil_aclk, dut.axil_rst, least=60)


@cocotb.test()
async def registers(dut):
    bench = bench_of(dut)
    await bench.begin()
    assert await bench.read(ID) == 0x474E4943
    assert bench.longest_at_reset == 1500  # what the shell's driver has room for
    await bench.registers.write(0x108, (8).to_bytes(4, "little"))
    assert await bench.read(0x108) == 8
    assert int((await bench.registers.read(0x030, 4)).resp) == 2  # SLVERR of no register comes through


@cocotb.test()
async def there_and_back(dut):
    bench = bench_of(dut)
    await bench.begin(pauses=0.2)
    await bench.there_and_back(40, check)


@cocotb.test()
async def tcp_is_compressed(dut):
    bench = bench_of(dut)
    await bench.begin(pauses=0.1)
    await bench.tcp_is_compressed(check)


@cocotb.test()
async def many_short_frames(dut):
    bench = bench_of(dut)
    await bench.begin()
    await bench.many_short_frames(check)
