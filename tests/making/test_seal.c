/*
 * test_seal.c - what a stopped build left is believed without being read again where it is as the build left it, and
 * read through where it is not.
 */
#include "making/partial_build.h"
#include "making/same_index.h"
#include "support/folder.h"
#include "support/own.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <fcntl.h>
#include <malloc.h>

static char          folder[TEST_FOLDER], dump[64], part[96], place[96];
static partial_build straight;
static bool          went_on;

/* ---- a door that counts what is read before a build goes on ---- */
#define FDS     1024
#define OPENING 16u /* an index that is opened is asked for its last byte */
static char     names[FDS][32];
static uint64_t read_bytes;

static void note(int fd, const char *path)
{
    const char *name = strrchr(path, '/');
    if (fd >= 0 && fd < FDS)
        (void)snprintf(names[fd], sizeof names[fd], "%s", name == NULL ? path : name + 1);
}
static int open_noted(hdx_io *io, const char *path)
{
    const int fd = hdx_io_system()->open(io, path);
    note(fd, path);
    return fd;
}
static int change_noted(hdx_io *io, const char *path)
{
    const int fd = hdx_io_system()->change(io, path);
    note(fd, path);
    return fd;
}
static int close_noted(hdx_io *io, int fd)
{
    if (fd >= 0 && fd < FDS)
        names[fd][0] = '\0';
    return hdx_io_system()->close(io, fd);
}
static int64_t read_counted(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset)
{
    const int64_t got = hdx_io_system()->read_at(io, fd, to, len, offset);
    const char   *dot = fd < FDS ? strrchr(names[fd], '.') : NULL;
    const bool    spare = strcmp(fd < FDS ? names[fd] : "", "bits.tmp") == 0 ||
                       strcmp(fd < FDS ? names[fd] : "", "lists.tmp") == 0; /* kept to be read */
    if (!went_on && got > 0 && dot != NULL && (strcmp(dot, ".tmp") == 0 || strcmp(dot, ".hdx") == 0) && !spare)
        read_bytes += (uint64_t)got;
    return got;
}

static void notice(void *context, const char *line)
{
    (void)context;
    went_on = went_on || strstr(line, "resuming") != NULL;
}

static hdx_index_options options_of(void)
{
    return (hdx_index_options){ .dump = dump, .threads = 1, .notice = notice };
}

static void make(void)
{
    static heap_model h;
    hdx_index_options options = options_of();
    hdx_index_report  report;
    hdx_error         err;
    char              path[96];
    test_folder_make_fast(folder, "seal");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(part, sizeof part, "%s", own_of_dump("part", dump));
    (void)snprintf(place, sizeof place, "%s.hdx", dump);
    dump_maker *m = model_make(&h, 5, 380, 8);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    partial_read_folder(&straight, place);
    cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK);
}

static void drop(void)
{
    partial_free(&straight);
    test_folder_remove(folder);
}

TestSuite(seal, .init = make, .fini = drop, .timeout = 120);

/* A build that stops behind step k + 1; its folder stays. */
static void leave(unsigned k)
{
    hdx_index_options options = options_of();
    hdx_error         err;
    cr_assert(partial_stop(&options, k + 1, &err) == HDX_LIMIT, "step %u: %s", k, err.message);
    cr_assert(access(part, F_OK) == 0);
}

/* The next build ends with the straight one's files and no others. */
static bool finish(const char *what)
{
    hdx_io            io = *hdx_io_system();
    hdx_build_doors   doors = { .io = &io, .every_step = true };
    hdx_index_options options = options_of();
    hdx_index_report  report;
    hdx_error         err = { .code = HDX_OK };
    char              path[96];
    io.open = open_noted;
    io.change = change_noted;
    io.close = close_noted;
    io.read_at = read_counted;
    went_on = false;
    read_bytes = 0;
    cr_assert(hdx_index_build_through(&doors, &options, &report, &err) == HDX_OK, "%s: %s: %s", what, err.where,
              err.message);
    const bool gone_on = went_on;
    partial_expect_same(&straight, place, what);
    cr_expect(access(part, F_OK) != 0, "%s: leftovers stay", what);
    cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK);
    return gone_on;
}

/* What is read before the next build goes on from the folder. */
static uint64_t reads(const char *what)
{
    cr_expect(finish(what), "%s: begun anew", what);
    return read_bytes;
}

static uint64_t bytes_of_temp_files(void)
{
    partial_build p = { .count = 0 };
    uint64_t      sum = 0;
    partial_read_folder(&p, part);
    for (unsigned i = 0; i < p.count; i++)
        if (strstr(p.files[i].name, ".tmp") != NULL && strcmp(p.files[i].name, "bits.tmp") != 0)
            sum += p.files[i].len;
    partial_free(&p);
    return sum;
}

static void path_of(const char *name, char *path) { (void)snprintf(path, 192, "%s/%s", part, name); }

Test(seal, of_an_untouched_leftover_spares_reading_its_files)
{
    char path[192];
    for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
        leave(k);
        path_of("seal", path);
        cr_assert(access(path, F_OK) == 0, "step %u", k);
        const uint64_t sealed = reads("as it was left");
        leave(k);
        const uint64_t temp_files = bytes_of_temp_files();
        cr_assert(unlink(path) == 0);
        const uint64_t all = reads("without its seal");
        cr_expect(all >= sealed + temp_files, "step %u: %llu of %llu, temporary files %llu", k,
                  (unsigned long long)sealed, (unsigned long long)all, (unsigned long long)temp_files);
        cr_expect(sealed <= OPENING, "step %u: %llu bytes of files", k, (unsigned long long)sealed);
    }
}

/* As behind a boot: the first build that has read all through says so, even if it gets no further. */
Test(seal, is_put_again_when_all_was_read_through)
{
    hdx_index_options options = options_of();
    hdx_error         err;
    char              path[192], state[192];
    struct stat       before, now;
    path_of("seal", path);
    path_of("checkpoint/state", state);
    for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
        leave(k);
        cr_assert(unlink(path) == 0 && stat(state, &before) == 0);
        for (unsigned calls = 1; access(path, F_OK) != 0; calls++) /* the first of these gets no further than that */
            cr_assert(partial_interrupt(&options, calls, &err) == HDX_CANCELLED, "step %u: the build ends without", k);
        cr_expect(stat(state, &now) == 0 && now.st_ino == before.st_ino, "step %u: another checkpoint", k);
        cr_expect(reads("read through once") <= OPENING, "step %u: %llu bytes", k, (unsigned long long)read_bytes);
    }
}

/* As it was left, but for the boot in the seal. */
static void change_seal(void (*change)(hdx_seal *s))
{
    hdx_seal s;
    char     path[192];
    path_of("seal", path);
    FILE *f = fopen(path, "r+b");
    cr_assert(f != NULL && fread(&s, sizeof s, 1, f) == 1);
    change(&s);
    s.sum = hdx_crc32c(0, &s, offsetof(hdx_seal, sum));
    cr_assert(fseek(f, 0, SEEK_SET) == 0 && fwrite(&s, sizeof s, 1, f) == 1 && fclose(f) == 0);
}

static void other_boot(hdx_seal *s) { s->boot[3] = s->boot[3] == 'a' ? 'b' : 'a'; }
static void no_boot(hdx_seal *s) { memset(s->boot, 0, sizeof s->boot); }
static void later(hdx_seal *s) { s->files[0].ctime_ns++; }
static void elsewhere(hdx_seal *s) { s->files[0].inode++; }
static void too_many(hdx_seal *s) { s->count = UINT64_MAX; }
static void nothing(hdx_seal *s) { (void)s; }

Test(seal, of_another_boot_or_other_files_is_none)
{
    static const struct {
        void (*change)(hdx_seal *s);
        const char *what;
        bool        holds;
    } ways[] = {
        { other_boot, "another boot", false }, { no_boot, "no boot", false },   { later, "changed later", false },
        { elsewhere, "another file", false },  { too_many, "too many", false }, { nothing, "written again", true },
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        leave(2);
        const uint64_t temp_files = bytes_of_temp_files();
        change_seal(ways[i].change);
        const uint64_t all = reads(ways[i].what);
        cr_expect(ways[i].holds ? all <= OPENING : all >= temp_files, "%s: %llu bytes read", ways[i].what,
                  (unsigned long long)all);
    }
}

/* In place, and with the time that whoever changes a file can set. */
static void change_byte(const char *name)
{
    char        path[192];
    struct stat st;
    uint8_t     byte;
    path_of(name, path);
    const int fd = open(path, O_RDWR);
    cr_assert(fd >= 0 && fstat(fd, &st) == 0);
    cr_assert(pread(fd, &byte, 1, st.st_size / 2) == 1);
    byte ^= 0x10;
    cr_assert(pwrite(fd, &byte, 1, st.st_size / 2) == 1);
    const struct timespec then[2] = { st.st_atim, st.st_mtim };
    cr_assert(futimens(fd, then) == 0 && close(fd) == 0);
}

Test(seal, does_not_hold_for_a_file_that_was_changed_in_place)
{
    for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
        partial_build p = { .count = 0 };
        leave(k);
        partial_read_folder(&p, part);
        (void)finish("as it was left");
        for (unsigned i = 0; i < p.count; i++) {
            const char *name = p.files[i].name;
            char        what[128];
            if (p.files[i].len == 0)
                continue;
            (void)snprintf(what, sizeof what, "step %u, %s", k, name);
            leave(k);
            change_byte(name);
            const bool spare = strcmp(name, "seal") == 0 ||
                               strcmp(name, "bits.tmp") == 0; /* what is there twice: all of the rest is read instead */
            cr_expect(finish(what) == spare, "%s", what);
            cr_expect(!spare || read_bytes > 0, "%s: nothing was read", what);
        }
        partial_free(&p);
    }
}

/*
 * Stopped within steps: with a file that a task of a step had made, or with any other one, changed in place the index
 * is the same in the end.
 */
Test(seal, that_does_not_hold_for_a_task_has_its_step_done_again)
{
    hdx_index_options options = options_of();
    hdx_error         err;
    unsigned          tasks = 0;
    for (unsigned calls = 1; partial_interrupt(&options, calls, &err) == HDX_CANCELLED; calls++) {
        partial_build p = { .count = 0 };
        partial_read_folder(&p, part);
        const uint64_t has = partial_find(&p, "checkpoint/state") == NULL ? 0 : partial_head(&p)->tasks;
        (void)finish("as it was left");
        cr_expect(has == 0 || read_bytes <= OPENING, "call %u: %llu bytes read", calls, (unsigned long long)read_bytes);
        tasks |= (unsigned)has;
        for (unsigned i = 0; has != 0 && i < p.count; i++) {
            char what[128];
            if (p.files[i].len == 0 || strncmp(p.files[i].name, "checkpoint/", 11) == 0)
                continue;
            (void)snprintf(what, sizeof what, "call %u, %s", calls, p.files[i].name);
            cr_assert(partial_interrupt(&options, calls, &err) == HDX_CANCELLED, "%s", what);
            change_byte(p.files[i].name);
            (void)finish(what);
        }
        partial_free(&p);
    }
    (void)hdx_index_remove(&options, (char[96]){ 0 }, 96, NULL);
    const unsigned most = HDX_TASK_COLUMNS | HDX_TASK_INSTANCES | HDX_TASK_SEARCH | HDX_TASK_NEAREST |
                          HDX_TASK_PREDECESSORS | HDX_TASK_RETAINED;
    cr_expect((tasks & most) == most, "tasks %x", tasks);
}

/* The same bytes, owner and times. */
Test(seal, of_a_copy_is_none)
{
    char command[600];
    leave(2);
    const uint64_t temp_files = bytes_of_temp_files();
    (void)snprintf(command, sizeof command, "cp -a '%s' '%s.copy' && rm -r '%s' && mv '%s.copy' '%s'", part, part, part,
                   part, part);
    cr_assert(system(command) == 0);
    cr_expect(reads("a copy") >= temp_files);
    leave(2);
    (void)snprintf(command, sizeof command, "mv '%s' '%s.aside' && mv '%s.aside' '%s'", part, part, part, part);
    cr_assert(system(command) == 0);
    cr_expect(reads("moved there and back") <= OPENING);
}

/*
 * Readings of the dump that somebody else may have written are read through when they are whole: until then nothing is
 * sealed.
 */
Test(seal, is_not_put_on_what_nobody_has_looked_at)
{
    hdx_index_options options = options_of();
    hdx_error         err;
    partial_build     first = { .count = 0 };
    char              seal[192], columns[192];
    path_of("seal", seal);
    path_of("columns.tmp", columns);
    unsigned calls = 1;
    for (; access(columns, F_OK) != 0; calls++)
        cr_assert(partial_interrupt(&options, calls, &err) == HDX_CANCELLED, "columns.tmp is never kept");
    cr_assert(access(seal, F_OK) == 0);
    partial_read_folder(&first, part);
    partial_write(&first, part); /* other files of the same bytes */
    partial_free(&first);
    calls = 0;
    do
        cr_assert(partial_interrupt(&options, ++calls, &err) == HDX_CANCELLED, "%s", err.message);
    while (access(seal, F_OK) == 0 && calls < 40);
    cr_expect(access(seal, F_OK) != 0 && access(columns, F_OK) == 0, "behind %u calls", calls);
    cr_expect(finish("what was copied while the dump was read"));
}

Test(seal, and_state_have_no_bytes_that_were_never_set)
{
    for (unsigned k = 0; k < 3; k += 2) {
        partial_build p = { .count = 0 };
        (void)mallopt(M_PERTURB, 0x5a);
        leave(k);
        (void)mallopt(M_PERTURB, 0);
        partial_read_folder(&p, part);
        const hdx_checkpoint_head *head = partial_head(&p);
        cr_assert(head->roots > 0 && (k == 0 ? head->units : head->chunks) > 0);
        for (uint64_t i = 0; i < head->roots; i++) {
            hdx_root root;
            memset(&root, 0, sizeof root);
            const hdx_root *r = &partial_roots(&p)[i];
            root.object = r->object, root.type = r->type, root.thread = r->thread, root.frame = r->frame;
            cr_assert(memcmp(r, &root, sizeof root) == 0, "step %u, root %llu", k, (unsigned long long)i);
        }
        for (uint64_t i = 0; i < head->units; i++) {
            const uint8_t *u = (const uint8_t *)&partial_units(&p)[i];
            for (size_t at = offsetof(hdx_spilled, bare) + 1; at < sizeof(hdx_spilled); at++)
                cr_assert(u[at] == 0, "unit %llu", (unsigned long long)i);
        }
        for (uint64_t i = 0; i < head->chunks; i++) {
            const uint8_t *c = (const uint8_t *)&partial_chunks(&p)[i];
            for (size_t at = offsetof(hdx_referrer_chunk, sum) + 4; at < sizeof(hdx_referrer_chunk); at++)
                cr_assert(c[at] == 0, "chunk %llu", (unsigned long long)i);
        }
        partial_free(&p);
        (void)finish("behind a look");
    }
}
