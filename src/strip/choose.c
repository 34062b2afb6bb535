/*
 * choose.c - what a policy must know before it writes: classes by name, values of Strings, equal bitmaps (STRIP 1.1,
 * 7.4), names in use (STRIP 7.5).
 *
 * In:  a dump.
 * Out: a choice.
 * Names: first the LOAD_CLASS records are read, then the STRINGs that they name, so that no text needs to be stored.
 * Matrix: the fields of String and Bitmap from their CLASS_DUMPs, then their instances, then the contents of bitmaps
 * with the same length and hash: these are compared byte for byte, because equal hashes do not prove equal pixels (M4).
 * Cost: nothing for KOOM and Tailor; the heads of top-level records twice for Shark; Matrix reads the dump three more
 *       times, redaction once. Memory: 16 bytes a class and 8 a String.
 */
#include "strip/inside.h"

#include <fnmatch.h>
#include <stdlib.h>

#define CHUNK (256u << 10)

static hdx_code no_memory(hdx_error *err) { return hdx_no_memory(err, "the objects to keep", 0); }

static bool add_bits(hdx_map *map, uint64_t key, uint64_t bits)
{
    bool      fresh;
    uint64_t *place = hdx_map_put(map, key, &fresh);
    if (place == NULL)
        return false;
    *place |= bits;
    return true;
}

/* ---- classes ---- */

static bool begins(hdx_text t, const char *with)
{
    return t.len >= strlen(with) && memcmp(t.at, with, strlen(with)) == 0;
}

/* Names that every program of this kind has, and that reveal nothing about this one. */
static bool is_platform(hdx_text name)
{
    static const char *const prefixes[] = { "java.",
                                            "javax.",
                                            "jdk.",
                                            "sun.",
                                            "com.sun.",
                                            "android.",
                                            "androidx.",
                                            "com.android.",
                                            "dalvik.",
                                            "libcore.",
                                            "kotlin.",
                                            "kotlinx.",
                                            "org.apache.harmony.",
                                            "org.w3c.",
                                            "org.xml.",
                                            "org.json." };
    for (unsigned i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (begins(name, prefixes[i]))
            return true;
    const char    *bracket = memchr(name.at, '[', name.len);
    const hdx_text element = { name.at, bracket == NULL ? name.len : (uint32_t)(bracket - name.at) };
    for (uint8_t t = 4; t < 12; t++)
        if (hdx_text_is(element, hdx_type_name(t)))
            return true;
    return false;
}

static uint64_t wrapper_bits(hdx_text name)
{
    static const struct {
        const char *name;
        unsigned    bytes;
    } wrappers[] = {
        { "java.lang.Boolean", 1 }, { "java.lang.Character", 2 }, { "java.lang.Float", 4 },   { "java.lang.Double", 8 },
        { "java.lang.Byte", 1 },    { "java.lang.Short", 2 },     { "java.lang.Integer", 4 }, { "java.lang.Long", 8 },
    };
    for (unsigned i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (hdx_text_is(name, wrappers[i].name))
            return (uint64_t)wrappers[i].bytes * CLASS_WRAPPER;
    return 0;
}

static bool matches(const char *const *patterns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(patterns[i], name) == 0 ||
            (strpbrk(patterns[i], "[") == NULL && fnmatch(patterns[i], name, FNM_NOESCAPE) == 0))
            return true;
    return false;
}

static uint64_t bits_of(const choice *c, hdx_text name)
{
    uint64_t bits = wrapper_bits(name);
    if (hdx_text_is(name, "java.lang.String"))
        bits |= CLASS_STRING;
    if (hdx_text_is(name, "android.graphics.Bitmap"))
        bits |= CLASS_BITMAP;
    if (is_platform(name))
        bits |= CLASS_PLATFORM;
    if (matches(c->options->keep_classes, c->options->keep_count, name.at))
        bits |= CLASS_KEEP;
    else if (matches(c->options->drop_classes, c->options->drop_count, name.at))
        bits |= CLASS_DROP;
    return bits;
}

/* A name id of a LOAD_CLASS and its text determine what a class of that name is. */
static hdx_code class_names(choice *c, reader *r, hdx_error *err)
{
    const uint32_t i = c->id_size;
    hdx_code       code = HDX_OK;
    hdx_pos        tables = EVERYTHING; /* end of the last table: usually the heap begins there */
    for (unsigned pass = 0; pass < 3 && code == HDX_OK; pass++) { /* name ids; their texts; classes */
        hdx_pos p = 31, last = 31;
        top     t;
        bool    more;
        while (p != tables && (code = hdx_strip_top_at(r, i, p, &t, &more, err)) == HDX_OK && more) {
            const uint8_t *at;
            size_t         have;
            p = t.end;
            if (t.tag == HDX_TOP_STRING || t.tag == HDX_TOP_LOAD_CLASS)
                last = t.end;
            if (t.tag != (pass == 1 ? HDX_TOP_STRING : HDX_TOP_LOAD_CLASS) || t.stated < i ||
                (pass != 1 && t.stated != 8 + 2 * i))
                continue;
            if ((code = hdx_strip_reader_at(r, t.pos, TOP_HEAD + (uint64_t)t.stated, &at, &have, err)) != HDX_OK)
                break;
            at += TOP_HEAD;
            if (pass == 0 && !add_bits(&c->names, hdx_be_id(at + 8 + i, i), 0))
                return no_memory(err);
            if (pass == 2) {
                const uint64_t *bits = hdx_map_get(&c->names, hdx_be_id(at + 8 + i, i));
                if (bits != NULL && !add_bits(&c->classes, hdx_be_id(at + 4, i), *bits))
                    return no_memory(err);
            }
            const uint64_t *wanted = pass == 1 ? hdx_map_get(&c->names, hdx_be_id(at, i)) : NULL;
            if (wanted == NULL)
                continue;
            hdx_arena arena = hdx_arena_of(c->mem);
            hdx_text  name;
            bool      good = hdx_java_class_name(&arena, (hdx_view){ at + i, t.stated - i }, &name);
            char     *text = good ? hdx_arena_copy(&arena, name.at, name.len) : NULL; /* with a NUL at the end */
            good = text != NULL && add_bits(&c->names, hdx_be_id(at, i), bits_of(c, (hdx_text){ text, name.len }));
            hdx_arena_free(&arena);
            if (!good)
                return no_memory(err);
        }
        tables = last;
    }
    return code;
}

/* ---- Matrix: contents of Strings and Bitmaps ---- */

typedef struct field_place {
    int64_t at;   /* offset in the instance's own fields; -1: none */
    uint8_t type; /* 0: none */
} field_place;

static bool name_is(const hdx_map *texts, uint64_t id, uint64_t what)
{
    const uint64_t *is = hdx_map_get(texts, id);
    return is != NULL && *is == what;
}

enum { FIELD_VALUE = 1, FIELD_BUFFER, FIELD_RECYCLED };

static hdx_code field_names(choice *c, reader *r, hdx_map *fields, hdx_error *err)
{
    const uint32_t i = c->id_size;
    hdx_pos        p = 31;
    top            t;
    bool           more;
    hdx_code       code;
    while ((code = hdx_strip_top_at(r, i, p, &t, &more, err)) == HDX_OK && more) {
        static const char *const words[] = { "value", "mBuffer", "mRecycled" };
        const uint8_t           *at;
        size_t                   have;
        p = t.end;
        const uint32_t len = t.stated - i; /* a large number if there is not even an id */
        if (t.tag != HDX_TOP_STRING || len > 9)
            continue;
        if ((code = hdx_strip_reader_at(r, t.pos, TOP_HEAD + (uint64_t)t.stated, &at, &have, err)) != HDX_OK)
            break;
        for (unsigned w = 0; w < 3; w++)
            if (len == strlen(words[w]) && memcmp(at + TOP_HEAD + i, words[w], len) == 0 &&
                !add_bits(fields, hdx_be_id(at + TOP_HEAD, i), w + 1))
                return no_memory(err);
    }
    return code;
}

/* Calls `each` for every entry of the dump. */
typedef hdx_code entry_call(void *context, reader *r, const entry *e, hdx_error *err);
static hdx_code  each_entry(reader *r, uint32_t id_size, entry_call *call, void *context, hdx_error *err)
{
    hdx_pos  p = 31;
    top      t;
    bool     more;
    hdx_code code;
    while ((code = hdx_strip_top_at(r, id_size, p, &t, &more, err)) == HDX_OK && more) {
        p = t.end;
        if (!top_is_heap(&t))
            continue;
        frame      f = hdx_strip_frame_of(r, id_size, t.pos + TOP_HEAD, t.end - t.pos - TOP_HEAD, FRAME_PLAIN);
        entry      e;
        frame_step step;
        while ((code = hdx_strip_frame_next(&f, &e, &step, err)) == HDX_OK && step == FRAME_ENTRY)
            if ((code = call(context, r, &e, err)) != HDX_OK)
                return code;
        if (code == HDX_OK && step == FRAME_BROKEN)
            code = hdx_strip_entry_broken(r, &f, err);
        if (code != HDX_OK)
            return code;
    }
    return code;
}

typedef struct buffer { /* of a bitmap */
    uint64_t id;
    hdx_pos  at;
    uint32_t count;
    uint8_t  type;
    uint64_t bytes;
} buffer;

typedef struct search {
    choice     *c;
    hdx_map     fields; /* name id -> FIELD_ constant */
    field_place value, pixels, recycled;
    hdx_map     buffers; /* ids of live bitmaps' buffers */
    buffer     *list;
    hdx_pair   *order; /* hash of a buffer, its index in the list */
    uint64_t    count, capacity, order_capacity;
} search;

static hdx_code find_fields(void *context, reader *r, const entry *e, hdx_error *err)
{
    search        *s = context;
    const uint64_t bits = e->tag == HDX_SUB_CLASS ? choice_class(s->c, e->id) : 0;
    hdx_class_dump d;
    uint64_t       name;
    uint8_t        type;
    int64_t        at = 0;
    (void)r;
    (void)err;
    if ((bits & (CLASS_STRING | CLASS_BITMAP)) == 0 ||
        !hdx_class_dump_cut((hdx_view){ e->at, (size_t)e->head }, s->c->id_size, &d))
        return HDX_OK;
    while (hdx_class_field_next(&d.fields, s->c->id_size, &name, &type)) {
        if ((bits & CLASS_STRING) != 0 && s->value.type == 0 && name_is(&s->fields, name, FIELD_VALUE))
            s->value = (field_place){ at, type };
        if ((bits & CLASS_BITMAP) != 0 && s->pixels.type == 0 && name_is(&s->fields, name, FIELD_BUFFER))
            s->pixels = (field_place){ at, type };
        if ((bits & CLASS_BITMAP) != 0 && s->recycled.type == 0 && name_is(&s->fields, name, FIELD_RECYCLED))
            s->recycled = (field_place){ at, type };
        at += hdx_type_size(type, s->c->id_size);
    }
    return HDX_OK;
}

static hdx_code find_values(void *context, reader *r, const entry *e, hdx_error *err)
{
    search        *s = context;
    choice        *c = s->c;
    const uint64_t bits = e->tag == HDX_SUB_INSTANCE ? choice_class(c, e->class_id) : 0;
    const uint32_t i = c->id_size;
    const uint8_t *at;
    size_t         have;
    hdx_code       code;
    if ((bits & (CLASS_STRING | CLASS_BITMAP)) == 0)
        return HDX_OK;
    if ((code = hdx_strip_reader_at(r, e->pos + e->head, e->body < 1024 ? e->body : 1024, &at, &have, err)) != HDX_OK)
        return code;
    const uint64_t there = have < e->body ? have : e->body;
    if ((bits & CLASS_STRING) != 0 && s->value.type == 2 && (uint64_t)s->value.at + i <= there) {
        const uint64_t id = hdx_be_id(at + s->value.at, i);
        if (id == 0)
            return HDX_OK;
        if (!hdx_mem_room(c->mem, (void **)&c->texts, &c->text_capacity, c->text_count, sizeof id))
            return no_memory(err);
        c->texts[c->text_count++] = id;
    } else if ((bits & CLASS_BITMAP) != 0 && s->pixels.type == 2 && (uint64_t)s->pixels.at + i <= there) {
        const uint64_t id = hdx_be_id(at + s->pixels.at, i);
        const bool     gone = (uint64_t)s->recycled.at < there && at[s->recycled.at] != 0;
        if (id != 0 && !gone && !add_bits(&s->buffers, id, FIELD_BUFFER))
            return no_memory(err);
    }
    return HDX_OK;
}

static hdx_code hash_buffer(void *context, reader *r, const entry *e, hdx_error *err)
{
    search *s = context;
    if (e->tag != HDX_SUB_PRIMITIVE_ARRAY || hdx_map_get(&s->buffers, e->id) == NULL)
        return HDX_OK;
    if (!hdx_mem_room(s->c->mem, (void **)&s->list, &s->capacity, s->count, sizeof *s->list) ||
        !hdx_mem_room(s->c->mem, (void **)&s->order, &s->order_capacity, s->count, sizeof *s->order))
        return no_memory(err);
    buffer   b = { .id = e->id, .at = e->pos + e->head, .count = e->count, .type = e->type, .bytes = e->body };
    uint64_t hash = b.type;
    for (uint64_t o = 0; o < b.bytes;) {
        const uint8_t *at;
        size_t         have;
        const uint64_t left = b.bytes - o, n = left < 16384 ? left : 16384;
        hdx_code       code = hdx_strip_reader_at(r, b.at + o, n, &at, &have, err);
        if (code != HDX_OK)
            return code;
        if (have < n)
            return hdx_fail(err, HDX_BAD_DUMP, hdx_source_path(r->source), b.at + o,
                            "an array extends past the end of the file");
        hash = hdx_hash_bytes(hash, at, (size_t)n);
        o += n;
    }
    s->list[s->count] = b;
    s->order[s->count] = (hdx_pair){ hash, s->count };
    s->count++;
    return HDX_OK;
}

static hdx_code same_bytes(hdx_source *source, const buffer *a, const buffer *b, bool *same, hdx_error *err)
{
    uint8_t  one[4096] = { 0 }, two[4096] = { 0 };
    hdx_code code = HDX_OK;
    *same = a->type == b->type && a->count == b->count;
    for (hdx_pos p = a->at, q = b->at, end = p + a->bytes; p < end && *same && code == HDX_OK;) {
        const uint64_t left = end - p, most = sizeof one, n = left < most ? left : most;
        size_t         got;
        if ((code = hdx_source_read_at(source, p, one, (size_t)n, &got, err)) == HDX_OK)
            code = hdx_source_read_at(source, q, two, (size_t)n, &got, err);
        *same = memcmp(one, two, (size_t)n) == 0;
        p += n;
        q += n;
    }
    return code;
}

/* Groups equal buffers: the first one in the file replaces the others. */
static hdx_code merge(search *s, hdx_source *source, hdx_error *err)
{
    choice *c = s->c;
    hdx_sort_pairs(c->mem, s->order, s->count);
    for (uint64_t i = 0; i < s->count; i++) {
        const buffer *first = &s->list[s->order[i].second];
        bool          shared = false, same, fresh;
        if (hdx_map_get(&c->merged, first->id) != NULL)
            continue;
        for (uint64_t k = i; ++k < s->count && s->order[k].first == s->order[i].first;) {
            const buffer *other = &s->list[s->order[k].second];
            if (hdx_map_get(&c->merged, other->id) != NULL || other->id == first->id)
                continue;
            const hdx_code code = same_bytes(source, first, other, &same, err);
            if (code != HDX_OK)
                return code;
            if (!same)
                continue;
            uint64_t *to = hdx_map_put(&c->merged, other->id, &fresh);
            if (to == NULL)
                return no_memory(err);
            *to = first->id;
            c->merges++;
            shared = true;
        }
        if (shared || c->options->keep_bitmaps) {
            uint64_t *self = hdx_map_put(&c->merged, first->id, &fresh);
            if (self == NULL)
                return no_memory(err);
            *self = first->id;
        }
    }
    return HDX_OK;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static hdx_code texts_and_bitmaps(choice *c, hdx_source *source, reader *r, hdx_error *err)
{
    search   s = { .c = c,
                   .fields = hdx_map_of(c->mem),
                   .value = { -1, 0 },
                   .pixels = { -1, 0 },
                   .recycled = { -1, 0 },
                   .buffers = hdx_map_of(c->mem) };
    hdx_code code = field_names(c, r, &s.fields, err);
    if (code == HDX_OK)
        code = each_entry(r, c->id_size, find_fields, &s, err);
    if (code == HDX_OK)
        code = each_entry(r, c->id_size, find_values, &s, err);
    if (code == HDX_OK && s.buffers.count > 0 && (code = each_entry(r, c->id_size, hash_buffer, &s, err)) == HDX_OK)
        code = merge(&s, source, err);
    c->buffer_at = s.pixels.type == 2 ? s.pixels.at : -1;
    hdx_sort(c->mem, c->texts, c->text_count, sizeof *c->texts, 0, by_number);
    hdx_mem_put(c->mem, s.list, s.capacity * sizeof *s.list);
    hdx_mem_put(c->mem, s.order, s.order_capacity * sizeof *s.order);
    hdx_map_free(&s.fields);
    hdx_map_free(&s.buffers);
    return code;
}

bool hdx_strip_choice_is_text(const choice *c, uint64_t id)
{
    const uint64_t place = hdx_lower_bound(HDX_NUMBERS(c->texts, c->text_count), id);
    return place < c->text_count && c->texts[place] == id;
}

/* ---- redaction: names in use ---- */

/* Marks the names of a class, its fields and statics as used. */
static uint64_t use_by(const choice *c, uint64_t class_id)
{
    return (choice_class(c, class_id) & CLASS_PLATFORM) != 0 ? NAME_USED | NAME_KEPT : NAME_USED;
}

static hdx_code use_names(void *context, reader *r, const entry *e, hdx_error *err)
{
    choice        *c = context;
    hdx_class_dump d;
    uint64_t       name;
    uint8_t        type;
    hdx_view       value;
    (void)r;
    if (e->tag == HDX_SUB_HEAP_DUMP_INFO)
        return add_bits(&c->names, e->id, NAME_USED | NAME_KEPT) ? HDX_OK : no_memory(err);
    if (e->tag != HDX_SUB_CLASS || !hdx_class_dump_cut((hdx_view){ e->at, (size_t)e->head }, c->id_size, &d))
        return HDX_OK;
    const uint64_t bits = use_by(c, e->id);
    while (hdx_class_static_next(&d.statics, c->id_size, &name, &type, &value))
        if (!add_bits(&c->names, name, bits))
            return no_memory(err);
    while (hdx_class_field_next(&d.fields, c->id_size, &name, &type))
        if (!add_bits(&c->names, name, bits))
            return no_memory(err);
    /* A box whose first field is not a primitive value is unknown: its bytes are not changed. */
    const uint64_t width = choice_class(c, e->id) / CLASS_WRAPPER;
    if (width != 0 && d.field_count > 0) {
        const uint8_t first = e->at[e->head - (uint64_t)d.field_count * (c->id_size + 1) + c->id_size];
        if (first == 2 || hdx_type_size(first, c->id_size) != width) {
            bool      fresh;
            uint64_t *place = hdx_map_put(&c->classes, e->id, &fresh);
            if (place == NULL)
                return no_memory(err);
            *place %= CLASS_WRAPPER;
        }
    }
    return HDX_OK;
}

static hdx_code names_in_use(choice *c, reader *r, hdx_error *err)
{
    const uint32_t i = c->id_size;
    hdx_pos        p = 31;
    top            t;
    bool           more;
    hdx_code       code;
    hdx_map_free(&c->names);
    c->names = hdx_map_of(c->mem);
    while ((code = hdx_strip_top_at(r, i, p, &t, &more, err)) == HDX_OK && more) {
        const uint8_t *at;
        size_t         have;
        p = t.end;
        if (t.tag != HDX_TOP_LOAD_CLASS && t.tag != HDX_TOP_FRAME)
            continue;
        if ((code = hdx_strip_reader_at(r, t.pos, TOP_HEAD + (uint64_t)t.stated, &at, &have, err)) != HDX_OK)
            return code;
        at += TOP_HEAD;
        bool good = true;
        if (t.tag == HDX_TOP_LOAD_CLASS && t.stated == 8 + 2 * i)
            good = add_bits(&c->names, hdx_be_id(at + 8 + i, i), use_by(c, hdx_be_id(at + 4, i)));
        else if (t.tag == HDX_TOP_FRAME && t.stated == 8 + 4 * i)
            for (unsigned k = 1; k < 4 && good; k++)
                good = add_bits(&c->names, hdx_be_id(at + k * i, i), NAME_USED);
        if (!good)
            return no_memory(err);
    }
    return code == HDX_OK ? each_entry(r, i, use_names, c, err) : code;
}

/* ---- the whole choice ---- */

hdx_code hdx_strip_choose(choice *c, hdx_source *source, hdx_ticker *tick, hdx_error *err)
{
    const hdx_strip_options *o = c->options;
    const policy            *p = c->policy;
    reader                   r = hdx_strip_reader_of(source, false, CHUNK, c->mem, tick);
    hdx_code                 code = HDX_OK;
    c->classes = hdx_map_of(c->mem);
    c->names = hdx_map_of(c->mem);
    c->merged = hdx_map_of(c->mem);
    c->buffer_at = -1;
    for (uint8_t t = 4; t < 12; t++) {
        char name[16] = { 0 };
        (void)memcpy(name, hdx_type_name(t), strlen(hdx_type_name(t)));
        (void)memcpy(name + strlen(name), "[]", 3);
        if (matches(o->keep_classes, o->keep_count, name))
            c->keep_types |= (uint16_t)(1u << t);
        else if (matches(o->drop_classes, o->drop_count, name))
            c->drop_types |= (uint16_t)(1u << t);
    }
    if (p->texts || p->wrappers || o->keep_count + o->drop_count > 0)
        code = class_names(c, &r, err);
    if (code == HDX_OK && p->texts)
        code = texts_and_bitmaps(c, source, &r, err);
    if (code == HDX_OK && p->proves)
        code = names_in_use(c, &r, err);
    hdx_strip_reader_free(&r);
    return code;
}

void hdx_strip_choice_free(choice *c)
{
    hdx_map_free(&c->classes);
    hdx_map_free(&c->names);
    hdx_map_free(&c->merged);
    hdx_mem_put(c->mem, c->texts, c->text_capacity * sizeof *c->texts);
    c->texts = NULL;
}
