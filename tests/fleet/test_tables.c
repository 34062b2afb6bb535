/*
 * test_tables.c - what the tables of a dump hold: the cells of the single commands, the keys that are added to them,
 * and the same in every format.
 */
#include "fleet/written.h"

#include <errno.h>

#define ALL "dominators_full,objects,references"

/* "histogram --by package --retained" as arguments, in `words`; gives their count. */
static size_t read_command(char *words, const char **answer, hdx_argument out[12])
{
    size_t count = 0;
    *answer = strsep(&words, " ");
    while (words != NULL && *words != '\0') {
        out[count].name = strsep(&words, " ") + 2;
        out[count].value = NULL;
        if (words != NULL && *words == '\'') {
            words++;
            out[count].value = strsep(&words, "'");
            words += words != NULL && *words == ' ';
        } else if (words != NULL && strncmp(words, "--", 2) != 0) {
            out[count].value = strsep(&words, " ");
        }
        count++;
    }
    return count;
}

static char *of_command(fleet_test *t, const hdx_fleet_declared *d, unsigned answered)
{
    char         words[256];
    hdx_argument arguments[12];
    const char  *answer;
    hdx_rows    *rows;
    hdx_buffer   columns = hdx_buffer_of(NULL);
    (void)snprintf(words, sizeof words, "%s", d->command);
    size_t count = read_command(words, &answer, arguments);
    for (unsigned i = 1; i <= answered; i++)
        hdx_buffer_format(&columns, "%s%s", i > 1 ? "," : "", d->columns[i].name);
    arguments[count++] = (hdx_argument){ "columns", columns.at };
    cr_assert(hdx_answer_run(t->s, answer, arguments, count, &rows, &t->err) == HDX_OK, "%s: %s", d->command,
              t->err.message);
    char *text = rows_text(rows, 0, answered);
    hdx_buffer_free(&columns);
    return text;
}

Test(tables, have_the_cells_of_the_single_commands)
{
    fleet_test         t;
    hdx_fleet_declared d;
    unsigned           compared = 0;
    fleet_begin(&t, HDX_TREE "/examples/bookshop.hprof.gz");
    t.o.tables = ALL;
    fleet_write(&t, HDX_FLEET_PARQUET, "shop");
    for (unsigned i = 0; hdx_fleet_table_at(i, &d); i++) {
        hdx_column columns[HDX_FLEET_MOST_COLUMNS];
        unsigned   answered;
        if (d.command[0] == '\0')
            continue;
        (void)hdx_fleet_columns(hdx_fleet_table(i), columns, &answered);
        char *has = fleet_read_part(&t, HDX_FLEET_PARQUET, "shop", d.name, (fleet_part){ 1, answered });
        char *id = fleet_read_part(&t, HDX_FLEET_PARQUET, "shop", d.name, (fleet_part){ 0, 1 });
        char *want = of_command(&t, &d, answered);
        cr_expect(strcmp(has, want) == 0, "%s has\n%.1000s\nand %s\n%.1000s", d.name, has, d.command, want);
        cr_expect(strncmp(id, "shop|\nshop|\n", *id == '\0' ? 0 : 6) == 0, "%s: %.20s", d.name, id);
        cr_expect((*has != '\0') == (strcmp(d.name, "leaks") != 0), "%s", d.name);
        compared++;
        free(has);
        free(want);
        free(id);
    }
    cr_expect(compared == 14, "%u tables", compared);
    fleet_end(&t);
}

Test(tables, are_the_same_in_every_format)
{
    fleet_test         t;
    hdx_fleet_declared d;
    char              *want[32];
    unsigned           count = 0;
    const hdx_argument manifest[] = { { "release", "2,1 \"b\"" }, { "team", "=books" }, { "empty", NULL } };
    fleet_begin(&t, HDX_TREE "/examples/bookshop.hprof.gz");
    t.o.manifest = manifest;
    t.o.manifest_count = 3;
    t.o.tables = ALL;
    fleet_write(&t, HDX_FLEET_PARQUET, "0017");
    for (; hdx_fleet_table_at(count, &d); count++)
        want[count] = fleet_read(&t, HDX_FLEET_PARQUET, "0017", d.name);
    fleet_write(&t, HDX_FLEET_CSV, "0017"); /* in its place */
    fleet_write(&t, HDX_FLEET_SQLITE, "0017");
    cr_expect(entries(&t, "tables/dump_id=0017", "") == count);
    for (unsigned i = 0; i < count; i++) {
        (void)hdx_fleet_table_at(i, &d);
        expect_table(&t, HDX_FLEET_CSV, "0017", d.name, want[i]);
        expect_table(&t, HDX_FLEET_SQLITE, "0017", d.name, want[i]);
        free(want[i]);
    }
    expect_table(&t, HDX_FLEET_CSV, "0017", "manifest", "0017|team|=books|\n0017|empty||\n");
    fleet_end(&t);
}

Test(tables, say_once_what_the_dump_is)
{
    fleet_test         t;
    const hdx_argument manifest[] = { { "application", "shop" }, { "time", "2026-11-21" } };
    fleet_begin(&t, HDX_TREE "/examples/bookshop.hprof.gz");
    t.o.manifest = manifest;
    t.o.manifest_count = 2;
    t.o.file = "dumps/bookshop.hprof.gz";
    t.o.seconds = 1.5;
    t.o.peak_bytes = 1000000;
    fleet_write(&t, HDX_FLEET_CSV, "a");
    expect_table(&t, HDX_FLEET_CSV, "a", "dump",
                 "a|shop|||2026-11-21|done|dumps/bookshop.hprof.gz|JAVA PROFILE 1.0.2||0|1.5|1000000|" HEAPDEX_VERSION
                 "|1|4463663|640020|gzip|8|4||2026-11-21T17:07:13.645Z|23875|24100|2788024|225|6616|632|4|8|584|"
                 "1|\n");
    expect_table(&t, HDX_FLEET_CSV, "a", "problems", "");
    fleet_end(&t);
}

static void expect_time(const hdx_argument *manifest, size_t count, const char *want)
{
    static const hdx_fleet_format formats[] = { HDX_FLEET_CSV, HDX_FLEET_SQLITE, HDX_FLEET_PARQUET };
    for (size_t i = 0; i < HDX_COUNT(formats); i++) {
        fleet_test t;
        fleet_begin(&t, HDX_TREE "/examples/bookshop.hprof.gz");
        t.o.manifest = manifest;
        t.o.manifest_count = count;
        fleet_write(&t, formats[i], "a");
        char *text = fleet_read(&t, formats[i], "a", "dump");
        cr_expect(strncmp(text, want, strlen(want)) == 0, "%zu: %s", i, text);
        free(text);
        fleet_end(&t);
    }
}

Test(tables, have_the_time_of_the_dump_where_the_manifest_has_none)
{
    const hdx_argument without[] = { { "application", "shop" } }, empty[] = { { "time", "" } },
                       null[] = { { "time", NULL } }, said[] = { { "time", "last night" } };
    expect_time(NULL, 0, "a||||2026-11-21T17:07:13.645Z|done|");
    expect_time(without, 1, "a|shop|||2026-11-21T17:07:13.645Z|done|");
    expect_time(empty, 1, "a||||2026-11-21T17:07:13.645Z|done|");
    expect_time(null, 1, "a||||2026-11-21T17:07:13.645Z|done|");
    expect_time(said, 1, "a||||last night|done|");
}

/* ---- what is added ---- */

static void expect_key(const fleet_added *added, const char *from, const char *want)
{
    fleet_dump     d = { .arena = hdx_arena_of(NULL) };
    hdx_arena      arena = hdx_arena_of(NULL);
    const hdx_cell cell = hdx_cell_string(from);
    hdx_cell       out = hdx_cell_null();
    cr_assert(added->make(&d, &cell, &arena, &out, NULL) == HDX_OK);
    if (want == NULL)
        cr_expect(out.kind == HDX_CELL_NULL);
    else
        cr_expect(out.kind == HDX_CELL_TEXT && hdx_text_is(out.as.text, want), "%s: %.*s", from, (int)out.as.text.len,
                  out.as.text.at);
    hdx_arena_free(&arena);
}

Test(added, class_keys_are_without_what_differs_from_run_to_run)
{
    static const char *const names[][2] = {
        { "app.Shop", "app.Shop" },
        { "app.Shop$1", "app.Shop$1" },
        { "app.Shop$$Lambda+0x00007f2a", "app.Shop$$Lambda*" },
        { "app.Shop$$Lambda$14/0x0000000800c03000[]", "app.Shop$$Lambda*[]" },
        { "jdk.proxy2.$Proxy17", "jdk.proxy*.$Proxy*" },
        { "sun.reflect.GeneratedMethodAccessor7", "sun.reflect.GeneratedMethodAccessor*" },
        { "app.Cart$$EnhancerBySpringCGLIB$$1a2b3c4d", "app.Cart$$EnhancerBySpringCGLIB$$*" },
        { "app.Cart$$SpringCGLIB$$0", "app.Cart$$SpringCGLIB$$*" },
        { "app.Cart$ByteBuddy$xYz12[][]", "app.Cart$ByteBuddy$*[][]" },
        { "app.Cart$HibernateProxy$aBc", "app.Cart$HibernateProxy$*" },
        { "app.Cart$MockitoMock$99", "app.Cart$MockitoMock$*" },
        { "app.Cart_$$_jvst1f2_0", "app.Cart_$$_jvst*" },
        { "CGLIB$$", "CGLIB$$" },
        { "", "" },
        { NULL, NULL },
    };
    for (size_t i = 0; i < HDX_COUNT(names); i++)
        expect_key(&hdx_fleet_class_key, names[i][0], names[i][1]);
}

Test(added, pools_are_names_without_numbers)
{
    expect_key(&hdx_fleet_pool, "http-worker-17", "http-worker-#");
    expect_key(&hdx_fleet_pool, "17 of 3", "# of #");
    expect_key(&hdx_fleet_pool, "main", "main");
    expect_key(&hdx_fleet_pool, "7", "#");
    expect_key(&hdx_fleet_pool, "", "");
    expect_key(&hdx_fleet_pool, NULL, NULL);
}

static bool has_line(const fleet_test *t, const char *table, const char *begin, const char *end)
{
    char *text = fleet_read(t, HDX_FLEET_CSV, "a", table);
    bool  found = false;
    for (char *line, *at = text; !found && (line = strsep(&at, "\n")) != NULL;) {
        const size_t len = strlen(line), tail = strlen(end);
        found = strncmp(line, begin, strlen(begin)) == 0 && len >= tail && strcmp(line + len - tail, end) == 0;
    }
    free(text);
    return found;
}

/* A static field keeps a list, which keeps an array: that path is the same in any dump. */
Test(added, statics_are_their_classes_and_paths_lead_down_to_an_object)
{
    fleet_test  t;
    dump_maker *m = dump_maker_new(8);
    char        dump[128];
    uint64_t    refs[8];
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    uint64_t array = dump_maker_class(m, "[Ljava.lang.Object;", object, "");
    uint64_t list = dump_maker_class(m, "app.List$$Lambda$7", object, "items:L");
    for (unsigned i = 0; i < 8; i++)
        refs[i] = dump_maker_instance(m, object, NULL);
    uint64_t items = dump_maker_array(m, array, refs, 8);
    dump_maker_static(m, "all", 'L', dump_maker_instance(m, list, DUMP_VALUES(items)));
    uint64_t cache = dump_maker_class(m, "app.Cache", object, "");
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, cache, 0, 0);
    fleet_begin(&t, NULL);
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", t.folder);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    fleet_open(&t, dump, "a");
    fleet_write(&t, HDX_FLEET_CSV, "a");
    cr_expect(has_line(&t, "dominators", "a|", "|1|app.Cache|class app.Cache|"));
    cr_expect(has_line(&t, "dominators", "a|", "|2||class app.Cache > app.List$$Lambda*|"));
    cr_expect(has_line(&t, "dominators", "a|", "|3||class app.Cache > app.List$$Lambda* > java.lang.Object[]|"));
    cr_expect(has_line(&t, "dominators_by_class", "a|app.Cache|1|1|", "|app.Cache|"));
    cr_expect(has_line(&t, "classes", "a|app.List$$Lambda$7|0|1|", "|boot loader|app.List$$Lambda*|"));
    cr_expect(!has_line(&t, "dominators_by_class", "a|java.lang.Class|0|", ""));
    fleet_end(&t);
}

/* Objects and retained bytes of the rows of dominators that meet a condition. */
static void sum_up(fleet_test *t, const char *by, const char *where, uint64_t *objects, uint64_t *retained)
{
    const hdx_argument arguments[] = { { "by", by }, { "where", where }, { "columns", "objects,retained" } };
    const hdx_cell    *cells;
    hdx_rows          *rows;
    cr_assert(hdx_answer_run(t->s, "dominators", arguments, 3, &rows, &t->err) == HDX_OK, "%s", t->err.message);
    for (*objects = *retained = 0; hdx_rows_next(rows, &cells);) {
        *objects += cells[0].as.natural;
        *retained += cells[1].as.natural;
    }
    cr_assert(hdx_rows_end(rows, &t->err) == HDX_OK);
    hdx_rows_close(rows);
}

Test(added, statics_of_each_class_add_up_to_what_all_class_objects_hold)
{
    fleet_test t;
    uint64_t   objects, retained, all_objects, all_retained;
    fleet_begin(&t, HDX_TREE "/examples/bookshop.hprof.gz");
    sum_up(&t, "owner", "statics = true", &objects, &retained);
    sum_up(&t, "class", "class = java.lang.Class", &all_objects, &all_retained);
    /* int.class and its like are no class objects of the dump: nine, of 72 bytes each */
    cr_expect(objects == 579 && objects + 9 == all_objects && retained + 648 == all_retained,
              "%llu objects, %llu bytes", (unsigned long long)objects, (unsigned long long)retained);
    sum_up(&t, "owner", "objects > 0", &objects, &retained);
    sum_up(&t, "class", "objects > 0", &all_objects, &all_retained);
    cr_expect(objects == all_objects && retained == all_retained);
    fleet_end(&t);
}

/* ---- what is not there ---- */

Test(tables, of_a_dump_that_failed_say_so_and_nothing_else)
{
    fleet_test         t;
    hdx_fleet_declared d;
    const hdx_error    failure = { .code = HDX_BAD_DUMP, .message = "no heap dump" };
    const hdx_argument manifest = { "host", "h1" };
    fleet_begin(&t, NULL);
    t.o.failure = &failure;
    t.o.manifest = &manifest;
    t.o.manifest_count = 1;
    t.o.file = "x.txt";
    t.o.seconds = 0.5;
    t.o.peak_bytes = 1;
    fleet_write(&t, HDX_FLEET_PARQUET, "x");
    for (unsigned i = 0; hdx_fleet_table_at(i, &d); i++)
        if (!d.on_demand && strcmp(d.name, "dump") != 0 && strcmp(d.name, "problems") != 0)
            expect_table(&t, HDX_FLEET_PARQUET, "x", d.name, "");
    expect_table(&t, HDX_FLEET_PARQUET, "x", "dump",
                 "x||h1|||failed|x.txt||||0.5|1|" HEAPDEX_VERSION "|1||||||||||||||||||\n");
    expect_table(&t, HDX_FLEET_PARQUET, "x", "problems", "x||bad_dump|no heap dump|\n");
    fleet_end(&t);
}

Test(tables, of_a_damaged_dump_name_the_damage)
{
    fleet_test t;
    char       dump[128];
    uint64_t   len;
    char      *bytes = file_bytes(HDX_TREE "/examples/bookshop.hprof.gz", &len);
    fleet_begin(&t, NULL);
    (void)snprintf(dump, sizeof dump, "%s/cut.hprof.gz", t.folder);
    dump_maker_save_bytes(dump, bytes, len * 2 / 3);
    free(bytes);
    fleet_open(&t, dump, "cut");
    fleet_write(&t, HDX_FLEET_CSV, "a");
    cr_expect(has_line(&t, "problems", "a||damage|truncated at offset 0x", " bytes lost|"));
    cr_expect(has_line(&t, "dump", "a||||2026-11-21T17:07:13.645Z|done|cut.hprof.gz|JAVA PROFILE 1.0.2||2|", "|1|"));
    cr_expect(has_line(&t, "classes", "a|java.lang.String|0|", "|boot loader|java.lang.String|"));
    fleet_end(&t);
}

Test(tables, of_a_stripped_dump_name_the_tool_and_what_it_affects)
{
    fleet_test        t;
    char              dump[128];
    hdx_strip_report  report;
    hdx_strip_options strip = { .dump = HDX_TREE "/examples/bookshop.hprof.gz",
                                .output = dump,
                                .policy = HDX_STRIP_KOOM };
    fleet_begin(&t, NULL);
    (void)snprintf(dump, sizeof dump, "%s/koom.hprof", t.folder);
    cr_assert(hdx_strip_write(&strip, &report, &t.err) == HDX_OK, "%s", t.err.message);
    fleet_open(&t, dump, "koom");
    fleet_write(&t, HDX_FLEET_CSV, "a");
    cr_expect(has_line(&t, "problems", "a||stripped|stripped by koom, which affects strings", "|"));
    cr_expect(has_line(&t, "dump", "a||||2026-11-21T17:07:13.645Z|done|koom.hprof|JAVA PROFILE 1.0.2|koom|0|", "|1|"));
    cr_expect(has_line(&t, "threads", "a|", "||"), "names of threads are not known");
    fleet_end(&t);
}

/* What does not fit costs its table the rows, and nothing else. */
Test(tables, of_which_an_answer_fails_are_empty_and_the_others_are_not)
{
    for (int format = HDX_FLEET_CSV; format <= HDX_FLEET_SQLITE; format++) { /* Parquet itself takes more */
        fleet_test t;
        fleet_begin(&t, HDX_TREE "/examples/bookshop.hprof.gz");
        hdx_session_limit(t.s, 3000000);
        fleet_write(&t, (hdx_fleet_format)format, "a");
        expect_table(&t, (hdx_fleet_format)format, "a", "collections", "");
        char *problems = fleet_read(&t, (hdx_fleet_format)format, "a", "problems");
        char *roots = fleet_read(&t, (hdx_fleet_format)format, "a", "roots");
        cr_expect(strstr(problems, "a|collections|limit|no memory") != NULL, "%s", problems);
        cr_expect(strncmp(roots, "a|SYSTEM_CLASS|544|544|", 23) == 0, "%s%s", roots, problems);
        free(problems);
        free(roots);
        fleet_end(&t);
    }
}

Test(tables, that_there_are_none_of_are_refused)
{
    fleet_test t;
    fleet_begin(&t, HDX_TREE "/examples/bookshop.hprof.gz");
    t.o.tables = "objects,object";
    cr_expect(fleet_try(&t, HDX_FLEET_CSV, "a") == HDX_USAGE);
    cr_expect(strcmp(t.err.message, "unknown table 'object'") == 0, "%s", t.err.message);
    cr_expect(access(t.out, F_OK) != 0);
    fleet_end(&t);
}

/* ---- answers that fail in other ways than for want of memory ---- */

static unsigned asked, once_at; /* how often it was asked whether to stop, and when the answer is yes */

static bool stop_once(void *context)
{
    (void)context;
    return ++asked == once_at;
}

Test(tables, are_not_written_when_whoever_waits_for_them_stops_waiting)
{
    fleet_test              t;
    unsigned                stopped = 0;
    const hdx_index_options options = { .dump = HDX_TREE "/examples/bookshop.hprof.gz",
                                        .index_dir = t.index,
                                        .threads = 1,
                                        .progress = { NULL, NULL, stop_once } };
    fleet_begin(&t, HDX_TREE "/examples/bookshop.hprof.gz");
    hdx_session_close(t.s);
    once_at = 0;
    cr_assert(hdx_session_open(&options, &t.s, &t.err) == HDX_OK);
    asked = 0;
    fleet_write(&t, HDX_FLEET_CSV, "a");
    for (unsigned n = 1, all = asked; n <= all; n += 1 + all / 60) {
        asked = 0;
        once_at = n;
        const hdx_code code = fleet_try(&t, HDX_FLEET_CSV, "b");
        if (asked < n) /* what the session knows by now is not asked for again */
            break;
        cr_expect(code == HDX_CANCELLED, "%u of %u: %d", n, all, code);
        cr_expect(entries(&t, "tables", "dump_id=b") == 0 && entries(&t, "tables", ".") == 0);
        stopped += code == HDX_CANCELLED;
    }
    cr_expect(stopped > 30, "%u", stopped);
    fleet_end(&t);
}

/* Texts of Strings are read from the dump, counts are not. */
Test(tables, of_which_the_dump_can_no_longer_be_read_say_so)
{
    static const char *const lack[] = { "classes", "loaders",     "dominators", "suspects",
                                        "threads", "collections", "strings" };
    fleet_test               t;
    char                     dump[128];
    uint64_t                 len;
    char                    *bytes = file_bytes(HDX_TREE "/examples/bookshop.hprof.gz", &len);
    fleet_begin(&t, NULL);
    (void)snprintf(dump, sizeof dump, "%s/shop.hprof.gz", t.folder);
    hdx_graph *g;
    dump_maker_save_bytes(dump, bytes, len);
    fleet_open(&t, dump, "a");
    cr_assert(hdx_session_graph(t.s, 0, &g, &t.err) == HDX_OK);
    for (uint64_t i = len / 4; i < len; i++)
        bytes[i] = 0;
    dump_maker_save_bytes(dump, bytes, len);
    fleet_write(&t, HDX_FLEET_CSV, "a");
    hdx_buffer want = hdx_buffer_of(NULL);
    for (size_t i = 0; i < HDX_COUNT(lack); i++) {
        hdx_buffer_format(&want, "a|%s|bad_dump|the dump changed since it was indexed|\n", lack[i]);
        expect_table(&t, HDX_FLEET_CSV, "a", lack[i], "");
    }
    expect_table(&t, HDX_FLEET_CSV, "a", "problems", want.at);
    cr_expect(has_line(&t, "packages", "a|java.lang|", "|"));
    hdx_buffer_free(&want);
    free(bytes);
    fleet_end(&t);
}

static int64_t (*read_of_disk)(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset);
static unsigned reads, read_that_fails;

static int64_t read_or_fail(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset)
{
    return ++reads == read_that_fails ? -EIO : read_of_disk(io, fd, to, len, offset);
}

/* A disk may well give tomorrow what it did not give today: no table is there that has fewer rows for that. */
Test(tables, are_not_written_when_a_disk_fails_to_give_the_dump)
{
    hdx_io    *disk = hdx_io_system();
    unsigned   all = UINT_MAX, failed = 0;
    hdx_graph *g;
    read_of_disk = disk->read_at;
    for (unsigned n = 0; n <= all; n++) { /* 0: none fails, and all are counted */
        fleet_test t;
        fleet_begin(&t, HDX_TREE "/examples/bookshop.hprof.gz");
        cr_assert(hdx_session_graph(t.s, 0, &g, &t.err) == HDX_OK);
        reads = 0;
        read_that_fails = n;
        disk->read_at = read_or_fail;
        const hdx_code code = fleet_try(&t, HDX_FLEET_CSV, "a");
        disk->read_at = read_of_disk;
        all = n == 0 ? reads : all;
        failed += code == HDX_IO;
        cr_expect(code == HDX_OK || (n > 0 && code == HDX_IO), "%u of %u: %d %s", n, all, code, t.err.message);
        cr_expect((entries(&t, "tables", "dump_id=a") > 0) == (code == HDX_OK), "%u of %u", n, all);
        if (code == HDX_OK) /* what could not be read is not needed, and no rows are missing */
            expect_table(&t, HDX_FLEET_CSV, "a", "problems", "");
        hdx_session_close(t.s);
        fleet_open(&t, HDX_TREE "/examples/bookshop.hprof.gz", "a");
        fleet_write(&t, HDX_FLEET_CSV, "a");
        expect_table(&t, HDX_FLEET_CSV, "a", "problems", "");
        fleet_end(&t);
    }
    cr_expect(failed >= 28, "%u", failed);
}

Test(tables, of_a_damaged_index_are_not_written)
{
    fleet_test t;
    unsigned   told = 0;
    DIR       *dir;
    hdx_graph *g;
    fleet_begin(&t, HDX_TREE "/examples/bookshop.hprof.gz");
    cr_assert(hdx_session_graph(t.s, 0, &g, &t.err) == HDX_OK);
    cr_assert((dir = opendir(t.index)) != NULL);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        char  path[512], id[300];
        FILE *f;
        (void)snprintf(path, sizeof path, "%s/%s", t.index, e->d_name);
        uint64_t len;
        if (e->d_type != DT_REG || (f = fopen(path, "r+b")) == NULL)
            continue;
        char *bytes = file_bytes(path, &len);
        for (uint64_t i = len / 8; i < len / 4; i++)
            (void)(fseek(f, (long)i, SEEK_SET) == 0 && fputc(0xff, f));
        fclose(f);
        (void)snprintf(id, sizeof id, "x%s", e->d_name);
        const hdx_code code = fleet_try(&t, HDX_FLEET_CSV, id);
        const bool     pages = strstr(e->d_name, ".hdx") != NULL;
        cr_expect(code == (pages ? HDX_DAMAGED : HDX_OK), "%s: %d", e->d_name, code);
        told += code == HDX_DAMAGED;
        f = fopen(path, "r+b");
        cr_assert(f != NULL && fwrite(bytes, 1, len, f) == len && fclose(f) == 0);
        free(bytes);
    }
    (void)closedir(dir);
    cr_expect(told > 12, "%u", told);
    fleet_end(&t);
}
