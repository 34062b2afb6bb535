/* head.c - parses the header of a gzip member, byte by byte in short fields and in runs in fields that may be long. */
#include "source/head.h"

#include <string.h>
#include <zlib.h>

enum { FHCRC = 2, FEXTRA = 4, FNAME = 8, FCOMMENT = 16, RESERVED = 0xe0 };
enum { FIXED, EXTRA_LENGTH, EXTRA, NAME, COMMENT, SUM, DONE };

void hdx_head_begin(hdx_head *head) { *head = (hdx_head){ .step = FIXED }; }

/* Only these four of the ten fixed bytes are checked; time, XFL and OS do not matter. */
static bool fits(unsigned place, uint8_t byte)
{
    static const uint8_t magic[3] = { 0x1f, 0x8b, 8 };
    return place < 3 ? byte == magic[place] : place != 3 || (byte & RESERVED) == 0;
}

/* Returns the step after this one, for these flags. */
static uint8_t follow(uint8_t step, uint8_t flags)
{
    switch (step) {
    case FIXED:
        if (flags & FEXTRA)
            return EXTRA_LENGTH; /* fall through */
    case EXTRA:
        if (flags & FNAME)
            return NAME; /* fall through */
    case NAME:
        if (flags & FCOMMENT)
            return COMMENT; /* fall through */
    case COMMENT:
        if (flags & FHCRC)
            return SUM; /* fall through */
    default: return DONE;
    }
}

static void enter(hdx_head *head, uint8_t step)
{
    head->step = step;
    head->have = 0;
}

hdx_head_state hdx_head_feed(hdx_head *head, const uint8_t *bytes, size_t len, size_t *used)
{
    size_t at = 0;
    *used = 0;
    while (head->step != DONE) {
        size_t      from = at, left = len - at;
        uint8_t     step = head->step;
        const void *zero;
        if (left == 0)
            break;
        switch (step) {
        case FIXED:
            if (!fits(head->have, bytes[at]))
                return HDX_HEAD_OTHER;
            if (head->have == 3)
                head->flags = bytes[at];
            at++;
            if (++head->have == 10)
                enter(head, follow(FIXED, head->flags));
            break;
        case EXTRA_LENGTH:
            head->left |= (uint32_t)bytes[at++] << 8 * head->have;
            if (++head->have == 2)
                enter(head, head->left > 0 ? EXTRA : follow(EXTRA, head->flags));
            break;
        case EXTRA:
            at += left < head->left ? left : head->left;
            head->left -= (uint32_t)(at - from);
            if (head->left == 0)
                enter(head, follow(EXTRA, head->flags));
            break;
        case NAME:
        case COMMENT:
            zero = memchr(bytes + at, 0, left);
            at = zero == NULL ? len : (size_t)((const uint8_t *)zero - bytes) + 1;
            if (zero != NULL)
                enter(head, follow(step, head->flags));
            break;
        default: /* SUM: not part of its own sum */
            head->stored = (uint16_t)(head->stored | bytes[at++] << 8 * head->have);
            if (++head->have == 2) {
                head->bad_sum = head->stored != (uint16_t)head->crc;
                enter(head, DONE);
            }
            break;
        }
        if (step != SUM && (head->flags & FHCRC || step == FIXED))
            head->crc = (uint32_t)crc32(head->crc, bytes + from, (uInt)(at - from));
    }
    *used = at;
    return head->step == DONE ? HDX_HEAD_DONE : HDX_HEAD_MORE;
}
