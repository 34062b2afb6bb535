/*
 * string.c - the text of String objects, in all layouts that JDK 5 to 25, Dalvik and ART write (HPROF 6).
 *
 * In:  fields value, offset, count and coder of an instance; elements of a char[] or byte[].
 * Out: UTF-16 units, or UTF-8.
 * Cost: one instance and one array; text is read in pieces, so a String takes as much memory as its text in the dump.
 *
 *     value char[], offset, count       JDK 5, 6, Dalvik: a part of an array that several share
 *     value char[]                      JDK 7u6, 8
 *     value byte[], coder 0             Latin-1, one byte a unit                                       JDK 9 on
 *     value byte[], coder 1             UTF-16, two bytes a unit, in the byte order of that JVM        JDK 9 on
 *     value byte[] or char[], count     ART: Latin-1 or UTF-16 big-endian; count may be length << 1 | flag, so the
 *                                       array's length rules
 */
#include "graph/inside.h"

#include <assert.h>
#include <stdlib.h>

#define UNITS 1024u

/* ---- finding the characters ---- */

/*
 * UTF-16 in a byte[] is in the byte order of the JVM's machine. StringUTF16.HI_BYTE_SHIFT is 8 if the high byte is
 * first (MAT 10.5). Without that class: little-endian, as on nearly all machines. Computed once.
 */
hdx_code hdx_graph_utf16(hdx_graph *g, hdx_coding *out, hdx_error *err)
{
    int known = atomic_load(&g->utf16);
    *out = known == 2 ? HDX_UTF16_BE : HDX_UTF16_LE;
    if (known != 0)
        return HDX_OK;
    const hdx_class *c = hdx_graph_class_named(g, "java.lang.StringUTF16");
    hdx_values       v = { 0 };
    hdx_code         code = c != NULL ? hdx_graph_statics(g, c->id, &v, err) : HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < v.count; i++)
        if (hdx_text_is(v.at[i].name, "HI_BYTE_SHIFT") && v.at[i].value.type == 10 && !v.at[i].value.absent &&
            v.at[i].value.as.integer == 8)
            *out = HDX_UTF16_BE;
    hdx_values_free(&v);
    if (code == HDX_OK)
        atomic_store(&g->utf16, *out == HDX_UTF16_BE ? 2 : 1);
    return code;
}

/*
 * Reads an int or byte field. *found is false and the value 0 if there is no field of this name and type, or if the
 * dump lacks it.
 */
static hdx_code number_field(const hdx_instance *i, const char *name, uint8_t type, int64_t *out, bool *found,
                             hdx_error *err)
{
    hdx_value v;
    hdx_code  code = hdx_instance_field(i, name, &v, found, err);
    *found = code == HDX_OK && *found && v.type == type && !v.absent;
    *out = *found ? v.as.integer : 0;
    return code;
}

static hdx_code value_array(const hdx_instance *i, hdx_chars *out, uint8_t *element, bool *there, hdx_error *err)
{
    hdx_value v;
    hdx_id    array;
    bool      found;
    *there = false;
    hdx_code code = hdx_instance_field(i, "value", &v, &found, err);
    if (code != HDX_OK || !found || v.absent || v.type != 2 || v.as.address == 0 ||
        !hdx_graph_find(i->g, v.as.address, &array))
        return code;
    const hdx_class *c = hdx_graph_class(i->g, hdx_graph_class_of(i->g, array));
    if (c == NULL || c->kind != HDX_PRIMITIVE_ARRAY || (c->element_type != 5 && !hdx_class_of_bytes(c)))
        return HDX_OK;
    *element = c->element_type;
    out->units = hdx_graph_length(i->g, array);
    code = hdx_graph_record(i->g, array, &out->array, there, err);
    if (code == HDX_OK && *there && out->units > 0 && out->array.event.tag == HDX_SUB_PRIMITIVE_ARRAY_NODATA)
        *there = false; /* the dump lacks the value: this is no text rather than an empty text */
    return code;
}

hdx_code hdx_chars_of(const hdx_instance *text, hdx_chars *out, bool *there, hdx_error *err)
{
    hdx_code code;
    uint8_t  element = 0;
    int64_t  coder, offset, count;
    bool     has_coder, has_offset, has_count;
    if ((code = value_array(text, out, &element, there, err)) != HDX_OK || !*there)
        return code;
    out->first = 0;
    out->coding = HDX_CHARS_BE;
    if (element == 8) {
        if ((code = number_field(text, "coder", 8, &coder, &has_coder, err)) != HDX_OK)
            return code;
        out->coding = HDX_LATIN1;
        if (coder != 0) {
            if ((code = hdx_graph_utf16(text->g, &out->coding, err)) != HDX_OK)
                return code;
            out->units /= 2;
        }
    }
    if ((code = number_field(text, "count", 10, &count, &has_count, err)) != HDX_OK ||
        (code = number_field(text, "offset", 10, &offset, &has_offset, err)) != HDX_OK)
        return code;
    /* Never past the array, whatever the fields contain; the bits of ART's count above the length are its flag. */
    if (has_count && offset > 0) {
        out->first = hdx_least((uint64_t)offset, out->units);
        out->units -= out->first;
    }
    if (has_count && (count < 0 || (uint64_t)count < out->units))
        out->units = count < 0 ? 0 : (uint64_t)count;
    return HDX_OK;
}

hdx_code hdx_chars_read(const hdx_chars *c, uint64_t from, unsigned n, uint16_t *units, unsigned *got, hdx_error *err)
{
    uint8_t  bytes[2 * UNITS];
    unsigned size = c->coding == HDX_LATIN1 ? 1 : 2, done = 0;
    uint64_t part = 0;
    *got = 0;
    if (from >= c->units || c->array.event.tag == HDX_SUB_PRIMITIVE_ARRAY_NODATA)
        return HDX_OK;
    n = (unsigned)hdx_least(n, c->units - from);
    while (done < n) {
        const unsigned now = (unsigned)hdx_least(n - done, UNITS);
        hdx_code       code = hdx_record_elements(&c->array, size, c->first + from + done, now, bytes, &part, err);
        if (code != HDX_OK)
            return code;
        for (unsigned i = 0; i < part; i++)
            switch (c->coding) {
            case HDX_LATIN1: units[done + i] = bytes[i]; break;
            case HDX_UTF16_LE: units[done + i] = hdx_le16(bytes + 2 * i); break;
            case HDX_CHARS_BE:
            case HDX_UTF16_BE: units[done + i] = hdx_be16(bytes + 2 * i);
            }
        assert(part <= now && done + part <= n); /* G6 */
        done += (unsigned)part;
        if (part < now)
            break;
    }
    *got = done;
    return HDX_OK;
}

/* ---- units as text ---- */

static void put_character(hdx_buffer *out, uint32_t c)
{
    assert(c < 0x110000);
    char                 b[4];
    unsigned             n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = { 0, 0x00, 0xc0, 0xe0, 0xf0 };
    for (unsigned i = n - 1; i > 0; i--) {
        b[i] = (char)(0x80 | (c & 0x3f));
        c >>= 6;
    }
    b[0] = (char)(lead[n] | c);
    hdx_buffer_put(out, b, n);
}

/* Most text is ASCII: appends the ASCII units at the start and returns their number. */
static size_t put_ascii(hdx_buffer *out, const uint16_t *units, size_t n)
{
    size_t len = 0;
    while (len < n && units[len] < 0x80)
        len++;
    char *to = len > 0 ? hdx_buffer_room(out, len) : NULL;
    for (size_t i = 0; to != NULL && i < len; i++)
        to[i] = (char)units[i];
    if (to != NULL) {
        to[len] = '\0';
        out->len += len;
    }
    return len;
}

void hdx_put_utf8(hdx_buffer *out, const uint16_t *units, size_t n, uint16_t *high)
{
    assert(*high == 0 || (*high >= 0xd800 && *high <= 0xdbff));
    for (size_t i = *high == 0 ? put_ascii(out, units, n) : 0; i < n; i++) {
        uint16_t u = units[i];
        if (*high != 0 && u >= 0xdc00 && u <= 0xdfff) {
            put_character(out, 0x10000u + ((uint32_t)(*high - 0xd800) << 10) + (uint32_t)(u - 0xdc00));
            *high = 0;
            continue;
        }
        hdx_put_utf8_end(out, high);
        if (u >= 0xd800 && u <= 0xdbff)
            *high = u;
        else
            put_character(out, u);
    }
}

void hdx_put_utf8_end(hdx_buffer *out, uint16_t *high)
{
    if (*high != 0)
        put_character(out, *high);
    *high = 0;
}

void hdx_put_label_part(hdx_buffer *out, const uint16_t *units, size_t n, uint16_t *high)
{
    for (size_t from = 0, i = 0; i <= n; i++)
        if (i == n || units[i] == 0) {
            hdx_put_utf8(out, units + from, i - from, high);
            if (i < n) {
                hdx_put_utf8_end(out, high);
                hdx_buffer_put(out, "\xc0\x80", 2);
            }
            from = i + 1;
        }
}

void hdx_put_label(hdx_buffer *out, const uint16_t *units, size_t n)
{
    uint16_t high = 0;
    hdx_put_label_part(out, units, n, &high);
    hdx_put_utf8_end(out, &high);
}

/* ---- String ---- */

static hdx_code read_text(const hdx_chars *c, uint64_t max, hdx_buffer *out, bool *whole, hdx_error *err)
{
    uint16_t units[UNITS], high = 0;
    uint64_t limit = hdx_least(c->units, max), from = 0;
    unsigned got = 0;
    while (from < limit) {
        const unsigned now = (unsigned)hdx_least(limit - from, UNITS);
        hdx_code       code = hdx_chars_read(c, from, now, units, &got, err);
        if (code != HDX_OK)
            return code;
        hdx_put_utf8(out, units, got, &high);
        assert(got <= now); /* G6 */
        from += got;
        if (got < now)
            break;
    }
    hdx_put_utf8_end(out, &high);
    *whole = from == c->units;
    return HDX_OK;
}

hdx_code hdx_graph_text_at(hdx_graph *g, hdx_id id, hdx_text_at *out, hdx_error *err)
{
    hdx_instance     i;
    hdx_chars        chars;
    bool             there;
    const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, id));
    *out = (hdx_text_at){ .string = id, .array = HDX_NO_ID, .state = HDX_TEXT_NONE };
    if (c == NULL || !hdx_class_of_strings(c))
        return HDX_OK;
    hdx_code code = hdx_instance_open(g, id, &i, &there, err);
    if (code != HDX_OK || !there || !hdx_instance_as(&i, "java.lang.String") ||
        (code = hdx_chars_of(&i, &chars, &there, err)) != HDX_OK || !there)
        return code;
    out->state = hdx_graph_find(g, chars.array.event.addr, &out->array) ? HDX_TEXT_THERE : HDX_TEXT_ABSENT;
    out->coding = chars.coding;
    out->first = chars.first;
    out->units = chars.units;
    out->whole = chars.first == 0 && chars.units == chars.array.event.count / (chars.coding >= HDX_UTF16_LE ? 2 : 1);
    return HDX_OK;
}

hdx_code hdx_graph_put_string(hdx_graph *g, hdx_id id, uint64_t max, hdx_buffer *out, bool *whole, bool *is_string,
                              hdx_error *err)
{
    hdx_code         code;
    hdx_instance     i;
    hdx_chars        chars;
    bool             there;
    const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, id));
    *whole = *is_string = false;
    if (c == NULL || !hdx_text_is(c->name, "java.lang.String"))
        return HDX_OK;
    if ((code = hdx_instance_open(g, id, &i, &there, err)) != HDX_OK || !there ||
        !hdx_instance_as(&i, "java.lang.String"))
        return code;
    if ((code = hdx_chars_of(&i, &chars, &there, err)) != HDX_OK || !there)
        return code;
    hdx_buffer_put(out, "", 0);
    if ((code = read_text(&chars, max, out, whole, err)) != HDX_OK)
        return code;
    *is_string = true;
    return out->failed ? hdx_no_memory(err, "the text of a String", out->len + 1) : HDX_OK;
}

hdx_code hdx_graph_string(hdx_graph *g, hdx_id id, uint64_t max, char **text, size_t *len, bool *whole, bool *is_string,
                          hdx_error *err)
{
    hdx_buffer out = hdx_buffer_of(NULL);
    *text = NULL;
    *len = 0;
    hdx_code code = hdx_graph_put_string(g, id, max, &out, whole, is_string, err);
    if (code != HDX_OK || !*is_string)
        goto out;
    /* A buffer's memory may be a mapping; the caller must get a block for free(). */
    if ((*text = malloc((size_t)out.len + 1)) == NULL) {
        code = hdx_no_memory(err, "the text of a String", out.len + 1);
        goto out;
    }
    memcpy(*text, out.at, (size_t)out.len + 1);
    *len = (size_t)out.len;
out:
    *is_string = *text != NULL;
    hdx_buffer_free(&out);
    return code;
}

void hdx_text_free(char *text) { free(text); }
