/*
 * test_told.c - every table of several small dumps, whole, damaged and stripped, with what manifests say of them.
 * told.txt has the checksums (support/checksums.h): of a dump, what is said of it, and a table.
 */
#include "cli/leaky.h"
#include "cli/odd.h"
#include "fleet/written.h"
#include "query/sample_dump.h"
#include "support/checksums.h"

static void make_cut(const char *from, const char *to)
{
    static uint8_t bytes[1 << 20];
    FILE          *f = fopen(from, "rb");
    const size_t   len = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    dump_maker_save_bytes(to, bytes, len * 3 / 4);
}

static void make_stripped(const char *from, const char *to, hdx_strip_policy policy)
{
    hdx_strip_report        report;
    hdx_error               err;
    const hdx_strip_options strip = { .dump = from, .output = to, .policy = policy };
    cr_assert(hdx_strip_write(&strip, &report, &err) == HDX_OK, "%s", err.message);
}

/* Zeros after a dump are a warning. */
static void make_longer(const char *from, const char *to)
{
    static uint8_t bytes[1 << 20];
    FILE          *f = fopen(from, "rb");
    const size_t   len = fread(bytes, 1, sizeof bytes - 100, f);
    fclose(f);
    memset(bytes + len, 0, 100);
    dump_maker_save_bytes(to, bytes, len + 100);
}

/* Two dumps in a file, and zeros after them; of the first some objects have id 0, more than are told of. */
static void make_much(const char *path)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
    const uint64_t node = dump_maker_class(m, "app/Node", object, "next:L");
    for (unsigned i = 0; i < 1003; i++)
        (void)dump_maker_instance_at(m, 0, node, NULL);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_instance(m, node, DUMP_VALUES(0)), 0, 0);
    dump_maker_end(m);
    (void)dump_maker_instance(m, node, DUMP_VALUES(0));
    dump_maker_save(m, path);
    dump_maker_free(m);
    make_longer(path, path);
}

static void make_dumps(void)
{
    dump_maker *m = sample_dump(8, 0, 0);
    dump_maker_save(m, "town");
    dump_maker_free(m);
    odd_make("odd");
    leaky_make("leaky", true);
    make_cut("odd", "cut");
    make_longer("town", "longer");
    make_much("much");
    make_stripped(HDX_TREE "/examples/bookshop.hprof.gz", "koom", HDX_STRIP_KOOM);
    make_stripped(HDX_TREE "/examples/bookshop.hprof.gz", "shark", HDX_STRIP_SHARK);
}

typedef struct written {
    fleet_test t;
    char       of[64]; /* the dump whose tables are there */
} written;

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    static const hdx_argument said[] = { { "host", "h1" },      { "application", "shop" }, { "floor", "3" },
                                         { "time", "now" },     { "release", "1.2" },      { "host", "h2" },
                                         { "floor", NULL },     { "empty", "" },           { "dump", "x" },
                                         { "dump_id", "other" } };
    written                  *w = context;
    char                      dump[32], table[64], key[64];
    unsigned                  from, count;
    cr_assert(sscanf(ask, "%31s %u %u %63s", dump, &from, &count, table) == 4 && from + count <= HDX_COUNT(said), "%s",
              ask);
    (void)snprintf(key, sizeof key, "%s %u %u", dump, from, count);
    if (strcmp(key, w->of) != 0) {
        hdx_session_close(w->t.s);
        fleet_open(&w->t, dump, dump);
        w->t.o.tables = "objects,references,dominators_full";
        w->t.o.manifest = said + from;
        w->t.o.manifest_count = count;
        fleet_write(&w->t, HDX_FLEET_CSV, "a");
        (void)snprintf(w->of, sizeof w->of, "%s", key);
    }
    char *text = fleet_read(&w->t, HDX_FLEET_CSV, "a", table);
    if (strcmp(table, "dump") == 0) { /* not when it was indexed */
        free(text);
        text = fleet_read_part(&w->t, HDX_FLEET_CSV, "a", table, (fleet_part){ 0, 12 });
    }
    hdx_buffer_text(b, text);
    free(text);
    return b->len;
}

Test(told, tables_are_what_they_were, .timeout = 60)
{
    written w = { .of = "" };
    fleet_begin(&w.t, NULL);
    cr_assert(chdir(w.t.folder) == 0);
    make_dumps();
    checksums_check(HDX_TREE "/tests/fleet/told.txt", text_of, &w);
    cr_assert(chdir("/") == 0);
    fleet_end(&w.t);
}
