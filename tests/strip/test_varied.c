/*
 * test_varied.c - dumps of every kind of record through every policy: what is written, reported, recognised, viewed
 * and restored, whole and cut off at places all over. varied.txt has the checksums (support/checksums.h).
 *
 * A line is a seed, the width of ids, a policy or `none` (the dump itself is looked at), and words of the dump:
 * many (hundreds of objects), large (over a MiB, with arrays longer than what is read at once), shared (zygote and
 * image heaps), homeless (classes in no heap), overhead and bare (classes name overhead arrays, which are there or
 * not), zeros, marks, ones (contents of arrays are all 0, '?', 1), serials (none), lost (roots of the VM without their
 * object), whole (one HEAP_DUMP), behind (tables after the heap), open (no end record), two (another dump follows),
 * old (tags of old runtimes); and of the policy: cut, bitmaps, names, packed, keep=, drop=.
 */
#include "told.h"

#include "hprof/hprof.h"
#include "support/checksums.h"

typedef struct made {
    dump_maker *m;
    const char *words;
    uint64_t    state, objects[64], classes[16];
    unsigned    count;
} made;

static bool     has(const made *k, const char *word) { return strstr(k->words, word) != NULL; }
static uint64_t roll(made *k, uint64_t n) { return (k->state = hdx_mix64(k->state + 0x9e37)) % n; }
static uint64_t any(made *k) { return k->count == 0 || roll(k, 4) == 0 ? 0 : k->objects[roll(k, k->count)]; }
static uint64_t keep(made *k, uint64_t id) { return k->objects[k->count < 64 ? k->count++ : roll(k, 64)] = id; }

static uint64_t content(made *k, char type)
{
    return has(k, "zeros")   ? 0
           : has(k, "marks") ? (type == 'B' || type == 'C' ? '?' : 0)
           : has(k, "ones")  ? 1
           : type == 'Z'     ? roll(k, 2)
                             : roll(k, 256);
}

static uint64_t primitives(made *k, char type, uint32_t count)
{
    uint64_t *values = calloc(count + 1, sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = content(k, type);
    const uint64_t id = dump_maker_primitives(k->m, type, values, count);
    free(values);
    return keep(k, id);
}

enum { OBJECT, STRING, BITMAP, NODE, WIDE, ARRAY, BOXES = 8 };

static uint64_t new_class(made *k, const char *name, uint64_t super, const char *fields)
{
    if (has(k, "serials"))
        k->m->next_serial = UINT32_MAX; /* the next one is 0 */
    return dump_maker_class(k->m, name, super, fields);
}

static void classes(made *k)
{
    static const char *const boxes[] = { "java.lang.Boolean", "java.lang.Character", "java.lang.Float",
                                         "java.lang.Double",  "java.lang.Byte",      "java.lang.Short",
                                         "java.lang.Integer", "java.lang.Long" };
    static const char *const values[] = { "value:Z", "value:C",         "value:F", "value:D",
                                          "value:B", "other:L value:S", "value:I", "value:J" };
    dump_maker              *m = k->m;
    if (!has(k, "homeless"))
        dump_maker_heap_info(m, 'A', "app");
    k->classes[OBJECT] = new_class(k, "java.lang.Object", 0, "");
    k->classes[STRING] = new_class(k, "java.lang.String", k->classes[OBJECT], "count:I value:L hash:I");
    k->classes[BITMAP] =
        new_class(k, "android.graphics.Bitmap", k->classes[OBJECT], "mWidth:I mBuffer:L mRecycled:Z mHeight:I");
    for (unsigned i = 0; i < 8; i++)
        k->classes[BOXES + i] = new_class(k, boxes[i], k->classes[OBJECT], values[i]);
    static const char types[] = "LZCFDBSIJ";
    for (unsigned i = 0; i < 60; i++) { /* a class longer than what is read at first */
        char name[24];
        (void)snprintf(name, sizeof name, "kept%u", i);
        dump_maker_static(m, name, types[i % 9], 3 + i);
    }
    if (has(k, "overhead")) {
        k->classes[NODE] = m->next_id;
        if (!has(k, "bare"))
            (void)dump_maker_primitives_at(m, m->next_id + 1, 'B', NULL, 12);
        dump_maker_static(m, "$classOverhead", 'L', m->next_id + 1);
    }
    k->classes[NODE] = new_class(k, "app.N\303\266de", k->classes[OBJECT], "n\303\244chst:L count:I");
    k->classes[WIDE] = new_class(k, "app.Wide", k->classes[NODE],
                                 "a:J b:J c:D d:D e:L f:L g:S h:B i:Z j:C k:F l:I m:J n:L o:J p:J q:J r:J s:L");
    k->classes[ARRAY] = new_class(k, "app.N\303\266de[]", k->classes[OBJECT], "");
}

static void tables(made *k)
{
    static const uint8_t other[] = { HDX_TOP_UNLOAD_CLASS, HDX_TOP_HEAP_SUMMARY,     HDX_TOP_START_THREAD,
                                     HDX_TOP_END_THREAD,   HDX_TOP_CONTROL_SETTINGS, HDX_TOP_ALLOC_SITES,
                                     HDX_TOP_CPU_SAMPLES };
    uint8_t              body[64];
    uint64_t             frames[3];
    for (unsigned i = 0; i < sizeof body; i++)
        body[i] = (uint8_t)i;
    for (unsigned i = 0; i < sizeof other; i++)
        dump_maker_top(k->m, other[i], body, 6 + 8 * i);
    if (has(k, "serials"))
        return;
    for (unsigned i = 0; i < 3; i++)
        frames[i] = dump_maker_frame(k->m, i == 1 ? "l\303\244uft" : "run", 1 + i, i == 2 ? -1 : 40);
    dump_maker_trace(k->m, 1, 1, frames, 3);
    (void)dump_maker_name(k->m, "\346\227\245\346\234\254 a text that nobody names");
}

static void text(made *k)
{
    static const char *const texts[] = { "a secret", "", "another secret of a user", "x" };
    const char              *t = texts[roll(k, 4)];
    const bool               chars = roll(k, 2) == 0;
    uint64_t                 letters[32];
    for (size_t i = 0; i < strlen(t); i++)
        letters[i] =
            has(k, "zeros") || has(k, "marks") || has(k, "ones") ? content(k, chars ? 'C' : 'B') : (uint8_t)t[i];
    const uint64_t of = dump_maker_primitives(k->m, chars ? 'C' : 'B', letters, (uint32_t)strlen(t));
    (void)keep(k, dump_maker_instance(k->m, k->classes[STRING], DUMP_VALUES(strlen(t), roll(k, 9) == 0 ? 0 : of, 5)));
}

/* Equal pixels, others of the same length, longer ones that differ in the last byte, of another type, shared, none. */
static void bitmaps(made *k)
{
    static const struct {
        char     type;
        uint32_t count, first, last;
    } pixels[] = { { 'B', 64, 1, 1 },   { 'B', 64, 1, 1 },   { 'B', 64, 1, 2 },    { 'B', 65, 1, 1 },
                   { 'I', 64, 1, 1 },   { 'I', 64, 1, 1 },   { 'B', 9000, 3, 3 },  { 'B', 9000, 3, 4 },
                   { 'B', 9000, 3, 3 }, { 'B', 64, 1, 1 },   { 'B', 20000, 3, 3 }, { 'B', 20000, 3, 3 },
                   { 'B', 0, 0, 0 },    { 'B', 20000, 3, 3 } };
    static uint64_t values[20000];
    uint64_t        last = 0;
    for (unsigned i = 0; i < sizeof pixels / sizeof *pixels; i++) {
        for (uint32_t n = 0; n < pixels[i].count; n++)
            values[n] = n == 0 ? pixels[i].first : n + 1 == pixels[i].count ? pixels[i].last : n % 7;
        last = dump_maker_primitives(k->m, pixels[i].type, values, pixels[i].count);
        (void)dump_maker_instance(k->m, k->classes[BITMAP], DUMP_VALUES(8, last, i == 9 || i == 13, 8));
    }
    (void)dump_maker_instance(k->m, k->classes[BITMAP], DUMP_VALUES(8, last, 0, 8));
    (void)dump_maker_instance(k->m, k->classes[BITMAP], DUMP_VALUES(8, 0, 0, 8));
}

static void roots(made *k)
{
    static const uint8_t tags[] = { HDX_SUB_ROOT_JNI_GLOBAL,   HDX_SUB_ROOT_JNI_LOCAL,     HDX_SUB_ROOT_JAVA_FRAME,
                                    HDX_SUB_ROOT_NATIVE_STACK, HDX_SUB_ROOT_STICKY_CLASS,  HDX_SUB_ROOT_THREAD_BLOCK,
                                    HDX_SUB_ROOT_MONITOR_USED, HDX_SUB_ROOT_THREAD_OBJECT, HDX_SUB_ROOT_INTERNED_STRING,
                                    HDX_SUB_ROOT_DEBUGGER,     HDX_SUB_ROOT_JNI_MONITOR,   HDX_SUB_ROOT_UNKNOWN };
    static const uint8_t old[] = { HDX_SUB_ROOT_FINALIZING, HDX_SUB_ROOT_REFERENCE_CLEANUP };
    for (unsigned i = 0; i < sizeof tags; i++)
        dump_maker_root(k->m, tags[i], any(k), 1 + i, (int32_t)i - 1);
    for (unsigned i = 0; has(k, "old") && i < sizeof old; i++)
        dump_maker_root(k->m, old[i], any(k), 0, 0);
    for (unsigned i = 0; i < 20; i++) {
        const uint64_t next = k->m->next_id;
        dump_maker_root(k->m, HDX_SUB_ROOT_VM_INTERNAL, has(k, "lost") && i % 4 != 0 ? next + 8 : next, 0, 0);
        (void)dump_maker_instance(k->m, k->classes[NODE], DUMP_VALUES(any(k), i));
    }
}

static void one(made *k)
{
    static const char types[] = "ZCFDBSIJ";
    uint64_t          refs[9];
    const uint64_t    what = roll(k, 8);
    if (what == 0)
        text(k);
    else if (what == 1 || what == 2)
        (void)primitives(k, types[roll(k, 8)], (uint32_t)roll(k, 30));
    else if (what == 3) {
        for (unsigned i = 0; i < 9; i++)
            refs[i] = any(k);
        (void)keep(k, dump_maker_array(k->m, k->classes[ARRAY], refs, (uint32_t)roll(k, 10)));
    } else if (what == 4)
        (void)dump_maker_instance(k->m, k->classes[BOXES + roll(k, 8)], DUMP_VALUES(1 + roll(k, 200), 7));
    else if (what == 5)
        (void)keep(k, dump_maker_instance(k->m, k->classes[WIDE], NULL));
    else
        (void)keep(k, dump_maker_instance(k->m, k->classes[NODE], DUMP_VALUES(any(k), roll(k, 99))));
}

static void heap_name(made *k)
{
    const uint64_t r = has(k, "shared") ? roll(k, 4) : 0;
    dump_maker_heap_info(k->m, r == 2 ? 'Z' : r == 3 ? 'I' : 'A', r == 2 ? "zygote" : r == 3 ? "image" : "app");
}

static void heap(made *k)
{
    const unsigned count = has(k, "large") ? 9000 : has(k, "many") ? 900 : 70;
    classes(k);
    if (!k->m->whole)
        dump_maker_segment(k->m);
    heap_name(k);
    for (unsigned i = 0; i < count; i++) {
        if (!k->m->whole && roll(k, 60) == 0) {
            dump_maker_segment(k->m);
            if (roll(k, 9) == 0)
                dump_maker_segment_empty(k->m);
            heap_name(k);
        }
        if (has(k, "arrays"))
            (void)primitives(k, i % 2 == 0 ? 'B' : 'C', 4);
        else if (has(k, "objects") && i % 10 != 0)
            (void)dump_maker_instance(k->m, i % 7 == 0 ? k->classes[STRING] : k->classes[NODE], DUMP_VALUES(1, i, 3));
        else if (!has(k, "objects"))
            one(k);
    }
    if (has(k, "large")) {
        (void)primitives(k, 'B', 400000);
        (void)primitives(k, 'J', 40000);
    }
    if (!has(k, "arrays") && !has(k, "objects") && !has(k, "zeros") && !has(k, "marks") && !has(k, "ones"))
        bitmaps(k);
    roots(k);
}

static void make(made *k, unsigned seed, uint32_t ids, const char *words, const char *path)
{
    *k = (made){ .m = dump_maker_new(ids), .words = words, .state = seed };
    k->m->version = "1.0.3";
    k->m->time_ms = has(k, "serials") ? 0 : 1700000000000;
    k->m->whole = has(k, "whole");
    k->m->tables_last = has(k, "behind");
    k->m->no_end = has(k, "open");
    tables(k);
    heap(k);
    if (has(k, "two")) {
        dump_maker_end(k->m);
        (void)dump_maker_instance(k->m, k->classes[NODE], DUMP_VALUES(0, 1));
    }
    dump_maker_save(k->m, path);
    dump_maker_free(k->m);
}

static uint64_t put_cut(hdx_buffer *b, const char *path, const char *part, const char *back)
{
    bytes    all = slurp(path);
    unsigned times = 0;
    for (size_t len = all.len > 40 ? 40 : 1; len < all.len; len += all.len / 29 + 1, times++) {
        dump_maker_save_bytes(part, all.at, len);
        hdx_buffer_format(b, "%zu\n", len);
        put_detected(b, part);
        put_overlay(b, part);
        put_restored(b, part, back);
        hdx_strip_report r;
        hdx_error        err = { .offset = 0 };
        const hdx_code   code = strip_to(part, HDX_STRIP_SHARK, back, &r, &err);
        put_refusal(b, code, &err);
        if (code == HDX_OK)
            put_report(b, &r);
        (void)unlink(back);
    }
    free(all.at);
    return times;
}

static void folder_of(char *out, size_t size, const char *folder, const char *name)
{
    (void)snprintf(out, size, "%.*s/%s", TEST_FOLDER, folder, name);
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    char             folder[TEST_FOLDER], dump[64], out[64], part[64], back[64], policy[16], packed[300];
    unsigned         seed, ids;
    int              at = 0;
    made             k;
    hdx_strip_report r = { .policy = HDX_STRIP_NONE };
    hdx_error        err = { .offset = 0 };
    uint64_t         n = 0;
    char             kept[64] = "", dropped[64] = "";
    const char      *keeps[] = { kept }, *drops[] = { dropped };
    (void)context;
    cr_assert(sscanf(ask, "%u %u %15s %n", &seed, &ids, policy, &at) == 3, "%s", ask);
    const char *words = ask + at;
    test_folder_make_fast(folder, "varied");
    folder_of(dump, sizeof dump, folder, "a.hprof");
    folder_of(out, sizeof out, folder, "b.hprof");
    folder_of(part, sizeof part, folder, "c.hprof");
    folder_of(back, sizeof back, folder, "d.hprof");
    make(&k, seed, ids, words, dump);
    if (strstr(words, "packed") != NULL) { /* read from a compressed file */
        (void)snprintf(packed, sizeof packed, "gzip -c '%s' >'%s' && mv '%s' '%s'", dump, part, part, dump);
        cr_assert(system(packed) == 0);
    }
    hdx_strip_options o = { .dump = dump,
                            .output = out,
                            .plain = true,
                            .keep_bitmaps = strstr(words, "bitmaps") != NULL,
                            .map_names = strstr(words, "names") != NULL };
    if (strstr(words, "keep=") != NULL && sscanf(strstr(words, "keep="), "keep=%63s", kept) == 1)
        o.keep_classes = keeps, o.keep_count = 1;
    if (strstr(words, "drop=") != NULL && sscanf(strstr(words, "drop="), "drop=%63s", dropped) == 1)
        o.drop_classes = drops, o.drop_count = 1;
    for (int p = HDX_STRIP_NONE; p < HDX_STRIP_POLICIES; p++)
        if (strcmp(hdx_strip_name((hdx_strip_policy)p), policy) == 0)
            o.policy = (hdx_strip_policy)p;
    if (o.policy != HDX_STRIP_NONE) {
        const hdx_code code = hdx_strip_write(&o, &r, &err);
        hdx_buffer_format(b, "%s %llu %s %s\n", hdx_code_name(code), (ull)err.offset, code == HDX_OK ? "" : err.message,
                          code == HDX_OK ? "" : err.hint);
        cr_expect((access(out, F_OK) == 0) == (code == HDX_OK), "%s", ask);
        if (strstr(words, "packed") != NULL)
            r.bytes_in = 0; /* how long it is, the program that compressed it decides */
        put_report(b, &r);
        if (code == HDX_OK)
            n = put_file(b, out);
    }
    const char *shown = o.policy == HDX_STRIP_NONE ? dump : out;
    if (access(shown, F_OK) == 0) {
        put_detected(b, shown);
        put_overlay(b, shown);
        put_restored(b, shown, back);
        if (strstr(words, "cut") != NULL)
            n = put_cut(b, shown, part, back);
    }
    test_folder_remove(folder);
    return n;
}

Test(varied, dumps_are_stripped_recognised_and_restored_as_before)
{
    checksums_check(HDX_TREE "/tests/strip/varied.txt", text_of, NULL);
}
