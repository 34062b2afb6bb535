/*
 * test_session.c - what a session has at each place before, at and behind its last dump; what it asks of a question
 * (hdx_answer_wanted); when a build answers early; what callers are told meanwhile.
 */
#include "answer/asks.h"
#include "strip/android_dump.h"

#include <criterion/new/assert.h>

static char         folder[TEST_FOLDER];
static hdx_session *s;
static hdx_error    err;

static void small_dump(const char *path, unsigned count)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
    const uint64_t node = dump_maker_class(m, "app/Node", object, "next:L");
    uint64_t       last = 0;
    for (unsigned i = 0; i < count; i++)
        last = dump_maker_instance(m, node, DUMP_VALUES(last));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, last, 0, 0);
    dump_maker_save(m, path);
    dump_maker_free(m);
}

static void enter(void)
{
    test_folder_make_fast(folder, "session");
    cr_assert(chdir(folder) == 0);
    small_dump("a.hprof", 5);
    small_dump("b.hprof", 9);
}
static void leave(void)
{
    hdx_session_close(s);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
TestSuite(session, .init = enter, .fini = leave);

static bool is_there(const void *what, bool wanted) { return (what != NULL) == wanted; }

static hdx_code run(const char *ask)
{
    asked     a;
    hdx_rows *rows;
    asked_read(&a, ask);
    const hdx_code code = hdx_answer_run(s, a.name, a.at, a.count, &rows, &err);
    hdx_rows_close(rows);
    return code;
}

Test(session, keeps_texts_of_its_own)
{
    char                    dump[] = "a.hprof", index[] = "kept.hdx", other[] = "b.hprof";
    const hdx_index_options options = { .dump = dump, .index_dir = index, .threads = 1 };
    cr_assert(eq(int, hdx_session_open(&options, &s, &err), HDX_OK));
    cr_assert(eq(int, hdx_session_add(s, other, &err), HDX_OK));
    memset(dump, 'x', sizeof dump - 1);
    memset(index, 'x', sizeof index - 1);
    memset(other, 'x', sizeof other - 1);
    cr_expect_str_eq(hdx_session_dump(s, 0), "a.hprof");
    cr_expect_str_eq(hdx_session_dump(s, 1), "b.hprof");
    cr_expect(eq(int, run("rows histogram"), HDX_OK), "%s", err.message);
    cr_expect(access("kept.hdx", F_OK) == 0 && access("a.hprof.hdx", F_OK) != 0);
    hdx_graph *g;
    cr_expect(eq(int, hdx_session_graph(s, 1, &g, &err), HDX_OK));
    cr_expect(access("b.hprof.hdx", F_OK) == 0, "the folder named is that of the first alone");
}

Test(session, has_nothing_behind_its_last_dump_and_nothing_of_it_before_it_is_opened)
{
    const hdx_index_options options = { .dump = "a.hprof", .threads = 1 };
    const hdx_answer       *leaks = hdx_answer_named("leaks");
    hdx_graph              *g;
    cr_assert(eq(int, hdx_session_open(&options, &s, &err), HDX_OK));
    cr_assert(eq(int, hdx_session_add(s, "b.hprof", &err), HDX_OK));
    for (size_t opened = 0; opened <= 2; opened++) {
        for (size_t place = 0; place < 4; place++) {
            const bool is = place < opened;
            cr_expect(is_there(hdx_session_summary(s, place), is), "%zu of %zu", place, opened);
            cr_expect(is_there(hdx_session_report(s, place), is), "%zu of %zu", place, opened);
            cr_expect(is_there(hdx_session_dump(s, place), (place < 2)), "%zu", place);
            cr_expect(hdx_session_leaks(s, place) == NULL, "%zu", place);
            cr_expect(hdx_session_lacks(s, place, leaks) == NULL, "%zu", place);
        }
        if (opened < 2)
            cr_assert(eq(int, hdx_session_graph(s, opened, &g, &err), HDX_OK));
    }
    for (size_t place = 2; place < 4; place++) {
        cr_expect(eq(int, hdx_session_graph(s, place, &g, &err), HDX_USAGE));
        cr_expect(g == NULL && strcmp(err.message, "the session has 2 dumps") == 0, "%s", err.message);
    }
    cr_expect(eq(u64, hdx_session_summary(s, 0)->objects + 4, hdx_session_summary(s, 1)->objects));
    cr_expect(eq(int, run("rows leaks finder=classes class=app.Node"), HDX_OK), "%s", err.message);
    for (size_t place = 0; place < 4; place++)
        cr_expect(is_there(hdx_session_leaks(s, place), (place < 2)), "%zu", place);
    cr_expect(hdx_session_summary(s, 0) != NULL, "the first stays open");
    cr_expect(hdx_session_summary(s, 1) == NULL, "the others are not asked again");
    cr_expect(eq(int, run("rows leaks finder=classes class=app.Node"), HDX_OK), "%s", err.message);
}

/* Is an address in a file of that folder one of its graphs'? Found in /proc, since nothing else knows it. */
static bool mends(const char *folder_of_index)
{
    char  line[600];
    bool  any = false;
    FILE *f = fopen("/proc/self/maps", "r");
    cr_assert(f != NULL);
    while (!any && fgets(line, sizeof line, f) != NULL)
        if (strstr(line, folder_of_index) != NULL)
            any = hdx_session_handle_fault(s, (void *)(uintptr_t)strtoull(line, NULL, 16));
    (void)fclose(f);
    return any;
}

Test(session, mends_what_any_of_its_graphs_has_mapped_and_nothing_else)
{
    const hdx_index_options options = { .dump = "a.hprof", .threads = 1 };
    hdx_graph              *g;
    cr_assert(eq(int, hdx_session_open(&options, &s, &err), HDX_OK));
    cr_expect(hdx_session_handle_fault(s, &g) == false);
    for (const char *name = "bcd"; *name != '\0'; name++) {
        char path[] = "x.hprof";
        path[0] = *name;
        small_dump(path, 3);
        cr_assert(eq(int, hdx_session_add(s, path, &err), HDX_OK));
    }
    for (size_t place = 0; place < 4; place++)
        if (place != 1) { /* one that is not open stands between */
            cr_assert(eq(int, hdx_session_graph(s, place, &g, &err), HDX_OK));
            cr_expect(hdx_graph_address(g, 1) != 0, "a file of it is mapped");
        }
    cr_expect(hdx_session_handle_fault(s, &g) == false, "an address of the stack");
    cr_expect(hdx_session_handle_fault(s, NULL) == false);
    static const char *const folders[] = { "a.hprof.hdx/", "c.hprof.hdx/", "d.hprof.hdx/" };
    for (size_t i = 0; i < 3; i++)
        cr_expect(mends(folders[i]), "%s", folders[i]);
    cr_expect(mends("b.hprof.hdx/") == false);
}

/* ---- what is asked of a question ---- */

Test(session, asks_for_the_columns_that_are_shown_or_decide_and_names_those_that_were_named)
{
    enum { ADDRESS = 1, CLASS = 2, LABEL = 4, SHALLOW = 8, RETAINED = 16, REST = ADDRESS | CLASS | SHALLOW | RETAINED };
    static const struct {
        const char *ask;
        unsigned    named, columns, bounds;
    } cases[] = {
        { "rows objects", 0, REST, 0 },
        { "rows objects columns=label", LABEL, 0, 0 },
        { "rows objects columns=class,label", CLASS | LABEL, CLASS, 0 },
        { "rows objects columns=class,nothing", CLASS, CLASS, 0 },
        { "rows objects columns=class columns=shallow", SHALLOW, SHALLOW, 0 },
        { "rows objects sort=shallow", SHALLOW, REST, 0 },
        { "rows objects sort=shallow:asc", SHALLOW, REST, 0 },
        { "rows objects sort=label:desc columns=address", LABEL | ADDRESS, ADDRESS, 0 },
        { "rows objects sort=nothing", 0, REST, 0 },
        { "rows objects where=label~x", LABEL, REST, 0 },
        { "rows objects where=label~x where=class=app.Node columns=address", LABEL | CLASS | ADDRESS, ADDRESS | CLASS,
          1 },
        { "rows objects where=shallow>1", SHALLOW, REST, 1 },
        { "rows objects where=shallow>1 where=shallow<9 where=retained=5", SHALLOW | RETAINED, REST, 2 },
        { "rows objects where=nothing>1", 0, REST, 0 },
        { "rows objects where=class=a where=class=b where=class=c where=class=d where=class=e where=class=f "
          "where=class=g where=class=h where=class=i",
          CLASS, REST, 8 },
        { "rows objects limit=5 class=where", 0, REST, 0 },
    };
    const hdx_answer        *objects = hdx_answer_named("objects");
    static const char *const names[] = { "address", "class", "label", "shallow", "retained" };
    for (unsigned i = 0; i < 5; i++)
        cr_assert_str_eq(objects->forms[0].columns[i].name, names[i]);
    for (size_t i = 0; i < HDX_COUNT(cases); i++) {
        asked     a;
        hdx_arena arena = hdx_arena_of(NULL);
        asked_read(&a, cases[i].ask);
        const hdx_wanted w = hdx_answer_wanted(&(hdx_arguments){ objects, a.at, a.count }, &objects->forms[0], &arena);
        cr_expect(w.named == cases[i].named && w.columns == cases[i].columns && w.bound_count == cases[i].bounds,
                  "%s: %llx %llx %u", cases[i].ask, (unsigned long long)w.named, (unsigned long long)w.columns,
                  w.bound_count);
        hdx_arena_free(&arena);
    }
    static const hdx_form bare = { NULL, NULL, NULL, 0 };
    const hdx_argument    sort = { "sort", "a" };
    const hdx_wanted      w = hdx_answer_wanted(&(hdx_arguments){ objects, &sort, 1 }, &bare, NULL);
    cr_expect(w.named == 0 && w.columns == 0 && w.bound_count == 0);
}

Test(session, asks_for_one_range_of_a_column_that_has_several_bounds)
{
    static const struct {
        const char *ask;
        uint64_t    least, most;
    } cases[] = {
        { "rows objects where=shallow>=20 where=shallow<30", 20, 29 },
        { "rows objects where=shallow<30 where=class=a where=shallow>=20", 20, 29 },
        { "rows objects where=shallow>1 where=shallow>7 where=shallow<=9 where=shallow<=100", 8, 9 },
        { "rows objects where=shallow=5 where=shallow=6", 6, 5 },
    };
    const hdx_answer *objects = hdx_answer_named("objects");
    for (size_t i = 0; i < HDX_COUNT(cases); i++) {
        asked     a;
        hdx_arena arena = hdx_arena_of(NULL);
        asked_read(&a, cases[i].ask);
        const hdx_wanted w = hdx_answer_wanted(&(hdx_arguments){ objects, a.at, a.count }, &objects->forms[0], &arena);
        cr_expect(w.bounds[0].column == 3 && w.bounds[0].least == cases[i].least && w.bounds[0].most == cases[i].most,
                  "%s: %llu to %llu", cases[i].ask, (unsigned long long)w.bounds[0].least,
                  (unsigned long long)w.bounds[0].most);
        hdx_arena_free(&arena);
    }
}

/* Of 63, 64 and 65 columns the first, the last and a late one. */
Test(session, asks_for_all_where_there_are_more_columns_than_bits)
{
    static hdx_column columns[65];
    static char       names[65][8];
    for (unsigned i = 0; i < 65; i++) {
        (void)snprintf(names[i], sizeof names[i], "c%u", i);
        columns[i] = (hdx_column){ .name = names[i], .type = HDX_TYPE_UNSIGNED, .flags = i == 3 ? HDX_COLUMN_LATE : 0 };
    }
    for (unsigned count = 63; count <= 65; count++) {
        const hdx_form     form = { NULL, NULL, columns, count };
        const hdx_argument sort = { "sort", "c62" };
        hdx_arena          arena = hdx_arena_of(NULL);
        const hdx_wanted   w =
            hdx_answer_wanted(&(hdx_arguments){ hdx_answer_named("objects"), &sort, 1 }, &form, &arena);
        const uint64_t all = count == 63 ? UINT64_MAX >> 1 : UINT64_MAX;
        cr_expect(w.columns == (count > 64 ? 0 : all & ~8ull), "%u: %llx", count, (unsigned long long)w.columns);
        cr_expect(w.named == (count > 64 ? 0 : 1ull << 62), "%u: %llx", count, (unsigned long long)w.named);
        hdx_arena_free(&arena);
    }
}

/* ---- early answers, progress ---- */

static bool take_early(void *context, hdx_rows *rows)
{
    (*(unsigned *)context)++;
    return rows != NULL;
}

Test(session, answers_early_what_the_first_pass_of_a_build_knows_and_nothing_else)
{
    static const struct {
        const char *ask;
        unsigned    early;
    } cases[] = {
        { "rows histogram reachable=all", 1 },
        { "rows histogram reachable=all by=class", 1 },
        { "rows histogram reachable=all by=package", 1 },
        { "rows histogram reachable=all by=superclass", 1 },
        { "rows histogram reachable=all by=loader", 0 },
        { "rows histogram reachable=all by=heap", 0 },
        { "rows histogram reachable=all by=class columns=class,objects", 1 },
        { "rows histogram reachable=live", 0 },
        { "rows histogram reachable=garbage", 0 },
        { "rows histogram", 0 },
        { "rows histogram retained", 0 },
        { "rows histogram reachable=all columns=class,nothing", 0 },
        { "rows roots", 0 },
    };
    for (size_t i = 0; i < HDX_COUNT(cases); i++) {
        const hdx_index_options  options = { .dump = "a.hprof", .threads = 1, .force = true };
        unsigned                 times = 0;
        const hdx_session_events events = { .context = &times, .early = take_early };
        cr_assert(eq(int, hdx_session_open(&options, &s, &err), HDX_OK));
        hdx_session_listen(s, &events);
        (void)run(cases[i].ask);
        cr_expect(eq(uint, times, cases[i].early), "%s", cases[i].ask);
        const bool built = strstr(cases[i].ask, "nothing") == NULL; /* no index is built for a wrong question */
        cr_expect_eq(hdx_session_report(s, 0) != NULL, built, "%s", cases[i].ask);
        hdx_session_close(s);
        s = NULL;
    }
}

typedef struct told {
    unsigned reports, opening[2], opened[2];
    bool     stop;
} told;
static void reported(void *context, const hdx_progress_report *r) { ((told *)context)->reports += r != NULL; }
static bool wants_stop(void *context) { return ((told *)context)->stop; }
static void is_opening(void *context, size_t place) { ((told *)context)->opening[place]++; }
static void is_opened(void *context, size_t place) { ((told *)context)->opened[place]++; }

Test(session, tells_what_it_opens_and_heeds_who_wants_to_stop)
{
    for (unsigned stop = 0; stop < 2; stop++) {
        told                    t = { .stop = stop == 1 };
        const hdx_index_options options = {
            .dump = "a.hprof", .threads = 1, .force = true, .progress = { &t, reported, wants_stop }
        };
        const hdx_session_events events = { .context = &t, .opening = is_opening, .opened = is_opened };
        cr_assert(eq(int, hdx_session_open(&options, &s, &err), HDX_OK));
        hdx_session_listen(s, &events);
        cr_assert(eq(int, hdx_session_add(s, "b.hprof", &err), HDX_OK));
        cr_expect(eq(int, run("rows roots"), stop ? HDX_CANCELLED : HDX_OK), "%s", err.message);
        cr_expect(stop || t.reports > 0);
        cr_expect(t.opening[0] == 1 && t.opened[0] == 1 - stop && t.opening[1] == 0 && t.opened[1] == 0);
        (void)run("rows histogram");
        cr_expect(t.opening[0] == 1 + stop && t.opened[0] == 1 - stop);
        (void)run("rows leaks finder=classes class=app.Node");
        cr_expect(t.opening[1] == 1 - stop && t.opened[1] == 1 - stop);
        hdx_session_close(s);
        s = NULL;
    }
}

/* ---- a scan ---- */

Test(session, scans_a_dump_once_and_builds_nothing)
{
    const hdx_index_options options = { .dump = "a.hprof", .threads = 1 };
    hdx_buffer              first = hdx_buffer_of(NULL), again = hdx_buffer_of(NULL);
    cr_assert(eq(int, hdx_session_open(&options, &s, &err), HDX_OK));
    cr_assert(asked_text(s, "rows histogram scan", &first) == HDX_OK);
    cr_expect(hdx_session_summary(s, 0) != NULL && hdx_session_summary(s, 1) == NULL);
    cr_expect(hdx_session_report(s, 0) == NULL && access("a.hprof.hdx", F_OK) != 0);
    cr_assert(unlink("a.hprof") == 0);
    cr_expect(asked_text(s, "rows histogram scan", &again) == HDX_OK, "what was counted is known");
    cr_expect(first.len == again.len && memcmp(first.at, again.at, first.len) == 0);
    hdx_buffer_free(&first);
    hdx_buffer_free(&again);
}

Test(session, is_refused_without_a_dump)
{
    const hdx_index_options options = { .dump = "" };
    const hdx_code          code = hdx_session_open(&options, &s, &err);
    cr_expect(eq(int, code, HDX_OK), "nothing is opened yet");
    cr_expect(run("rows histogram") != HDX_OK);
    cr_expect(hdx_session_report(s, 0) == NULL);
}
