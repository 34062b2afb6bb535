/*
 * metadata.c - reads facts about device, application and heap from an Android dump, and native bytes of Java objects
 * (SHARK 4.6).
 *
 * In:  the heap.
 * Out: facts by name, in a fixed order; none for JVM dumps.
 * Cost: one scan of the columns of class and length, and the few objects that contain the facts.
 */
#include "leaks/leaks.h"

/* For every sun.misc.Cleaner that frees a native allocation, the bytes in its registry count for its referent. */
hdx_code hdx_leak_native_sizes(leak_heap *h, hdx_map *out, hdx_error *err)
{
    static const char *const cleaner = "sun.misc.Cleaner";
    const hdx_class         *c = hdx_leak_class_raw(h, cleaner);
    hdx_refs                 refs;
    hdx_id                   id;
    bool                     fresh;
    if (c == NULL || hdx_leak_class_raw(h, hdx_leak_class_names[LC_CLEANER_THUNK]) == NULL)
        return HDX_OK;
    hdx_graph_instances(h->g, c->number, HDX_ALL, &refs);
    while (hdx_refs_next(&refs, &id)) {
        const hdx_id thunk = hdx_leak_get_object(h, id, cleaner, "thunk"),
                     of = hdx_leak_get_object(h, id, "java.lang.ref.Reference", "referent");
        if (thunk == HDX_NO_ID || of == HDX_NO_ID || !hdx_leak_isa(h, thunk, LC_CLEANER_THUNK))
            continue;
        const hdx_id registry = hdx_leak_get_object(h, thunk, hdx_leak_class_names[LC_CLEANER_THUNK], "this$0");
        if (registry == HDX_NO_ID || !hdx_leak_isa(h, registry, LC_ALLOCATION_REGISTRY))
            continue;
        const int64_t size = hdx_leak_get_int(h, registry, hdx_leak_class_names[LC_ALLOCATION_REGISTRY], "size", 0);
        uint64_t     *sum = hdx_map_put(out, of, &fresh);
        if (sum == NULL)
            return hdx_no_memory(err, "native sizes", out->capacity * sizeof(hdx_map_slot));
        if (size > 0 && !hdx_add(*sum, (uint64_t)size, sum))
            *sum = UINT64_MAX;
    }
    return h->code != HDX_OK ? (*err = h->err, h->code) : HDX_OK;
}

static hdx_code facts_put(leak_facts *f, hdx_leak_fact fact, hdx_error *err)
{
    if (!hdx_mem_room(NULL, (void **)&f->at, &f->capacity, f->count, sizeof *f->at))
        return hdx_no_memory(err, "metadata", f->count * sizeof *f->at);
    f->at[f->count++] = fact;
    return HDX_OK;
}

static hdx_leak_fact text(const char *name, const char *value)
{
    return value != NULL ? (hdx_leak_fact){ name, value, HDX_LEAK_FACT_TEXT, 0 }
                         : (hdx_leak_fact){ name, "Unknown", HDX_LEAK_FACT_UNKNOWN, 0 };
}

/* `words`: the text after the number. */
static hdx_leak_fact counted(leak_heap *h, const char *name, uint64_t n, const char *words)
{
    return (hdx_leak_fact){ name, hdx_leak_print(h, "%llu%s", (unsigned long long)n, words), HDX_LEAK_FACT_NUMBER, n };
}
static hdx_leak_fact number(leak_heap *h, const char *name, uint64_t n) { return counted(h, name, n, ""); }

typedef struct totals {
    uint64_t classes, instances, primitive_arrays, object_arrays, threads, bytes;
} totals;

static totals count_all(leak_heap *h)
{
    totals   t = { .classes = 0 };
    uint32_t classes[HDX_RUN];
    uint64_t lengths[HDX_RUN];
    uint8_t  kinds[HDX_RUN];
    uint64_t root_count;
    for (hdx_id first = 1; first < h->objects; first += HDX_RUN) { /* object 0 is the index's own */
        const uint32_t here = (uint32_t)(h->objects - first < HDX_RUN ? h->objects - first : HDX_RUN);
        hdx_graph_read_classes(h->g, first, here, classes);
        hdx_graph_read_stored_lengths(h->g, first, here, lengths);
        hdx_graph_read_kinds(h->g, first, here, kinds);
        for (uint32_t i = 0; i < here; i++) {
            const hdx_class *c = classes[i] < h->class_count ? &h->classes[classes[i]] : NULL;
            if (kinds[i] == HDX_CLASS_OBJECT)
                t.classes++;
            else if (c == NULL)
                continue;
            else if (kinds[i] == HDX_INSTANCE)
                t.instances++, t.bytes += c->stated_size;
            else if (kinds[i] == HDX_OBJECT_ARRAY)
                t.object_arrays++, t.bytes += lengths[i] * h->id_size;
            else
                t.primitive_arrays++, t.bytes += lengths[i] * hdx_type_size(c->element_type, 0);
        }
    }
    (void)hdx_graph_threads(h->g, &root_count);
    t.threads = root_count;
    return t;
}

/*
 * Returns the number of pixels of the screen, from the first DisplayMetrics. A bitmap with over a tenth more is large.
 */
static uint64_t screen(leak_heap *h)
{
    static const char *const metrics = "android.util.DisplayMetrics";
    const hdx_class         *c = hdx_leak_class_raw(h, metrics);
    hdx_refs                 refs;
    hdx_id                   id;
    if (c == NULL)
        return 0;
    hdx_graph_instances(h->g, c->number, HDX_ALL, &refs);
    if (!hdx_refs_next(&refs, &id))
        return 0;
    const int64_t wide = hdx_leak_get_int(h, id, metrics, "widthPixels", 0),
                  high = hdx_leak_get_int(h, id, metrics, "heightPixels", 0);
    return wide <= 0 || high <= 0 || wide > INT32_MAX || high > INT32_MAX ? 0 : (uint64_t)wide * (uint64_t)high;
}

static hdx_code bitmaps(leak_heap *h, const hdx_map *native, leak_facts *out, hdx_error *err)
{
    static const char *const bitmap = "android.graphics.Bitmap";
    const hdx_class         *c = hdx_leak_class_raw(h, bitmap);
    const uint64_t           pixels = screen(h);
    uint64_t                 count = 0, bytes = 0, large = 0, large_bytes = 0;
    hdx_refs                 refs;
    hdx_id                   id;
    hdx_code                 code;
    if (c == NULL)
        return HDX_OK;
    hdx_graph_instances(h->g, c->number, HDX_ALL, &refs);
    while (hdx_refs_next(&refs, &id)) {
        const int64_t wide = hdx_leak_get_int(h, id, bitmap, "mWidth", 0),
                      high = hdx_leak_get_int(h, id, bitmap, "mHeight", 0);
        const uint64_t *more = hdx_map_get(native, id);
        const uint64_t  size = more != NULL ? *more : 0;
        const bool      is_large = pixels > 0 && wide > 0 && high > 0 && wide <= INT32_MAX && high <= INT32_MAX &&
                              (uint64_t)wide * (uint64_t)high > pixels + pixels / 10;
        count++;
        bytes += size;
        large += is_large;
        large_bytes += is_large ? size : 0;
    }
    if (count == 0)
        return HDX_OK;
    if ((code = facts_put(out, number(h, "Bitmap count", count), err)) != HDX_OK ||
        (code = facts_put(out, number(h, "Bitmap total bytes", bytes), err)) != HDX_OK ||
        (code = facts_put(out, number(h, "Large bitmap count", large), err)) != HDX_OK)
        return code;
    return facts_put(out, number(h, "Large bitmap total bytes", large_bytes), err);
}

static hdx_code databases(leak_heap *h, leak_facts *out, hdx_error *err)
{
    static const char *const database = "android.database.sqlite.SQLiteDatabase";
    const hdx_class         *c = hdx_leak_class_raw(h, database);
    hdx_refs                 refs;
    hdx_id                   id;
    uint64_t                 n = 0;
    hdx_code                 code = HDX_OK;
    if (c == NULL)
        return HDX_OK;
    hdx_graph_instances(h->g, c->number, HDX_ALL, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
        const hdx_id set = hdx_leak_get_object(h, id, database, "mConfigurationLocked");
        const char  *label = hdx_leak_get_text(h, set, "android.database.sqlite.SQLiteDatabaseConfiguration", "label");
        const bool   open = hdx_leak_get_object(h, id, database, "mConnectionPoolLocked") != HDX_NO_ID;
        code = facts_put(out,
                         text(hdx_leak_print(h, "Db %llu", (unsigned long long)++n),
                              hdx_leak_print(h, "%s %s", open ? "open" : "closed", label != NULL ? label : "Unknown")),
                         err);
    }
    return code;
}

hdx_code hdx_leak_metadata(leak_inspector *i, leak_facts *out, hdx_error *err)
{
    leak_heap *h = i->h;
    hdx_map    native = hdx_map_of(NULL);
    hdx_value  v;
    hdx_code   code;
    if (!h->android)
        return HDX_OK;
    const totals  t = count_all(h);
    hdx_leak_fact sdk = text("Build.VERSION.SDK_INT", NULL);
    if (hdx_leak_static(h, hdx_leak_class_raw(h, "android.os.Build$VERSION"), "SDK_INT", &v) && v.type == 10 &&
        v.as.integer >= 0)
        sdk = number(h, sdk.name, (uint64_t)v.as.integer);
    const char *maker =
        hdx_leak_text(h, hdx_leak_static_object(h, hdx_leak_class_raw(h, "android.os.Build"), "MANUFACTURER"));
    const char *build = hdx_leak_text(h, hdx_leak_static_object(h, hdx_leak_class_raw(h, "android.os.Build"), "ID"));
    const char *version = hdx_leak_text(
        h, hdx_leak_static_object(h, hdx_leak_class_raw(h, "leakcanary.internal.InternalLeakCanary"), "version"));
    hdx_id at =
        hdx_leak_static_object(h, hdx_leak_class_raw(h, "android.app.ActivityThread"), "sCurrentActivityThread");
    at = hdx_leak_get_object(h, hdx_leak_get_object(h, at, "android.app.ActivityThread", "mBoundApplication"),
                             "android.app.ActivityThread$AppBindData", "appInfo");
    const char *process = hdx_leak_get_text(h, at, "android.content.pm.ApplicationInfo", "processName");
    if ((code = facts_put(out, sdk, err)) != HDX_OK ||
        (code = facts_put(out, text("Build.MANUFACTURER", maker), err)) != HDX_OK ||
        (code = facts_put(out, text("Build.ID", build), err)) != HDX_OK ||
        (code = facts_put(out, text("LeakCanary version", version), err)) != HDX_OK ||
        (code = facts_put(out, text("App process name", process), err)) != HDX_OK ||
        (code = facts_put(out, number(h, "Class count", t.classes), err)) != HDX_OK ||
        (code = facts_put(out, number(h, "Instance count", t.instances), err)) != HDX_OK ||
        (code = facts_put(out, number(h, "Primitive array count", t.primitive_arrays), err)) != HDX_OK ||
        (code = facts_put(out, number(h, "Object array count", t.object_arrays), err)) != HDX_OK ||
        (code = facts_put(out, number(h, "Thread count", t.threads), err)) != HDX_OK ||
        (code = facts_put(out, number(h, "Heap total bytes", t.bytes), err)) != HDX_OK ||
        (code = hdx_leak_native_sizes(h, &native, err)) != HDX_OK || (code = bitmaps(h, &native, out, err)) != HDX_OK ||
        (code = databases(h, out, err)) != HDX_OK)
        goto out;
    if (i->cleared_retained > 0)
        code = facts_put(
            out, counted(h, "Count of retained yet cleared", i->cleared_retained, " KeyedWeakReference instances"),
            err);
    if (code == HDX_OK && h->code != HDX_OK)
        code = (*err = h->err, h->code);
out:
    hdx_map_free(&native);
    return code;
}
