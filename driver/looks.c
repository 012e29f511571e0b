// SPDX-License-Identifier: Apache-2.0
// Each test below finds one kind of bytes that are not gradients. The thresholds come from the
// table in docs/guard.md: no real gradient comes near them.
#include "driver/looks.h"

#include <string.h>

enum {
    EXPONENT_LOW = 7,     // 2^-120: smaller values, denormals too, do not occur in gradients
    EXPONENT_HIGH = 158,  // below 2^32
    EXPONENT_NAN = 255,
    FIRST = 8,         // of the first values none may be alien: that is where a header would be
    ALIENS = 2,        // of GN_EVIDENCE_MAX values
    WINDOW = 32,       // exponents: three quarters of all values lie within a factor of 2^32
    TEXT_KINDS = 4,    // different words that are needed to tell text from one value repeated
    HALF_FIELDS = 10,  // of 32: 16-bit values of similar size have no more different fields
    HALF_WORDS = 16,   // that many different words are needed to tell pairs of 16-bit values
};

static unsigned exponent_of(uint32_t word)
{
    return word >> 23 & 0xff;
}

static uint32_t load(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

void gn_evidence_add(gn_evidence *evidence, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count && evidence->count < GN_EVIDENCE_MAX; i++) {
        const uint32_t word = load(bytes + 4 * i);
        if (word << 1 && exponent_of(word) != EXPONENT_NAN) evidence->words[evidence->count++] = word;
    }
}

bool gn_words_travel_exactly(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t word = load(bytes + 4 * i);
        if (word && exponent_of(word) != EXPONENT_NAN) return false;
    }
    return true;
}

static bool is_alien(uint32_t word)
{
    return exponent_of(word) < EXPONENT_LOW || exponent_of(word) > EXPONENT_HIGH;
}

static unsigned count_aliens(const gn_evidence *e, unsigned count)
{
    unsigned aliens = 0;
    for (unsigned i = 0; i < count; i++) aliens += is_alien(e->words[i]);
    return aliens;
}

// The most values whose exponents lie within WINDOW of each other.
static unsigned most_in_window(const gn_evidence *e)
{
    unsigned histogram[256] = {0}, inside = 0, most = 0;
    for (unsigned i = 0; i < e->count; i++) histogram[exponent_of(e->words[i])]++;
    for (unsigned x = 0; x < 256; x++) {
        inside += histogram[x] - (x >= WINDOW ? histogram[x - WINDOW] : 0);
        if (inside > most) most = inside;
    }
    return most;
}

static bool is_text(uint32_t word)
{
    for (unsigned i = 0; i < 4; i++, word >>= 8) {
        const unsigned c = word & 0xff;
        if ((c < ' ' && c != '\t' && c != '\n' && c != '\r') || c > '~') return false;
    }
    return true;
}

static unsigned count_text(const gn_evidence *e)
{
    unsigned text = 0;
    for (unsigned i = 0; i < e->count; i++) text += is_text(e->words[i]);
    return text;
}

// How many different words there are, up to `enough`.
static unsigned count_kinds(const gn_evidence *e, unsigned enough)
{
    unsigned kinds = 0;
    for (unsigned i = 0; i < e->count && kinds < enough; i++) {
        unsigned j = 0;
        while (j < i && e->words[j] != e->words[i]) j++;
        kinds += j == i;
    }
    return kinds;
}

// Whether words are pairs of float16 or bfloat16. Then bits 14 to 10 are the start of an exponent
// just as bits 30 to 26 are, and take the same few values. In a binary32 they are any bits of the
// mantissa. Words with seven low bits 0 are rounded values, and say nothing.
static bool are_halves(const gn_evidence *e)
{
    uint32_t high = 0, low = 0;
    unsigned looked = 0, alike = 0, negative = 0;
    for (unsigned i = 0; i < e->count; i++) {
        if (!(e->words[i] & 0x7f)) continue;
        negative += e->words[i] >> 15 & 1;
        high |= UINT32_C(1) << (e->words[i] >> 26 & 31);
        low |= UINT32_C(1) << (e->words[i] >> 10 & 31);
        looked++;
    }
    for (unsigned i = 0; i < e->count; i++)
        if (e->words[i] & 0x7f) alike += high >> (e->words[i] >> 10 & 31) & 1;
    // Values that hardly change, such as a ramp, have one field and one sign in their lower halves.
    const bool varies = __builtin_popcount(high & low) > 1 || (negative * 8 > looked && negative * 8 < looked * 7);
    return looked >= HALF_WORDS && __builtin_popcount(high) <= HALF_FIELDS && varies && alike * 4 >= looked * 3 &&
           count_kinds(e, HALF_WORDS) == HALF_WORDS;
}

gn_looks gn_evidence_judge(const gn_evidence *e, const char **why)
{
    const unsigned first = e->count < FIRST ? e->count : FIRST;
    const bool text = count_text(e) * 2 > e->count;
    const bool enough = e->count >= GN_EVIDENCE_ENOUGH;
    if (enough && text) {
        *why = "text";
        if (count_kinds(e, TEXT_KINDS) == TEXT_KINDS) return GN_LOOKS_OTHER;
    }
    *why = text ? "text" : "bytes of another kind: some values would be far too large or too small";
    if (count_aliens(e, first) || count_aliens(e, e->count) > ALIENS) return GN_LOOKS_OTHER;
    if (!enough || text) return GN_LOOKS_UNDECIDED;
    *why = "bytes of another kind: the exponents would be all over the range";
    if (most_in_window(e) * 4 < e->count * 3) return GN_LOOKS_OTHER;
    *why = "pairs of 16-bit values";
    return are_halves(e) ? GN_LOOKS_OTHER : GN_LOOKS_GRADIENT;
}
