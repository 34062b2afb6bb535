/*
 * content.c - writes the whole, unchanged content of a text or a primitive array, piece by piece.
 *
 * In:  a String, StringBuilder, StringBuffer or char[]; any other array of primitives.
 * Out: UTF-8 with U+FFFD for unpaired surrogates; bytes as in the dump, numbers in big-endian order.
 * Content may be missing: a stripped dump lacks it, a damaged dump ends inside it.
 * Cost: pieces of a few KB, whatever the length of the text.
 */
#include "graph/inside.h"

#include <assert.h>

#define UNITS 4096u
#define BYTES (8u << 10)

typedef struct writing {
    hdx_graph          *g;
    hdx_id              id;
    const hdx_progress *progress;
    hdx_put            *put;
    void               *context;
    hdx_buffer          out;
} writing;

static hdx_code put(writing *w, const char *bytes, size_t len, hdx_error *err)
{
    const hdx_progress *p = w->progress;
    if (p != NULL && p->cancelled != NULL && p->cancelled(p->context))
        return hdx_tick_stop(err);
    return w->put(w->context, bytes, len) ? HDX_OK : hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
}

/* Fails, because a caller would take a part for the whole. */
static hdx_code cut_off(const writing *w, uint64_t got, uint64_t all, hdx_error *err)
{
    return hdx_fail(
        err, HDX_BAD_DUMP, w->g->dump, HDX_NOWHERE, "object 0x%llx: the dump has only %llu of %llu elements",
        (unsigned long long)hdx_graph_address(w->g, w->id), (unsigned long long)got, (unsigned long long)all);
}

/*
 * Replaces unpaired surrogates by U+FFFD. Returns the number of finished units: a high surrogate at the end waits for
 * the next piece if there is more.
 */
static unsigned replace_unpaired(uint16_t *units, unsigned n, bool more)
{
    for (unsigned i = 0; i < n; i++) {
        const bool high = units[i] >= 0xd800 && units[i] <= 0xdbff, low = units[i] >= 0xdc00 && units[i] <= 0xdfff;
        if (high && i + 1 == n && more)
            return n - 1;
        if (high && i + 1 < n && units[i + 1] >= 0xdc00 && units[i + 1] <= 0xdfff)
            i++;
        else if (high || low)
            units[i] = 0xfffd;
    }
    return n;
}

static hdx_code put_text(writing *w, const hdx_chars *c, hdx_error *err)
{
    uint16_t units[UNITS], high = 0;
    uint64_t from = 0;
    hdx_code code = HDX_OK;
    while (code == HDX_OK && from < c->units) {
        const unsigned now = c->units - from < UNITS ? (unsigned)(c->units - from) : UNITS;
        unsigned       got = 0;
        if ((code = hdx_chars_read(c, from, now, units, &got, err)) != HDX_OK)
            break;
        if (got < now) {
            code = cut_off(w, from + got, c->units, err);
            break;
        }
        const unsigned n = replace_unpaired(units, got, from + got < c->units);
        assert(n > 0 || got == 1);
        hdx_buffer_clear(&w->out);
        hdx_put_utf8(&w->out, units, n, &high);
        assert(high == 0);
        code = w->out.failed ? hdx_no_memory(err, "a piece of a text", w->out.len)
                             : put(w, w->out.at, (size_t)w->out.len, err);
        from += n;
    }
    return code;
}

static hdx_code put_bytes(writing *w, const hdx_record *r, unsigned size, uint64_t length, hdx_error *err)
{
    uint8_t  bytes[BYTES];
    uint64_t got = 0;
    hdx_code code = HDX_OK;
    for (uint64_t from = 0; code == HDX_OK && from < length; from += got) {
        const uint64_t now = length - from < BYTES / size ? length - from : BYTES / size;
        if ((code = hdx_record_elements(r, size, from, now, bytes, &got, err)) != HDX_OK)
            break;
        code = got < now ? cut_off(w, from + got, length, err) : put(w, (const char *)bytes, (size_t)(got * size), err);
    }
    return code;
}

static hdx_code array_content(writing *w, uint8_t element, hdx_content *what, hdx_error *err)
{
    bool           there;
    const uint64_t length = hdx_graph_stored_length(w->g, w->id);
    hdx_chars      c = { .coding = HDX_CHARS_BE, .units = length };
    const unsigned size = hdx_type_size(element, w->g->m->id_size);
    hdx_code       code = hdx_graph_record(w->g, w->id, &c.array, &there, err);
    if (code != HDX_OK || !there || size == 0)
        return code;
    *what = element == 5 ? HDX_CONTENT_TEXT : HDX_CONTENT_BYTES;
    if (length > 0 && c.array.event.tag == HDX_SUB_PRIMITIVE_ARRAY_NODATA)
        *what = HDX_CONTENT_ABSENT;
    if (w->put == NULL || *what == HDX_CONTENT_ABSENT)
        return HDX_OK;
    return element == 5 ? put_text(w, &c, err) : put_bytes(w, &c.array, size, length, err);
}

static hdx_code text_content(writing *w, hdx_content *what, hdx_error *err)
{
    static const char *const names[] = { "java.lang.String", "java.lang.StringBuilder", "java.lang.StringBuffer" };
    for (unsigned n = 0; n < sizeof names / sizeof *names; n++) {
        hdx_instance i;
        hdx_chars    c;
        bool         there;
        hdx_code     code = hdx_instance_open(w->g, w->id, &i, &there, err);
        if (code != HDX_OK || !there)
            return code;
        if (!hdx_instance_as(&i, names[n]))
            continue;
        if ((code = hdx_chars_of(&i, &c, &there, err)) != HDX_OK)
            return code;
        *what = there ? HDX_CONTENT_TEXT : hdx_graph_text_absent(w->g, w->id) ? HDX_CONTENT_ABSENT : HDX_CONTENT_NONE;
        return there && w->put != NULL ? put_text(w, &c, err) : HDX_OK;
    }
    return HDX_OK;
}

hdx_code hdx_graph_content(hdx_graph *g, hdx_id id, const hdx_progress *progress, hdx_put *sink, void *context,
                           hdx_content *what, hdx_error *err)
{
    writing          w = { g, id, progress, sink, context, hdx_buffer_of(NULL) };
    const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, id));
    hdx_code         code = HDX_OK;
    *what = HDX_CONTENT_NONE;
    if (c != NULL && c->kind == HDX_PRIMITIVE_ARRAY)
        code = array_content(&w, c->element_type, what, err);
    else if (c != NULL && c->kind == HDX_INSTANCE)
        code = text_content(&w, what, err);
    hdx_buffer_free(&w.out);
    return code;
}
