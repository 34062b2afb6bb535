/* text.c - growing text. */
#include "base/text.h"
#include "base/bytes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool hdx_buffer_grow(hdx_buffer *b, uint64_t more)
{
    uint64_t need, next = b->capacity == 0 ? 256 : b->capacity;
    if (b->failed || !hdx_add(b->len, more, &need) || need > UINT64_MAX / 4) { /* doubling stays below 2^63 */
        b->failed = true;
        return false;
    }
    while (next <= need)
        next *= 2;
    if (next > b->capacity) {
        char *p = hdx_mem_resize(b->mem, b->at, b->capacity, next);
        if (p == NULL) {
            b->failed = true;
            return false;
        }
        b->at = p;
        b->capacity = next;
    }
    return true;
}

void hdx_buffer_put(hdx_buffer *b, const void *bytes, uint64_t len)
{
    char *at = hdx_buffer_room(b, len);
    if (at == NULL)
        return;
    if (len > 0)
        memcpy(at, bytes, (size_t)len);
    b->len += len;
    b->at[b->len] = '\0';
}

void hdx_buffer_text(hdx_buffer *b, const char *text) { hdx_buffer_put(b, text, strlen(text)); }

void hdx_buffer_format(hdx_buffer *b, const char *format, ...)
{
    char    small[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (n < 0)
        return;
    if ((size_t)n < sizeof small) {
        hdx_buffer_put(b, small, (uint64_t)n);
        return;
    }
    if (hdx_buffer_room(b, (uint64_t)n) == NULL)
        return;
    va_start(args, format);
    (void)vsnprintf(b->at + b->len, (size_t)n + 1, format, args);
    va_end(args);
    b->len += (uint64_t)n;
}

void hdx_buffer_clear(hdx_buffer *b)
{
    b->len = 0;
    b->failed = false;
    if (b->at != NULL)
        b->at[0] = '\0';
}

void hdx_buffer_free(hdx_buffer *b)
{
    hdx_mem_put(b->mem, b->at, b->capacity);
    *b = hdx_buffer_of(b->mem);
}

void hdx_human_size(uint64_t bytes, char out[16])
{
    static const char units[] = "KMGTPE";
    unsigned          unit = 0;
    if (bytes < 1024) {
        (void)snprintf(out, 16, "%u B", (unsigned)bytes);
        return;
    }
    while (unit < 5 && bytes >> (10 * (unit + 2)) != 0)
        unit++;
    for (;; unit++) {
        unsigned shift = 10 * (unit + 1);
        uint64_t rest = bytes & ((1ull << shift) - 1); /* below 2^60, so ten times that still fits */
        unsigned tenths = (unsigned)((bytes >> shift) * 10 + ((rest * 10 + (1ull << (shift - 1))) >> shift));
        if (tenths >= 10235 && unit < 5) /* rounds to 1024 of this unit */
            continue;
        if (tenths < 10000)
            (void)snprintf(out, 16, "%u.%u %cB", tenths / 10, tenths % 10, units[unit]);
        else
            (void)snprintf(out, 16, "%u %cB", (tenths + 5) / 10, units[unit]);
        return;
    }
}

bool hdx_size_of(const char *text, uint64_t *bytes)
{
    static const char suffixes[] = "KMGT";
    char             *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10), unit = 1;
    if (errno != 0)
        return false;
    if (*end != '\0') {
        const char *s = strchr(suffixes, *end >= 'a' && *end <= 'z' ? *end - 'a' + 'A' : *end);
        if (s != NULL && *s != '\0') {
            unit = (uint64_t)1 << (10 * (s - suffixes + 1));
            end++;
            if (*end == 'i')
                end++;
        }
        if (*end == 'B' || *end == 'b')
            end++;
    }
    return *end == '\0' && hdx_mul(n, unit, bytes);
}
