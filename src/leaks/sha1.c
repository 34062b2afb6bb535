/*
 * sha1.c - SHA-1 (FIPS 180-4) of signatures: 20 bytes as lower-case hexadecimal. It distinguishes leaks; it is no
 * security measure.
 */
#include "leaks/leaks.h"

static uint32_t rotate(uint32_t v, unsigned by) { return v << by | v >> (32 - by); }

static void block(leak_sha1 *s)
{
    uint32_t w[80], a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3], e = s->h[4];
    for (unsigned i = 0; i < 16; i++)
        w[i] = hdx_be32(s->block + 4 * i);
    for (unsigned i = 16; i < 80; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (unsigned i = 0; i < 80; i++) {
        const uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 || i >= 60 ? b ^ c ^ d : (b & c) | (b & d) | (c & d);
        const uint32_t k = i < 20 ? 0x5a827999u : i < 40 ? 0x6ed9eba1u : i < 60 ? 0x8f1bbcdcu : 0xca62c1d6u;
        const uint32_t next = rotate(a, 5) + f + e + k + w[i];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    s->h[0] += a;
    s->h[1] += b;
    s->h[2] += c;
    s->h[3] += d;
    s->h[4] += e;
}

void hdx_leak_sha1_begin(leak_sha1 *s)
{
    *s = (leak_sha1){ .h = { 0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u } };
}

void hdx_leak_sha1_put(leak_sha1 *s, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < len; i++) {
        s->block[s->len++ & 63] = p[i];
        if ((s->len & 63) == 0)
            block(s);
    }
}

void hdx_leak_sha1_end(leak_sha1 *s, char hex[41])
{
    static const char digits[] = "0123456789abcdef";
    const uint64_t    bits = s->len * 8;
    uint8_t           last[8];
    hdx_leak_sha1_put(s, "\x80", 1);
    while ((s->len & 63) != 56)
        hdx_leak_sha1_put(s, "", 1);
    for (unsigned i = 0; i < 8; i++)
        last[i] = (uint8_t)(bits >> (56 - 8 * i));
    hdx_leak_sha1_put(s, last, 8);
    for (unsigned i = 0; i < 40; i++)
        hex[i] = digits[s->h[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[40] = '\0';
}
