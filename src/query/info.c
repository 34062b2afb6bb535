/*
 * info.c - facts about a dump and its index as a whole.
 *
 * The document is the extra "info"; its rows are flat: nested keys are joined with dots ("records.INSTANCE_DUMP").
 */
#include "query/common/frames.h"
#include "query/common/labels.h"
#include "query/common/layout_proof.h"
#include "query/common/unreached.h"
#include "query/objects.h"
#include "query/query.h"
#include "query/triage/triage.h"

#include <heapdex/source.h>
#include <time.h>
#include <stdio.h>

#define KEYS_MAX 48u

/* ---- columns ---- */

static const hdx_column heap_members[] = {
    HDX_COLUMN("name", TEXT, NONE, 0, "name of the heap, such as app, zygote or image"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects in the heap, reachable or not"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "total size of these objects"),
    HDX_COLUMN("live_objects", UNSIGNED, COUNT, 0, "objects in the heap that are reachable from a GC root"),
    HDX_COLUMN("live_bytes", UNSIGNED, BYTES, 0, "total size of the live objects"),
};
static const hdx_column evidence_item[] = { HDX_ITEM(TEXT, "one observation") };
static const hdx_column affects_item[] = { HDX_ITEM(TEXT,
                                                    "answer that differs from the answer for the complete dump") };
static const hdx_column stripping_members[] = {
    HDX_COLUMN("policy", TEXT, NONE, 0,
               "tool that stripped the dump: matrix, koom, tailor, shark, redacted, limited or unknown"),
    HDX_COLUMN("confidence", REAL, NONE, 0, "confidence from 0 to 1"),
    HDX_NESTED("evidence", LIST, 0, "observations that show the stripping", evidence_item),
    HDX_NESTED("affects", LIST, 0, "answers that the stripping changes", affects_item),
};
static const hdx_column out_of_memory_members[] = {
    HDX_COLUMN("thread", ADDRESS, NONE, 0, "address of the thread"),
    HDX_COLUMN("name", TEXT, NONE, HDX_COLUMN_NULLABLE, "name of the thread"),
    HDX_COLUMN("frame", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "innermost frame outside of the JDK: CLASS.METHOD (SOURCE:LINE); null if there is none"),
};
static const hdx_column no_garbage_members[] = {
    HDX_COLUMN(
        "kind", TEXT, NONE, 0,
        "why they are probably no garbage: filler (of a collector), class field (of java.lang.Class), archive (CDS)"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "number of objects"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "total size of these objects"),
};
static const hdx_column record_item[] = { HDX_COLUMN(NULL, UNSIGNED, COUNT, 0, "number of records of this kind") };
static const hdx_column file_members[] = {
    HDX_COLUMN("name", TEXT, NONE, 0, "name of the file in the index folder"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "size of the file"),
    HDX_COLUMN("bytes_per_object", REAL, NONE, 0, "size of the file divided by the number of objects"),
};
static const hdx_column index_members[] = {
    HDX_NESTED("files", LIST, 0, "files in the index folder", file_members),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "total size of the files"),
    HDX_COLUMN("bytes_per_object", REAL, NONE, 0, "total size divided by the number of objects"),
    HDX_COLUMN("complete", BOOL, NONE, 0, "false if the index stops before the dominators"),
    HDX_COLUMN("built_at", TEXT, NONE, HDX_COLUMN_NULLABLE, "time at which the build ended: ISO 8601, UTC"),
    HDX_COLUMN("seconds", REAL, SECONDS, 0, "elapsed time of the build in seconds"),
};
static const hdx_column view_members[] = {
    HDX_COLUMN("name", TEXT, NONE, 0, "name of the view for --view"),
    HDX_COLUMN("spec", TEXT, NONE, HDX_COLUMN_NULLABLE, "what the view omits; null if the view is damaged"),
    HDX_COLUMN("live_objects", UNSIGNED, COUNT, 0, "objects that are reachable from a GC root in the view"),
    HDX_COLUMN("live_bytes", UNSIGNED, BYTES, 0, "total size of the live objects"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "total size of the files of the view"),
};
static const hdx_column info_members[] = {
    HDX_COLUMN("version", TEXT, NONE, 0, "version in the header of the dump, such as 1.0.2"),
    HDX_COLUMN("id_size", UNSIGNED, BYTES, 0, "bytes of an id in the dump: 4 or 8"),
    HDX_COLUMN("reference_size", UNSIGNED, BYTES, 0, "bytes of a reference in the JVM that wrote the dump"),
    HDX_COLUMN("object_alignment", UNSIGNED, BYTES, 0, "alignment of objects in bytes"),
    HDX_COLUMN("compressed_oops", BOOL, NONE, 0,
               "true if references took fewer bytes in the JVM than ids do in the dump"),
    HDX_COLUMN("layout", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "layout that the dump proves: compact, class-pointers or stated (see sizes --layout); null if none is "
               "proved"),
    HDX_COLUMN("header_size", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
               "bytes of an object header in that layout; null if none is proved"),
    HDX_COLUMN("created", TEXT, NONE, HDX_COLUMN_NULLABLE, "time at which the dump was written: ISO 8601, UTC"),
    HDX_COLUMN("jvm", TEXT, NONE, HDX_COLUMN_NULLABLE, "JVM that wrote the dump; null if unknown"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects with an id, including the boot class loader"),
    HDX_COLUMN("live_objects", UNSIGNED, COUNT, 0, "objects that are reachable from a GC root"),
    HDX_COLUMN("unreachable_objects", UNSIGNED, COUNT, 0, "objects that are not reachable from a GC root"),
    HDX_COLUMN("classes", UNSIGNED, COUNT, 0, "live classes"),
    HDX_COLUMN("all_classes", UNSIGNED, COUNT, 0, "classes, live or not"),
    HDX_COLUMN("class_loaders", UNSIGNED, COUNT, 0, "live class loaders, including the boot class loader"),
    HDX_COLUMN("gc_roots", UNSIGNED, COUNT, 0, "distinct objects that are GC roots, without locals of known threads"),
    HDX_COLUMN("threads", UNSIGNED, COUNT, 0, "threads with a thread object"),
    HDX_COLUMN("references", UNSIGNED, COUNT, 0,
               "distinct references between live objects, including those to classes and class loaders"),
    HDX_COLUMN("live_bytes", UNSIGNED, BYTES, 0, "total size of the live objects"),
    HDX_COLUMN("unreachable_bytes", UNSIGNED, BYTES, 0, "total size of the unreachable objects"),
    HDX_NESTED("no_garbage", LIST, 0, "unreachable objects that are most likely no garbage, by reason",
               no_garbage_members),
    HDX_COLUMN("lacks_locals", BOOL, NONE, 0,
               "true if the dump has stacks but lacks locals and JNI roots; objects that only those hold count as "
               "unreachable"),
    HDX_COLUMN("dangling_references", UNSIGNED, COUNT, 0, "references to addresses without an object"),
    HDX_COLUMN("dangling_roots", UNSIGNED, COUNT, 0, "GC roots at addresses without an object"),
    HDX_NESTED("heaps", LIST, 0, "heaps of an Android dump; empty for other dumps", heap_members),
    HDX_NESTED("stripping", OBJECT, HDX_COLUMN_NULLABLE,
               "how content was stripped from the dump; null if nothing was stripped", stripping_members),
    HDX_NESTED("out_of_memory", OBJECT, HDX_COLUMN_NULLABLE,
               "thread whose OutOfMemoryError was being created when the dump was written; null if there is none",
               out_of_memory_members),
    HDX_NESTED("triage", LIST, HDX_COLUMN_OPTIONAL, "findings, at most eight; missing in the table `dump`",
               hdx_triage_members),
    HDX_COLUMN("compression", TEXT, NONE, 0, "none, gzip or zlib"),
    HDX_COLUMN("dump_size", UNSIGNED, BYTES, 0, "uncompressed size of the dump"),
    HDX_COLUMN("file_size", UNSIGNED, BYTES, 0, "size of the file"),
    HDX_COLUMN("dump_number", UNSIGNED, NONE, 0, "number of the heap in the file, from 1"),
    HDX_COLUMN("dumps_in_file", UNSIGNED, COUNT, 0, "number of heaps in the file"),
    HDX_NESTED("records", OBJECT, 0, "number of records by kind, such as INSTANCE_DUMP", record_item),
    HDX_NESTED("index", OBJECT, 0, "the index and its size", index_members),
    HDX_NESTED("views", LIST, 0, "views of the index, by name", view_members),
};
static const hdx_column document[] = { HDX_NESTED("info", OBJECT, 0, "facts about the dump and its index",
                                                  info_members) };
static const hdx_column columns[] = {
    HDX_COLUMN("key", TEXT, NONE, 0, "key of the document, with dots between levels, such as records.INSTANCE_DUMP"),
    HDX_COLUMN("value", ANY, NONE, HDX_COLUMN_NULLABLE, "value of the key"),
};
static const hdx_form form = { NULL, NULL, columns, HDX_COUNT(columns) };

/* ---- the document ---- */

typedef struct members {
    hdx_member *at;
    uint64_t    count;
} members;

static void put(members *m, const char *key, hdx_cell value) { m->at[m->count++] = (hdx_member){ key, value }; }

/* Converts milliseconds since 1970 to ISO 8601 in UTC; null if the year is out of range. */
static hdx_cell time_cell(hdx_arena *arena, uint64_t ms)
{
    struct tm tm;
    char      text[64];
    time_t    seconds = (time_t)(ms / 1000);
    if (seconds < 0 || gmtime_r(&seconds, &tm) == NULL || tm.tm_year > 8099)
        return hdx_cell_null();
    (void)snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03uZ", tm.tm_year + 1900, tm.tm_mon + 1,
                   tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (unsigned)(ms % 1000));
    return hdx_cell_copy(arena, text);
}

static const char *compression_name(int compression)
{
    return compression == HDX_GZIP ? "gzip" : compression == HDX_ZLIB ? "zlib" : "none";
}

static hdx_code heaps_cell(hdx_graph *g, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    uint64_t              count = 0;
    const hdx_heap_space *heaps = hdx_graph_heaps(g, &count);
    hdx_cell             *cells = hdx_arena_get(arena, (heaps == NULL ? 0 : count) * sizeof *cells);
    if (cells == NULL)
        return hdx_no_memory(err, "heaps", count * sizeof *cells);
    for (uint64_t i = 0; heaps != NULL && i < count; i++) {
        members m = { hdx_arena_get(arena, 5 * sizeof *m.at), 0 };
        if (m.at == NULL)
            return hdx_no_memory(err, "heaps", 5 * sizeof *m.at);
        put(&m, "name", hdx_cell_text(heaps[i].name));
        put(&m, "objects", hdx_cell_uint(heaps[i].objects));
        put(&m, "bytes", hdx_cell_uint(heaps[i].bytes));
        put(&m, "live_objects", hdx_cell_uint(heaps[i].live_objects));
        put(&m, "live_bytes", hdx_cell_uint(heaps[i].live_bytes));
        cells[i] = hdx_cell_object(m.at, m.count);
    }
    *out = hdx_cell_list(cells, heaps == NULL ? 0 : count);
    return HDX_OK;
}

/* Returns "UNKNOWN_0x14" for records of a newer writer; NULL: no memory. */
static const char *unknown_name(hdx_arena *arena, unsigned tag)
{
    char text[16];
    (void)snprintf(text, sizeof text, "UNKNOWN_0x%02x", tag);
    return hdx_arena_copy(arena, text, sizeof "UNKNOWN_0x00" - 1);
}

static hdx_code records_cell(const hdx_graph_summary *s, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    members m = { hdx_arena_get(arena, 512 * sizeof *m.at), 0 };
    if (m.at == NULL)
        return hdx_no_memory(err, "records", 512 * sizeof *m.at);
    for (unsigned i = 0; i < 2; i++) { /* top-level records, then those of the heap */
        const uint64_t *counts = i == 0 ? s->top_records : s->sub_records;
        for (unsigned tag = 0; counts != NULL && tag < 256; tag++) {
            const char *name = counts[tag] == 0 ? NULL : hdx_graph_record_name(i == 0, (uint8_t)tag);
            if (counts[tag] > 0 && name == NULL)
                name = unknown_name(arena, tag);
            if (name != NULL)
                put(&m, name, hdx_cell_uint(counts[tag]));
        }
    }
    *out = hdx_cell_object(m.at, m.count);
    return HDX_OK;
}

static hdx_code index_cell(hdx_graph *g, const hdx_graph_summary *s, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    const char *name;
    uint64_t    bytes, total = 0;
    unsigned    count = 0;
    double      objects = s->objects == 0 ? 1.0 : (double)s->objects;
    while (hdx_graph_file(g, count, &name, &bytes))
        count++;
    hdx_cell *files = hdx_arena_get(arena, count * sizeof *files);
    members   m = { hdx_arena_get(arena, 6 * sizeof *m.at), 0 };
    if (files == NULL || m.at == NULL)
        return hdx_no_memory(err, "index files", count * sizeof *files);
    for (unsigned i = 0; i < count && hdx_graph_file(g, i, &name, &bytes); i++) {
        members f = { hdx_arena_get(arena, 3 * sizeof *f.at), 0 };
        if (f.at == NULL)
            return hdx_no_memory(err, "index files", 3 * sizeof *f.at);
        put(&f, "name", hdx_cell_copy(arena, name));
        put(&f, "bytes", hdx_cell_uint(bytes));
        put(&f, "bytes_per_object", hdx_cell_real((double)bytes / objects));
        files[i] = hdx_cell_object(f.at, f.count);
        total += bytes;
    }
    put(&m, "files", hdx_cell_list(files, count));
    put(&m, "bytes", hdx_cell_uint(total));
    put(&m, "bytes_per_object", hdx_cell_real((double)total / objects));
    put(&m, "complete", hdx_cell_bool(s->complete));
    put(&m, "built_at", time_cell(arena, s->built_at_ms));
    put(&m, "seconds", hdx_cell_real((double)s->build_ns / 1e9));
    *out = hdx_cell_object(m.at, m.count);
    return HDX_OK;
}

#define VIEWS_SHOWN 256u

static hdx_code views_cell(hdx_graph *g, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_graph_view view;
    unsigned       count = 0;
    while (count < VIEWS_SHOWN && hdx_graph_view_at(g, count, &view))
        count++;
    hdx_cell *views = hdx_arena_get(arena, (count + 1) * sizeof *views);
    for (unsigned i = 0; views != NULL && i < count && hdx_graph_view_at(g, i, &view); i++) {
        members m = { hdx_arena_get(arena, 5 * sizeof *m.at), 0 };
        if (m.at == NULL)
            return hdx_no_memory(err, "views", 5 * sizeof *m.at);
        put(&m, "name", hdx_cell_copy(arena, view.name));
        put(&m, "spec", view.spec[0] == '\0' ? hdx_cell_null() : hdx_cell_copy(arena, view.spec));
        put(&m, "live_objects", hdx_cell_uint(view.live_objects));
        put(&m, "live_bytes", hdx_cell_uint(view.live_bytes));
        put(&m, "bytes", hdx_cell_uint(view.bytes));
        views[i] = hdx_cell_object(m.at, m.count);
    }
    *out = hdx_cell_list(views, count);
    return views != NULL ? HDX_OK : hdx_no_memory(err, "views", count * sizeof *views);
}

static hdx_code stripping_cell(const hdx_stripping *s, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    unsigned affected = 0;
    *out = hdx_cell_null();
    if (s == NULL || s->policy == HDX_STRIP_NONE)
        return HDX_OK;
    while (hdx_strip_affected(s, affected) != NULL)
        affected++;
    members   m = { hdx_arena_get(arena, 4 * sizeof *m.at), 0 };
    hdx_cell *evidence = hdx_arena_get(arena, (s->evidence_count + 1) * sizeof *evidence),
             *affects = hdx_arena_get(arena, (affected + 1) * sizeof *affects);
    if (m.at == NULL || evidence == NULL || affects == NULL)
        return hdx_no_memory(err, "stripping", 4 * sizeof *m.at);
    for (unsigned i = 0; i < s->evidence_count; i++)
        evidence[i] = hdx_cell_string(s->evidence[i]);
    for (unsigned i = 0; i < affected; i++)
        affects[i] = hdx_cell_string(hdx_strip_affected(s, i));
    put(&m, "policy", hdx_cell_string(hdx_strip_name(s->policy)));
    put(&m, "confidence", hdx_cell_real(s->confidence / 100.0));
    put(&m, "evidence", hdx_cell_list(evidence, s->evidence_count));
    put(&m, "affects", hdx_cell_list(affects, affected));
    *out = hdx_cell_object(m.at, m.count);
    return HDX_OK;
}

/* ---- object layout, and objects that are most likely not garbage ---- */

/* A list of {kind, objects, bytes}, without empty kinds. */
static hdx_code no_garbage_cell(hdx_ask *ask, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_unreached u;
    uint64_t      count = 0;
    hdx_cell     *cells = hdx_arena_get(arena, HDX_UNREACHED_KINDS * sizeof *cells);
    hdx_code      code = cells == NULL ? hdx_no_memory(err, "info", HDX_UNREACHED_KINDS * sizeof *cells)
                                       : hdx_unreached_open(ask, &u, err);
    if (code != HDX_OK)
        return code;
    for (unsigned k = HDX_UNREACHED_FILLER; code == HDX_OK && k < HDX_UNREACHED_KINDS; k++) {
        members m = { u.objects[k] == 0 ? NULL : hdx_arena_get(arena, 3 * sizeof *m.at), 0 };
        if (u.objects[k] == 0)
            continue;
        if (m.at == NULL) {
            code = hdx_no_memory(err, "info", 3 * sizeof *m.at);
            break;
        }
        put(&m, "kind", hdx_cell_string(hdx_unreached_name((hdx_unreached_kind)k)));
        put(&m, "objects", hdx_cell_uint(u.objects[k]));
        put(&m, "bytes", hdx_cell_uint(u.bytes[k]));
        cells[count++] = hdx_cell_object(m.at, m.count);
    }
    hdx_unreached_close(&u);
    *out = hdx_cell_list(cells, count);
    return code;
}

/* Reachability is unknown in an index without dominators. */
static hdx_code derive_facts(const hdx_query *q, hdx_arena *arena, hdx_layout_proof *proof, hdx_cell *no_garbage,
                             hdx_error *err)
{
    hdx_ask ask = { .q = *q, .g = q->graph };
    *no_garbage = hdx_cell_list(NULL, 0);
    hdx_code code = hdx_layout_proof_of(&ask, proof, err);
    return code == HDX_OK && hdx_graph_summary_of(q->graph)->complete ? no_garbage_cell(&ask, arena, no_garbage, err)
                                                                      : code;
}

/* ---- the OutOfMemoryError ---- */

static hdx_code out_of_memory_cell(const hdx_query *q, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    uint64_t          count = 0;
    const hdx_thread *threads = hdx_graph_threads(q->graph, &count);
    *out = hdx_cell_null();
    for (uint64_t i = 0; threads != NULL && i < count; i++) {
        const hdx_frame *f = hdx_frame_creating_out_of_memory(&threads[i]);
        hdx_cell         name = hdx_cell_null(), frame;
        if (f == NULL)
            continue;
        const hdx_frame *end = threads[i].frames + threads[i].frame_count;
        members          m = { hdx_arena_get(arena, 3 * sizeof *m.at), 0 };
        if (m.at == NULL)
            return hdx_no_memory(err, "info", 3 * sizeof *m.at);
        while (f < end && hdx_is_of_jdk(f->class_name))
            f++;
        hdx_error mine; /* if the dump has changed, only the name is missing */
        hdx_code  code = hdx_label_cell(q, threads[i].object, arena, &name, &mine);
        if (code == HDX_LIMIT) {
            if (err != NULL)
                *err = mine;
            return code;
        }
        code = hdx_frame_cell(arena, f < end ? f : NULL, &frame, err);
        put(&m, "thread", hdx_id_cell(q->graph, threads[i].object));
        put(&m, "name", name);
        put(&m, "frame", frame);
        *out = hdx_cell_object(m.at, m.count);
        return code;
    }
    return HDX_OK;
}

static hdx_code add_members(const hdx_query *q, bool triage, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_graph               *g = q->graph;
    const hdx_graph_summary *s = hdx_graph_summary_of(g);
    members                  m = { hdx_arena_get(arena, KEYS_MAX * sizeof *m.at), 0 };
    hdx_cell                 heaps, records, index, stripping, views, out_of_memory, no_garbage, stands_out;
    hdx_layout_proof         proof;
    hdx_code                 code;
    if (m.at == NULL)
        return hdx_no_memory(err, "info", KEYS_MAX * sizeof *m.at);
    if ((code = heaps_cell(g, arena, &heaps, err)) != HDX_OK ||
        (code = records_cell(s, arena, &records, err)) != HDX_OK ||
        (code = index_cell(g, s, arena, &index, err)) != HDX_OK ||
        (code = views_cell(g, arena, &views, err)) != HDX_OK ||
        (code = out_of_memory_cell(q, arena, &out_of_memory, err)) != HDX_OK ||
        (code = derive_facts(q, arena, &proof, &no_garbage, err)) != HDX_OK ||
        (code = stripping_cell(s->stripping, arena, &stripping, err)) != HDX_OK ||
        (triage && (code = hdx_triage_cell(q, &out_of_memory, arena, &stands_out, err)) != HDX_OK))
        return code;
    put(&m, "version", hdx_cell_string(s->version));
    put(&m, "id_size", hdx_cell_uint(s->id_size));
    put(&m, "reference_size", hdx_cell_uint(s->reference_size));
    put(&m, "object_alignment", hdx_cell_uint(s->alignment));
    put(&m, "compressed_oops", hdx_cell_bool(s->compressed_oops));
    put(&m, "layout", hdx_cell_string(proof.layout));
    put(&m, "header_size", proof.header == 0 ? hdx_cell_null() : hdx_cell_uint(proof.header));
    put(&m, "created", time_cell(arena, s->created_ms));
    put(&m, "jvm", s->jvm == NULL || s->jvm[0] == '\0' ? hdx_cell_null() : hdx_cell_string(s->jvm));
    put(&m, "objects", hdx_cell_uint(s->objects));
    put(&m, "live_objects", hdx_cell_uint(s->live_objects));
    put(&m, "unreachable_objects", hdx_cell_uint(s->unreachable_objects));
    put(&m, "classes", hdx_cell_uint(s->live_classes));
    put(&m, "all_classes", hdx_cell_uint(s->classes));
    put(&m, "class_loaders", hdx_cell_uint(s->live_loaders));
    put(&m, "gc_roots", hdx_cell_uint(s->gc_roots));
    put(&m, "threads", hdx_cell_uint(s->threads));
    put(&m, "references", hdx_cell_uint(s->references));
    put(&m, "live_bytes", hdx_cell_uint(s->live_bytes));
    put(&m, "unreachable_bytes", hdx_cell_uint(s->unreachable_bytes));
    put(&m, "no_garbage", no_garbage);
    put(&m, "lacks_locals", hdx_cell_bool(hdx_lacks_locals(s)));
    put(&m, "dangling_references", hdx_cell_uint(s->dangling_references));
    put(&m, "dangling_roots", hdx_cell_uint(s->dangling_roots));
    put(&m, "heaps", heaps);
    put(&m, "stripping", stripping);
    put(&m, "out_of_memory", out_of_memory);
    if (triage)
        put(&m, "triage", stands_out);
    put(&m, "compression", hdx_cell_string(compression_name(s->compression)));
    put(&m, "dump_size", hdx_cell_uint(s->dump_size));
    put(&m, "file_size", hdx_cell_uint(s->file_size));
    put(&m, "dump_number", hdx_cell_uint(s->dump_number));
    put(&m, "dumps_in_file", hdx_cell_uint(s->dumps_in_file));
    put(&m, "records", records);
    put(&m, "index", index);
    put(&m, "views", views);
    *out = hdx_cell_object(m.at, m.count);
    return HDX_OK;
}

/*
 * Rows have the structure of the document, at most four levels: members append their key to the prefix, entries of
 * lists their first member, which is a name.
 */
static hdx_code flatten(hdx_table *t, hdx_buffer *prefix, const hdx_cell *value, hdx_error *err)
{
    hdx_code   code = HDX_OK;
    uint64_t   len = prefix->len;
    hdx_arena *arena = hdx_table_arena(t);
    if (value->kind == HDX_CELL_OBJECT) {
        for (uint64_t i = 0; code == HDX_OK && i < value->as.object.count; i++) {
            hdx_buffer_text(prefix, len == 0 ? "" : ".");
            hdx_buffer_text(prefix, value->as.object.at[i].key);
            code = flatten(t, prefix, &value->as.object.at[i].value, err);
            prefix->len = len;
        }
    } else if (value->kind == HDX_CELL_LIST) {
        for (uint64_t i = 0; code == HDX_OK && i < value->as.list.count; i++) {
            /* lines of text: one row each, with the key of the list */
            if (value->as.list.at[i].kind != HDX_CELL_OBJECT) {
                code = flatten(t, prefix, &value->as.list.at[i], err);
                continue;
            }
            const hdx_cell *entry = &value->as.list.at[i], *name = &entry->as.object.at[0].value;
            hdx_cell        rest = hdx_cell_object(entry->as.object.at + 1, entry->as.object.count - 1);
            hdx_buffer_text(prefix, ".");
            if (name->kind == HDX_CELL_TEXT)
                hdx_buffer_put(prefix, name->as.text.at, name->as.text.len);
            code = flatten(t, prefix, &rest, err);
            prefix->len = len;
        }
    } else {
        hdx_cell   cells[2] = { hdx_text_cell(arena, (hdx_text){ prefix->at, (uint32_t)prefix->len }), *value };
        const bool refused = prefix->failed || cells[0].kind == HDX_CELL_NULL;
        code = refused ? hdx_no_memory(err, "info", prefix->len) : hdx_table_add(t, cells, err);
    }
    return code;
}

static hdx_code ask(const hdx_query *q, bool triage, hdx_rows **out, hdx_error *err)
{
    hdx_table *t;
    hdx_cell   info = hdx_cell_null();
    *out = NULL;
    hdx_code code = hdx_table_in(q->mem, columns, HDX_COUNT(columns), &t, err);
    if (code != HDX_OK)
        return code;
    hdx_buffer prefix = hdx_buffer_of(q->mem);
    if ((code = add_members(q, triage, hdx_table_arena(t), &info, err)) == HDX_OK)
        code = flatten(t, &prefix, &info, err);
    hdx_buffer_free(&prefix);
    if (code == HDX_OK)
        code = hdx_graph_check(q->graph, err);
    if (code != HDX_OK) {
        hdx_table_free(t);
        return code;
    }
    if ((code = hdx_table_rows(t, out, err)) == HDX_OK &&
        (code = hdx_rows_add_extra(*out, "info", info, err)) != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    return code;
}

hdx_code hdx_query_info(const hdx_query *q, hdx_rows **out, hdx_error *err) { return ask(q, false, out, err); }

static hdx_code open_info(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    (void)a;
    return ask(q, true, out, err);
}

static hdx_code open_dump(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    (void)a;
    return hdx_query_info(q, out, err);
}

const hdx_question hdx_question_info = {
    .declared = {
        .name = "info",
        .flags = HDX_ANSWER_HEAP,
        .sentence = "facts about a dump: writer, sizes, counts, records, damage",
        .more = "Live objects are those that are reachable from a GC root. The question sizes explains the sizes and "
                "how other tools would count them. At most eight findings follow, each with the command that shows "
                "more. --verbose adds records by kind and the files of the index.",
        .examples = { "heapdex info app.hprof", "heapdex info app.hprof --format json" },
        .forms = &form,
        .form_count = 1,
        .document = document,
        .document_count = HDX_COUNT(document),
    },
    .open = open_info,
};

const hdx_question hdx_table_of_dump = {
    .declared = {
        .name = "dump", .flags = HDX_ANSWER_HEAP,
        .sentence = "facts about a dump: writer, sizes, counts and records, one row per key",
        .more = "",
        .forms = &form,
        .form_count = 1,
        .document = document,
        .document_count = HDX_COUNT(document),
    },
    .open = open_dump,
};
