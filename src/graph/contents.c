/*
 * contents.c - the contents of all Strings and primitive arrays.
 *
 * In:  classes, addresses and positions of the index; the dump.
 * Out: for each String the place of its text, for each array its bytes.
 * The layouts of Strings are those of string.c (HPROF 6). Ids ascend with addresses and therefore nearly in the order
 * of the dump: workers take runs of ids, sort the wanted objects of a run by position, and read forward.
 * Cost: a few nanoseconds for each object of the heap to find the wanted ones; wanted content is copied once.
 */
#include "graph/graph.h"
#include "graph/inside.h"

#include <assert.h>

#define RUN_OF_IDS (128u << 10) /* ids that a worker takes at a time: some MB of the dump */

enum { UNWANTED, STRING, ARRAY }; /* by class */

typedef struct layout { /* offsets of the fields of a String in its record */
    uint32_t number;    /* of the class */
    bool     known, has_coder, has_offset, has_count;
    uint64_t value, coder, offset, count;
} layout;

typedef struct wanted {
    hdx_pos  pos;
    hdx_id   id;
    hdx_addr address;
    uint32_t number;
} wanted;

typedef struct worker {
    HDX_LIST(wanted) wanted;
    hdx_records     *records;
    char             apart[HDX_APART];
} worker;

typedef struct sweep {
    hdx_graph                 *g;
    const hdx_contents_reader *reader;
    const hdx_class_table     *classes;
    hdx_source                *source;
    hdx_mem                   *mem;
    hdx_ticker                *tick;
    uint8_t                   *wants;   /* by class number */
    HDX_LIST(layout)           layouts; /* of String classes; usually one, but several loaders may define one */
    hdx_coding                 utf16;
    worker                    *workers;
    _Atomic uint64_t           next; /* next run of ids */
    hdx_first_error            fault;
} sweep;

bool hdx_class_of_strings(const hdx_class *c)
{
    return c->kind == HDX_INSTANCE && hdx_text_is(c->name, "java.lang.String");
}

uint64_t hdx_graph_size_of_array(const hdx_graph *g, uint8_t type, uint64_t length)
{
    return hdx_primitive_array_size(&g->sizing, type, length);
}

void hdx_put_units(hdx_coding coding, const uint8_t *bytes, uint64_t units, bool last, hdx_buffer *out, uint16_t *high)
{
    uint16_t piece[256];
    for (uint64_t done = 0, now; done < units; done += now) {
        now = units - done < 256 ? units - done : 256;
        for (uint64_t i = 0; i < now; i++)
            piece[i] = coding == HDX_LATIN1     ? bytes[done + i]
                       : coding == HDX_UTF16_LE ? hdx_le16(bytes + 2 * (done + i))
                                                : hdx_be16(bytes + 2 * (done + i));
        hdx_put_utf8(out, piece, (size_t)now, high);
    }
    if (last)
        hdx_put_utf8_end(out, high);
}

/* ---- which classes, and how their Strings are laid out ---- */

/*
 * Finds a field as hdx_instance_field does: in the topmost class that declares the name. False: missing, or another
 * type.
 */
static bool place_of(const sweep *s, const hdx_class *c, const char *name, uint8_t type, uint64_t *at)
{
    uint64_t from = 0;
    bool     found = false;
    for (;;) {
        bool own = false;
        for (uint32_t f = 0; (c->flags & HDX_CLASS_OPAQUE) == 0 && f < c->field_count; f++) {
            if (!own && hdx_text_is(c->fields[f].name, name)) {
                own = true;
                found = c->fields[f].type == type;
                *at = from;
            }
            from += hdx_type_size(c->fields[f].type, s->g->m->id_size);
        }
        if ((c->flags & HDX_CLASS_OPAQUE) != 0 || c->super == HDX_NO_CLASS)
            return found;
        assert(c->super < s->classes->count); /* G3 */
        c = &s->classes->at[c->super];
    }
}

static hdx_code choose_classes(sweep *s, hdx_error *err)
{
    const hdx_class_table *t = s->classes;
    if ((s->wants = hdx_mem_array(s->mem, t->count, 1)) == NULL)
        return hdx_no_memory(err, "classes of arrays", t->count);
    for (uint32_t i = 0; i < t->count; i++) {
        const hdx_class *c = &t->at[i];
        if (c->kind == HDX_PRIMITIVE_ARRAY && (c->flags & HDX_CLASS_FLAT) == 0 && c->element_type < 12 &&
            (s->reader->types >> c->element_type & 1) != 0)
            s->wants[i] = ARRAY;
        if (!s->reader->strings || !hdx_class_of_strings(c))
            continue;
        s->wants[i] = STRING;
        layout l = { .number = i };
        l.known = place_of(s, c, "value", 2, &l.value);
        l.has_coder = place_of(s, c, "coder", 8, &l.coder);
        l.has_offset = place_of(s, c, "offset", 10, &l.offset);
        l.has_count = place_of(s, c, "count", 10, &l.count);
        if (!hdx_list_room(s->mem, HDX_LIST_REF(&s->layouts)))
            return hdx_no_memory(err, "layouts of Strings", sizeof l);
        s->layouts.at[s->layouts.count++] = l;
    }
    return HDX_OK;
}

/* ---- one object ---- */

static bool four(hdx_view body, uint64_t at, int64_t *out)
{
    if (at > body.len || body.len - at < 4)
        return false;
    *out = (int32_t)hdx_be32(body.at + at);
    return true;
}

/* Finds the text from the String's fields; it never extends past the array (string.c). */
static hdx_text_state find_text(const sweep *s, const layout *l, hdx_view body, hdx_text_at *out)
{
    const uint32_t id_size = s->g->m->id_size;
    int64_t        count = 0, offset = 0;
    hdx_id         array;
    if (!l->known)
        return HDX_TEXT_UNKNOWN;
    if (l->value > body.len || body.len - l->value < id_size)
        return HDX_TEXT_ABSENT;
    const hdx_addr value = hdx_be_id(body.at + l->value, id_size);
    if (value == 0)
        return HDX_TEXT_NONE;
    if (!hdx_graph_find(s->g, value, &array))
        return HDX_TEXT_ABSENT;
    const uint32_t   number = hdx_graph_class_of(s->g, array);
    const hdx_class *c = number < s->classes->count ? &s->classes->at[number] : NULL;
    if (c == NULL || c->kind != HDX_PRIMITIVE_ARRAY || (c->element_type != 5 && !hdx_class_of_bytes(c)))
        return HDX_TEXT_UNKNOWN;
    uint64_t units = hdx_graph_length(s->g, array);
    out->coding = c->element_type == 5 ? HDX_CHARS_BE : HDX_LATIN1;
    if (c->element_type == 8 && l->has_coder && l->coder < body.len && body.at[l->coder] != 0) {
        out->coding = s->utf16;
        units /= 2;
    }
    const bool     counted = l->has_count && four(body, l->count, &count);
    const uint64_t all = units;
    if (counted && l->has_offset && four(body, l->offset, &offset) && offset > 0) {
        out->first = (uint64_t)offset < units ? (uint64_t)offset : units;
        units -= out->first;
    }
    if (counted && (count < 0 || (uint64_t)count < units))
        units = count < 0 ? 0 : (uint64_t)count;
    out->array = array;
    out->units = units;
    out->whole = units == all;
    return HDX_TEXT_THERE;
}

static hdx_code give_string(sweep *s, unsigned n, const wanted *w, hdx_pos at, uint64_t len, hdx_error *err)
{
    hdx_view    body;
    hdx_text_at text = { .string = w->id, .array = HDX_NO_ID };
    uint64_t    i = 0;
    hdx_code    code = hdx_records_body(s->workers[n].records, at, len, &body, err);
    while (i < s->layouts.count && s->layouts.at[i].number != w->number)
        i++;
    if (code != HDX_OK || i == s->layouts.count)
        return code;
    text.state = find_text(s, &s->layouts.at[i], body, &text);
    return s->reader->text(s->reader->context, n, &text, err);
}

static hdx_code give_array(sweep *s, unsigned n, const wanted *w, const hdx_event *e, hdx_pos at, uint64_t len,
                           hdx_error *err)
{
    const uint8_t  type = s->classes->at[w->number].element_type;
    hdx_array_part part = { .id = w->id, .type = type, .length = e->count };
    hdx_view       bytes = { NULL, 0 };
    hdx_code       code = HDX_OK;
    part.absent =
        e->type != type ||
        (e->count > 0 && (e->tag == HDX_SUB_PRIMITIVE_ARRAY_NODATA || hdx_graph_blank_array(s->g, s->source, e, at)));
    const uint64_t limit = hdx_graph_limit_of_array(s->g, e);
    if (!part.absent && limit != UINT64_MAX) {
        const uint64_t have = hdx_least(hdx_least(len, limit * hdx_type_size(type, s->g->m->id_size)), HDX_PART_BYTES);
        if ((code = hdx_records_body(s->workers[n].records, at, have, &bytes, err)) != HDX_OK)
            return code;
        part.absent = part.last = true;
        part.bytes = bytes.at;
        part.len = bytes.len;
        return s->reader->part(s->reader->context, n, &part, err);
    }
    /* Whether the file ends inside the array must be known before its first part is passed on. */
    if (!part.absent && len > 0 &&
        (code = hdx_records_body(s->workers[n].records, at + len - 1, 1, &bytes, err)) == HDX_OK)
        part.absent = bytes.len == 0;
    do {
        if (!part.absent && code == HDX_OK)
            code = hdx_records_body(s->workers[n].records, at + part.from,
                                    len - part.from < HDX_PART_BYTES ? len - part.from : HDX_PART_BYTES, &bytes, err);
        if (code != HDX_OK)
            return code;
        part.bytes = part.absent ? NULL : bytes.at;
        part.len = part.absent ? 0 : bytes.len;
        part.last = part.absent || part.from + part.len >= len || part.len == 0;
        code = s->reader->part(s->reader->context, n, &part, err);
        part.from += part.len;
    } while (code == HDX_OK && !part.last);
    return code;
}

static hdx_code changed(const sweep *s, const wanted *w, hdx_error *err)
{
    hdx_code code = hdx_graph_check(s->g, err); /* damaged pages of the index lead to wrong records, too */
    if (code != HDX_OK)
        return code;
    code =
        hdx_fail(err, HDX_BAD_DUMP, s->g->dump, w->pos,
                 "no record of object 0x%llx: the dump changed since it was indexed", (unsigned long long)w->address);
    return hdx_hint(err, code, "rebuild the index");
}

static hdx_code give(sweep *s, unsigned n, const wanted *w, hdx_error *err)
{
    hdx_event  e;
    hdx_pos    at;
    uint64_t   len;
    bool       is;
    const bool string = s->wants[w->number] == STRING;
    hdx_code   code = hdx_records_at(s->workers[n].records, w->pos, &e, &at, &len, &is, err);
    if (code != HDX_OK)
        return code;
    if (!is || e.addr != w->address || string != (e.tag == HDX_SUB_INSTANCE))
        return changed(s, w, err);
    return string ? give_string(s, n, w, at, len, err) : give_array(s, n, w, &e, at, len, err);
}

/* ---- runs of ids ---- */

static hdx_code collect(sweep *s, worker *w, hdx_id first, uint32_t n, hdx_error *err)
{
    uint32_t classes[HDX_RUN], any = 0;
    uint64_t live[HDX_RUN / 64], positions[HDX_RUN];
    hdx_addr addresses[HDX_RUN];
    hdx_graph_read_classes(s->g, first, n, classes);
    for (uint32_t i = 0; i < n; i++) {
        if (classes[i] >= s->classes->count ||
            (s->wants[classes[i]] == ARRAY && s->reader->only != NULL && !hdx_bits_test(s->reader->only, first + i)))
            classes[i] = HDX_NO_CLASS;
        else if (s->wants[classes[i]] == UNWANTED)
            classes[i] = HDX_NO_CLASS;
        any += classes[i] != HDX_NO_CLASS;
    }
    if (any == 0)
        return HDX_OK;
    hdx_graph_read_positions(s->g, first, n, positions);
    hdx_graph_read_addresses(s->g, first, n, addresses);
    hdx_graph_read_live(s->g, first, n, live);
    for (uint32_t i = 0; i < n; i++) {
        if (classes[i] == HDX_NO_CLASS || positions[i] == 0)
            continue;
        const hdx_refs_scope scope = s->wants[classes[i]] == STRING ? s->reader->scope : s->reader->arrays;
        if (scope != HDX_ALL && hdx_bits_test(live, i) != (scope == HDX_LIVE))
            continue;
        if (!hdx_list_room(s->mem, HDX_LIST_REF(&w->wanted)))
            return hdx_no_memory(err, "places of objects", w->wanted.count * sizeof(wanted));
        w->wanted.at[w->wanted.count++] = (wanted){ positions[i] - 1, first + i, addresses[i], classes[i] };
    }
    return HDX_OK;
}

static int by_pos(const void *a, const void *b)
{
    const wanted *x = a, *y = b;
    if (x->pos != y->pos)
        return x->pos < y->pos ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static hdx_code run(sweep *s, unsigned n, hdx_id first, hdx_id end, hdx_error *err)
{
    worker  *w = &s->workers[n];
    hdx_code code = HDX_OK;
    w->wanted.count = 0;
    for (; first < end && code == HDX_OK; first += HDX_RUN)
        code = collect(s, w, first, (uint32_t)(end - first < HDX_RUN ? end - first : HDX_RUN), err);
    hdx_sort(s->mem, w->wanted.at, w->wanted.count, sizeof(wanted), offsetof(wanted, pos), by_pos);
    for (uint64_t i = 0; i < w->wanted.count && code == HDX_OK && !hdx_first_error_any(&s->fault); i++)
        code = give(s, n, &w->wanted.at[i], err);
    return code == HDX_OK && hdx_tick(s->tick, 0) ? hdx_tick_stop(err) : code;
}

static void work(void *context, unsigned n)
{
    sweep         *s = context;
    worker        *w = &s->workers[n];
    hdx_error      err = { .offset = HDX_NOWHERE };
    const uint64_t objects = hdx_graph_objects(s->g), runs = objects / RUN_OF_IDS + 1;
    uint64_t       taken;
    hdx_code       code = hdx_records_open(s->source, s->g->m->id_size, s->mem, s->tick, &w->records, &err);
    while (code == HDX_OK && !hdx_first_error_any(&s->fault) && (taken = atomic_fetch_add(&s->next, 1)) < runs) {
        const hdx_id first = taken * RUN_OF_IDS;
        code = run(s, n, first, objects - first < RUN_OF_IDS ? objects : first + RUN_OF_IDS, &err);
    }
    hdx_first_error_put(&s->fault, code, &err);
    hdx_records_close(w->records);
    hdx_list_free(s->mem, HDX_LIST_REF(&w->wanted));
}

hdx_code hdx_graph_contents(hdx_graph *g, unsigned threads, const hdx_contents_reader *reader, hdx_mem *mem,
                            hdx_ticker *tick, hdx_error *err)
{
    sweep          s = { .g = g, .reader = reader, .mem = mem, .tick = tick, .classes = hdx_graph_class_table(g) };
    const uint64_t most = hdx_graph_objects(g) / RUN_OF_IDS + 1;
    hdx_code       code = hdx_graph_source(g, &s.source, err);
    if (code != HDX_OK)
        return code;
    if (s.classes == NULL)
        return hdx_graph_check(g, err);
    threads = threads == 0 ? hdx_workers_default() : threads < HDX_WORKERS_MAX ? threads : HDX_WORKERS_MAX;
    threads = most < threads ? (unsigned)most : threads;
    if ((code = hdx_graph_utf16(g, &s.utf16, err)) == HDX_OK && (code = choose_classes(&s, err)) == HDX_OK) {
        if ((s.workers = hdx_mem_array(mem, threads, sizeof *s.workers)) == NULL)
            code = hdx_no_memory(err, "reading contents", threads * sizeof *s.workers);
        else
            hdx_workers_run(threads, work, &s);
        if (code == HDX_OK)
            code = hdx_first_error_take(&s.fault, err);
    }
    hdx_mem_put(mem, s.workers, threads * sizeof *s.workers);
    hdx_list_free(mem, HDX_LIST_REF(&s.layouts));
    hdx_mem_put(mem, s.wants, s.classes->count);
    return code == HDX_OK ? hdx_graph_check(g, err) : code;
}
