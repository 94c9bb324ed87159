/*
 * codec/scan: what lies where in 64 bytes of CSV, as bitmaps.
 *
 * Bit i of a mark stands for byte i. `odd` marks what keeps a line from being cut
 * by its delimiters alone: quotes, NUL, 0xFF, and a CR that no LF follows.
 *
 * Two ways that mark the same: SSE2, which every x86-64 has, and plain C. (One
 * with AVX2, chosen at run time, would be a third scan_block_*; whoever walks the
 * marks then has to be compiled for it too.)
 */
#ifndef CODEC_SCAN_H
#define CODEC_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define SCAN_BLOCK 64

struct scan_marks {
    uint64_t line_end; /* LF */
    uint64_t delimiter;
    uint64_t odd;
};

/* Marks the SCAN_BLOCK bytes at `p`; the byte behind them is looked at, too. */
static inline struct scan_marks scan_block_plain(const char *p, char delimiter)
{
    struct scan_marks m = {0, 0, 0};

    for (unsigned i = 0; i < SCAN_BLOCK; i++) {
        unsigned char c = (unsigned char)p[i];
        bool lone_cr = c == '\r' && p[i + 1] != '\n';

        m.line_end |= (uint64_t)(c == '\n') << i;
        m.delimiter |= (uint64_t)(c == (unsigned char)delimiter) << i;
        m.odd |= (uint64_t)(c == '"' || c == '\0' || c == 0xff || lone_cr) << i;
    }
    return m;
}

#ifdef __SSE2__
static inline __m128i scan_load(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline uint64_t scan_bits(__m128i marks)
{
    return (uint16_t)_mm_movemask_epi8(marks);
}

/* Making bits of marks is what takes the time: so all that is odd is put together
 * before, and a CR is compared with the byte behind it, not with that one's bit. */
static inline struct scan_marks scan_block_sse2(const char *p, char delimiter)
{
    const __m128i all_lf = _mm_set1_epi8('\n'), all_cr = _mm_set1_epi8('\r');
    const __m128i all_quote = _mm_set1_epi8('"'), all_delimiter = _mm_set1_epi8(delimiter);
    const __m128i zero = _mm_setzero_si128(), one = _mm_set1_epi8(1);
    struct scan_marks m = {0, 0, 0};

    for (unsigned i = 0; i < SCAN_BLOCK; i += 16) {
        __m128i x = scan_load(p + i);
        __m128i lf = _mm_cmpeq_epi8(x, all_lf);
        __m128i lf_behind = _mm_cmpeq_epi8(scan_load(p + i + 1), all_lf);
        __m128i lone_cr = _mm_andnot_si128(lf_behind, _mm_cmpeq_epi8(x, all_cr));
        __m128i quote = _mm_cmpeq_epi8(x, all_quote);
        /* x + 1 is 0 or 1 for 0xFF and NUL, and for nothing else */
        __m128i nul_ff = _mm_cmpeq_epi8(_mm_subs_epu8(_mm_add_epi8(x, one), one), zero);
        __m128i odd = _mm_or_si128(_mm_or_si128(lone_cr, quote), nul_ff);

        m.line_end |= scan_bits(lf) << i;
        m.delimiter |= scan_bits(_mm_cmpeq_epi8(x, all_delimiter)) << i;
        m.odd |= scan_bits(odd) << i;
    }
    return m;
}
#define scan_block scan_block_sse2
#else
#define scan_block scan_block_plain
#endif

/* Marks the first SCAN_BLOCK of the `n` (> 0) bytes at `p`, or all when there are
 * fewer; no byte behind them is touched. A CR that is the last of them is odd. */
static inline struct scan_marks scan(const char *p, size_t n, char delimiter)
{
    char tail[SCAN_BLOCK + 1] = {0};
    struct scan_marks m;
    uint64_t there;

    if (n > SCAN_BLOCK)
        return scan_block(p, delimiter);
    memcpy(tail, p, n);
    m = scan_block(tail, delimiter);
    there = UINT64_MAX >> (SCAN_BLOCK - n);
    return (struct scan_marks){m.line_end & there, m.delimiter & there, m.odd & there};
}

#endif
