/*
 * fuzz_folder.c - the index folder of a small dump, its files changed, cut, grown and exchanged as the input says,
 * opened and asked.
 *
 * Sums left as they were: each answer is the one that the sound index gives, or damage. Sums made right again after
 * the change, from the blocks up to the manifest: the answers may be nonsense, but they end, and they touch nothing
 * that is not theirs.
 *
 *   input   0 bit 0: repair the sums; bit 1: garbage too | 1 question to begin with | then edits of 12 bytes:
 *           file u8 | operation u8 | value u8 | length u8 | at u32 | from u32
 */
#include "graph/graph.h"
#include "making/heap_model.h"
#include "catalog/values.h"
#include "fuzz/ask.h"
#include "fuzz/folder.h"
#include "indexes/container/container.h"
#include "tests/indexes/hostile.h"

#include <unistd.h>

#define FILES (HDX_KINDS - HDX_CUT_KINDS + 2u)
/* Place of catalog.mdb; catalog.sum is the next, then kinds that came later: so the corpus keeps its meaning. */
#define CATALOG        14u
#define PLACE_OF(kind) ((kind) < CATALOG ? (kind) : (kind) + 2u)
#define EDIT           12u
#define QUESTIONS      12u /* in one run: all of them take long, and damage once met is the answer to all that follow */

typedef struct piece {
    char     path[FOLDER_PATH];
    uint8_t *at;
    size_t   len;
    size_t   cut; /* where it ends, or with repaired sums the section that this lies in */
    bool     there, changed;
} piece;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char   dump[FOLDER_PATH], index_path[FOLDER_PATH];
static piece  sound[FILES];
static answer right[2][ASK_QUESTIONS]; /* of the sound index, by scope */
static bool   ready;

static void must(bool ok, const char *what, const hdx_error *err)
{
    if (ok)
        return;
    fprintf(stderr, "%s: %s: %s: %s\n", what, hdx_code_name(err->code), err->where, err->message);
    abort();
}

static void load(piece *p)
{
    FILE *f = fopen(p->path, "rb");
    p->there = f != NULL;
    if (f == NULL)
        return;
    (void)fseek(f, 0, SEEK_END);
    p->len = (size_t)ftell(f);
    rewind(f);
    free(p->at);
    p->at = malloc(p->len + 1);
    if (p->at == NULL || fread(p->at, 1, p->len, f) != p->len)
        abort();
    (void)fclose(f);
}

static void end(void)
{
    for (unsigned i = 0; i < FILES; i++)
        free(sound[i].at);
}

/* Makes the index once, and what it answers while it is sound. */
/* What an index keeps is part of what is told about it, and of a changed index it is no answer of the next one. */
static void forget_notes(void)
{
    char path[4160];
    for (uint64_t key = 0; key < HDX_NOTE_KEYS; key++) {
        (void)snprintf(path, sizeof path, "%s/%s", index_path, hdx_graph_saved_name(key));
        (void)unlink(path);
    }
}

static void prepare(void)
{
    static heap_model model;
    hdx_error         err = { .code = HDX_OK };
    hdx_index_report  report;
    hdx_graph        *g;
    size_t            len;
    folder_path(dump, "a.hprof");
    folder_path(index_path, "a.hdx");
    dump_maker    *m = model_make(&model, 11, 300, 8);
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    folder_save(dump, bytes, len);
    dump_maker_free(m);
    hdx_index_options options = { .dump = dump, .index_dir = index_path, .threads = 1 };
    must(hdx_index_build(&options, &report, &err) == HDX_OK, "build", &err);
    for (unsigned i = 0; i < FILES; i++) {
        char       name[64];
        const bool kind = i != CATALOG && i != CATALOG + 1;
        (void)snprintf(name, sizeof name,
                       kind           ? "a.hdx/%s.hdx"
                       : i == CATALOG ? "a.hdx/catalog.mdb"
                                      : "a.hdx/catalog.sum",
                       kind ? hdx_kind_name((hdx_kind)(i < CATALOG ? i : i - 2)) : "");
        folder_path(sound[i].path, name);
        load(&sound[i]);
    }
    must(hdx_graph_open(index_path, dump, &g, &err) == HDX_OK, "open", &err);
    for (unsigned scope = 0; scope < 2; scope++)
        for (unsigned q = 0; q < ASK_QUESTIONS; q++) {
            forget_notes();
            right[scope][q] = ask(g, q, scope == 0 ? HDX_LIVE : HDX_ALL);
        }
    hdx_graph_close(g);
    if (atexit(end) != 0)
        abort();
    ready = true;
}

static void copy_of(piece *to, const piece *from)
{
    *to = *from;
    to->cut = SIZE_MAX;
    to->at = malloc(from->len + 256);
    if (to->at == NULL)
        abort();
    if (from->len > 0)
        memcpy(to->at, from->at, from->len);
}

/* One edit. */
static void edit(piece *files, const uint8_t *e)
{
    piece *p = &files[e[0] % FILES], *other = &files[e[2] % FILES];
    size_t at, from, n = 1u + e[3] % 64u;
    if (!p->there || p->len == 0)
        return;
    at = hdx_le32(e + 4) % p->len;
    from = hdx_le32(e + 8) % p->len;
    n = n > p->len - (at > from ? at : from) ? p->len - (at > from ? at : from) : n;
    p->changed = true;
    switch (e[1] % 7) {
    case 0: p->at[at] = e[2]; break;
    case 1: p->at[at] ^= (uint8_t)(1u << e[2] % 8); break;
    case 2: p->cut = at; break;
    case 3: memmove(p->at + at, p->at + from, n); break;
    case 4: memset(p->at + at, e[2], n); break;
    case 5:
        if (p->len < sound[p - files].len + 256) /* one byte more */
            p->at[p->len++] = e[2];
        break;
    default: /* two files change places */
        if (!other->there || other == p)
            break;
        other->changed = true;
        uint8_t *bytes = p->at;
        size_t   len = p->len;
        p->at = other->at, p->len = other->len;
        other->at = bytes, other->len = len;
        break;
    }
}

static void save(const piece *p) { folder_save(p->path, p->at, p->cut < p->len ? p->cut : p->len); }

/* Writes the sections of a changed file with right sums; what the manifest is to say of it. */
static void save_repaired(const piece *p, hdx_kind kind, const uint8_t identity[16], hdx_manifest_file *says)
{
    const piece    *was = &sound[kind];
    hdx_index_place place = { .io = hdx_io_system(), .folder = index_path, .threads = 1 };
    hdx_view        sections[HDX_SECTIONS];
    hdx_index_file  file;
    uint64_t        counts[3];
    unsigned        n = hostile_sections(was->at, was->len, sections);
    memcpy(place.identity, identity, sizeof place.identity);
    for (unsigned i = 0; i < n; i++) { /* where they lay; a file of another kind may be shorter */
        size_t start = (size_t)(sections[i].at - was->at), stop = start + sections[i].len;
        stop = stop > p->len ? p->len : stop;
        if (p->cut > start && p->cut < stop)
            stop = p->cut;
        sections[i] = start < stop ? (hdx_view){ p->at + start, stop - start } : (hdx_view){ p->at, 0 };
    }
    for (unsigned i = 0; i < 3; i++)
        counts[i] = p->len >= HDX_HEAD_BYTES ? hdx_le64(p->at + 32 + 8 * i) : 0;
    if (hostile_write(&place, kind, counts, sections, n, &file) != HDX_OK)
        abort();
    says->bytes = file.bytes;
    says->sum = file.sum;
}

/* The sound catalog with another manifest. */
static void save_catalog(const hdx_manifest *m)
{
    hdx_io               *io = hdx_io_system();
    hdx_catalog          *c;
    hdx_catalog_writer   *w;
    const hdx_class      *classes;
    const hdx_root       *roots;
    const hdx_thread     *threads;
    const hdx_heap_space *heaps;
    uint32_t              class_count = 0;
    uint64_t              root_count = 0, thread_count = 0, heap_count = 0;
    hdx_error             err = { .code = HDX_OK };
    must(hdx_catalog_open(io, index_path, &c, &err) == HDX_OK &&
             hdx_catalog_classes(c, &classes, &class_count, &err) == HDX_OK &&
             hdx_catalog_roots(c, &roots, &root_count, &err) == HDX_OK &&
             hdx_catalog_threads(c, &threads, &thread_count, &err) == HDX_OK &&
             hdx_catalog_heaps(c, &heaps, &heap_count, &err) == HDX_OK &&
             hdx_catalog_create(io, index_path, NULL, &w, &err) == HDX_OK,
         "catalog", &err);
    for (uint32_t i = 0; i < class_count; i++)
        must(hdx_catalog_put_class(w, &classes[i], &err) == HDX_OK, "class", &err);
    must(hdx_catalog_put_roots(w, roots, root_count, &err) == HDX_OK &&
             hdx_catalog_put_threads(w, threads, thread_count, &err) == HDX_OK &&
             hdx_catalog_put_heaps(w, heaps, heap_count, &err) == HDX_OK &&
             hdx_catalog_put_manifest(w, m, &err) == HDX_OK && hdx_catalog_commit(w, &err) == HDX_OK,
         "catalog", &err);
    hdx_catalog_close(c);
}

static void repair(piece *files, const uint8_t *edits, size_t edit_count)
{
    hdx_catalog *c;
    hdx_manifest m;
    hdx_error    err = { .code = HDX_OK };
    piece        catalog = { .at = NULL };
    uint8_t      identity[16], sum[HDX_SUM_SIZE];
    must(hdx_catalog_open(hdx_io_system(), index_path, &c, &err) == HDX_OK, "catalog", &err);
    m = *hdx_catalog_manifest(c);
    memcpy(identity, m.identity, sizeof identity);
    for (unsigned i = 0; i < HDX_KINDS - HDX_CUT_KINDS; i++)
        if (files[PLACE_OF(i)].there && files[PLACE_OF(i)].changed)
            save_repaired(&files[PLACE_OF(i)], (hdx_kind)i, identity, &m.files[i]);
    save_catalog(&m);
    hdx_catalog_close(c);
    if (!files[CATALOG].changed)
        return;
    /* The catalog is another file now: the edits that were meant for it are made again. */
    memcpy(catalog.path, files[CATALOG].path, sizeof catalog.path);
    load(&catalog);
    for (size_t i = 0; i < edit_count; i++) {
        const uint8_t *e = edits + EDIT * i;
        if (e[0] % FILES == CATALOG)
            catalog.at[hdx_le32(e + 4) % catalog.len] ^= e[2];
    }
    folder_save(catalog.path, catalog.at, catalog.len);
    hdx_encode_sum(sum, identity, catalog.len, hdx_crc32c(0, catalog.at, catalog.len));
    folder_save(files[CATALOG + 1].path, sum, sizeof sum);
    free(catalog.at);
}

static void ask_all(unsigned first, unsigned scope, bool repaired)
{
    hdx_graph *g;
    hdx_error  err = { .code = HDX_OK };
    hdx_code   code = hdx_graph_open(index_path, dump, &g, &err);
    if (code != HDX_OK) {
        must(code == HDX_DAMAGED || code == HDX_NOT_FOUND || code == HDX_LIMIT, "open", &err);
        return;
    }
    for (unsigned i = 0; i < QUESTIONS; i++) {
        unsigned question = (first + i) % ASK_QUESTIONS;
        forget_notes();
        answer a = ask(g, question, scope == 0 ? HDX_LIVE : HDX_ALL), want = right[scope][question];
        err.code = a.code;
        (void)snprintf(err.message, sizeof err.message, "question %u", question);
        must(repaired || a.code == HDX_DAMAGED || (a.code == want.code && a.rows == want.rows && a.sum == want.sum),
             "another answer", &err);
    }
    code = hdx_graph_verify(g, true, &err);
    must(code == HDX_OK || code == HDX_DAMAGED || repaired, "verify", &err);
    hdx_graph_close(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    piece files[FILES];
    if (!ready)
        prepare();
    if (size < 2)
        return 0;
    size_t edits = (size - 2) / EDIT > 16 ? 16 : (size - 2) / EDIT;
    bool   repaired = (data[0] & 1) != 0;
    for (unsigned i = 0; i < FILES; i++)
        copy_of(&files[i], &sound[i]);
    for (size_t i = 0; i < edits; i++)
        edit(files, data + 2 + EDIT * i);
    if (repaired)
        repair(files, data + 2, edits);
    else
        for (unsigned i = 0; i < FILES; i++)
            if (files[i].there && files[i].changed)
                save(&files[i]);
    ask_all(data[1], data[0] >> 1 & 1, repaired);
    for (unsigned i = 0; i < FILES; i++) {
        if (sound[i].there && (repaired || files[i].changed))
            folder_save(sound[i].path, sound[i].at, sound[i].len);
        free(files[i].at);
    }
    return 0;
}
