# SPDX-License-Identifier: Apache-2.0
"""gn_opennic_plugin, its interface 1 of two: whatever packets are for, they reach its MAC and host.

The first window of registers is the NIC's. The second answers with DECERR.
"""
import model
import cocotb
from bench import ID, Bench, one, receive, some
from cocotb.triggers import with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiStreamFrame

STREAMS = ("s_axis_h2c", "m_axis_tx", "s_axis_rx", "m_axis_c2h")
TO_MAC, TO_HOST = 1 << 7, 1 << 1


def side(random, frame, _number):
    """Neither QDMA nor the MAC says whom a packet is for."""
    return AxiStreamFrame(frame, tuser=len(frame) << 32 | random.randrange(1 << 16) << 16)


def check(got, sent, want):
    assert bytes(got.tdata) == want, (bytes(sent.tdata).hex(), bytes(got.tdata).hex(), want.hex())
    user = one(got.tuser)
    assert user >> 32 == len(want), f"size {user >> 32} of a frame of {len(want)} bytes"
    assert user >> 16 & 0xFFFF == one(sent.tuser) >> 16 & 0xFFFF
    assert user & 0xFFFF in (TO_MAC, TO_HOST), hex(user)


def bench_of(dut):
    return Bench(dut, STREAMS, side, dut.axis_aclk, dut.axis_rst, dut.axil_aclk, dut.axil_rst, least=60)


@cocotb.test()
async def whom_packets_are_for(dut):
    bench = bench_of(dut)
    await bench.begin()
    for payload in (model.gradient(1, 1e-3, bench.random), model.gradient(350, 1e-3, bench.random)):
        sent = side(bench.random, model.udp(payload), 0)
        await bench.host_out.send(sent)
        got = await receive(bench.wire_in)
        check(got, sent, bench.on_wire(bytes(sent.tdata)))
        assert one(got.tuser) & 0xFFFF == TO_MAC
        back = side(bench.random, bytes(got.tdata), 0)
        await bench.wire_out.send(back)
        came = await receive(bench.host_in)
        check(came, back, model.rx(bytes(got.tdata)))
        assert one(came.tuser) & 0xFFFF == TO_HOST


@cocotb.test()
async def registers(dut):
    bench = bench_of(dut)
    other = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil_other"), dut.axil_aclk, dut.axil_rst)
    await bench.begin()
    assert await bench.read(ID) == 0x474E4943
    await bench.registers.write(0x108, (8).to_bytes(4, "little"))
    assert await bench.read(0x108) == 8
    for _ in range(3):
        assert int((await with_timeout(other.read(0, 4), 10, "us")).resp) == 3
        assert int((await with_timeout(other.write(0, b"1234"), 10, "us")).resp) == 3


@cocotb.test()
async def there_and_back(dut):
    bench = bench_of(dut)
    await bench.begin(pauses=0.2)
    await bench.there_and_back(some(40), check)
