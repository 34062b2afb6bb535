/*
 * test_view.c - a view through doors that fail, and under a kill: it is there whole or not at all, the index and the
 * views that were there stay as they are, and the next build makes it: behind the last step that was done, with the
 * bytes of one that was made in one go.
 */
#include "making/heap_model.h"
#include "making/making.h"
#include "making/partial_build.h"
#include "support/faulty.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <unistd.h>

static char             folder[TEST_FOLDER];
static hdx_index_report base;
static hdx_view_wanted  want = { .name = "v", .spec = "-roots:JAVA_LOCAL", .roots = 1u << HDX_ROOT_JAVA_LOCAL };
static hdx_pair         all[64];
static uint64_t         pairs;

/* An index of a heap with so many more objects, and some references of it that are to be left out. */
static void make_index(unsigned more)
{
    static heap_model       h;
    const hdx_index_options options = { .dump = "a.hprof", .threads = 1, .force = true };
    hdx_graph              *g;
    hdx_refs                refs;
    hdx_id                  to;
    hdx_error               err;
    dump_maker             *m = model_make(&h, 5, 200, 8);
    for (unsigned i = 0; i < more; i++)
        (void)dump_maker_primitives(m, 'B', NULL, i);
    dump_maker_save(m, "a.hprof");
    dump_maker_free(m);
    cr_assert(hdx_index_build(&options, &base, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(base.path, NULL, &g, &err) == HDX_OK);
    pairs = 0;
    for (hdx_id from = 0; from < hdx_graph_objects(g) && pairs < 64; from += 3) {
        const hdx_class *class = hdx_graph_class(g, hdx_graph_class_of(g, from));
        hdx_graph_outbound(g, from, HDX_ALL, &refs);
        while (pairs < 64 && hdx_refs_next(&refs, &to))
            if (to != class->id)
                all[pairs++] = (hdx_pair){ from, to };
    }
    hdx_graph_close(g);
    hdx_catalog *c;
    cr_assert(hdx_catalog_open(hdx_io_system(), base.path, &c, &err) == HDX_OK);
    memcpy(want.index, hdx_catalog_manifest(c)->identity, sizeof want.index);
    hdx_catalog_close(c);
    cr_assert(pairs == 64);
}

static void enter(void)
{
    test_folder_make(folder, "view");
    cr_assert(chdir(folder) == 0);
    make_index(0);
}
static void leave(void)
{
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
TestSuite(view, .init = enter, .fini = leave);

static unsigned went_on[2]; /* builds that went on behind the step references, dominators */

static void notice(void *context, const char *line)
{
    (void)context;
    went_on[0] += strstr(line, "view after its step references") != NULL;
    went_on[1] += strstr(line, "view after its step dominators") != NULL;
}

static hdx_code make_asked(const hdx_build_doors *doors, hdx_progress progress, hdx_error *err)
{
    const hdx_index_options options = { .dump = "a.hprof", .threads = 1, .notice = notice, .progress = progress };
    hdx_pair                cuts[64];
    hdx_index_report        report;
    hdx_view_wanted         w = want;
    memcpy(cuts, all, sizeof cuts);
    w.cuts = cuts;
    w.cut_count = pairs;
    return hdx_view_build_through(doors, &options, &w, &report, err);
}

static hdx_code make(const hdx_build_doors *doors, hdx_error *err)
{
    return make_asked(doors, (hdx_progress){ 0 }, err);
}

static void expect_sound(const char *view, const char *when, unsigned n)
{
    hdx_graph     *g;
    hdx_error      err;
    const hdx_code code = hdx_graph_open_view(base.path, view, "a.hprof", &g, &err);
    cr_expect(code == HDX_OK, "%s %u: %s", when, n, err.message);
    if (code != HDX_OK)
        return;
    cr_expect(hdx_graph_verify(g, true, &err) == HDX_OK, "%s %u: %s: %s", when, n, err.where, err.message);
    hdx_graph_close(g);
}
static bool is_there(const char *name) { return access(name, F_OK) == 0; }

Test(view, is_whole_or_absent_at_every_failing_write, .timeout = 300)
{
    hdx_error err;
    for (unsigned n = 1;; n++) {
        faulty_io             f;
        const hdx_build_doors doors = { .io = &f.io };
        faulty_io_init(&f, n, ENOSPC, true);
        const hdx_code code = make(&doors, &err);
        cr_expect(code == HDX_OK || code == HDX_IO || code == HDX_LIMIT || code == HDX_BUSY, "fault %u: %s", n,
                  err.message);
        cr_expect(code == HDX_OK || is_there("a.hprof.hdx/views/v") || !is_there("a.hprof.hdx/views/.heapdex-part-v"),
                  "%u", n);
        expect_sound(NULL, "fault", n);
        if (is_there("a.hprof.hdx/views/v"))
            expect_sound("v", "fault", n);
        cr_assert(system("rm -rf a.hprof.hdx/views") == 0);
        if (faulty_io_fired(&f))
            continue;
        cr_assert(code == HDX_OK && n > 20, "%u calls", n);
        break;
    }
}

Test(view, stays_as_it_was_at_every_failing_write_of_its_successor, .timeout = 300)
{
    const hdx_build_doors sound = { .io = hdx_io_system() };
    hdx_error             err;
    cr_assert(make(&sound, &err) == HDX_OK, "%s", err.message);
    for (unsigned n = 1;; n++) {
        faulty_io             f;
        const hdx_build_doors doors = { .io = &f.io };
        faulty_io_init(&f, n, EIO, true);
        (void)make(&doors, &err);
        expect_sound("v", "fault", n);
        if (!faulty_io_fired(&f))
            break;
    }
}

static bool refuse(void *context, uint64_t bytes)
{
    unsigned *left = context;
    (void)bytes;
    return *left > 0 && --*left == 0;
}

Test(view, leaves_nothing_where_memory_is_refused, .timeout = 300)
{
    hdx_error err;
    for (unsigned n = 1, left = 0; n < 2000; n++) {
        const hdx_build_doors doors = { .io = hdx_io_system(), .refuse = refuse, .context = &left };
        left = n;
        const hdx_code code = make(&doors, &err);
        cr_expect((code == HDX_OK || code == HDX_LIMIT) && (code == HDX_OK) == is_there("a.hprof.hdx/views/v"),
                  "%u: %s", n, err.message);
        cr_expect(!is_there("a.hprof.hdx/views/.heapdex-part-v"), "%u", n);
        cr_assert(system("rm -rf a.hprof.hdx/views") == 0);
        if (left > 0) /* none was left to refuse */
            return;
    }
    cr_assert(false, "it never ends");
}

Test(view, killed_at_every_write_is_made_by_the_next, .timeout = 300)
{
    const hdx_build_doors sound = { .io = hdx_io_system() };
    hdx_error             err;
    for (unsigned n = 1;; n += 3) {
        int         status;
        const pid_t child = fork();
        if (child == 0) {
            faulty_io             f;
            const hdx_build_doors doors = { .io = &f.io };
            faulty_io_init(&f, n, FAULTY_KILL, true);
            _exit(make(&doors, &err) == HDX_OK ? 0 : 1);
        }
        cr_assert(child > 0 && waitpid(child, &status, 0) == child);
        expect_sound(NULL, "kill", n);
        if (is_there("a.hprof.hdx/views/v"))
            expect_sound("v", "kill", n);
        cr_assert(make(&sound, &err) == HDX_OK, "kill %u: %s", n, err.message);
        expect_sound("v", "kill", n);
        cr_expect(!is_there("a.hprof.hdx/views/.heapdex-part-v"), "%u", n);
        cr_assert(system("rm -rf a.hprof.hdx/views") == 0);
        if (WIFEXITED(status))
            break;
    }
}

static void read_view(partial_build *out)
{
    out->count = 0;
    partial_read_folder(out, "a.hprof.hdx/views/v");
    cr_assert(system("rm -rf a.hprof.hdx/views") == 0);
}

/* A view in one go, and then the folder is without it. */
static void make_straight(partial_build *out)
{
    const hdx_build_doors sound = { .io = hdx_io_system() };
    hdx_error             err;
    cr_assert(make(&sound, &err) == HDX_OK, "%s", err.message);
    read_view(out);
    cr_assert(out->count == 12, "%u files", out->count);
    went_on[0] = went_on[1] = 0;
}

/* The same files, and in those of the graph the same bytes; the view goes. */
static void expect_as(partial_build *straight, const char *when, unsigned n)
{
    partial_build now = { .count = 0 };
    read_view(&now);
    cr_expect(now.count == straight->count, "%s %u: %u files", when, n, now.count);
    for (unsigned i = 0; i < now.count; i++) {
        const partial_file *f = partial_find(straight, now.files[i].name);
        cr_assert(f != NULL, "%s %u: %s", when, n, now.files[i].name);
        if (strstr(f->name, ".hdx") != NULL)
            cr_expect(f->len == now.files[i].len && memcmp(f->at, now.files[i].at, f->len) == 0, "%s %u: %s", when, n,
                      f->name);
    }
    partial_free(&now);
}

Test(view, killed_at_every_write_is_gone_on_with_behind_its_last_step, .timeout = 300)
{
    const hdx_build_doors sound = { .io = hdx_io_system() };
    hdx_error             err;
    partial_build         straight;
    make_straight(&straight);
    for (unsigned n = 1;; n++) {
        int         status;
        const pid_t child = fork();
        if (child == 0) {
            faulty_io             f;
            const hdx_build_doors doors = { .io = &f.io, .every_step = true };
            faulty_io_init(&f, n, FAULTY_KILL, true);
            _exit(make(&doors, &err) == HDX_OK ? 0 : 1);
        }
        cr_assert(child > 0 && waitpid(child, &status, 0) == child);
        cr_assert(make(&sound, &err) == HDX_OK, "kill %u: %s", n, err.message);
        expect_sound("v", "kill", n);
        cr_expect(!is_there("a.hprof.hdx/views/.heapdex-part-v"), "%u", n);
        expect_as(&straight, "kill", n);
        if (WIFEXITED(status))
            break;
    }
    cr_expect(went_on[0] > 3 && went_on[1] > 3, "%u and %u went on", went_on[0], went_on[1]);
    partial_free(&straight);
}

Test(view, told_to_stop_at_every_question_keeps_the_steps_that_are_done, .timeout = 300)
{
    const hdx_build_doors every = { .io = hdx_io_system(), .every_step = true };
    hdx_error             err;
    partial_build         straight;
    make_straight(&straight);
    for (unsigned last = 0;; last++) {
        partial_calls      c = { .last = last };
        const hdx_progress progress = { .context = &c, .cancelled = partial_is_wanted };
        const hdx_code     code = make_asked(&every, progress, &err);
        cr_assert(code == HDX_OK || code == HDX_CANCELLED, "%u: %s", last, err.message);
        const bool kept = is_there("a.hprof.hdx/views/.heapdex-part-v/view.tmp");
        cr_expect(!kept || strstr(err.hint, "finished steps are saved") != NULL, "%u: %s", last, err.hint);
        const unsigned before = went_on[0] + went_on[1];
        cr_assert(code == HDX_OK || make(&every, &err) == HDX_OK, "%u: %s", last, err.message);
        cr_expect(went_on[0] + went_on[1] == before + kept, "%u", last);
        expect_as(&straight, "stop", last);
        if (code == HDX_OK)
            break;
    }
    cr_expect(went_on[0] > 0 && went_on[1] > 0, "%u and %u went on", went_on[0], went_on[1]);
    partial_free(&straight);
}

static int rename_kept(hdx_io *io, const char *from, const char *to)
{
    const int rc = hdx_io_system()->rename(io, from, to);
    partial_saves += rc >= 0 && strstr(from, "view.tmp") != NULL;
    return rc;
}

/* A build that gets no memory any more when it has kept so many steps. */
static void stop_behind(unsigned steps)
{
    int         status;
    const pid_t child = fork();
    hdx_error   err;
    if (child == 0) {
        hdx_io                io = *hdx_io_system();
        const hdx_build_doors doors = { .io = &io, .every_step = true, .refuse = partial_refuse };
        io.rename = rename_kept;
        partial_saves = 0;
        partial_stop_at = steps;
        _exit(make(&doors, &err) == HDX_LIMIT ? 0 : 1);
    }
    cr_assert(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

Test(view, begins_anew_where_what_is_there_was_touched_or_is_of_another_view)
{
    static const char *const names[] = { "view.tmp", "search.tmp", "special.hdx", "nearest.hdx", "idoms.tmp", "seal" };
    const hdx_build_doors    sound = { .io = hdx_io_system() };
    hdx_error                err;
    partial_build            straight;
    make_straight(&straight);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (unsigned way = 0; way < 2; way++) {
            char line[200];
            if (way == 0 && strcmp(names[i], "seal") == 0) /* which still says the same */
                continue;
            stop_behind(2);
            (void)snprintf(line, sizeof line,
                           way == 0 ? "printf x >> a.hprof.hdx/views/.heapdex-part-v/%s"
                                    : "rm a.hprof.hdx/views/.heapdex-part-v/%s",
                           names[i]);
            cr_assert(system(line) == 0);
            cr_assert(make(&sound, &err) == HDX_OK, "%s: %s", names[i], err.message);
            expect_as(&straight, names[i], way);
        }
    stop_behind(2);
    pairs--; /* one reference less is left out */
    cr_assert(make(&sound, &err) == HDX_OK, "%s", err.message);
    expect_sound("v", "fewer", 0);
    cr_assert(system("rm -rf a.hprof.hdx/views") == 0);
    pairs++;
    cr_expect(went_on[0] + went_on[1] == 0, "%u and %u went on", went_on[0], went_on[1]);
    stop_behind(2);
    cr_assert(make(&sound, &err) == HDX_OK, "%s", err.message);
    expect_as(&straight, "untouched", 0);
    cr_expect(went_on[1] == 1, "%u and %u went on", went_on[0], went_on[1]);
    partial_free(&straight);
}

/* Bits are kept by words. */
Test(view, is_gone_on_from_where_objects_fill_their_last_word_and_where_not)
{
    const hdx_build_doors sound = { .io = hdx_io_system() };
    const unsigned        there = (unsigned)(base.objects % 64);
    hdx_error             err;
    for (unsigned rest = 63; rest <= 65; rest++) {
        make_index((64 + rest - there) % 64);
        cr_assert_eq(base.objects % 64, rest % 64, "%llu objects", (unsigned long long)base.objects);
        went_on[1] = 0;
        stop_behind(2);
        cr_assert(make(&sound, &err) == HDX_OK, "%s", err.message);
        cr_expect(went_on[1] == 1, "%llu objects", (unsigned long long)base.objects);
        cr_assert(system("rm -rf a.hprof.hdx/views") == 0);
    }
}

Test(view, of_an_index_that_was_made_anew_meanwhile_is_refused)
{
    const hdx_build_doors sound = { .io = hdx_io_system() };
    hdx_error             err;
    want.index[3] ^= 1;
    cr_expect(make(&sound, &err) == HDX_BUSY, "%s", err.message);
    want.index[3] ^= 1;
    cr_expect(!is_there("a.hprof.hdx/views/v"));
}

static int no_rename(hdx_io *io, const char *from, const char *to)
{
    return strcmp(to + strlen(to) - 2, "/v") == 0 ? -EACCES : hdx_io_system()->rename(io, from, to);
}
static int no_sync(hdx_io *io, const char *path)
{
    return strcmp(path + strlen(path) - 6, "/views") == 0 ? -EIO : hdx_io_system()->sync_folder(io, path);
}
static int no_exchange(hdx_io *io, const char *from, const char *to)
{
    (void)io;
    (void)from;
    (void)to;
    return -EINVAL;
}

/* One call fails, and what comes after it does not. */
Test(view, that_cannot_be_put_in_place_is_an_error)
{
    hdx_io                io = *hdx_io_system();
    const hdx_build_doors doors = { .io = &io };
    hdx_error             err;
    io.rename = no_rename;
    cr_expect(make(&doors, &err) == HDX_IO, "%s", err.message);
    cr_expect_str_eq(err.message, "cannot move the view into place: Permission denied");
    cr_expect(!is_there("a.hprof.hdx/views/v") && !is_there("a.hprof.hdx/views/.heapdex-part-v"));
    io.rename = hdx_io_system()->rename;
    io.sync_folder = no_sync;
    cr_expect(make(&doors, &err) == HDX_IO, "%s", err.message);
    cr_expect_str_eq(err.message, "cannot sync its folder: Input/output error");
    io.sync_folder = hdx_io_system()->sync_folder;
    io.exchange = no_exchange; /* as of a file system that cannot: the old one goes first */
    for (unsigned round = 0; round < 2; round++) {
        cr_expect(make(&doors, &err) == HDX_OK, "%s", err.message);
        cr_expect(is_there("a.hprof.hdx/views/v") && !is_there("a.hprof.hdx/views/.heapdex-part-v"), "round %u", round);
    }
}

Test(view, is_not_made_through_a_link)
{
    const hdx_build_doors sound = { .io = hdx_io_system() };
    hdx_error             err;
    cr_assert(mkdir("elsewhere", 0700) == 0 && symlink("../elsewhere", "a.hprof.hdx/views") == 0);
    cr_expect(make(&sound, &err) == HDX_IO, "%s", err.message);
    cr_expect(!is_there("elsewhere/v"));
}

Test(view, keeps_to_a_budget_or_says_which_would_do)
{
    const hdx_index_options small = { .dump = "a.hprof", .threads = 1, .memory = 20u << 20 };
    hdx_index_report        report;
    hdx_error               err;
    hdx_view_wanted         w = want;
    w.cuts = all;
    memset(&report, 7, sizeof report);
    cr_expect(hdx_view_build(&small, &w, &report, &err) == HDX_LIMIT);
    cr_expect(report.path[0] == '\0' && report.bytes == 0 && report.step_count == 0, "nothing is reported of it");
    cr_expect(strstr(err.message, "the memory limit is 20 MB") != NULL && strstr(err.hint, "is enough") != NULL,
              "%s / %s", err.message, err.hint);
    const hdx_index_options enough = { .dump = "a.hprof",
                                       .threads = 1,
                                       .memory = strtoull(err.hint + 9, NULL, 10) << 20 };
    cr_expect(hdx_view_build(&enough, &w, &report, &err) == HDX_OK, "%s", err.message);
    cr_expect(report.bytes > 4096 && strcmp(report.path, "a.hprof.hdx/views/v") == 0, "%s", report.path);
}

/* A folder that others can write to, or a file, is in the way: it goes first. */
Test(view, is_made_in_a_folder_of_its_own_whatever_is_there)
{
    const hdx_build_doors sound = { .io = hdx_io_system() };
    hdx_error             err;
    for (unsigned way = 0; way < 3; way++) {
        cr_assert(system("rm -rf a.hprof.hdx/views; mkdir -p a.hprof.hdx/views") == 0);
        cr_assert(
            system(way == 0
                       ? "mkdir a.hprof.hdx/views/.heapdex-part-v; echo x >a.hprof.hdx/views/.heapdex-part-v/seal; "
                         "chmod 777 a.hprof.hdx/views/.heapdex-part-v"
                   : way == 1 ? "echo x >a.hprof.hdx/views/.heapdex-part-v"
                              : "ln -s ../.. a.hprof.hdx/views/.heapdex-part-v") == 0);
        cr_expect(make(&sound, &err) == HDX_OK, "%u: %s", way, err.message);
        expect_sound("v", "way", way);
        cr_expect(!is_there("a.hprof.hdx/views/v/seal") && !is_there("a.hprof.hdx/views/.heapdex-part-v"), "%u", way);
        cr_expect(is_there("a.hprof"), "what a link leads to stays");
    }
    for (unsigned open = 0; open < 2; open++) { /* others may have written what is there */
        cr_assert(system("rm -rf a.hprof.hdx/views") == 0);
        stop_behind(2);
        cr_assert(open == 0 || chmod("a.hprof.hdx/views/.heapdex-part-v", 0777) == 0);
        went_on[1] = 0;
        cr_assert(make(&sound, &err) == HDX_OK, "%s", err.message);
        cr_expect(went_on[1] == 1 - open, "open %u: %u went on", open, went_on[1]);
        expect_sound("v", "open", open);
    }
}

static hdx_code remove_view(const char *name, char path[256], hdx_error *err)
{
    const hdx_index_options options = { .dump = "a.hprof", .threads = 1 };
    return hdx_view_remove(&options, name, path, 256, err);
}

/* With what a build left of it, or that alone; the others and the index stay, and the folder while there is one. */
Test(view, is_removed_with_its_leftovers_and_nothing_else)
{
    const hdx_build_doors sound = { .io = hdx_io_system() };
    hdx_error             err;
    char                  path[256];
    cr_expect(remove_view("v", path, &err) == HDX_NOT_FOUND && strcmp(err.message, "the index has no view v") == 0,
              "%s", err.message);
    for (unsigned way = 0; way < 4; way++) { /* it, and something of a build; it; that alone; nothing */
        cr_assert(make(&sound, &err) == HDX_OK, "%s", err.message);
        cr_assert(system("mv a.hprof.hdx/views/v kept") == 0);
        want.name = "other";
        cr_assert(make(&sound, &err) == HDX_OK, "%s", err.message);
        want.name = "v";
        if (way < 2)
            cr_assert(system("cp -r kept a.hprof.hdx/views/v") == 0);
        if (way == 0 || way == 2)
            cr_assert(system("cp -r kept a.hprof.hdx/views/.heapdex-part-v") == 0);
        const hdx_code code = remove_view("v", path, &err);
        cr_expect(code == (way < 3 ? HDX_OK : HDX_NOT_FOUND), "%u: %s", way, err.message);
        cr_expect(!is_there("a.hprof.hdx/views/v") && !is_there("a.hprof.hdx/views/.heapdex-part-v"), "%u", way);
        cr_expect(code != HDX_OK || strcmp(path + strlen(path) - 8, "/views/v") == 0, "%s", path);
        expect_sound("other", "beside it", way);
        cr_expect(remove_view("other", path, &err) == HDX_OK && !is_there("a.hprof.hdx/views"), "the last one");
        expect_sound(NULL, "the index", way);
        cr_assert(system("rm -r kept") == 0);
    }
}

/* A file of a user in a view: the view is neither replaced nor removed, also where the file came last. */
Test(view, with_a_file_of_a_user_in_it_stays)
{
    const hdx_build_doors sound = { .io = hdx_io_system() };
    hdx_error             err;
    char                  path[256];
    cr_assert(make(&sound, &err) == HDX_OK, "%s", err.message);
    cr_assert(system("echo mine > a.hprof.hdx/views/v/letter") == 0);
    cr_expect_eq(make(&sound, &err), HDX_USAGE);
    cr_expect(strstr(err.message, "contains letter, which heapdex did not write") != NULL, "%s", err.message);
    cr_expect_eq(remove_view("v", path, &err), HDX_USAGE);
    cr_expect(is_there("a.hprof.hdx/views/v/letter") && !is_there("a.hprof.hdx/views/.heapdex-part-v"));
    cr_assert(unlink("a.hprof.hdx/views/v/letter") == 0);
    cr_expect_eq(make(&sound, &err), HDX_OK);
    expect_sound("v", "again", 0);
}
