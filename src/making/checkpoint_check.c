/*
 * checkpoint_check.c - checks that a saved build is what was written, and that nothing in it leads outside of its
 * folder.
 *
 * In:  the state of a checkpoint, read.
 * Out: open temporary files, bits of live and special objects; or HDX_NOT_FOUND.
 * A build trusts what it spilled itself, but not files that were in the folder before. So every record is parsed once
 * and all bounds are checked: checksums detect corruption, this detects everything else. Files that agree with our seal
 * (seal.c) were written by this machine and not touched since; they are not read, and only the state's claims about
 * them are checked.
 */
#include "making/checkpoint.h"

#include <dirent.h>
#include <stdio.h>

#define ADDRESSES 8u     /* objects that a byte of the index address can represent at most */
#define PIECE     65536u /* bytes of a temporary file read at a time; whole visits of either width */

static hdx_code unusable(hdx_error *err)
{
    return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no usable checkpoint");
}

static hdx_code open_temp(hdx_build *b, const char *name, hdx_temp *t, hdx_error *err)
{
    const uint64_t end = t->end;
    const uint32_t sum = t->sum;
    struct stat    st;
    hdx_code       code = hdx_temp_reopen(&b->work, name, t, err);
    if (code != HDX_OK || b->work.io->stat(b->work.io, t->path, &st) < 0 || (uint64_t)st.st_size != end)
        return unusable(err);
    t->end = end;
    t->sum = sum;
    return HDX_OK;
}

/* ---- the spill file ---- */
/* Returns whether the units are inside of the file. */
static bool units_inside(const hdx_spill *s, uint64_t objects)
{
    uint64_t end, met = 0, edges = 0;
    for (uint64_t i = 0; i < s->count; i++) {
        const hdx_spilled *u = &s->units[i];
        if (u->last >= objects || !hdx_add(u->at, u->bytes, &end) || end > s->file.end || u->bytes > s->longest)
            return false;
        met += u->objects;
        edges += u->edges;
    }
    return s->longest <= s->file.end && met == objects && edges == s->edges;
}

static hdx_code check_spill(hdx_pass *p, hdx_error *err)
{
    const hdx_code code = p->width == 32 && p->columns.spill.edges >= UINT32_MAX - 2
                              ? unusable(err)
                              : open_temp(p->b, "references.tmp", &p->columns.spill.file, err);
    if (code == HDX_OK && p->b->saving.sealed)
        return units_inside(&p->columns.spill, p->b->tables.objects) ? HDX_OK : unusable(err);
    return code != HDX_OK ? code
                          : hdx_spill_check(&p->b->work, &p->b->tables, &p->columns.spill, false,
                                            err); /* the catalog is not trusted: instances are counted again */
}

/* ---- temporary files ---- */
typedef bool look(hdx_pass *p, uint64_t first, const uint8_t *bytes, uint64_t count,
                  uint64_t *before); /* before: 0 at first, then state of the callback */

static hdx_code check_temp(hdx_pass *p, hdx_temp *t, uint64_t count, uint64_t each, look *at_it, hdx_error *err)
{
    uint8_t *piece = hdx_mem_get(&p->b->work.mem, PIECE);
    uint32_t sum = 0;
    uint64_t before = 0;
    hdx_code code = piece == NULL            ? hdx_no_memory(err, "a checkpoint", PIECE)
                    : t->end == count * each ? HDX_OK
                                             : unusable(err);
    for (uint64_t at = 0; at < t->end && code == HDX_OK; at += PIECE) {
        const uint64_t n = t->end - at < PIECE ? t->end - at : PIECE;
        if (t->tape.read(t, at, piece, n, err) != HDX_OK || !at_it(p, at / each, piece, n / each, &before))
            code = unusable(err);
        else
            sum = hdx_crc32c(sum, piece, (size_t)n);
    }
    if (code == HDX_OK && sum != t->sum)
        code = unusable(err);
    hdx_mem_put(&p->b->work.mem, piece, PIECE);
    return code;
}

static uint64_t id_at(const hdx_pass *p, const uint8_t *bytes, uint64_t i)
{
    return p->width == 32 ? hdx_le32(bytes + 4 * i) : hdx_le64(bytes + 8 * i);
}

/* Each node once, each parent before its children, roots have no parent; visited objects are live. */
static bool look_at_visits(hdx_pass *p, uint64_t first, const uint8_t *bytes, uint64_t count, uint64_t *before)
{
    (void)before;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t node = id_at(p, bytes, 2 * i), parent = id_at(p, bytes, 2 * i + 1);
        if (node >= p->b->tables.objects || parent > first + i ||
            hdx_bits_test(p->search.is_root, node) != (parent == 0) || !hdx_bits_set(p->search.live, node))
            return false;
    }
    return true;
}

/* Numbers ascend, and each dominator is smaller. */
static bool look_at_idoms(hdx_pass *p, uint64_t first, const uint8_t *bytes, uint64_t count, uint64_t *before)
{
    (void)first;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number = id_at(p, bytes, 2 * i);
        if (number <= *before || number > p->search.reached || id_at(p, bytes, 2 * i + 1) >= number)
            return false;
        *before = number;
    }
    return true;
}

/* ---- reachability ---- */
static hdx_code read_special(hdx_pass *p, hdx_error *err)
{
    hdx_build *b = p->b;
    void      *ranks;
    uint64_t   rank;
    hdx_code   code = hdx_build_file_open(b, HDX_KIND_SPECIAL, &p->note, &ranks, err);
    if (code != HDX_OK)
        return code == HDX_LIMIT ? code : unusable(err);
    for (uint64_t id = 0; id < b->tables.objects; id++)
        if (hdx_ranks_find(ranks, id, &rank))
            hdx_bits_put(p->search.special, id);
    hdx_ranks_close(ranks);
    return hdx_bits_count(p->search.special, hdx_bits_words(b->tables.objects)) == b->manifest.specials ? HDX_OK
                                                                                                        : unusable(err);
}

/* Reads the saved bits of live and special objects; deriving them from the search and the index would take longer. */
static hdx_code read_bits(hdx_pass *p, bool special, hdx_error *err)
{
    hdx_build     *b = p->b;
    const uint64_t words = hdx_bits_words(b->tables.objects),
                   tail = b->tables.objects % 64 == 0 ? 0 : ~0ull << (b->tables.objects % 64);
    hdx_resume_file *file = NULL;
    uint32_t         sum;
    hdx_code         code = hdx_resume_open(&b->work, &b->saving, HDX_RESUME_BITS, &file, &sum, err);
    if (code == HDX_OK && (code = hdx_resume_get(file, p->search.live, words * 8, err)) == HDX_OK && special)
        code = hdx_resume_get(file, p->search.special, words * 8, err);
    hdx_resume_close(file);
    if (code == HDX_LIMIT)
        return code;
    if (code != HDX_OK || ((p->search.live[words - 1] | p->search.special[words - 1]) & tail) != 0 ||
        hdx_bits_count(p->search.live, words) != p->search.reached ||
        (special && hdx_bits_count(p->search.special, words) != b->manifest.specials) ||
        p->search.file.end != p->search.reached * (p->width / 4))
        return unusable(err);
    p->progress.live = true;
    p->progress.special = special;
    if (special)
        return HDX_OK;
    hdx_mem_put(&b->work.mem, p->search.special, words * 8); /* the caller still has to find it */
    p->search.special = NULL;
    return HDX_OK;
}

static hdx_code check_search(hdx_pass *p, bool special, hdx_error *err)
{
    hdx_build     *b = p->b;
    const uint64_t words = hdx_bits_words(b->tables.objects);
    hdx_code       code;
    p->search.live = hdx_mem_array(&b->work.mem, words, 8);
    p->search.is_root = hdx_mem_array(&b->work.mem, words, 8);
    p->search.special = hdx_mem_array(&b->work.mem, words, 8);
    if (p->search.live == NULL || p->search.is_root == NULL || p->search.special == NULL)
        return hdx_no_memory(err, "a checkpoint", 3 * words * 8);
    for (uint64_t i = 0; i < b->tables.root_count; i++)
        if (b->tables.roots[i].thread == HDX_NO_ID)
            hdx_bits_put(p->search.is_root, b->tables.roots[i].object);
    if (p->search.reached > b->tables.objects || (code = open_temp(b, "search.tmp", &p->search.file, err)) != HDX_OK)
        return unusable(err);
    if (b->saving.sealed)
        return read_bits(p, special, err);
    code = check_temp(p, &p->search.file, p->search.reached, p->width / 4, look_at_visits, err);
    return code != HDX_OK ? code : read_special(p, err);
}

/* ---- referrers ---- */
/* Each node once: the room for the lists is computed from that. */
static bool chunk_holds(hdx_pass *p, const hdx_referrer_chunk *c, uint8_t *bytes, uint64_t *seen, uint64_t *entries)
{
    const uint64_t objects = p->b->tables.objects;
    uint64_t       end, node = c->node, value, n;
    hdx_error      err;
    if (!hdx_add(c->at, c->bytes, &end) || end > p->inbound.referrers.file.end ||
        c->bytes > p->inbound.referrers.longest ||
        p->inbound.referrers.file.tape.read(&p->inbound.referrers.file, c->at, bytes, c->bytes, &err) != HDX_OK ||
        hdx_crc32c(0, bytes, (size_t)c->bytes) != c->sum)
        return false;
    const uint8_t *at = bytes, *stop = bytes + c->bytes;
    for (bool first = true; at < stop; first = false) {
        uint64_t source = 0;
        if (!hdx_packed_number(&at, stop, &value) || !hdx_add(node, value + !first, &node) || node >= objects ||
            !hdx_bits_set(seen, node) || !hdx_packed_number(&at, stop, &n) || n > (uint64_t)(stop - at))
            return false;
        for (uint64_t i = 0; i < n; i++) {
            if (!hdx_packed_number(&at, stop, &value))
                return false;
            source = i == 0 ? node + (uint64_t)hdx_unzigzag(value) : source + 1 + value;
            if (source >= objects)
                return false;
        }
        *entries += n + 1;
    }
    return true;
}

static bool chunks_inside(const hdx_pass *p)
{
    uint64_t end;
    for (uint64_t i = 0; i < p->inbound.referrers.count; i++) {
        const hdx_referrer_chunk *c = &p->inbound.referrers.chunks[i];
        if (!hdx_add(c->at, c->bytes, &end) || end > p->inbound.referrers.file.end ||
            c->bytes > p->inbound.referrers.longest || c->node >= p->b->tables.objects)
            return false;
    }
    return true;
}

static hdx_code check_referrers(hdx_pass *p, hdx_error *err)
{
    hdx_build     *b = p->b;
    const uint64_t room = p->inbound.referrers.longest + HDX_PACKED_SLACK;
    uint64_t       entries = 0;
    uint64_t      *seen;
    uint8_t       *bytes;
    hdx_code       code = open_temp(b, "referrers.tmp", &p->inbound.referrers.file, err);
    if (code != HDX_OK || p->inbound.referrers.longest > p->inbound.referrers.file.end)
        return unusable(err);
    if (b->saving.sealed)
        return chunks_inside(p) ? HDX_OK : unusable(err);
    bytes = hdx_mem_get(&b->work.mem, room);
    seen = hdx_mem_array(&b->work.mem, hdx_bits_words(b->tables.objects), 8);
    if (bytes == NULL || seen == NULL)
        code = hdx_no_memory(err, "a checkpoint", room);
    for (uint64_t i = 0; i < p->inbound.referrers.count && code == HDX_OK; i++)
        code = chunk_holds(p, &p->inbound.referrers.chunks[i], bytes, seen, &entries) ? HDX_OK : unusable(err);
    hdx_mem_put(&b->work.mem, seen, hdx_bits_words(b->tables.objects) * 8);
    hdx_mem_put(&b->work.mem, bytes, room);
    return code == HDX_OK && entries != p->inbound.referrers.entries ? unusable(err) : code;
}

static hdx_code check_idoms(hdx_pass *p, hdx_error *err)
{
    const uint64_t each = p->width / 4;
    const hdx_code code = open_temp(p->b, "idoms.tmp", &p->idoms, err);
    if (code == HDX_OK && p->b->saving.sealed)
        return p->idoms.end % each == 0 ? HDX_OK : unusable(err);
    return code != HDX_OK ? code : check_temp(p, &p->idoms, p->idoms.end / each, each, look_at_idoms, err);
}

/* ---- the folder ---- */
static bool is_folder_of(const char *name)
{
    return strcmp(name, HDX_FOLDER_CHECKPOINT) == 0 || strcmp(name, HDX_FOLDER_CHECKPOINT_NEW) == 0;
}

/* Uses lstat and opens nothing: opening a pipe blocks forever, and a link leads anywhere. */
static bool is_plain(const char *path, bool folders)
{
    DIR           *folder = opendir(path);
    struct dirent *entry;
    struct stat    st;
    char           name[4600];
    bool           plain = folder != NULL;
    while (plain && (entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        plain = (size_t)snprintf(name, sizeof name, "%s/%s", path, entry->d_name) < sizeof name &&
                lstat(name, &st) == 0 &&
                (S_ISREG(st.st_mode) ||
                 (folders && S_ISDIR(st.st_mode) && is_folder_of(entry->d_name) && is_plain(name, false)));
    }
    if (folder != NULL)
        (void)closedir(folder);
    return plain;
}

bool hdx_checkpoint_is_plain(const hdx_work *w)
{
    struct stat st;
    return lstat(w->folder, &st) == 0 && S_ISDIR(st.st_mode) && is_plain(w->folder, true);
}

/* Temporary files that these steps and tasks pass on. */
typedef struct temp_files {
    struct {
        const char *name;
        bool        needed;
    } at[8];
} temp_files;

static temp_files temp_files_of(const hdx_pass *p, uint64_t done, uint64_t tasks)
{
    const bool search = hdx_checkpoint_search(p->until, done) || (tasks & HDX_TASK_SEARCH) != 0;
    return (temp_files){ {
        { "references.tmp", hdx_checkpoint_spill(done) },
        { "search.tmp", search },
        { HDX_RESUME_BITS, search },
        { HDX_RESUME_LISTS, (tasks & HDX_TASK_COLUMNS) != 0 && p->until >= HDX_STEP_OUTBOUND },
        { "referrers.tmp", hdx_checkpoint_referrers(p->until, done) ||
                               ((tasks & HDX_TASK_INBOUND) != 0 && p->until >= HDX_STEP_DOMINATORS) },
        { "predecessors.tmp", (tasks & HDX_TASK_PREDECESSORS) != 0 },
        { "class_instances.tmp", (tasks & HDX_TASK_CLASS_INSTANCES) != 0 },
        { "idoms.tmp", hdx_checkpoint_has(done, HDX_PASS_DOMINATORS) || (tasks & HDX_TASK_IDOMS) != 0 },
    } };
}

static bool is_temp_file_of(const hdx_pass *p, uint64_t done, uint64_t tasks, const char *name)
{
    const temp_files t = temp_files_of(p, done, tasks);
    for (size_t i = 0; i < sizeof t.at / sizeof *t.at; i++)
        if (t.at[i].needed && strcmp(name, t.at[i].name) == 0)
            return true;
    return false;
}

/* Returns whether a file belongs to the completed steps, or to completed tasks of the next one. */
static bool belongs(const hdx_pass *p, uint64_t done, const char *name)
{
    char file[32];
    for (unsigned kind = 0; kind < HDX_KINDS; kind++) {
        (void)snprintf(file, sizeof file, "%s.hdx", hdx_kind_name((hdx_kind)kind));
        if (strcmp(name, file) == 0)
            return p->b->manifest.files[kind].name[0] != '\0';
    }
    return strcmp(name, "checkpoint") == 0 || strcmp(name, "seal") == 0 ||
           (strcmp(name, HDX_RESUME_LISTS) == 0 && p->progress.lists) ||
           is_temp_file_of(p, done, atomic_load(&p->progress.tasks), name);
}

static bool belongs_to_resume_files(const hdx_saving *saving, const char *name)
{
    return strcmp(name, HDX_RESUME_SCAN) == 0 || strcmp(name, "seal") == 0 ||
           (saving->has_columns && (strcmp(name, HDX_RESUME_COLUMNS) == 0 || strcmp(name, "references.tmp") == 0));
}

/*
 * Other files belong to an unfinished step, or are no longer needed, and would end up in the index. p NULL: before the
 * first step.
 */
static hdx_code remove_others(const hdx_work *w, const hdx_saving *saving, const hdx_pass *p, uint64_t done,
                              hdx_error *err)
{
    DIR           *folder = opendir(w->folder);
    struct dirent *entry;
    char           name[4600];
    int            rc = folder == NULL ? -1 : 0;
    while (rc >= 0 && (entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            (p == NULL ? belongs_to_resume_files(saving, entry->d_name) : belongs(p, done, entry->d_name)))
            continue;
        (void)snprintf(name, sizeof name, "%s/%s", w->folder, entry->d_name);
        rc = is_folder_of(entry->d_name) ? hdx_folder_clear(w->io, name) : w->io->remove(w->io, name);
    }
    if (folder != NULL)
        (void)closedir(folder);
    return rc < 0 ? unusable(err) : HDX_OK;
}

/* ---- everything ---- */
/* Steps are done in their order, only those that `until` requires; after the last one there is no checkpoint. */
static bool steps_hold(const hdx_pass *p, uint64_t done)
{
    static const struct {
        hdx_pass_name pass;
        hdx_step      from;
    } order[] = {
        { HDX_PASS_COLUMNS, HDX_STEP_OBJECTS },
        { HDX_PASS_OBJECTS, HDX_STEP_OBJECTS },
        { HDX_PASS_REFERENCES, HDX_STEP_INBOUND },
        { HDX_PASS_DOMINATORS, HDX_STEP_DOMINATORS },
    };
    uint64_t so_far = 0;
    bool     holds = false;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (p->until >= order[i].from) {
            so_far |= 1ull << order[i].pass;
            holds = holds || done == so_far;
        }
    return holds;
}

/*
 * No memory is allocated for a bare number: objects need bytes in a file, whose size is checked next; references are in
 * lists of their own.
 */
static bool objects_hold(const hdx_pass *p, uint64_t done)
{
    const hdx_build *b = p->b;
    return b->tables.objects > 0 && b->tables.objects / ADDRESSES <= b->manifest.files[HDX_KIND_ADDRESS].bytes &&
           (hdx_checkpoint_spill(done) || p->columns.spill.edges == b->manifest.outbound_values) &&
           (p->width == 64 || (b->tables.objects < UINT32_MAX - 2 && p->columns.spill.edges < UINT32_MAX - 2));
}

/* A finished index finds java.lang.Class by name. Its instances are class objects, so it is not an array class. */
static bool class_holds(const hdx_build *b, const hdx_class *c)
{
    const bool of_classes = c->number == b->tables.class_class;
    return hdx_text_is(c->name, "java.lang.Class") == of_classes && (!of_classes || c->kind == HDX_INSTANCE) &&
           c->id < b->tables.objects && c->kind <= HDX_PRIMITIVE_ARRAY &&
           (c->kind != HDX_PRIMITIVE_ARRAY || hdx_type_is_primitive(c->element_type)) && /* the type may be invalid */
           hdx_class_flat_holds(c);
}

/* The index seek of a compressed dump has its uncompressed size. */
static bool size_holds(const hdx_build *b)
{
    uint64_t size;
    return b->manifest.dump_size < UINT64_MAX / 4 &&
           (!hdx_source_size(b->dump.source, &size) || size == b->manifest.dump_size);
}

static bool numbers_hold(const hdx_pass *p, uint64_t done)
{
    const hdx_build    *b = p->b;
    const hdx_manifest *m = &b->manifest;
    const uint32_t      number = b->work.options->dump_number == 0 ? 1 : b->work.options->dump_number;
    if (!steps_hold(p, done) || !objects_hold(p, done) || !size_holds(b) || b->tables.class_count == 0 ||
        b->tables.heap_count > HDX_HEAPS_MAX || m->dump_number != number || (m->id_size != 4 && m->id_size != 8) ||
        (m->reference_size != 4 && m->reference_size != 8) || m->alignment < 8 || m->alignment > 256 ||
        p->search.reached > b->tables.objects)
        return false;
    if (b->tables.class_objects.count != b->tables.class_count) /* two classes with one class object */
        return false;
    for (uint32_t i = 0; i < b->tables.class_count; i++)
        if (!class_holds(b, &b->tables.classes[i]))
            return false;
    for (uint64_t i = 0; i < b->tables.root_count; i++)
        if (b->tables.roots[i].object >= b->tables.objects ||
            (b->tables.roots[i].thread != HDX_NO_ID && b->tables.roots[i].thread >= b->tables.objects) ||
            b->tables.roots[i].type >= HDX_ROOT_TYPES || b->tables.roots[i].frame < -1)
            return false;
    return true;
}

bool hdx_checkpoint_is_sealed(const hdx_pass *p, uint64_t done, uint64_t tasks)
{
    static const char *const always[] = { "checkpoint/state", "checkpoint/catalog.mdb", "checkpoint/catalog.sum" };
    const hdx_build         *b = p->b;
    const temp_files         t = temp_files_of(p, done, tasks);
    char                     name[32];
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (!hdx_seal_has(&b->work, &b->saving, always[i]))
            return false;
    for (size_t i = 0; i < sizeof t.at / sizeof *t.at; i++)
        if (t.at[i].needed && !hdx_seal_has(&b->work, &b->saving, t.at[i].name))
            return false;
    for (unsigned kind = 0; kind < HDX_KINDS; kind++) {
        (void)snprintf(name, sizeof name, "%s.hdx", hdx_kind_name((hdx_kind)kind));
        if (hdx_checkpoint_has_kind(p, done, tasks, (hdx_kind)kind) && !hdx_seal_has(&b->work, &b->saving, name))
            return false;
    }
    return true;
}

static hdx_code check_files(hdx_pass *p, uint64_t done, hdx_error *err)
{
    hdx_build *b = p->b;
    for (unsigned kind = 0; kind < HDX_KINDS_MAX; kind++) {
        const hdx_manifest_file *f = &b->manifest.files[kind];
        const hdx_index_file     file = { f->bytes, f->sum };
        const bool               there =
            kind < HDX_KINDS && hdx_checkpoint_has_kind(p, done, atomic_load(&p->progress.tasks), (hdx_kind)kind);
        hdx_code code = HDX_OK;
        if (strcmp(f->name, there ? hdx_kind_name((hdx_kind)kind) : "") != 0)
            return unusable(err);
        if (there && !b->saving.sealed &&
            (code = hdx_index_check(&b->work.place, (hdx_kind)kind, &file, err)) != HDX_OK)
            return code == HDX_LIMIT ? code : unusable(err);
    }
    return HDX_OK;
}

/* Recomputes what follows from other values; a checkpoint is not trusted for it. */
static hdx_code recompute(hdx_pass *p, uint64_t done, hdx_error *err)
{
    hdx_build    *b = p->b;
    hdx_manifest *m = &b->manifest;
    if (!hdx_model_sizes(&b->tables.sizing, b->tables.classes, b->tables.class_count, &b->work.mem))
        return hdx_no_memory(err, "a checkpoint", b->tables.class_count * sizeof *b->tables.classes);
    p->numbered.unit = hdx_pass_size_unit(&b->tables);
    m->classes = b->tables.class_count;
    m->roots = b->tables.root_count;
    m->threads = b->tables.thread_count;
    m->live_objects = m->live_bytes = m->unreachable_objects = m->unreachable_bytes =
        0; /* counted with the dominators, or after them (order.c) */
    if (!hdx_task_whole(&p->progress.tasks, HDX_TASK_TREE))
        m->dominators = 0;
    m->gc_roots = 0;
    const bool searched = hdx_checkpoint_search(p->until, done);
    if (p->search.is_root != NULL)
        m->gc_roots = hdx_bits_count(p->search.is_root, hdx_bits_words(b->tables.objects));
    if (!searched && !hdx_task_whole(&p->progress.tasks, HDX_TASK_SEARCH))
        m->references = 0;
    if (!searched && !hdx_task_whole(&p->progress.tasks, HDX_TASK_NEAREST))
        m->specials = 0;
    return HDX_OK;
}

hdx_code hdx_checkpoint_check(hdx_pass *p, uint64_t done, hdx_error *err)
{
    hdx_code code = numbers_hold(p, done) ? HDX_OK : unusable(err);
    if (code != HDX_OK)
        return code;
    const uint64_t tasks = atomic_load(&p->progress.tasks);
    const bool     searched = hdx_checkpoint_search(p->until, done);
    code = check_files(p, done, err);
    if (code == HDX_OK && hdx_checkpoint_spill(done))
        code = check_spill(p, err);
    if (code == HDX_OK && (searched || (tasks & HDX_TASK_SEARCH) != 0))
        code = check_search(p, searched || (tasks & HDX_TASK_NEAREST) != 0, err);
    if (code == HDX_OK && is_temp_file_of(p, done, tasks, "referrers.tmp"))
        code = check_referrers(p, err);
    if (code == HDX_OK && (tasks & HDX_TASK_PREDECESSORS) != 0)
        code = open_temp(p->b, "predecessors.tmp", &p->predecessors.file, err);
    if (code == HDX_OK && (tasks & HDX_TASK_CLASS_INSTANCES) != 0)
        code = open_temp(p->b, "class_instances.tmp", &p->instances.file, err);
    if (code == HDX_OK && is_temp_file_of(p, done, tasks, "idoms.tmp"))
        code = check_idoms(p, err);
    if (code == HDX_OK && (code = recompute(p, done, err)) == HDX_OK &&
        (p->b->saving.sealed || (code = hdx_checkpoint_values(p, done, err)) == HDX_OK))
        code = remove_others(&p->b->work, &p->b->saving, p, done, err);
    return code;
}

bool hdx_checkpoint_find_resume_files(hdx_work *w, hdx_saving *saving)
{
    struct stat st;
    char        path[4200];
    hdx_error   err;
    (void)snprintf(path, sizeof path, "%s/" HDX_RESUME_SCAN, w->folder);
    saving->has_scan = hdx_checkpoint_is_plain(w) && w->io->stat(w->io, path, &st) >= 0;
    (void)snprintf(path, sizeof path, "%s/" HDX_RESUME_COLUMNS, w->folder);
    saving->has_columns = saving->has_scan && w->io->stat(w->io, path, &st) >= 0;
    hdx_seal_get(w, saving);
    saving->sealed = saving->has_scan && hdx_seal_has(w, saving, HDX_RESUME_SCAN) &&
                     (!saving->has_columns ||
                      (hdx_seal_has(w, saving, HDX_RESUME_COLUMNS) && hdx_seal_has(w, saving, "references.tmp")));
    saving->unproven = !saving->sealed;
    return saving->has_scan && remove_others(w, saving, NULL, 0, &err) == HDX_OK;
}
