/*
 * test_index.c - the answers about the index itself: index, estimate, verify, remove. What they say is what the report
 * of the build, the forecast and the files say, to the last digit.
 */
#include "answer/asks.h"
#include "graph/graph.h"
#include "support/folder.h"

#include <criterion/new/assert.h>
#include <sys/stat.h>
#include <unistd.h>

typedef unsigned long long ull;

static char         folder[TEST_FOLDER];
static hdx_session *s;
static hdx_error    err;

static void open_session(uint64_t memory)
{
    const hdx_index_options options = { .dump = "app.hprof.gz", .threads = 1, .memory = memory };
    cr_assert(eq(int, hdx_session_open(&options, &s, &err), HDX_OK), "%s", err.message);
}
static void enter(void)
{
    char command[TEST_FOLDER + 256];
    test_folder_make(folder, "index");
    (void)snprintf(command, sizeof command, "cp '%s' '%s/app.hprof.gz'", HDX_TREE "/examples/bookshop.hprof.gz",
                   folder);
    cr_assert(system(command) == 0 && chdir(folder) == 0);
    open_session(0);
}
static void leave(void)
{
    hdx_session_close(s);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
TestSuite(index, .init = enter, .fini = leave);

static hdx_rows *run(const char *ask)
{
    asked     a;
    hdx_rows *rows;
    asked_read(&a, ask);
    cr_assert(eq(int, hdx_answer_run(s, a.name, a.at, a.count, &rows, &err), HDX_OK), "%s: %s", ask, err.message);
    return rows;
}

static const hdx_cell *extra(const hdx_rows *rows, const char *name, const char *key)
{
    for (unsigned i = 0; hdx_rows_extra(rows, i)->key != NULL; i++) {
        const hdx_member *m = hdx_rows_extra(rows, i);
        if (strcmp(m->key, name) == 0)
            for (uint64_t k = 0; k < m->value.as.object.count; k++)
                if (strcmp(m->value.as.object.at[k].key, key) == 0)
                    return &m->value.as.object.at[k].value;
    }
    cr_assert(false, "no %s.%s", name, key);
    return NULL;
}

static void expect_number(const hdx_rows *rows, const char *name, const char *key, uint64_t n)
{
    const hdx_cell *c = extra(rows, name, key);
    cr_expect(c->kind == HDX_CELL_UINT && c->as.natural == n, "%s.%s: %llu", name, key, (ull)n);
}
static void expect_truth(const hdx_rows *rows, const char *name, const char *key, bool truth)
{
    const hdx_cell *c = extra(rows, name, key);
    cr_expect(c->kind == HDX_CELL_BOOL && c->as.boolean == truth, "%s.%s", name, key);
}
/* Seconds to the microsecond below. */
static bool are_seconds(const hdx_cell *c, uint64_t ns)
{
    const double d = c->as.real * 1e6 - (double)(ns / 1000);
    return c->kind == HDX_CELL_REAL && d > -0.001 && d < 0.001;
}
static bool is_text(const hdx_cell *c, const char *text)
{
    return c->kind == HDX_CELL_TEXT && hdx_text_is(c->as.text, text);
}

static void expect_step(const hdx_cell *c, const hdx_index_step_report *step)
{
    const hdx_member *m = c->as.object.at;
    cr_assert(c->kind == HDX_CELL_OBJECT && c->as.object.count == 5);
    cr_expect(is_text(&m[0].value, step->name));
    cr_expect(are_seconds(&m[1].value, step->wall_ns), "%s", step->name);
    cr_expect(are_seconds(&m[2].value, step->cpu_ns), "%s", step->name);
    cr_expect(m[3].value.as.natural == step->written_bytes && m[4].value.as.natural == step->peak_bytes, "%s",
              step->name);
    cr_expect_str_eq(m[1].key, "seconds");
    cr_expect_str_eq(m[2].key, "cpu_seconds");
    cr_expect_str_eq(m[3].key, "bytes");
    cr_expect_str_eq(m[4].key, "peak_bytes");
}

static void expect_index(hdx_rows *rows, bool reused)
{
    const hdx_index_report *r = hdx_session_report(s, 0);
    char                    want[4500], human[16], peak[16];
    const hdx_cell         *cells, *steps = extra(rows, "index", "steps");
    hdx_graph              *g;
    const char             *name;
    uint64_t                wall, cpu, bytes;
    unsigned                n = 0;
    cr_expect(is_text(extra(rows, "index", "path"), r->path));
    cr_expect_str_eq(r->path, "app.hprof.gz.hdx");
    expect_number(rows, "index", "bytes", r->bytes);
    expect_number(rows, "index", "objects", r->objects);
    expect_number(rows, "index", "live", r->live_objects);
    expect_number(rows, "index", "references", r->references);
    expect_number(rows, "index", "peak_rss", r->peak_rss);
    expect_truth(rows, "index", "reused", reused);
    cr_expect(are_seconds(extra(rows, "index", "seconds"), r->wall_ns));
    cr_assert(r->reused == reused && steps->kind == HDX_CELL_LIST && steps->as.list.count == r->step_count);
    cr_expect(reused || r->step_count >= 4, "%u steps", r->step_count);
    for (unsigned i = 0; i < r->step_count; i++)
        expect_step(&steps->as.list.at[i], &r->steps[i]);
    hdx_human_size(r->bytes, human);
    hdx_human_size(r->peak_rss, peak);
    if (reused)
        (void)snprintf(want, sizeof want,
                       "%s: %llu objects (%llu live), %s, exists\nmade from this dump "
                       "(size, time, inode); 16 files of expected length, not read",
                       r->path, (ull)r->objects, (ull)r->live_objects, human);
    else
        (void)snprintf(want, sizeof want, "%s: %llu objects (%llu live), %s, built in %.2f s with %s", r->path,
                       (ull)r->objects, (ull)r->live_objects, human, (double)(r->wall_ns / 1000) / 1e6, peak);
    cr_expect_str_eq(hdx_rows_title(rows), want);
    cr_assert(hdx_session_graph(s, 0, &g, &err) == HDX_OK);
    while (hdx_rows_next(rows, &cells)) {
        cr_assert(hdx_graph_step(g, n, &name, &wall, &cpu, &bytes));
        cr_expect(is_text(&cells[0], name) && are_seconds(&cells[1], wall) && are_seconds(&cells[2], cpu), "%s", name);
        cr_expect(eq(u64, cells[3].as.natural, bytes), "%s", name);
        n++;
    }
    cr_expect(n >= 4 && !hdx_graph_step(g, n, &name, &wall, &cpu, &bytes), "a row for each step of the build");
    hdx_rows_close(rows);
}

static time_t made_at(ino_t *number)
{
    struct stat st;
    cr_assert(stat("app.hprof.gz.hdx/manifest", &st) == 0 || stat("app.hprof.gz.hdx", &st) == 0);
    *number = st.st_ino;
    return st.st_mtime;
}

Test(index, is_told_as_its_report_has_it_built_reused_and_forced)
{
    ino_t first, again, forced;
    expect_index(run("rows index"), false);
    (void)made_at(&first);
    hdx_session_close(s);
    open_session(0);
    expect_index(run("rows index"), true);
    (void)made_at(&again);
    cr_expect(first == again, "it stays where it is valid");
    hdx_session_close(s);
    open_session(0);
    expect_index(run("rows index force"), false);
    (void)made_at(&forced);
    cr_expect(first != forced, "it is built anew");
    expect_index(run("rows index"), false); /* of a session that has it open */
    cr_expect(s->options.force == false, "what is asked next does not force it");
    hdx_session_close(s);
    open_session(0);
    expect_index(run("rows index force=false"), true);
}

static bool has_file(hdx_graph *g, const char *begin)
{
    const char *name;
    uint64_t    bytes;
    for (unsigned i = 0; hdx_graph_file(g, i, &name, &bytes) || hdx_graph_saved(g, i, &name, &bytes); i++)
        if (strncmp(name, begin, strlen(begin)) == 0)
            return true;
    return false;
}

Test(index, stops_after_the_step_that_until_names)
{
    static const struct {
        const char *step;
        bool        outbound, inbound, dominator;
    } cases[] = { { "objects", false, false, false },
                  { "outbound", true, false, false },
                  { "inbound", true, true, false },
                  { "dominators", true, true, true } };
    for (size_t i = 0; i < HDX_COUNT(cases); i++) {
        char       ask[64];
        hdx_graph *g;
        hdx_session_close(s);
        open_session(0);
        (void)snprintf(ask, sizeof ask, "rows index until=%s force", cases[i].step);
        hdx_rows_close(run(ask));
        cr_expect(eq(int, (int)s->options.until, (int)i + 1));
        cr_assert(hdx_session_graph(s, 0, &g, &err) == HDX_OK);
        cr_expect(has_file(g, "outbound") == cases[i].outbound, "%s", cases[i].step);
        cr_expect(has_file(g, "inbound") == cases[i].inbound, "%s", cases[i].step);
        cr_expect(has_file(g, "dominator") == cases[i].dominator, "%s", cases[i].step);
    }
}

Test(index, that_was_there_is_said_to_be_what_was_looked_at)
{
    hdx_rows *rows = run("rows index");
    cr_expect_eq(extra(rows, "index", "checked")->kind, HDX_CELL_NULL);
    hdx_rows_close(rows);
    hdx_session_close(s);
    cr_assert(system("touch -d '2001-01-01' app.hprof.gz") == 0);
    open_session(0);
    rows = run("rows index");
    const hdx_cell *checked = extra(rows, "index", "checked");
    cr_assert(checked->kind == HDX_CELL_OBJECT && checked->as.object.count == 2);
    cr_expect(is_text(&checked->as.object.at[0].value, "samples"));
    cr_expect(eq(u64, checked->as.object.at[1].value.as.natural, 16));
    cr_expect(strstr(hdx_rows_title(rows), "(size and samples)") != NULL);
    hdx_rows_close(rows);
}

/* Questions open a file when they need it: that it is gone they would say one day. */
Test(index, of_which_a_file_is_missing_or_short_is_damaged)
{
    static const char *const faults[] = { "mv app.hprof.gz.hdx/retained.hdx kept",
                                          "mv kept app.hprof.gz.hdx/retained.hdx && truncate -s -1 "
                                          "app.hprof.gz.hdx/outbound.hdx" };
    static const char *const files[] = { "retained.hdx", "outbound.hdx" };
    hdx_rows_close(run("rows index"));
    for (size_t i = 0; i < HDX_COUNT(faults); i++) {
        asked     a;
        hdx_rows *rows;
        hdx_session_close(s);
        cr_assert(system(faults[i]) == 0);
        open_session(0);
        asked_read(&a, "rows index");
        cr_expect(eq(int, hdx_answer_run(s, a.name, a.at, a.count, &rows, &err), HDX_DAMAGED));
        cr_expect_str_eq(err.where, files[i]);
    }
}

static unsigned kept_files(void)
{
    hdx_graph  *g;
    const char *name;
    uint64_t    bytes;
    unsigned    n = 0;
    cr_assert(hdx_session_graph(s, 0, &g, &err) == HDX_OK);
    while (hdx_graph_saved(g, n, &name, &bytes))
        n++;
    return n;
}

Test(index, keeps_retained_sizes_of_classes_packages_loaders_and_superclasses_where_it_is_told_to)
{
    hdx_rows_close(run("rows index"));
    cr_expect(eq(uint, kept_files(), 0));
    hdx_rows_close(run("rows index with=class-retained"));
    const unsigned all = kept_files();
    cr_expect(gt(uint, all, 0));
    static const char *const later[] = { "rows histogram retained by=class", "rows histogram retained by=package",
                                         "rows histogram retained by=loader", "rows histogram retained by=superclass" };
    for (size_t i = 0; i < HDX_COUNT(later); i++) {
        hdx_rows *rows = run(later[i]);
        hdx_rows_close(rows);
        cr_expect(eq(uint, kept_files(), all), "%s: it was kept already", later[i]);
    }
}

/* ---- estimate ---- */

static void expect_forecast(hdx_rows *rows, uint64_t budget, const char *stops, const char *ends)
{
    const hdx_index_forecast *f = s->forecast;
    const hdx_cell           *cells;
    char                      need[16], disk[16], temporary[16], want[600];
    unsigned                  n = 0;
    expect_number(rows, "estimate", "objects", f->objects);
    expect_number(rows, "estimate", "references", f->references);
    expect_number(rows, "estimate", "classes", f->classes);
    expect_number(rows, "estimate", "memory", f->memory);
    expect_number(rows, "estimate", "disk", f->disk);
    expect_number(rows, "estimate", "temporary", f->temporary);
    expect_number(rows, "estimate", "sampled_bytes", f->sampled_bytes);
    expect_number(rows, "estimate", "least_budget", (f->least / (1 << 20) + 1) * (1 << 20));
    expect_truth(rows, "estimate", "whole", f->whole);
    cr_expect(are_seconds(extra(rows, "estimate", "seconds"), f->wall_ns));
    if (budget == 0) {
        cr_expect(extra(rows, "estimate", "budget")->kind == HDX_CELL_NULL);
        cr_expect(extra(rows, "estimate", "fits")->kind == HDX_CELL_NULL);
    } else {
        expect_number(rows, "estimate", "budget", budget);
        expect_truth(rows, "estimate", "fits", stops == NULL);
    }
    if (stops == NULL)
        cr_expect(extra(rows, "estimate", "stops_at")->kind == HDX_CELL_NULL);
    else
        cr_expect(is_text(extra(rows, "estimate", "stops_at"), stops), "%s", stops);
    while (hdx_rows_next(rows, &cells)) {
        const hdx_index_step_forecast *step = &f->steps[n++];
        cr_assert(n <= f->step_count);
        cr_expect(is_text(&cells[0], step->name) && cells[1].as.natural == step->memory &&
                      cells[2].as.natural == step->disk && are_seconds(&cells[3], step->wall_ns) &&
                      cells[4].as.natural == step->least,
                  "%s", step->name);
    }
    cr_expect(n == f->step_count && n >= 1);
    hdx_human_size(f->memory, need);
    hdx_human_size(f->disk, disk);
    hdx_human_size(f->temporary, temporary);
    (void)snprintf(want, sizeof want,
                   "Forecast: %llu objects, at most %s of memory, about %s of disk (%s more while it is built), about "
                   "%.1f s. %s",
                   (ull)f->objects, need, disk, temporary, (double)(f->wall_ns / 1000) / 1e6, ends);
    cr_expect_str_eq(hdx_rows_title(rows), want);
    hdx_rows_close(rows);
}

Test(index, estimate_says_what_the_forecast_says_and_builds_nothing)
{
    char      ends[128];
    hdx_rows *rows = run("rows estimate");
    (void)snprintf(ends, sizeof ends, "--memory %lluM is enough", (ull)(s->forecast->least >> 20) + 1);
    cr_expect(s->forecast->whole);
    expect_forecast(rows, 0, NULL, ends);
    cr_expect(access("app.hprof.gz.hdx", F_OK) != 0);
    cr_expect(hdx_session_report(s, 0) == NULL);
    const unsigned all = s->forecast->step_count;
    for (unsigned until = 1; until <= 4; until++) { /* fewer steps, the earlier it ends */
        static const char *const asks[] = { "rows estimate until=objects", "rows estimate until=outbound",
                                            "rows estimate until=inbound", "rows estimate until=dominators" };
        const hdx_index_options  options = { .dump = "app.hprof.gz", .threads = 1, .until = (hdx_step)until };
        hdx_index_forecast       f;
        rows = run(asks[until - 1]);
        cr_assert(eq(int, hdx_index_estimate(&options, &f, &err), HDX_OK));
        cr_expect(s->forecast->step_count == f.step_count && (f.step_count == all) == (until == 4));
        hdx_rows_close(rows);
    }
}

/* The first step whose least is above the budget, to the byte. */
Test(index, estimate_tells_the_first_step_that_a_budget_is_too_small_for)
{
    hdx_rows_close(run("rows estimate"));
    const hdx_index_forecast f = *s->forecast;
    for (unsigned i = 0; i < f.step_count; i++)
        for (uint64_t budget = f.steps[i].least - 1; budget <= f.steps[i].least + 1; budget++) {
            const char *stops = NULL;
            char        ends[160], limit[16];
            for (unsigned k = f.step_count; k-- > 0;)
                if (f.steps[k].least > budget)
                    stops = f.steps[k].name;
            hdx_session_close(s);
            open_session(budget);
            hdx_human_size(budget, limit);
            if (stops != NULL)
                (void)snprintf(ends, sizeof ends, "--memory %s is not enough for the step %s; --memory %lluM is enough",
                               limit, stops, (ull)(f.least >> 20) + 1);
            else
                (void)snprintf(ends, sizeof ends, "--memory %s is enough", limit);
            expect_forecast(run("rows estimate"), budget, stops, ends);
        }
}

/* ---- verify and remove ---- */

Test(index, verify_lists_the_files_and_says_how_much_was_checked)
{
    for (unsigned full = 0; full < 2; full++) {
        hdx_rows       *rows = run(full ? "rows verify full" : "rows verify");
        hdx_graph      *g;
        const hdx_cell *cells;
        const char     *name;
        uint64_t        bytes;
        unsigned        n = 0;
        char            want[96];
        cr_assert(hdx_session_graph(s, 0, &g, &err) == HDX_OK);
        while (hdx_rows_next(rows, &cells)) {
            cr_assert(hdx_graph_file(g, n++, &name, &bytes));
            cr_expect(is_text(&cells[0], name) && cells[1].as.natural == bytes, "%s", name);
        }
        cr_expect(n > 10 && !hdx_graph_file(g, n, &name, &bytes));
        expect_truth(rows, "verify", "sound", true);
        expect_truth(rows, "verify", "full", full);
        expect_number(rows, "verify", "files", n);
        (void)snprintf(want, sizeof want, "%u files, %s", n,
                       full ? "checksums and consistency are correct" : "all checksums are correct");
        cr_expect_str_eq(hdx_rows_title(rows), want);
        hdx_rows_close(rows);
    }
}

static void flip(const char *path, long from_end)
{
    FILE *f = fopen(path, "r+b");
    cr_assert(f != NULL && fseek(f, -from_end, SEEK_END) == 0);
    const int byte = fgetc(f);
    cr_assert(fseek(f, -from_end, SEEK_END) == 0 && fputc(byte ^ 1, f) != EOF && fclose(f) == 0);
}

/* What is kept beside the index is checked with `full`: sums of classes, and answers of leaks. */
Test(index, verify_finds_what_is_wrong_in_what_is_kept)
{
    hdx_rows   *rows;
    hdx_graph  *g;
    const char *name;
    char        path[600];
    uint64_t    bytes;
    hdx_rows_close(run("rows histogram retained by=class"));
    hdx_rows_close(run("rows leaks finder=classes class=java.lang.Thread"));
    hdx_rows_close(run("rows dominators merge by=package"));
    hdx_rows_close(run("rows verify full"));
    cr_assert(hdx_session_graph(s, 0, &g, &err) == HDX_OK);
    const unsigned kept = kept_files();
    cr_expect(eq(uint, kept, 3));
    for (unsigned i = 0; i < kept; i++) {
        const hdx_argument full = { "full", "true" };
        cr_assert(hdx_graph_saved(g, i, &name, &bytes));
        (void)snprintf(path, sizeof path, "app.hprof.gz.hdx/%s", name);
        flip(path, 1);
        cr_expect(eq(int, hdx_answer_run(s, "verify", &full, 1, &rows, &err), HDX_DAMAGED), "%s", name);
        cr_expect(rows == NULL && strstr(err.where, name) != NULL, "'%s' for %s", err.where, name);
        flip(path, 1);
    }
    hdx_rows_close(run("rows verify full"));
}

Test(index, remove_deletes_it_and_names_the_folder_and_leaves_the_dump)
{
    hdx_rows *rows;
    hdx_rows_close(run("rows index"));
    char path[4096];
    (void)snprintf(path, sizeof path, "%s", hdx_session_report(s, 0)->path);
    hdx_session_close(s);
    open_session(0);
    const hdx_cell *cells;
    rows = run("rows remove");
    cr_assert(hdx_rows_next(rows, &cells));
    cr_expect(is_text(&cells[0], path));
    cr_expect(hdx_rows_next(rows, &cells) == false);
    hdx_rows_close(rows);
    cr_expect(access("app.hprof.gz.hdx", F_OK) != 0 && access("app.hprof.gz", F_OK) == 0);
    cr_expect(eq(int, hdx_answer_run(s, "remove", NULL, 0, &rows, &err), HDX_NOT_FOUND));
    cr_expect(rows == NULL);
}
