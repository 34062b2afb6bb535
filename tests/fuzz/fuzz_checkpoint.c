/*
 * fuzz_checkpoint.c - the .part folder of a small dump's build that stopped after a step, inside a step with some of
 * its tasks done, or in a reading of the dump, its files changed, cut, grown and exchanged as the input says. Another
 * build resumes from it, and may be stopped once more on its way.
 *
 * Sums left as they were: the index has the bytes of a build that was never stopped, and answers as that does. Sums
 * made right again after the change, of the state, of temporary files, of index files and of the catalog: the index
 * may say what the dump does not, or not come to be, but the build ends and touches nothing that is not its own, and
 * what it leaves holds together, as verify sees it without the dump. After the searches that is so but for what the
 * tree of dominators and the nearest paths make of a search that was another one.
 *
 * The input may ask for a seal that holds for the files without an edit, as it does when a single file was changed:
 * then the next build takes tasks that are done as they are.
 *
 *   input   0  bit 0: repair the sums; bit 1: of a reading, else bit 2: inside a step; bit 3: seal the files without
 *              an edit; bits 4 to 7: if not 0, stop the resuming build at this question, times STOPS
 *           1  step, question
 *           then edits of 12 bytes: file u8, operation u8, value u8, length u8, at u32, from u32
 */
#include "making/partial_build.h"
#include "catalog/values.h"
#include "fuzz/ask.h"
#include "fuzz/folder.h"
#include "tests/indexes/hostile.h"

#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

#define EDIT      12u
#define QUESTIONS 2u
#define READINGS  3u /* the first pass: as soon as it keeps something, as late as it can; the second */
#define INSIDE    12u
#define ROUNDS    4u
#define STOPS     2u /* questions between two places where a resuming build may be stopped */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char           dump[FOLDER_PATH], part[FOLDER_PATH], place[FOLDER_PATH];
static partial_build  straight, left[PARTIAL_STEPS], readings[READINGS], inside[INSIDE];
static const uint64_t inside_tasks[INSIDE] = {
    /* one thread leaves these */
    HDX_TASK_COLUMNS,
    HDX_TASK_COLUMNS | HDX_TASK_INSTANCES,
    HDX_TASK_SEARCH,
    HDX_TASK_SEARCH | HDX_TASK_NEAREST,
    HDX_TASK_PREDECESSORS,
    HDX_TASK_RETAINED,
    /* and two of them */
    HDX_TASK_COLUMNS | HDX_TASK_INSTANCES | HDX_TASK_REFERENCED,
    HDX_TASK_COLUMNS | HDX_TASK_OUTBOUND | HDX_TASK_REFERENCED,
    HDX_TASK_INBOUND,
    HDX_TASK_INBOUND | HDX_TASK_SEARCH,
    HDX_TASK_CLASS_INSTANCES,
    HDX_TASK_TREE,
};
static answer right[ASK_QUESTIONS];
static bool   steady[ASK_QUESTIONS]; /* not of what a build took */
static bool   ready;

static void must(bool ok, const char *what, const hdx_error *err)
{
    if (ok)
        return;
    fprintf(stderr, "%s: %s: %s: %s\n", what, hdx_code_name(err->code), err->where, err->message);
    abort();
}

static void end(void)
{
    partial_free(&straight);
    for (unsigned k = 0; k < PARTIAL_STEPS; k++)
        partial_free(&left[k]);
    for (unsigned k = 0; k < READINGS; k++)
        partial_free(&readings[k]);
    for (unsigned k = 0; k < INSIDE; k++)
        partial_free(&inside[k]);
}

static hdx_index_options options_of(void) { return (hdx_index_options){ .dump = dump, .threads = 1 }; }

/* Stops it later and later, until it keeps a checkpoint instead. */
static void stop_readings(const hdx_index_options *options)
{
    char      path[FOLDER_PATH];
    hdx_error err = { .code = HDX_OK };
    for (unsigned calls = 1;; calls++) {
        partial_build now = { .count = 0 };
        must(partial_interrupt(options, calls, &err) == HDX_CANCELLED, "interrupt", &err);
        partial_read_folder(&now, part);
        (void)hdx_index_remove(options, path, sizeof path, NULL);
        if (partial_find(&now, "checkpoint/state") != NULL) {
            partial_free(&now);
            break;
        }
        const bool scanned = partial_find(&now, "scan.tmp") != NULL,
                   read_twice = partial_find(&now, "columns.tmp") != NULL;
        const unsigned to = read_twice ? 2 : readings[0].count == 0 ? 0 : 1;
        if (scanned) {
            partial_free(&readings[to]);
            readings[to] = now;
        } else
            partial_free(&now);
    }
    for (unsigned k = 0; k < READINGS; k++)
        must(readings[k].count > 0, "a reading that keeps nothing", &err);
}

/* Keeps the folder where its tasks are wanted; of two with the same tasks the one with more files of begun tasks. */
static void keep_inside(void)
{
    partial_build now = { .count = 0 };
    partial_read_folder(&now, part);
    for (unsigned k = 0; k < INSIDE && partial_find(&now, "checkpoint/state") != NULL; k++)
        if (partial_head(&now)->tasks == inside_tasks[k] && now.count > inside[k].count) {
            partial_free(&inside[k]);
            inside[k] = now;
            return;
        }
    partial_free(&now);
}

static unsigned count_inside(void)
{
    unsigned count = 0;
    for (unsigned k = 0; k < INSIDE; k++)
        count += inside[k].count > 0;
    return count;
}

/*
 * Stops the build at each question, on one thread and on two. Of two threads nobody knows which is first: a folder that
 * does not come about in some rounds is that of the place before.
 */
static void stop_inside(const hdx_index_options *options)
{
    char      path[FOLDER_PATH];
    hdx_error err = { .code = HDX_OK };
    hdx_code  code = HDX_CANCELLED;
    for (unsigned round = 0; round <= ROUNDS && count_inside() < INSIDE; round++, code = HDX_CANCELLED)
        for (unsigned calls = 1; code != HDX_OK; calls++) {
            code = round == 0 ? partial_interrupt(options, calls, &err) : partial_interrupt_one(options, calls, &err);
            must(code == HDX_OK || code == HDX_CANCELLED, "interrupt", &err);
            if (code == HDX_CANCELLED)
                keep_inside();
            (void)hdx_index_remove(options, path, sizeof path, NULL);
        }
    for (unsigned k = 0; k < INSIDE; k++) {
        must(inside[k].count > 0 || k >= INSIDE / 2, "a stop that leaves no tasks", &err);
        if (inside[k].count == 0)
            inside[k] = partial_copy(&inside[k - 1]);
    }
}

static void prepare(void)
{
    static heap_model model;
    hdx_error         err = { .code = HDX_OK };
    hdx_index_options options;
    hdx_index_report  report;
    hdx_graph        *g;
    char              path[FOLDER_PATH];
    size_t            len;
    folder_path(dump, "a.hprof");
    folder_path(part, ".heapdex-part-a.hprof.hdx");
    folder_path(place, "a.hprof.hdx");
    dump_maker    *m = model_make(&model, 11, 120, 8);
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    folder_save(dump, bytes, len);
    dump_maker_free(m);
    options = options_of();
    for (unsigned twice = 0; twice < 2; twice++) {
        must(hdx_index_build(&options, &report, &err) == HDX_OK, "build", &err);
        partial_free(&straight);
        partial_read_folder(&straight, place);
        must(hdx_graph_open(place, dump, &g, &err) == HDX_OK, "open", &err);
        for (unsigned q = 0; q < ASK_QUESTIONS; q++) {
            const answer a = ask(g, q, HDX_LIVE);
            steady[q] = a.code == right[q].code && a.rows == right[q].rows && a.sum == right[q].sum;
            right[q] = a;
        }
        hdx_graph_close(g);
        (void)hdx_index_remove(&options, path, sizeof path, NULL);
    }
    for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
        must(partial_stop(&options, k + 1, &err) == HDX_LIMIT, "stop", &err);
        partial_read_folder(&left[k], part);
        (void)hdx_index_remove(&options, path, sizeof path, NULL);
    }
    stop_readings(&options);
    stop_inside(&options);
    if (atexit(end) != 0)
        abort();
    ready = true;
}

static void exchange(partial_file *f, size_t at, size_t from, size_t n)
{
    uint8_t kept[8];
    if (f->len - at < n || f->len - from < n)
        return;
    memcpy(kept, f->at + at, n);
    memcpy(f->at + at, f->at + from, n);
    memcpy(f->at + from, kept, n);
}

/* One edit; a file may grow by a few bytes only. */
static void edit(partial_build *p, const uint8_t *e, bool *changed)
{
    partial_file *f = &p->files[e[0] % p->count], *other = &p->files[e[2] % p->count];
    size_t        at, from, n = 1u + e[3] % 64u;
    if (f->len == 0)
        return;
    at = hdx_le32(e + 4) % f->len;
    from = hdx_le32(e + 8) % f->len;
    n = n > f->len - (at > from ? at : from) ? f->len - (at > from ? at : from) : n;
    changed[f - p->files] = true;
    switch (e[1] < 240 ? e[1] % 8 : 8 + e[1] % 4) {
    case 0: f->at[at] = e[2]; break;
    case 1: f->at[at] ^= (uint8_t)(1u << e[2] % 8); break;
    case 2: f->len = at; break;
    case 3: memmove(f->at + at, f->at + from, n); break;
    case 4: memset(f->at + at, e[2], n); break;
    case 5: /* a word of tables: small, large or near what it was */
        at &= ~(size_t)7;
        if (f->len - at >= 8)
            hdx_put64(f->at + at, e[2] < 85    ? e[2]
                                  : e[2] < 170 ? hdx_le64(f->at + at) + e[2] - 127u
                                               : ~0ull >> e[3] % 64);
        break;
    case 6: (void)partial_put(p, f->name, f->at, f->len + 1); break;
    case 8: /* a length that a sum makes small */
        at &= ~(size_t)7;
        if (f->len - at >= 8)
            hdx_put64(f->at + at, 0ull - e[2]);
        break;
    case 9: /* an id of a tape */
        at &= ~(size_t)3;
        if (f->len - at >= 4)
            hdx_put32(f->at + at, e[3] < 128 ? e[2] : hdx_le32(f->at + at) + e[2] - 127u);
        break;
    case 10: exchange(f, at & ~(size_t)3, from & ~(size_t)3, 4); break;
    case 11: exchange(f, at & ~(size_t)7, from & ~(size_t)7, 8); break;
    default: { /* two files change places */
        const partial_file was = *f;
        changed[other - p->files] = true;
        f->at = other->at, f->len = other->len;
        other->at = was.at, other->len = was.len;
        break;
    }
    }
}

/* ---- sums made right ---- */
static hdx_kind kind_of(const char *name)
{
    for (unsigned kind = 0; kind < HDX_KINDS; kind++)
        if (strncmp(name, hdx_kind_name((hdx_kind)kind), strlen(name) - 4) == 0 &&
            strlen(hdx_kind_name((hdx_kind)kind)) == strlen(name) - 4)
            return (hdx_kind)kind;
    return HDX_KINDS;
}

/*
 * An index file in the folder with the sections of the changed one and right sums; what the manifest is to say of it.
 */
static void save_repaired(const partial_file *f, const partial_file *was, hdx_kind kind, const uint8_t identity[16],
                          hdx_manifest_file *says)
{
    hdx_index_place place_of = { .io = hdx_io_system(), .folder = part, .threads = 1 };
    hdx_view        sections[HDX_SECTIONS];
    hdx_index_file  file;
    uint64_t        counts[3];
    const unsigned  n = hostile_sections(was->at, was->len, sections);
    memcpy(place_of.identity, identity, 16);
    for (unsigned i = 0; i < n; i++) {
        size_t start = (size_t)(sections[i].at - was->at), stop = start + sections[i].len;
        stop = stop > f->len ? f->len : stop;
        sections[i] = start < stop ? (hdx_view){ f->at + start, stop - start } : (hdx_view){ f->at, 0 };
    }
    for (unsigned i = 0; i < 3; i++)
        counts[i] = f->len >= HDX_HEAD_BYTES ? hdx_le64(f->at + 32 + 8 * i) : 0;
    if (hostile_write(&place_of, kind, counts, sections, n, &file) != HDX_OK)
        abort();
    says->bytes = file.bytes;
    says->sum = file.sum;
}

/*
 * Numbers of the manifest and of classes changed as edits of catalog.mdb say: these find more than changed bytes of
 * LMDB's pages.
 */
static void change_numbers(hdx_manifest *m, hdx_class *classes, uint32_t count, const uint8_t *e)
{
    uint64_t *const numbers[] = { &m->objects,    &m->dump_size,  &m->outbound_values, &m->specials,
                                  &m->live_bytes, &m->references, &m->dominators };
    uint32_t *const small[] = { &m->id_size, &m->reference_size, &m->alignment, &m->dump_number, &m->step_count };
    hdx_class      *c = &classes[e[3] % count];
    const uint64_t  value = e[1] & 8 ? hdx_le32(e + 8) : ~0ull >> e[8] % 64;
    switch (e[2] < 192 ? e[2] % 6 : 6 + e[2] % 4) {
    case 0: *numbers[e[3] % 7] = value; break;
    case 1: *small[e[3] % 5] = (uint32_t)(value % (e[3] % 5 == 4 ? HDX_STEPS_MAX + 1 : 512)); break;
    case 2: c->id = value % 4 == 0 ? HDX_NO_ID : value % m->objects; break;
    case 3: c->kind = (hdx_object_kind)(value % 4); break;
    case 4: c->instance_size = value; break;
    case 6: c->instances = value; break;
    case 7: c->super = value < count ? (uint32_t)value : HDX_NO_CLASS; break;
    case 8: c->address = value; break;
    case 9: c->field_count = c->field_count > 0 ? c->field_count - 1 : 0; break;
    default: c->element_type = (uint8_t)value; break;
    }
}

static void save_catalog(const char *inner, partial_build *p, const partial_build *was, const bool *changed,
                         const uint8_t *edits, size_t edit_count)
{
    hdx_io               *io = hdx_io_system();
    hdx_catalog          *c;
    hdx_catalog_writer   *w;
    const hdx_class      *classes;
    const hdx_thread     *threads;
    const hdx_heap_space *heaps;
    uint32_t              count;
    uint64_t              thread_count, heap_count;
    hdx_error             err = { .code = HDX_OK };
    must(hdx_catalog_open(io, inner, &c, &err) == HDX_OK && hdx_catalog_classes(c, &classes, &count, &err) == HDX_OK &&
             hdx_catalog_threads(c, &threads, &thread_count, &err) == HDX_OK &&
             hdx_catalog_heaps(c, &heaps, &heap_count, &err) == HDX_OK,
         "catalog", &err);
    hdx_manifest m = *hdx_catalog_manifest(c);
    hdx_class   *copy = malloc(count * sizeof *copy);
    if (copy == NULL)
        abort();
    memcpy(copy, classes, count * sizeof *copy);
    for (unsigned i = 0; i < p->count; i++) {
        const hdx_kind kind = strstr(p->files[i].name, ".hdx") == NULL ? HDX_KINDS : kind_of(p->files[i].name);
        if (changed[i] && kind < HDX_KINDS)
            save_repaired(&p->files[i], &was->files[i], kind, m.identity, &m.files[kind]);
    }
    for (size_t i = 0; i < edit_count; i++)
        if (strcmp(was->files[edits[EDIT * i] % was->count].name, "checkpoint/catalog.mdb") == 0)
            change_numbers(&m, copy, count, edits + EDIT * i);
    must(hdx_catalog_create(io, inner, NULL, &w, &err) == HDX_OK, "catalog", &err);
    for (uint32_t i = 0; i < count; i++)
        must(hdx_catalog_put_class(w, &copy[i], &err) == HDX_OK, "class", &err);
    must(hdx_catalog_put_roots(w, NULL, 0, &err) == HDX_OK &&
             hdx_catalog_put_threads(w, threads, thread_count, &err) == HDX_OK &&
             hdx_catalog_put_heaps(w, heaps, heap_count, &err) == HDX_OK &&
             hdx_catalog_put_manifest(w, &m, &err) == HDX_OK && hdx_catalog_commit(w, &err) == HDX_OK,
         "catalog", &err);
    hdx_catalog_close(c);
    free(copy);
}

static void save(const partial_file *f)
{
    char path[FOLDER_PATH + 80];
    (void)snprintf(path, sizeof path, "%s/%s", part, f->name);
    folder_save(path, f->at, f->len);
}

/* The folder with sums that hold, as far as there are bytes for them. */
static void write_repaired(partial_build *p, const partial_build *was, const bool *changed, const uint8_t *edits,
                           size_t edit_count)
{
    char          inner[FOLDER_PATH + 16];
    partial_build now = { .count = 0 };
    (void)snprintf(inner, sizeof inner, "%s/checkpoint", part);
    partial_write(was, part);
    for (unsigned i = 0; i < p->count; i++)
        if (changed[i] && strstr(p->files[i].name, ".hdx") == NULL &&
            strncmp(p->files[i].name, "checkpoint/catalog", 18) != 0)
            save(&p->files[i]);
    save_catalog(inner, p, was, changed, edits, edit_count);
    partial_read_folder(&now, part);
    if (partial_find(&now, "checkpoint/state")->len >= sizeof(hdx_checkpoint_head)) {
        partial_seal(&now, true);
        save(partial_find(&now, "checkpoint/state"));
    }
    partial_free(&now);
}

/* ---- what came of it ---- */
/* Of trees that a search with right sums may lead to. */
static bool is_of_trees(const char *where)
{
    static const char *const trees[] = { "dominator", "dominated", "retained", "nearest" };
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++)
        if (strcmp(where, trees[i]) == 0)
            return true;
    return false;
}

/* Without the dump: what it says of records is not looked at by a build that goes on. */
static void check_holds(bool searched)
{
    hdx_graph *g;
    hdx_error  err = { .code = HDX_OK };
    must(hdx_graph_open(place, NULL, &g, &err) == HDX_OK, "open alone", &err);
    const hdx_code code = hdx_graph_verify(g, true, &err);
    must(code == HDX_OK || (searched && is_of_trees(err.where)), "verify alone", &err);
    hdx_graph_close(g);
}

static void check_index(unsigned first, bool repaired, bool searched)
{
    hdx_graph    *g;
    hdx_error     err = { .code = HDX_OK };
    partial_build now = { .count = 0 };
    hdx_code      code;
    partial_read_folder(&now, place);
    must(repaired || now.count == straight.count, "files", &err);
    for (unsigned i = 0; i < now.count && !repaired; i++) {
        const partial_file *f = partial_find(&straight, now.files[i].name);
        must(f != NULL && (strstr(f->name, ".hdx") == NULL ||
                           (f->len == now.files[i].len && memcmp(f->at, now.files[i].at, f->len) == 0)),
             now.files[i].name, &err);
    }
    partial_free(&now);
    check_holds(repaired && searched);
    must(hdx_graph_open(place, dump, &g, &err) == HDX_OK, "open", &err);
    code = hdx_graph_verify(g, true, &err);
    must(code == HDX_OK || repaired, "verify", &err);
    for (unsigned i = 0; i < QUESTIONS; i++) {
        const unsigned question = (first + i) % ASK_QUESTIONS;
        const answer   a = ask(g, question, HDX_LIVE), want = right[question];
        must(repaired || !steady[question] || (a.code == want.code && a.rows == want.rows && a.sum == want.sum),
             "another answer", &err);
    }
    hdx_graph_close(g);
}

/* ---- the seal ---- */
static uint64_t ns_of(struct timespec t) { return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec; }

/* Makes the entries of files without an edit right; the others keep times and inodes that no file has. */
static uint64_t renew(hdx_seal *s, const partial_build *was, const bool *changed)
{
    uint64_t last = 0;
    for (uint64_t i = 0; i < s->count && i < HDX_SEAL_FILES; i++)
        for (unsigned k = 0; k < was->count; k++) {
            char        path[FOLDER_PATH + 80];
            struct stat st;
            (void)snprintf(path, sizeof path, "%s/%s", part, was->files[k].name);
            if (changed[k] || strcmp(was->files[k].name, s->files[i].name) != 0 || stat(path, &st) != 0)
                continue;
            s->files[i].device = (uint64_t)st.st_dev;
            s->files[i].inode = (uint64_t)st.st_ino;
            s->files[i].size = (uint64_t)st.st_size;
            s->files[i].mtime_ns = ns_of(st.st_mtim);
            s->files[i].ctime_ns = ns_of(st.st_ctim);
            last = last > s->files[i].ctime_ns ? last : s->files[i].ctime_ns;
        }
    return last;
}

/* Returns when what is written from then on has a later time than the sealed files, as a build does (seal.c). */
static void seal_unchanged(const partial_build *was, const bool *changed)
{
    char                  path[FOLDER_PATH + 80];
    hdx_seal              s;
    struct timespec       now = { 0 };
    const struct timespec nap = { .tv_nsec = 1000000 };
    const partial_file   *f = NULL;
    for (unsigned k = 0; k < was->count; k++)
        if (strcmp(was->files[k].name, "seal") == 0 && !changed[k])
            f = &was->files[k];
    if (f == NULL || f->len != sizeof s)
        return;
    memcpy(&s, f->at, sizeof s);
    const uint64_t last = renew(&s, was, changed);
    s.sum = hdx_crc32c(0, &s, offsetof(hdx_seal, sum));
    (void)snprintf(path, sizeof path, "%s/seal", part);
    folder_save(path, (const uint8_t *)&s, sizeof s);
    for (unsigned i = 0; i < 50 && ns_of(now) <= last; i++) {
        (void)nanosleep(&nap, NULL);
        (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
    }
}

/* ---- one input ---- */
static void put_folder(const uint8_t *data, size_t size, const partial_build *was)
{
    const size_t  edits = (size - 2) / EDIT > 8 ? 8 : (size - 2) / EDIT;
    const bool    repaired = (data[0] & 1) != 0, reading = (data[0] & 2) != 0;
    bool          changed[PARTIAL_FILES] = { false };
    partial_build p = partial_copy(was);
    for (size_t i = 0; i < edits; i++)
        edit(&p, data + 2 + EDIT * i, changed);
    if (repaired && !reading)
        write_repaired(&p, was, changed, data + 2, edits);
    else {
        if (repaired)
            partial_seal_kept(&p);
        partial_write(&p, part);
    }
    partial_free(&p);
    if ((data[0] & 8) != 0)
        seal_unchanged(was, changed);
}

static bool is_allowed(hdx_code code, bool repaired)
{
    return code == HDX_OK || (repaired && (code == HDX_DAMAGED || code == HDX_LIMIT || code == HDX_IO));
}

/* Has the folder what a search says? Then sums made right may lead to other trees. */
static bool has_searched(partial_build *p)
{
    const hdx_checkpoint_head *h = partial_find(p, "checkpoint/state") == NULL ? NULL : partial_head(p);
    return h != NULL && (hdx_checkpoint_has(h->done, HDX_PASS_REFERENCES) || (h->tasks & HDX_TASK_SEARCH) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hdx_index_options options;
    hdx_index_report  report;
    hdx_error         err = { .code = HDX_OK };
    char              path[FOLDER_PATH];
    hdx_code          code = HDX_CANCELLED;
    if (!ready)
        prepare();
    if (size < 2)
        return 0;
    const bool     repaired = (data[0] & 1) != 0;
    const unsigned stop = data[0] >> 4;
    partial_build *was = (data[0] & 2) != 0   ? &readings[data[1] % READINGS]
                         : (data[0] & 4) != 0 ? &inside[data[1] % INSIDE]
                                              : &left[data[1] % PARTIAL_STEPS];
    put_folder(data, size, was);
    options = options_of();
    if (stop > 0) {
        code = partial_interrupt(&options, stop * STOPS, &err);
        must(code == HDX_CANCELLED || is_allowed(code, repaired), "go on and stop", &err);
    }
    if (code == HDX_CANCELLED)
        code = hdx_index_build(&options, &report, &err);
    must(is_allowed(code, repaired), "go on", &err);
    if (code == HDX_OK)
        check_index(data[1] / PARTIAL_STEPS, repaired, has_searched(was));
    (void)hdx_index_remove(&options, path, sizeof path, NULL);
    return 0;
}
