// SPDX-License-Identifier: Apache-2.0
// What every bench of the hardware shares: failures that say where, random numbers, a clocked
// Verilated model.
#pragma once

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <verilated.h>
#if VM_TRACE
#include <verilated_fst_c.h>
#endif
#if VM_COVERAGE
#include <verilated_cov.h>
#endif

#include <gradnic/codec.h>

#include "net/splitmix.h"

#include "options.h"

namespace bench
{

[[noreturn]] __attribute__((format(printf, 1, 2))) inline void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("FAILED: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

struct Random {
    uint64_t state;

    uint64_t next() { return splitmix64(&state); }
    uint32_t below(uint32_t n) { return static_cast<uint32_t>(next() % n); }
    bool percent(unsigned p) { return below(100) < p; }
};

inline gn_codec codec(gn_profile profile, int k, const char *kernel = nullptr)
{
    gn_codec c;
    if (gn_codec_init_kernel(&c, profile, k, kernel) != GN_OK) fail("no codec %d, k = %d", profile, k);
    return c;
}

// The clock of a model, if it has one.
template <class Top> auto set_clock(Top &top, unsigned char level, int) -> decltype(top.clk = level, void())
{
    top.clk = level;
}
template <class Top> void set_clock(Top &, unsigned char, long) {}

// A Verilated model with a port `clk`, or of logic alone: then settle() is all that it needs.
// rise() is one cycle: what was set before it is what the registers see, and what is read after it
// is the next cycle's. Who reads what depends on inputs in the same cycle calls settle() between
// setting and reading; the clock falls there, so that it costs no evaluation of its own.
template <class Top> class Model
{
  public:
    explicit Model(const Options &o) : context_(new VerilatedContext), coverage_(o.coverage)
    {
        context_->randReset(2);  // what no reset sets begins with anything
        context_->randSeed(static_cast<int>(o.seed & 0xffff) + 1);
        top_.reset(new Top(context_.get()));
#if VM_TRACE
        if (!o.waves.empty()) {
            context_->traceEverOn(true);
            trace_.reset(new VerilatedFstC);
            top_->trace(trace_.get(), 99);
            trace_->open(o.waves.c_str());
            if (!trace_->isOpen()) fail("--waves: %s cannot be written", o.waves.c_str());
        }
#else
        if (!o.waves.empty()) fail("built without waves: cmake -DGRADNIC_RTL_WAVES=ON");
#endif
#if !VM_COVERAGE
        if (!o.coverage.empty()) fail("built without coverage: cmake -DGRADNIC_RTL_COVERAGE=line");
#endif
        set_clock(*top_, 0, 0);
        top_->eval();
    }
    ~Model()
    {
#if VM_TRACE
        if (trace_) trace_->close();
#endif
#if VM_COVERAGE
        static std::atomic<unsigned> models{0};
        if (!coverage_.empty()) context_->coveragep()->write((coverage_ + "." + std::to_string(models++)).c_str());
#endif
    }
    Top *operator->()
    {
        return top_.get();
    }

    void settle()
    {
        set_clock(*top_, 0, 0);
        top_->eval();
        if (low_) return;
        low_ = true;
        dump();
    }
    void rise()
    {
        if (!low_) settle();
        set_clock(*top_, 1, 0);
        top_->eval();
        low_ = false;
        dump();
        cycle_++;
    }
    uint64_t cycle() const
    {
        return cycle_;
    }

  private:
    void dump()
    {
#if VM_TRACE
        if (trace_) trace_->dump(time_ += 5);
#endif
    }

    std::unique_ptr<VerilatedContext> context_;
    std::string coverage_;
    std::unique_ptr<Top> top_;
#if VM_TRACE
    std::unique_ptr<VerilatedFstC> trace_;
    uint64_t time_ = 0;
#endif
    uint64_t cycle_ = 0;
    bool low_ = true;  // the clock is low
};

}  // namespace bench
