/*
 * signs.c - detects stripping tools from the content of a dump with valid framing (STRIP 5.4, with the traps of 5.5).
 *
 * In:  names, classes and entries, as far as a window contains them.
 * Out: a policy and the evidence for it.
 * A window is enough because no sign depends on later objects: roots are examined together with the next entry, and
 * overhead arrays precede the class that names them.
 */
#include "strip/inside.h"

#include <stdarg.h>
#include <stdio.h>

#define FILLED_LEAST 3u /* least arrays with two or more elements: fewer equal ones may be chance */

enum { NAME_OVERHEAD, NAME_STRING, NAME_MAP };

typedef struct fill {     /* about the arrays of one element type */
    uint64_t arrays;      /* with content */
    uint64_t significant; /* number of them with two or more elements */
    bool     mixed;       /* some have two different elements */
    bool     zero;        /* all elements are 0 so far */
    uint64_t value;       /* of the first element of the first array */
} fill;

struct signs {
    uint32_t id_size;
    hdx_map  names;                  /* name id -> NAME_ constant; for others only the keys matter */
    hdx_map  classes_known;          /* class id -> NAME_STRING, NAME_MAP */
    uint64_t value_name, table_name; /* ids of the names `value` and `table`; 0: none yet */
    wiped    wiped;
    hdx_map  odd; /* ids of byte[] with the low bit set: overhead arrays have class | 1 (STRIP 0.7) */
    uint64_t classes, serials;
    bool     traced;
    uint64_t instances, texts; /* texts: instances of String */
    uint64_t arrays;
    fill     of[12];
    fill     overhead; /* byte[] with the low bit set: zero in ordinary dumps, too (STRIP 5.5) */
    uint64_t overhead_named, overhead_absent;
    bool     dalvik;                    /* there is a class of Android's runtime */
    uint64_t without_heap;              /* number of classes in no heap */
    bool     heap_named, heaps, shared; /* a heap was named in this segment; anywhere; zygote or image anywhere */
    bool     begun, waiting;
    uint64_t wanted, vm_roots, vm_lost;
};

hdx_code hdx_strip_signs_new(uint32_t id_size, signs **out, hdx_error *err)
{
    signs *s = hdx_mem_get(NULL, sizeof *s);
    *out = s;
    if (s == NULL)
        return hdx_no_memory(err, "signs of stripping", sizeof *s);
    s->id_size = id_size;
    s->names = hdx_map_of(NULL);
    s->classes_known = hdx_map_of(NULL);
    s->odd = hdx_map_of(NULL);
    s->wiped.places = hdx_map_of(NULL);
    return HDX_OK;
}

void hdx_strip_signs_free(signs *s)
{
    if (s == NULL)
        return;
    hdx_map_free(&s->names);
    hdx_map_free(&s->classes_known);
    hdx_map_free(&s->odd);
    hdx_strip_wiped_free(&s->wiped);
    hdx_mem_put(NULL, s, sizeof *s);
}

static bool is(hdx_view v, const char *text) { return v.len == strlen(text) && memcmp(v.at, text, v.len) == 0; }

static hdx_code put(hdx_map *map, uint64_t key, uint64_t value, hdx_error *err)
{
    bool      fresh;
    uint64_t *place = hdx_map_put(map, key, &fresh);
    if (place == NULL)
        return hdx_no_memory(err, "signs of stripping", 2 * map->capacity * sizeof(hdx_map_slot));
    if (fresh)
        *place = value;
    return HDX_OK;
}

hdx_code hdx_strip_signs_string(signs *s, uint64_t id, hdx_view text, hdx_error *err)
{
    if (is(text, "$classOverhead") || is(text, "$staticOverhead"))
        return put(&s->names, id, NAME_OVERHEAD, err);
    s->dalvik = s->dalvik || (text.len > 7 && memcmp(text.at, "dalvik.", 7) == 0);
    if (is(text, "value"))
        s->value_name = id;
    if (is(text, "table"))
        s->table_name = id;
    if (is(text, "java.util.HashMap") || is(text, "java/util/HashMap"))
        return put(&s->names, id, NAME_MAP, err);
    return is(text, "java.lang.String") || is(text, "java/lang/String") ? put(&s->names, id, NAME_STRING, err) : HDX_OK;
}

hdx_code hdx_strip_signs_load(signs *s, uint32_t serial, uint64_t class_id, uint64_t name, hdx_error *err)
{
    s->classes++;
    s->serials += serial != 0;
    const uint64_t *kind = hdx_map_get(&s->names, name);
    return kind != NULL && *kind != NAME_OVERHEAD ? put(&s->classes_known, class_id, *kind, err) : HDX_OK;
}

void     hdx_strip_signs_trace(signs *s) { s->traced = true; }
void     hdx_strip_signs_segment(signs *s) { s->heap_named = false; }
uint64_t hdx_strip_signs_arrays(const signs *s) { return s->arrays; }

static uint64_t element(const uint8_t *p, uint32_t width)
{
    return width == 1 ? *p : width == 2 ? hdx_be16(p) : width == 4 ? hdx_be32(p) : hdx_be64(p);
}

/* Returns the number of elements up to the last that is not 0. */
static uint64_t used_of(const uint8_t *at, uint64_t n, uint32_t width)
{
    while (n > 0 && at[n - 1] == 0)
        n--;
    return (n + width - 1) / width;
}

/*
 * Finds out whether all elements are the same, and their value. For a type for which that is known to be false only the
 * beginning is read, because wiped.c needs it for each array.
 */
static hdx_code look_inside(signs *s, reader *r, const entry *e, hdx_error *err)
{
    const uint32_t width = hdx_type_size(e->type, s->id_size);
    const bool     overhead = e->type == 8 && (e->id & 1) != 0;
    fill          *f = overhead ? &s->overhead : &s->of[e->type];
    const entry    array = *e;
    const hdx_pos  from = e->pos + e->head, end = from + e->body,
                  far = overhead               ? from
                        : e->body < WIPED_LOOK ? end
                                               : from + WIPED_LOOK;
    wiped_array own = { .same = true };
    hdx_pos     p = from;
    while (p < end && (!f->mixed || p < far)) {
        const uint8_t *at;
        size_t         have;
        const uint64_t left = end - p, want = left < 4096 ? left : 4096;
        if (f->mixed && !hdx_strip_reader_has(r, p, want))
            break;
        hdx_code code = hdx_strip_reader_at(r, p, want, &at, &have, err);
        if (code != HDX_OK)
            return code;
        uint64_t n = have < left ? have : left;
        n -= n % width;
        if (n == 0)
            return HDX_OK; /* the data end here: the walk over the record reports it */
        if (p == from)
            own.first = element(at, width);
        if (p == from && f->arrays == 0) {
            f->value = own.first;
            f->zero = f->value == 0;
        }
        for (uint64_t k = 0; k < n && !f->mixed; k += width)
            f->mixed = element(at + k, width) != f->value;
        if (p < far) {
            const uint64_t looked = n < far - p ? n : far - p, used = used_of(at, looked, width);
            for (uint64_t k = 0; k < looked && own.same; k += width)
                own.same = element(at + k, width) == own.first;
            own.used = used > 0 ? (uint32_t)((p - from) / width + used) : own.used;
        }
        p += n;
    }
    f->arrays++;
    f->significant += array.count > 1;
    if (far < end && own.used == (far - from) / width) /* bytes after that are not examined */
        own.used = array.count;
    return overhead || p < far ? HDX_OK : hdx_strip_wiped_array(&s->wiped, &array, &own, err);
}

static void class_entry(signs *s, const entry *e)
{
    hdx_class_dump c;
    uint64_t       name;
    uint8_t        type;
    hdx_view       value;
    s->without_heap += !s->heap_named;
    if (!hdx_class_dump_cut((hdx_view){ e->at, (size_t)e->head }, s->id_size, &c))
        return;
    const uint64_t *known = hdx_map_get(&s->classes_known, e->id);
    if (known != NULL)
        hdx_strip_wiped_class(&s->wiped, &c, s->id_size, *known == NAME_STRING,
                              *known == NAME_STRING ? s->value_name : s->table_name);
    while (hdx_class_static_next(&c.statics, s->id_size, &name, &type, &value)) {
        const uint64_t *kind = type == 2 ? hdx_map_get(&s->names, name) : NULL;
        if (kind == NULL || *kind != NAME_OVERHEAD)
            continue;
        const uint64_t id = hdx_be_id(value.at, s->id_size);
        if ((id & 1) == 0)
            continue;
        s->overhead_named++;
        s->overhead_absent += hdx_map_get(&s->odd, id) == NULL;
    }
}

static hdx_code instance(signs *s, reader *r, const entry *e, hdx_error *err)
{
    const uint64_t *known = hdx_map_get(&s->classes_known, e->class_id);
    if (known == NULL)
        return HDX_OK;
    if (*known == NAME_MAP)
        return hdx_strip_wiped_map(&s->wiped, r, e, s->id_size, err);
    s->texts++;
    return hdx_strip_wiped_string(&s->wiped, r, e, s->id_size, err);
}

hdx_code hdx_strip_signs_entry(signs *s, reader *r, const entry *e, bool content, hdx_error *err)
{
    hdx_code code = HDX_OK;
    if (e->tag == HDX_SUB_HEAP_DUMP_INFO) {
        s->heap_named = s->heaps = true;
        s->shared |= e->count == 'Z' || e->count == 'I';
        return HDX_OK;
    }
    if (e->tag == HDX_SUB_ROOT_VM_INTERNAL &&
        s->begun) { /* STRIP 0.5: the object follows; roots before the first object are of another kind */
        s->vm_lost += s->waiting;
        s->vm_roots++;
        s->waiting = true;
        s->wanted = e->id;
    }
    if (e->tag < HDX_SUB_CLASS || e->tag > HDX_SUB_PRIMITIVE_ARRAY)
        return HDX_OK;
    s->vm_lost += s->waiting && e->id != s->wanted && e->id != (s->wanted | 1);
    s->begun = true;
    s->waiting = false;
    if (e->tag == HDX_SUB_CLASS) {
        class_entry(s, e);
        return HDX_OK;
    }
    s->instances += e->tag == HDX_SUB_INSTANCE;
    if (e->tag == HDX_SUB_INSTANCE)
        return instance(s, r, e, err);
    if (e->tag != HDX_SUB_PRIMITIVE_ARRAY)
        return HDX_OK;
    s->arrays++;
    if (e->type == 8 && (e->id & 1) != 0 && (code = put(&s->odd, e->id, NAME_OVERHEAD, err)) != HDX_OK)
        return code;
    return content && e->count > 0 ? look_inside(s, r, e, err) : HDX_OK;
}

static __attribute__((format(printf, 4, 5))) void say(hdx_stripping *out, hdx_strip_policy found, unsigned confidence,
                                                      const char *format, ...)
{
    va_list args;
    out->policy = found;
    out->confidence = out->confidence > confidence ? out->confidence : confidence;
    if (out->evidence_count == HDX_EVIDENCE_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(out->evidence[out->evidence_count++], sizeof *out->evidence, format, args);
    va_end(args);
}
#define N(x) ((unsigned long long)(x))

/*
 * S-b, S-c, S-d: all contents of a type are one constant. KOOM runs on Android only: zeros in other dumps are
 * redaction, with all objects present.
 */
static bool constants(const signs *s, bool android, hdx_stripping *out)
{
    uint64_t significant = 0, arrays = 0;
    bool     zero = true;
    for (unsigned t = 4; t < 12; t++) {
        if (s->of[t].mixed)
            return false;
        significant += s->of[t].significant;
        arrays += s->of[t].arrays;
        zero = zero && (s->of[t].arrays == 0 || s->of[t].zero);
    }
    const fill *bytes = &s->of[8], *chars = &s->of[5];
    if (significant < FILLED_LEAST || (bytes->arrays == 0 && chars->arrays == 0))
        return false;
    if (bytes->value == '?' && (chars->arrays == 0 || chars->value == '?'))
        say(out, HDX_STRIP_SHARK, 95, "%llu byte[] and %llu char[] contain only '?'", N(bytes->arrays),
            N(chars->arrays));
    else if (chars->value == '?' && bytes->arrays == 0)
        say(out, HDX_STRIP_SHARK, 95, "%llu char[] contain only '?'", N(chars->arrays));
    else if (s->texts == 0)
        return false; /* zeros or another constant in a few arrays, and no overwritten text */
    else if (zero && android)
        say(out, HDX_STRIP_KOOM, 80, "contents of all %llu arrays are 0: cut and then restored", N(arrays));
    else {
        say(out, HDX_STRIP_REDACTED, 80,
            "contents of %llu arrays are one constant per type (byte[]: 0x%02llx, char[]: 0x%04llx)", N(arrays),
            N(bytes->value), N(chars->value));
        out->detailed = true;
        out->fill[0] = (uint16_t)(bytes->arrays > 0 ? bytes->value : chars->value);
        out->fill[1] = (uint16_t)(chars->arrays > 0 ? chars->value : bytes->value);
        out->fields = hdx_strip_wiped_fields(&s->wiped, out);
    }
    return true;
}

/* Detects contents or fields that were removed while other contents were not. */
static bool in_part(const signs *s, hdx_stripping *out)
{
    static const unsigned others = 1u << 4 | 1u << 6 | 1u << 7 | 1u << 9 | 1u << 10 | 1u << 11,
                          of_texts = 1u << 5 | 1u << 8;
    unsigned kept = others | of_texts;
    if (hdx_strip_wiped_texts(&s->wiped, out)) {
        bool any = false;
        for (unsigned t = 4; t < 12; t++)
            any = any || ((others >> t & 1) != 0 && s->of[t].mixed);
        kept = any ? others : 0;
    }
    out->fields = hdx_strip_wiped_fields(&s->wiped, out);
    if (kept != (others | of_texts) || out->fields) {
        out->policy = HDX_STRIP_REDACTED;
        out->confidence = 80;
        out->detailed = true;
        out->kept = (uint16_t)kept;
        return true;
    }
    if (hdx_strip_wiped_limits(&s->wiped, out)) {
        out->policy = HDX_STRIP_LIMITED;
        out->confidence = 80;
        return true;
    }
    return false;
}

void hdx_strip_signs_judge(signs *s, uint64_t created_ms, bool version_3, hdx_stripping *out)
{
    const uint64_t others =
        s->of[4].arrays + s->of[6].arrays + s->of[7].arrays + s->of[9].arrays + s->of[10].arrays + s->of[11].arrays;
    const uint64_t texts = s->of[5].arrays + s->of[8].arrays + s->overhead.arrays;
    const bool     bare = s->overhead_named > 0 && s->overhead_absent == s->overhead_named;
    if (s->classes > 1 && s->serials == 0 && created_ms == 0 && !s->traced) {
        say(out, HDX_STRIP_TAILOR, 95,
            "serial numbers of all %llu classes and the creation time are 0: restored from Tailor's container",
            N(s->classes));
        return;
    }
    const bool android = version_3 || s->heaps || s->dalvik;
    if (constants(s, android, out))
        return;
    if (!android && in_part(s, out))
        return;
    if (bare && s->without_heap > 0 && !s->shared) {
        say(out, HDX_STRIP_KOOM, s->overhead_named >= 8 ? 95 : 80,
            "%llu overhead arrays are absent; %llu classes are in no heap, none in the zygote or image heap",
            N(s->overhead_absent), N(s->without_heap));
        return;
    }
    if (s->vm_lost > 2 && !s->shared) {
        say(out, HDX_STRIP_KOOM, s->vm_lost >= 16 ? 95 : 80,
            "%llu of %llu VM-internal roots lack their object after them, and the zygote and image heaps are missing",
            N(s->vm_lost), N(s->vm_roots));
        return;
    }
    if (bare)
        say(out, HDX_STRIP_MATRIX, s->overhead_named >= 8 ? 95 : 80,
            "all %llu overhead arrays that classes refer to are absent", N(s->overhead_absent));
    if (s->arrays == 0 && s->instances > 10 && s->texts > 0)
        say(out, HDX_STRIP_MATRIX, 80, "no primitive arrays, but %llu instances, %llu of them Strings", N(s->instances),
            N(s->texts));
    else if (others == 0 && s->heaps && s->instances >= 500 && texts >= 50) /* as a JVM's first MB may be */
        say(out, HDX_STRIP_MATRIX, 60, "only byte and char arrays: %llu instances and %llu arrays seen",
            N(s->instances), N(texts));
}
