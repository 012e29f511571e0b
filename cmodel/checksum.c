// SPDX-License-Identifier: Apache-2.0
// The Internet checksum, RFC 1071. Words are added in the machine's own byte order, and the sum is
// swapped at the end (section 2(B)). 32-bit words go into 64-bit accumulators, whose carries are
// folded in only once (2(C)).
#include <string.h>

#include <gradnic/packet.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { WIDE_FROM = 128 };  // bytes from which the vector kernel pays

static uint64_t load(const uint8_t *p, size_t bytes)
{
    uint64_t word = 0;
    memcpy(&word, p, bytes);
    return word;
}

// Sum of the 32-bit words of 8-byte pieces. `length` is a multiple of 8. No overflow below 2^34
// bytes.
static uint64_t sum_words(uint64_t sum, const uint8_t *p, size_t length)
{
    for (size_t i = 0; i < length; i += 8) {
        uint64_t word = load(p + i, 8);
        sum += (word & 0xffffffffu) + (word >> 32);
    }
    return sum;
}

#if defined(__x86_64__)
// `length` is a multiple of 64.
__attribute__((target("avx2"))) static uint64_t sum_wide(const uint8_t *p, size_t length)
{
    const __m256i low = _mm256_set1_epi64x(0xffffffff);
    __m256i even[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    __m256i odd[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (size_t i = 0; i < length; i += 64) {
        for (size_t j = 0; j < 2; j++) {
            __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(p + i + 32 * j));
            even[j] = _mm256_add_epi64(even[j], _mm256_and_si256(v, low));
            odd[j] = _mm256_add_epi64(odd[j], _mm256_srli_epi64(v, 32));
        }
    }
    uint64_t lanes[4];
    __m256i all = _mm256_add_epi64(_mm256_add_epi64(even[0], even[1]), _mm256_add_epi64(odd[0], odd[1]));
    _mm256_storeu_si256((__m256i *)(void *)lanes, all);
    return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}
#endif

static uint32_t fold(uint64_t sum)
{
    sum = (sum & 0xffffffffu) + (sum >> 32);
    sum = (sum & 0xffffffffu) + (sum >> 32);
    sum = (sum & 0xffffu) + (sum >> 16);
    sum = (sum & 0xffffu) + (sum >> 16);
    return (uint32_t)sum;
}

uint32_t gn_checksum_add(uint32_t sum, const void *bytes, size_t length)
{
    const uint8_t *p = bytes;
    uint64_t words = 0;
#if defined(__x86_64__)
    if (length >= WIDE_FROM && __builtin_cpu_supports("avx2")) {
        size_t wide = length & ~(size_t)63;
        words = sum_wide(p, wide);
        p += wide;
        length -= wide;
    }
#endif
    size_t whole = length & ~(size_t)7;
    words = sum_words(words, p, whole);
    uint64_t rest = load(p + whole, length - whole);
    words += (rest & 0xffffffffu) + (rest >> 32);
    uint32_t native = fold(words);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    native = (native & 0xff) << 8 | native >> 8;
#endif
    return fold((uint64_t)sum + native);
}

uint16_t gn_checksum_finish(uint32_t sum)
{
    return (uint16_t)~fold(sum);
}
