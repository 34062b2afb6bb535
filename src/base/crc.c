/*
 * crc.c - CRC32C. Three interleaved chains hide the latency of the crc32 instruction; they are combined by shifting
 * over zeros.
 */
#include "base/crc.h"
#include "base/bytes.h"

#include <pthread.h>

#define POLY   0x82f63b78u
#define STRIDE 1024u /* bytes of one chain */

static uint32_t       table[256];
static uint32_t       shift_table[4][256]; /* operator "append STRIDE zero bytes", a byte of the crc at a time */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t soft(uint32_t crc, const uint8_t *p, size_t len)
{
    while (len-- > 0)
        crc = table[(crc ^ *p++) & 0xff] ^ crc >> 8;
    return crc;
}

static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? POLY ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    for (unsigned byte = 0; byte < 4; byte++)
        for (uint32_t i = 1; i < 256; i++) {
            uint32_t c = i << (8 * byte);
            if ((i & (i - 1)) != 0) { /* the operator is linear: one bit plus the others */
                shift_table[byte][i] = shift_table[byte][i & (i - 1)] ^ shift_table[byte][i & -i];
                continue;
            }
            for (unsigned n = 0; n < STRIDE; n++)
                c = table[c & 0xff] ^ c >> 8;
            shift_table[byte][i] = c;
        }
}

#if defined(__x86_64__)
static uint32_t shift(uint32_t c)
{
    return shift_table[0][c & 0xff] ^ shift_table[1][c >> 8 & 0xff] ^ shift_table[2][c >> 16 & 0xff] ^
           shift_table[3][c >> 24];
}

__attribute__((target("sse4.2"))) static uint32_t hard(uint32_t crc, const uint8_t *p, size_t len)
{
    uint64_t a = crc;
    while (len >= 3 * STRIDE) {
        uint64_t b = 0, c = 0;
        for (size_t i = 0; i < STRIDE; i += 8) {
            a = __builtin_ia32_crc32di(a, hdx_le64(p + i));
            b = __builtin_ia32_crc32di(b, hdx_le64(p + STRIDE + i));
            c = __builtin_ia32_crc32di(c, hdx_le64(p + 2 * STRIDE + i));
        }
        a = shift(shift((uint32_t)a) ^ (uint32_t)b) ^ (uint32_t)c;
        p += 3 * STRIDE;
        len -= 3 * STRIDE;
    }
    for (; len >= 8; p += 8, len -= 8)
        a = __builtin_ia32_crc32di(a, hdx_le64(p));
    uint32_t r = (uint32_t)a;
    while (len-- > 0)
        r = __builtin_ia32_crc32qi(r, *p++);
    return r;
}
#endif

uint32_t hdx_crc32c_by_table(uint32_t seed, const void *bytes, size_t len)
{
    (void)pthread_once(&once, make_tables);
    return ~soft(~seed, bytes, len);
}

uint32_t hdx_crc32c(uint32_t seed, const void *bytes, size_t len)
{
#if defined(__x86_64__)
    (void)pthread_once(&once, make_tables);
    if (__builtin_cpu_supports("sse4.2"))
        return ~hard(~seed, bytes, len);
#endif
    return hdx_crc32c_by_table(seed, bytes, len);
}
