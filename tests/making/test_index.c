/*
 * test_index.c - the life of an index: it exists whole or not at all, whatever fails; its bytes depend on the dump
 * alone.
 */
#include "making/making.h"
#include "base/bytes.h"
#include "base/crc.h"
#include "making/heap_model.h"
#include "support/faulty.h"
#include "support/folder.h"
#include "support/own.h"
#include "support/wait.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[TEST_FOLDER], dump[64], other[64];

static void make(const char *path, uint64_t seed)
{
    static heap_model h;
    dump_maker       *m = model_make(&h, seed, 300, 8);
    dump_maker_save(m, path);
    dump_maker_free(m);
}

static void enter(void)
{
    test_folder_make(folder, "index");
    (void)snprintf(dump, sizeof dump, "%s/a b\xc3\xa4.hprof", folder); /* a space and a letter outside ASCII */
    (void)snprintf(other, sizeof other, "%s/other.hdx", folder);
    make(dump, 4711);
}

static void leave(void) { test_folder_remove(folder); }

TestSuite(index, .init = enter, .fini = leave);

static bool exists(const char *format, const char *path)
{
    char name[4200];
    (void)snprintf(name, sizeof name, format, path);
    return access(name, F_OK) == 0;
}

static hdx_code build(const hdx_index_options *options, hdx_index_report *report)
{
    hdx_error err = { 0 };
    hdx_code  code = hdx_index_build(options, report, &err);
    if (code != HDX_OK)
        cr_log_info("%s: %s", err.where, err.message);
    return code;
}

/* The classes that every dump has; java.lang.Object. */
static uint64_t add_core(dump_maker *m)
{
    const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
    (void)dump_maker_class(m, "java/lang/Class", object, "");
    (void)dump_maker_class(m, "java/lang/ClassLoader", object, "");
    return object;
}

/* All bytes of a file of an index. */
static char *slurp(const char *index, const char *name, size_t *len)
{
    char path[4300];
    (void)snprintf(path, sizeof path, "%s/%s.hdx", index, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    char *bytes = malloc(4u << 20);
    *len = fread(bytes, 1, 4u << 20, f);
    (void)fclose(f);
    return bytes;
}

static void expect_same_files(const char *a, const char *b)
{
    for (int kind = 0; kind < HDX_KINDS; kind++) {
        size_t n = 0, k = 0;
        char  *x = slurp(a, hdx_kind_name((hdx_kind)kind), &n), *y = slurp(b, hdx_kind_name((hdx_kind)kind), &k);
        cr_expect((x == NULL) == (y == NULL) && n == k && (x == NULL || memcmp(x, y, n) == 0), "%s differs",
                  hdx_kind_name((hdx_kind)kind));
        free(x);
        free(y);
    }
}

Test(index, is_found_again_and_rebuilt_when_the_dump_changed)
{
    hdx_index_options options = { .dump = dump };
    hdx_index_report  report;
    cr_assert(build(&options, &report) == HDX_OK);
    cr_expect(!report.reused && exists("%s/catalog.mdb", report.path) && !exists("%s", own_of("part", report.path)) &&
              !exists("%s", own_of("lock", report.path)));
    cr_assert(build(&options, &report) == HDX_OK);
    cr_expect(report.reused);
    struct stat before, now;
    cr_assert(stat(dump, &before) == 0);
    unsigned naps = 0;
    do { /* the same bytes are written again: another time, the same content */
        wait_nap(&naps, "the time of the dump changes");
        make(dump, 4711);
        cr_assert(stat(dump, &now) == 0);
    } while (now.st_mtim.tv_sec == before.st_mtim.tv_sec && now.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
    cr_assert(build(&options, &report) == HDX_OK);
    cr_expect(report.reused);
    make(dump, 12);
    cr_assert(build(&options, &report) == HDX_OK);
    cr_expect(!report.reused);
}

Test(index, is_not_built_when_only_asked_for)
{
    hdx_index_options options = { .dump = dump, .no_build = true };
    hdx_index_report  report;
    cr_expect(build(&options, &report) == HDX_BAD_DUMP);
    cr_expect(!exists("%s.hdx", dump) && !exists("%s", own_of_dump("part", dump)));
}

static void note_down(void *context, const char *line) { (void)snprintf(context, 200, "%s", line); }

/* The catalog says so, and that alone: files of another format would be damage. */
Test(index, of_an_older_format_is_said_to_be_one_and_built_again)
{
    char              said[200] = "", path[4300];
    hdx_index_options options = { .dump = dump, .notice = note_down, .notice_context = said };
    hdx_index_report  report;
    hdx_error         err = { 0 };
    uint8_t           sum[48];
    cr_assert(build(&options, &report) == HDX_OK);
    (void)snprintf(path, sizeof path, "%s/catalog.sum", report.path);
    FILE *f = fopen(path, "r+b");
    cr_assert(f != NULL && fread(sum, 1, sizeof sum, f) == sizeof sum);
    hdx_put32(sum + 8, hdx_le32(sum + 8) - 1);
    hdx_put32(sum + 44, hdx_crc32c(0, sum, 44));
    cr_assert(fseek(f, 0, SEEK_SET) == 0 && fwrite(sum, 1, sizeof sum, f) == sizeof sum && fclose(f) == 0);
    options.no_build = true;
    cr_expect(hdx_index_build(&options, &report, &err) == HDX_BAD_DUMP &&
                  strcmp(err.message, "the index has an older format") == 0,
              "%s", err.message);
    options.no_build = false;
    cr_assert(build(&options, &report) == HDX_OK);
    cr_expect(!report.reused && strstr(said, "older format") != NULL, "%s", said);
    cr_assert(build(&options, &report) == HDX_OK);
    cr_expect(report.reused);
}

Test(index, may_be_named_in_place_of_its_dump)
{
    hdx_index_options options = { .dump = dump };
    hdx_index_report  report, again;
    cr_assert(build(&options, &report) == HDX_OK);
    options.dump = report.path;
    cr_assert(build(&options, &again) == HDX_OK);
    cr_expect(again.reused && strcmp(again.path, report.path) == 0 && strcmp(again.dump, dump) == 0);
}

Test(index, leaves_alone_what_is_no_index)
{
    hdx_index_options options = { .dump = dump, .index_dir = folder };
    hdx_index_report  report;
    cr_expect(build(&options, &report) == HDX_USAGE);
    options.index_dir = dump;
    cr_expect(build(&options, &report) == HDX_USAGE);
    cr_expect(exists("%s", dump));
}

Test(index, clears_the_leftovers_of_a_killed_build)
{
    char              part[128], file[160];
    hdx_index_options options = { .dump = dump };
    hdx_index_report  report;
    (void)snprintf(part, sizeof part, "%s", own_of_dump("part", dump));
    (void)snprintf(file, sizeof file, "%s/outbound.hdx", part);
    cr_assert(mkdir(part, 0777) == 0);
    FILE *f = fopen(file, "w");
    cr_assert(f != NULL && fputs("half", f) >= 0 && fclose(f) == 0);
    cr_assert(build(&options, &report) == HDX_OK);
    cr_expect(!exists("%s", part));
}

Test(index, has_one_builder_at_a_time)
{
    char              lock[128];
    hdx_index_options options = { .dump = dump, .no_wait = true };
    hdx_index_report  report;
    (void)snprintf(lock, sizeof lock, "%s", own_of_dump("lock", dump));
    int fd = open(lock, O_RDWR | O_CREAT, 0666);
    cr_assert(fd >= 0 && flock(fd, LOCK_EX) == 0);
    cr_expect(build(&options, &report) == HDX_BUSY);
    (void)close(fd);
    cr_expect(build(&options, &report) == HDX_OK);
}

Test(index, has_the_same_bytes_from_any_number_of_threads_and_either_width)
{
    const struct {
        unsigned threads, width;
    } ways[] = { { 2, 32 }, { 8, 32 }, { 1, 64 }, { 3, 64 } };
    hdx_index_options options = { .dump = dump, .threads = 1, .width = 32 };
    hdx_index_report  first, report;
    cr_assert(build(&options, &first) == HDX_OK);
    for (size_t i = 0; i < 4; i++) {
        hdx_index_options next = {
            .dump = dump, .index_dir = other, .force = true, .threads = ways[i].threads, .width = ways[i].width
        };
        cr_assert(build(&next, &report) == HDX_OK);
        expect_same_files(first.path, report.path);
    }
}

/* Segments go to whoever is idle. A local before its thread's own record would be a root. */
Test(index, has_the_same_roots_where_several_workers_find_them)
{
    enum { THREADS = 3, LOCALS = 600 };
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = add_core(m);
    uint64_t    threads[THREADS], thread = dump_maker_class(m, "java/lang/Thread", object, "");
    for (uint32_t t = 0; t < THREADS; t++) {
        threads[t] = dump_maker_instance(m, thread, NULL);
        dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, threads[t], t + 1, 0);
    }
    for (unsigned i = 0; i < LOCALS; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "app/Node%u", i / 10);
        const uint64_t node = i % 10 == 0 ? dump_maker_class(m, name, object, "next:L") : object;
        const uint64_t local = dump_maker_instance(m, node, DUMP_VALUES(object));
        (void)dump_maker_primitives(m, 'J', NULL, 4000); /* 32 KB: 19 MB in all */
        dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, local, i % THREADS + 1, (int32_t)(i / THREADS));
        if (i % 30 == 29)
            dump_maker_segment(m);
    }
    dump_maker_save(m, dump);
    dump_maker_free(m);
    hdx_index_options alone = { .dump = dump, .threads = 1 };
    hdx_index_report  first, report;
    cr_assert(build(&alone, &first) == HDX_OK);
    for (unsigned n = 2; n <= 5; n += 3) {
        hdx_index_options options = { .dump = dump, .index_dir = other, .force = true, .threads = n };
        hdx_catalog      *catalog;
        const hdx_root   *roots;
        uint64_t          count, locals = 0;
        cr_assert(build(&options, &report) == HDX_OK);
        expect_same_files(first.path, report.path);
        cr_assert(hdx_catalog_open(hdx_io_system(), report.path, &catalog, NULL) == HDX_OK &&
                  hdx_catalog_roots(catalog, &roots, &count, NULL) == HDX_OK);
        for (uint64_t i = 0; i < count; i++)
            locals += roots[i].type == HDX_ROOT_JAVA_LOCAL && roots[i].thread != HDX_NO_ID;
        cr_expect(locals == LOCALS, "%llu of them belong to a thread", (unsigned long long)locals);
        hdx_catalog_close(catalog);
    }
}

Test(index, has_the_same_bytes_from_a_gzipped_dump)
{
    char              packed[128], command[4200];
    hdx_index_options options = { .dump = dump }, gz = { .dump = packed };
    hdx_index_report  plain, report;
    (void)snprintf(packed, sizeof packed, "%s.gz", dump);
    (void)snprintf(command, sizeof command, "gzip -k '%s'", dump);
    cr_assert(system(command) == 0);
    cr_assert(build(&options, &plain) == HDX_OK && build(&gz, &report) == HDX_OK);
    cr_expect(exists("%s/seek.hdx", report.path) && !exists("%s/seek.hdx", plain.path) &&
              !exists("%s/windows.tmp", report.path));
    (void)snprintf(command, sizeof command, "rm '%s/seek.hdx'", report.path);
    cr_assert(system(command) == 0);
    expect_same_files(plain.path, report.path);
}

static int no_exchange(hdx_io *io, const char *a, const char *b)
{
    (void)io;
    (void)a;
    (void)b;
    return -EINVAL;
}

Test(index, is_replaced_where_names_cannot_be_swapped)
{
    hdx_io            io = *hdx_io_system();
    hdx_build_doors   doors = { .io = &io, .every_step = true };
    hdx_index_options options = { .dump = dump }, again = { .dump = dump, .force = true };
    hdx_index_report  first, report;
    hdx_error         err;
    cr_assert(build(&options, &first) == HDX_OK);
    io.exchange = no_exchange;
    cr_expect(hdx_index_build_through(&doors, &again, &report, &err) == HDX_OK && !report.reused, "%s", err.message);
    cr_expect(!exists("%s", own_of("part", report.path)) && exists("%s/catalog.mdb", report.path));
    cr_expect(build(&options, &report) == HDX_OK && report.reused);
}

static uint64_t space_left;
static int      tell_space(hdx_io *io, const char *path, uint64_t *bytes)
{
    (void)io;
    (void)path;
    *bytes = space_left;
    return 0;
}

Test(index, that_the_disk_cannot_hold_is_refused_before_the_work)
{
    hdx_io             io = *hdx_io_system();
    hdx_build_doors    doors = { .io = &io };
    hdx_index_options  options = { .dump = dump };
    hdx_index_forecast f;
    hdx_index_report   report;
    hdx_error          err;
    io.space = tell_space;
    cr_assert(hdx_index_estimate(&options, &f, &err) == HDX_OK);
    space_left = f.disk + f.temporary - 1;
    cr_expect(hdx_index_build_through(&doors, &options, &report, &err) == HDX_LIMIT);
    cr_expect(strstr(err.message, "1 MB on disk, 1 MB while it is built; only 0.") != NULL &&
                  strstr(err.hint, "--index-dir") != NULL,
              "%s", err.message);
    cr_expect(!exists("%s", own_of_dump("part", dump)) && !exists("%s", own_of_dump("lock", dump)) &&
              !exists("%s.hdx", dump));
    space_left++;
    cr_expect(hdx_index_build_through(&doors, &options, &report, &err) == HDX_OK, "%s", err.message);
}

Test(index, survives_every_failing_write)
{
    hdx_index_options options = { .dump = dump, .threads = 1 };
    hdx_index_report  report;
    hdx_error         err;
    for (unsigned n = 1;; n++) {
        faulty_io       f;
        hdx_build_doors doors = { .io = &f.io };
        faulty_io_init(&f, n, ENOSPC, true);
        hdx_code code = hdx_index_build_through(&doors, &options, &report, &err);
        if (!faulty_io_fired(&f)) {
            cr_assert(code == HDX_OK && n > 20, "%u calls", n);
            break;
        }
        /*
         * the folder is in place before the last sync: from there on the index exists, and saying so or failing are
         * both honest
         */
        if (code == HDX_OK || exists("%s.hdx", dump)) {
            hdx_graph *g;
            cr_assert(hdx_graph_open(report.path[0] != '\0' ? report.path : "", dump, &g, &err) == HDX_OK ||
                      code != HDX_OK);
            if (code == HDX_OK)
                hdx_graph_close(g);
            hdx_index_options remove = { .dump = dump };
            char              path[256];
            (void)hdx_index_remove(&remove, path, sizeof path, NULL);
            continue;
        }
        cr_expect(code == HDX_IO || code == HDX_USAGE || code == HDX_LIMIT, "fault %u gives %s: %s: %s", n,
                  hdx_code_name(code), err.where, err.message);
        cr_expect(!exists("%s", own_of_dump("part", dump)), "fault %u leaves a .part folder", n);
    }
}

Test(index, keeps_the_old_one_at_every_failing_write)
{
    hdx_index_options options = { .dump = dump, .threads = 1 };
    hdx_index_report  report;
    hdx_error         err;
    cr_assert(build(&options, &report) == HDX_OK);
    options.force = true;
    for (unsigned n = 1; n < 400; n++) {
        faulty_io         f;
        hdx_build_doors   doors = { .io = &f.io };
        hdx_index_options ask = { .dump = dump, .no_build = true };
        hdx_graph        *g;
        faulty_io_init(&f, n, EIO, true);
        (void)hdx_index_build_through(&doors, &options, &report, &err);
        cr_assert(build(&ask, &report) == HDX_OK && report.reused, "fault %u lost the index", n);
        cr_assert(hdx_graph_open(report.path, dump, &g, &err) == HDX_OK && hdx_graph_verify(g, false, &err) == HDX_OK,
                  "fault %u: %s", n, err.message);
        hdx_graph_close(g);
        if (!faulty_io_fired(&f))
            break;
    }
}

Test(index, says_before_it_begins_what_does_not_fit_the_budget)
{
    hdx_index_options options = { .dump = dump, .memory = 20u << 20, .threads = 1 };
    hdx_index_report  report;
    hdx_error         err;
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_LIMIT);
    cr_expect(strstr(err.message, "the memory limit is 20 MB") != NULL && strstr(err.hint, "heapdex estimate") != NULL,
              "%s / %s", err.message, err.hint);
    options.memory = 39u << 20; /* enough to begin with */
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_LIMIT);
    cr_expect(strstr(err.message, "the memory limit is 39 MB") != NULL && strncmp(err.hint, "--memory ", 9) == 0,
              "%s / %s", err.message, err.hint);
    cr_expect(!exists("%s.hdx", dump) && !exists("%s", own_of_dump("part", dump)));
    options.memory = strtoull(err.hint + 9, NULL, 10) << 20; /* what it said would do, does */
    cr_expect(build(&options, &report) == HDX_OK);
}

/* A build that was stopped leaves nothing, or a checkpoint that the next one goes on from, to the same bytes. */
static void expect_kept_steps_serve(bool go_on)
{
    hdx_index_options options = { .dump = dump, .threads = 2 }, alone = { .dump = dump, .threads = 1 };
    hdx_index_report  report;
    hdx_error         err;
    char              path[256], command[1024];
    if (!exists("%s", own_of_dump("part", dump)))
        return;
    cr_expect(exists("%s/checkpoint", own_of_dump("part", dump)) ||
                  exists("%s/checkpoint.new", own_of_dump("part", dump)) ||
                  exists("%s/scan.tmp", own_of_dump("part", dump)),
              "leftovers that nobody can use");
    if (go_on) {
        (void)snprintf(path, sizeof path, "%s.straight", dump);
        alone.index_dir = path;
        cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
        cr_assert(hdx_index_build(&alone, &report, &err) == HDX_OK, "%s", err.message);
        (void)snprintf(command, sizeof command,
                       "for f in '%s'/*.hdx; do cmp \"$f\" '%s.hdx'/\"${f##*/}\" || exit 1; done", path, dump);
        cr_expect(system(command) == 0, "other bytes than a build without a stop");
        cr_expect(!exists("%s", own_of_dump("part", dump)));
        (void)hdx_index_remove(&alone, path, sizeof path, NULL);
    }
    cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK, "%s", err.message);
}

typedef struct refuser {
    unsigned at, seen;
} refuser;

static bool refuse(void *context, uint64_t bytes)
{
    refuser *r = context;
    (void)bytes;
    return ++r->seen == r->at;
}

Test(index, survives_every_refused_allocation)
{
    hdx_index_options options = { .dump = dump, .threads = 1 };
    hdx_index_report  report;
    hdx_error         err;
    for (unsigned n = 1;; n++) {
        refuser         r = { n, 0 };
        hdx_build_doors doors = { .io = hdx_io_system(), .refuse = refuse, .context = &r, .every_step = true };
        hdx_code        code = hdx_index_build_through(&doors, &options, &report, &err);
        if (r.seen < n) {
            cr_assert(code == HDX_OK && n > 50);
            break;
        }
        if (code == HDX_OK) { /* the request was one that could be done without */
            hdx_index_options remove = { .dump = dump };
            char              path[256];
            cr_assert(hdx_index_remove(&remove, path, sizeof path, &err) == HDX_OK);
            continue;
        }
        cr_expect(code == HDX_LIMIT, "request %u gives %s: %s", n, hdx_code_name(code), err.message);
        cr_expect(!exists("%s.hdx", dump), "request %u leaves an index", n);
        expect_kept_steps_serve(n % 16 == 0);
    }
}

static bool stop(void *context)
{
    unsigned *left = context;
    return *left == 0 || --*left == 0;
}

Test(index, can_be_cancelled_at_any_time)
{
    hdx_index_report report;
    for (unsigned n = 1; n < 40; n++) {
        unsigned          left = n;
        hdx_index_options options = { .dump = dump, .threads = 1, .force = true, .progress = { &left, NULL, stop } };
        hdx_code          code = hdx_index_build(&options, &report, NULL);
        cr_expect(code == HDX_CANCELLED || code == HDX_OK);
        if (code == HDX_OK) {
            cr_expect(!exists("%s", own_of_dump("part", dump)));
            return;
        }
        cr_expect(!exists("%s.hdx", dump));
        expect_kept_steps_serve(n % 3 == 0);
    }
}

Test(index, holds_what_until_says)
{
    static const hdx_step steps[] = { HDX_STEP_OBJECTS, HDX_STEP_OUTBOUND, HDX_STEP_INBOUND };
    hdx_index_report      report;
    hdx_graph            *g;
    hdx_error             err;
    for (size_t i = 0; i < 3; i++) {
        hdx_index_options options = { .dump = dump, .until = steps[i] };
        cr_assert(build(&options, &report) == HDX_OK);
        cr_expect(!report.reused);
        cr_assert(hdx_graph_open(report.path, dump, &g, &err) == HDX_OK, "%s", err.message);
        cr_expect(!hdx_graph_summary_of(g)->complete && hdx_graph_summary_of(g)->step == (uint32_t)steps[i]);
        hdx_graph_close(g);
        cr_assert(build(&options, &report) == HDX_OK);
        cr_expect(report.reused);
    }
}

/* Builds the index of what m has written, and opens it. */
static hdx_graph *graph_of(dump_maker *m)
{
    hdx_index_options options = { .dump = dump };
    hdx_index_report  report;
    hdx_graph        *g;
    hdx_error         err;
    dump_maker_save(m, dump);
    dump_maker_free(m);
    cr_assert(build(&options, &report) == HDX_OK && hdx_graph_open(report.path, dump, &g, &err) == HDX_OK);
    return g;
}

Test(index, tells_damage_of_objects_that_claim_one_id)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = add_core(m);
    uint64_t    node = dump_maker_class(m, "app/Node", object, "next:L");
    uint64_t    a = dump_maker_instance(m, node, NULL);
    (void)dump_maker_instance_at(m, a, node, DUMP_VALUES(object));
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    hdx_graph               *g = graph_of(m);
    hdx_id                   id;
    const hdx_graph_summary *s = hdx_graph_summary_of(g);
    cr_expect(s->damage_count == 1 && s->damage[0].kind == HDX_DAMAGE_DUPLICATE && s->records == 5);
    cr_assert(hdx_graph_find(g, a, &id));
    cr_expect(hdx_graph_outbound_count(g, id, HDX_ALL) == 1, "the first of the two stands: its reference is null");
    hdx_graph_close(g);
}

/* No LOAD_CLASS, no instance: all that is known of such a class is its record, and that others extend it. */
Test(index, knows_a_class_that_was_never_loaded)
{
    dump_maker    *m = dump_maker_new(8);
    uint64_t       object = add_core(m);
    const uint64_t silent = dump_maker_class_at(m, 0x77000, NULL, object, "a:I b:J"),
                   child = dump_maker_class(m, "app/Child", silent, "c:I");
    (void)dump_maker_load(m, child, "app/Another");
    const uint64_t instance = dump_maker_instance(m, child, DUMP_VALUES(1, 2, 3));
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, child, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, instance, 0, 0);
    hdx_graph               *g = graph_of(m);
    uint32_t                 count;
    const hdx_graph_summary *s = hdx_graph_summary_of(g);
    const hdx_class         *classes = hdx_graph_classes(g, &count), *c = hdx_graph_class_named(g, "app.Child");
    cr_assert(count == 5 && c != NULL && c->super < count);
    cr_expect(classes[c->super].address == silent && (classes[c->super].flags & HDX_CLASS_INVENTED) == 0 &&
              classes[c->super].field_count == 2);
    cr_expect(hdx_text_is(classes[c->super].name, "unknown-name@0x77000"));
    cr_expect(c->instance_size == hdx_round_up(40, s->alignment), "16, int and long up to 32, int up to 40: %llu",
              (unsigned long long)c->instance_size);
    cr_assert(s->damage_count == 2);
    cr_expect(s->damage[0].kind == HDX_DAMAGE_DUPLICATE && strstr(s->damage[0].expected, "under two names") != NULL,
              "%s", s->damage[0].expected);
    cr_expect(s->damage[1].kind == HDX_DAMAGE_MISSING && strstr(s->damage[1].expected, "unknown-name@0x77000") != NULL,
              "%s", s->damage[1].expected);
    hdx_graph_close(g);
}

Test(index, counts_a_class_behind_those_that_a_worker_has_room_for)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = add_core(m);
    for (uint64_t i = 0; i <= 1u << 18; i++)
        (void)dump_maker_load(m, 0x7000000000 + 16 * i, "app/Loaded"); /* told of, never described */
    const uint64_t late = dump_maker_class(m, "app/Late", object, "");
    for (unsigned i = 0; i < 3; i++)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, late, NULL), 0, 0);
    hdx_graph       *g = graph_of(m);
    const hdx_class *c = hdx_graph_class_named(g, "app.Late");
    uint32_t         count;
    (void)hdx_graph_classes(g, &count);
    cr_expect(count == 4 && c != NULL && c->instances == 3 && hdx_graph_summary_of(g)->damage_count == 0);
    hdx_graph_close(g);
}

Test(index, takes_arrays_over_two_and_files_over_four_gigabytes)
{
    /* sparse: long[280,000,000] takes 2.24 GB, and so do the next two, the last of which begins beyond 4 GiB */
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = add_core(m);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    m->no_end = true;
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    int            fd = open(dump, O_RDWR | O_CREAT | O_TRUNC, 0666);
    cr_assert(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    uint64_t       at = len;
    const uint32_t elements = 280000000;
    for (int k = 0; k < 3; k++) {
        uint8_t  head[27] = { 0x1c };
        uint64_t body = 18 + 8ull * elements;
        for (int i = 0; i < 4; i++)
            head[5 + i] = (uint8_t)(body >> (24 - 8 * i));
        head[9] = 0x23;
        head[16] = 0x20 + (uint8_t)k; /* id 0x2000, 0x2100, 0x2200 */
        head[21] = 0;                 /* serial */
        for (int i = 0; i < 4; i++)
            head[22 + i] = (uint8_t)(elements >> (24 - 8 * i));
        head[26] = 11;
        cr_assert(pwrite(fd, head, sizeof head, (off_t)at) == sizeof head);
        at += 9 + body;
    }
    const uint8_t end[9] = { 0x2c };
    cr_assert(pwrite(fd, end, 9, (off_t)at) == 9 && close(fd) == 0);
    dump_maker_free(m);
    hdx_index_options options = { .dump = dump };
    hdx_index_report  report;
    hdx_graph        *g;
    hdx_error         err;
    hdx_id            id;
    hdx_pos           pos;
    cr_assert(build(&options, &report) == HDX_OK);
    cr_assert(hdx_graph_open(report.path, dump, &g, &err) == HDX_OK);
    cr_expect(hdx_graph_summary_of(g)->damage_count == 0 && hdx_graph_summary_of(g)->warning_count == 0);
    for (unsigned k = 0; k < 3; k++) {
        cr_assert(hdx_graph_find(g, 0x2000 + 0x100 * k, &id));
        cr_expect(hdx_graph_length(g, id) == elements && hdx_graph_shallow(g, id) == 24 + 8ull * elements);
        cr_expect(hdx_graph_position(g, id, &pos) && pos == len + 9 + k * (27 + 8ull * elements), "%llu",
                  (unsigned long long)pos);
    }
    hdx_graph_close(g);
}

/* Around what two bytes hold. */
Test(index, knows_lengths_of_any_size)
{
    const uint32_t lengths[] = { 0, 1, 255, 256, 65534, 65535, 65536, 65537, 1u << 24, INT32_MAX };
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = add_core(m);
    (void)dump_maker_class(m, "[B", object, "");
    for (unsigned k = 0; k < LENGTHS; k++) {
        const uint32_t n = lengths[k];
        const uint8_t  record[] = { HDX_SUB_PRIMITIVE_ARRAY_NODATA,
                                    0,
                                    0,
                                    0,
                                    5,
                                    0,
                                    (uint8_t)k,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0,
                                    (uint8_t)(n >> 24),
                                    (uint8_t)(n >> 16 & 255),
                                    (uint8_t)(n >> 8 & 255),
                                    (uint8_t)(n & 255),
                                    8 };
        dump_maker_raw(m, record, sizeof record);
    }
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    hdx_graph *g = graph_of(m);
    hdx_id     id;
    for (unsigned k = 0; k < LENGTHS; k++) {
        cr_assert(hdx_graph_find(g, 0x500000000 + 0x10000ull * k, &id), "%u", lengths[k]);
        cr_expect(hdx_graph_length(g, id) == lengths[k], "%u: %llu", lengths[k],
                  (unsigned long long)hdx_graph_length(g, id));
    }
    hdx_graph_close(g);
}

/*
 * 5 arrays of 16 GB in a dump of a few hundred bytes, without their elements: sums of 4 bytes are begun with, and found
 * to be too narrow.
 */
Test(index, sums_up_more_than_four_bytes_a_number_hold)
{
    const uint32_t elements = 2000000000;
    const uint64_t bytes = hdx_round_up(20 + 8ull * elements, 8);
    uint64_t       arrays[5];
    dump_maker    *m = dump_maker_new(8);
    uint64_t       object = add_core(m), of_objects = dump_maker_class(m, "[Ljava/lang/Object;", object, "");
    for (unsigned k = 0; k < 5; k++) {
        arrays[k] = 0x500000000 + 0x600000000 * k;
        const uint8_t record[] = { HDX_SUB_PRIMITIVE_ARRAY_NODATA,
                                   0,
                                   0,
                                   0,
                                   (uint8_t)(arrays[k] >> 32),
                                   (uint8_t)(arrays[k] >> 24),
                                   0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   (uint8_t)(elements >> 24),
                                   (uint8_t)(elements >> 16 & 255),
                                   (uint8_t)(elements >> 8 & 255),
                                   (uint8_t)(elements & 255),
                                   11 };
        dump_maker_raw(m, record, sizeof record);
    }
    const uint64_t all = dump_maker_array(m, of_objects, arrays, 5);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, all, 0, 0);
    hdx_graph *g = graph_of(m);
    hdx_id     id;
    for (unsigned k = 0; k < 5; k++) {
        cr_assert(hdx_graph_find(g, arrays[k], &id));
        cr_expect(hdx_graph_length(g, id) == elements && hdx_graph_retained(g, id) == bytes, "%llu",
                  (unsigned long long)hdx_graph_retained(g, id));
    }
    cr_assert(hdx_graph_find(g, all, &id));
    cr_expect(hdx_graph_retained(g, id) == 5 * bytes + hdx_graph_shallow(g, id), "%llu",
              (unsigned long long)hdx_graph_retained(g, id));
    hdx_graph_close(g);
}

/* Sorted by insertion, by merging and by the C library, as they grow: every reference once, ascending. */
Test(index, has_lists_in_order_however_long_and_mixed_they_were)
{
    const uint32_t lengths[] = { 2, 24, 25, 26, 47, 48, 49, 96, 97, 100, 777, 2047, 2048, 2049, 5000 };
    enum { LENGTHS = sizeof lengths / sizeof *lengths, TARGETS = 4000 };
    uint64_t    targets[TARGETS], refs[5000], arrays[LENGTHS], seed = 5;
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = add_core(m), of_objects = dump_maker_class(m, "[Ljava/lang/Object;", object, "");
    for (unsigned i = 0; i < TARGETS; i++)
        targets[i] = dump_maker_instance(m, object, NULL);
    bool held[LENGTHS][TARGETS] = { { false } };
    for (unsigned k = 0; k < LENGTHS; k++) {
        for (uint32_t i = 0; i < lengths[k]; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const unsigned which = (unsigned)(seed >> 33) % TARGETS;
            refs[i] = targets[which];
            held[k][which] = true;
        }
        arrays[k] = dump_maker_array(m, of_objects, refs, lengths[k]);
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, arrays[k], 0, 0);
    }
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    hdx_graph *g = graph_of(m);
    for (unsigned k = 0; k < LENGTHS; k++) {
        hdx_id   id, want, have;
        hdx_refs refs_of;
        cr_assert(hdx_graph_find(g, arrays[k], &id));
        hdx_graph_outbound(g, id, HDX_ALL, &refs_of);
        cr_assert(hdx_refs_next(&refs_of, &have)); /* the class stands first */
        for (unsigned i = 0; i < TARGETS; i++) {
            cr_assert(!held[k][i] || hdx_graph_find(g, targets[i], &want));
            cr_assert(!held[k][i] || (hdx_refs_next(&refs_of, &have) && have == want), "%u references: object %u",
                      lengths[k], i);
        }
        cr_expect(!hdx_refs_next(&refs_of, &have));
    }
    hdx_graph_close(g);
}
