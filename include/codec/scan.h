/*
 * codec/scan: what lies where in 64 bytes of CSV, as bitmaps.
 *
 * Bit i of a mark stands for byte i. `odd` marks what keeps a line from being cut
 * by its delimiters alone: quotes, NUL, 0xFF, and a CR that no LF follows.
 *
 * Three ways that mark the same: plain C, SSE2, which every x86-64 has, and AVX2,
 * which is asked for at run time. Whoever walks the marks gets the way as an argument
 * of an inlined function, so that each walk is compiled for one of them.
 */
#ifndef CODEC_SCAN_H
#define CODEC_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define SCAN_BLOCK 64

struct scan_marks {
    uint64_t line_end; /* LF */
    uint64_t delimiter;
    uint64_t odd;
};

/* The later, the faster. */
enum scan_way {
    SCAN_PLAIN,
    SCAN_SSE2,
    SCAN_AVX2,
};
#define SCAN_WAYS 3

/* Can this machine do that? */
static inline bool scan_has(enum scan_way way)
{
#ifdef __x86_64__
    if (way == SCAN_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
               __builtin_cpu_supports("bmi2");
    return true;
#else
    return way == SCAN_PLAIN;
#endif
}

/* Inlined also where the compiler, counting instructions, would not. */
#define SCAN_INLINE static inline __attribute__((always_inline))
/* For the functions that scan by AVX2; what is inlined into them is compiled for it, too. */
#define SCAN_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2")))

/* Marks the SCAN_BLOCK bytes at `p`; the byte behind them is looked at, too. */
SCAN_INLINE struct scan_marks scan_block_plain(const char *p, char delimiter)
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

#ifdef __x86_64__
SCAN_INLINE __m128i scan_load(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

SCAN_INLINE uint64_t scan_bits(__m128i marks)
{
    return (uint16_t)_mm_movemask_epi8(marks);
}

/* Making bits of marks is what takes the time: so all that is odd is put together
 * before, and a CR is compared with the byte behind it, not with that one's bit. */
SCAN_INLINE struct scan_marks scan_block_sse2(const char *p, char delimiter)
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

SCAN_INLINE SCAN_TARGET_AVX2 __m256i scan_load_wide(const char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

SCAN_INLINE SCAN_TARGET_AVX2 uint64_t scan_bits_wide(__m256i marks)
{
    return (uint32_t)_mm256_movemask_epi8(marks);
}

/* As with SSE2, but that the four odd bytes are found by one look into a table: in
 * place i it has the one whose low half is i. The other places have what no byte
 * that looks there is: 1, whose low half is 1; and place 1 has 0. */
SCAN_INLINE SCAN_TARGET_AVX2 struct scan_marks scan_half_avx2(const char *p, char delimiter)
{
    const __m256i all_lf = _mm256_set1_epi8('\n'), all_cr = _mm256_set1_epi8('\r');
    const __m256i all_delimiter = _mm256_set1_epi8(delimiter), low_half = _mm256_set1_epi8(0x0f);
    const __m256i odd_ones = _mm256_broadcastsi128_si256(
        _mm_setr_epi8('\0', 0, '"', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, '\r', 1, '\xFF'));
    __m256i x = scan_load_wide(p);
    __m256i lf_behind = _mm256_cmpeq_epi8(scan_load_wide(p + 1), all_lf);
    __m256i crlf = _mm256_and_si256(lf_behind, _mm256_cmpeq_epi8(x, all_cr));
    __m256i alike = _mm256_shuffle_epi8(odd_ones, _mm256_and_si256(x, low_half));

    return (struct scan_marks){
        .line_end = scan_bits_wide(_mm256_cmpeq_epi8(x, all_lf)),
        .delimiter = scan_bits_wide(_mm256_cmpeq_epi8(x, all_delimiter)),
        .odd = scan_bits_wide(_mm256_andnot_si256(crlf, _mm256_cmpeq_epi8(x, alike))),
    };
}

SCAN_INLINE SCAN_TARGET_AVX2 struct scan_marks scan_block_avx2(const char *p, char delimiter)
{
    struct scan_marks a = scan_half_avx2(p, delimiter);
    struct scan_marks b = scan_half_avx2(p + 32, delimiter);

    return (struct scan_marks){
        .line_end = a.line_end | b.line_end << 32,
        .delimiter = a.delimiter | b.delimiter << 32,
        .odd = a.odd | b.odd << 32,
    };
}
#endif

typedef struct scan_marks scan_block_fn(const char *p, char delimiter);

/* Marks the first SCAN_BLOCK of the `n` (> 0) bytes at `p`, or all when there are
 * fewer; no byte behind them is touched. A CR that is the last of them is odd. */
SCAN_INLINE struct scan_marks scan(const char *p, size_t n, char delimiter,
                                   scan_block_fn *scan_block)
{
    char tail[SCAN_BLOCK + 1];
    uint64_t there = UINT64_MAX;
    struct scan_marks m;

    if (n <= SCAN_BLOCK) {
        memset(tail, 0, sizeof(tail));
        p = memcpy(tail, p, n);
        there >>= SCAN_BLOCK - n;
    }
    m = scan_block(p, delimiter);
    return (struct scan_marks){m.line_end & there, m.delimiter & there, m.odd & there};
}

#endif
