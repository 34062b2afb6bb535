/*
 * flat.c - reads JSON objects one level deep (flat.h).
 *
 * In:  untrusted bytes.
 * Out: pairs of keys and values; a list or an object among the values is returned as text.
 * No recursion: brackets in such text are counted.
 */
#include "base/flat.h"

#include <stdlib.h>
#include <string.h>

typedef struct scanner {
    const char *at, *end;
    hdx_arena  *arena;
} scanner;

static void blanks(scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool taken(scanner *s, char c)
{
    blanks(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static int hex4(const scanner *s)
{
    int value = 0;
    if (s->end - s->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        const char c = s->at[i];
        const int  digit = c >= '0' && c <= '9'   ? c - '0'
                           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                  : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* After "\u". An unpaired surrogate becomes U+FFFD. Returns the bytes written; 0: invalid, or NUL. */
static size_t put_point(scanner *s, char *to)
{
    int point = hex4(s);
    if (point <= 0)
        return 0;
    s->at += 4;
    if (point >= 0xd800 && point < 0xdc00 && s->end - s->at >= 6 && s->at[0] == '\\' && s->at[1] == 'u') {
        const scanner next = { s->at + 2, s->end, NULL };
        const int     low = hex4(&next);
        if (low >= 0xdc00 && low < 0xe000) {
            point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
            s->at += 6;
        }
    }
    if (point >= 0xd800 && point < 0xe000)
        point = 0xfffd;
    if (point < 0x80) {
        to[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        to[0] = (char)(0xc0 | point >> 6);
        to[1] = (char)(0x80 | (point & 0x3f));
        return 2;
    }
    if (point < 0x10000) {
        to[0] = (char)(0xe0 | point >> 12);
        to[1] = (char)(0x80 | (point >> 6 & 0x3f));
        to[2] = (char)(0x80 | (point & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | point >> 18);
    to[1] = (char)(0x80 | (point >> 12 & 0x3f));
    to[2] = (char)(0x80 | (point >> 6 & 0x3f));
    to[3] = (char)(0x80 | (point & 0x3f));
    return 4;
}

/* Reads a text after its opening quote; NULL: it does not end, or contains an invalid byte. */
static const char *string(scanner *s)
{
    const char *from = s->at, *end = from;
    while (end < s->end && *end != '"')
        end += *end == '\\' && s->end - end > 1 ? 2 : 1;
    if (end >= s->end)
        return NULL;
    char  *text = hdx_arena_get(s->arena, (uint64_t)(end - from) + 1); /* no escape is shorter than its character */
    size_t len = 0;
    if (text == NULL)
        return NULL;
    while (s->at < end) {
        const char c = *s->at++;
        if (c == '\0')
            return NULL;
        if (c != '\\') {
            text[len++] = c;
            continue;
        }
        static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
        const char        e = *s->at++;
        const char       *known = e != '\0' ? strchr(letters, e) : NULL;
        if (known != NULL) {
            text[len++] = means[known - letters];
        } else {
            const size_t n = e == 'u' ? put_point(s, text + len) : 0;
            if (n == 0)
                return NULL;
            len += n;
        }
    }
    if (s->at != end) /* "\u" extended over the quote */
        return NULL;
    s->at++;
    text[len] = '\0';
    return text;
}

/* Returns a list or an object as text; brackets are counted, not matched. */
static const char *nested(scanner *s)
{
    const char *from = s->at;
    uint64_t    depth = 0;
    bool        quoted = false;
    for (; s->at < s->end; s->at++) {
        const char c = *s->at;
        if (c == '\0')
            return NULL;
        if (quoted) {
            if (c == '\\' && s->end - s->at > 1)
                s->at++;
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[' || c == '{') {
            depth++;
        } else if ((c == ']' || c == '}') && --depth == 0) {
            s->at++;
            return hdx_arena_copy(s->arena, from, (uint64_t)(s->at - from));
        }
    }
    return NULL;
}

/* Reads a number, true, false or null. */
static const char *bare(scanner *s)
{
    const char *from = s->at;
    while (s->at < s->end && *s->at != '\0' && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *s->at) != NULL)
        s->at++;
    return s->at > from ? hdx_arena_copy(s->arena, from, (uint64_t)(s->at - from)) : NULL;
}

static bool value(scanner *s, hdx_flat_pair *out)
{
    blanks(s);
    if (s->at == s->end)
        return false;
    out->text = *s->at == '"';
    if (out->text)
        s->at++;
    out->value = out->text ? string(s) : *s->at == '[' || *s->at == '{' ? nested(s) : bare(s);
    if (out->value == NULL)
        return false;
    if (!out->text && strcmp(out->value, "null") == 0)
        out->value = NULL;
    return true;
}

bool hdx_flat_read(hdx_arena *arena, const char *text, size_t len, hdx_flat *out)
{
    scanner s = { text, text + len, arena };
    size_t  room = 0;
    *out = (hdx_flat){ 0 };
    if (!taken(&s, '{'))
        return false;
    if (taken(&s, '}'))
        goto end;
    do {
        if (out->count == room) {
            hdx_flat_pair *more = hdx_arena_get(arena, (room = room == 0 ? 16 : 2 * room) * sizeof *more);
            if (more == NULL)
                return false;
            if (out->count > 0)
                memcpy(more, out->at, out->count * sizeof *more);
            out->at = more;
        }
        hdx_flat_pair *p = &out->at[out->count];
        if (!taken(&s, '"') || (p->key = string(&s)) == NULL || !taken(&s, ':') || !value(&s, p))
            return false;
        out->count++;
    } while (taken(&s, ','));
    if (!taken(&s, '}'))
        return false;
end:
    blanks(&s);
    return s.at == s.end;
}

const char *hdx_flat_text(const hdx_flat *f, const char *key)
{
    for (size_t i = f->count; i-- > 0;)
        if (strcmp(f->at[i].key, key) == 0)
            return f->at[i].value;
    return NULL;
}

uint64_t hdx_flat_number(const hdx_flat *f, const char *key)
{
    const char *text = hdx_flat_text(f, key);
    return text != NULL && *text != '-' ? strtoull(text, NULL, 10) : 0;
}

double hdx_flat_real(const hdx_flat *f, const char *key)
{
    const char  *text = hdx_flat_text(f, key);
    const double v = text != NULL ? strtod(text, NULL) : 0;
    return v >= 0 && v < 1e15 ? v : 0; /* neither NaN nor a time that no clock gives */
}
