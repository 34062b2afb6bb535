/*
 * test_calls.c - calls that build, find, estimate and remove indexes, one after the other, and what becomes of them
 * when dumps and index files change in between: codes, words, notices, reports, files. calls.txt has the checksums
 * (support/checksums.h).
 *
 * An ask is calls, bars between them: a verb (build, estimate, remove), options (key=value), and before it what happens
 * to files: !copy=FROM,TO, !move=FROM,TO, !rm=, !folder=, !junk= (a byte more), !cut= (a byte less), !flip=PATH,OFFSET,
 * !touch=. stop=N: the N-th question whether to stop is answered with yes.
 */
#include "cli/leaky.h"
#include "cli/odd.h"
#include "making/heap_model.h"
#include "support/checksums.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char        folder[TEST_FOLDER];
static hdx_buffer *told;
static unsigned    asked, stop_at;

/* The folder of this run is $. */
static void put_masked(hdx_buffer *b, const char *text)
{
    const size_t here = strlen(folder);
    for (const char *at = text; *at != '\0'; at++)
        if (strncmp(at, folder, here) == 0) {
            hdx_buffer_text(b, "$");
            at += here - 1;
        } else {
            hdx_buffer_put(b, at, 1);
        }
}

static void notice(void *context, const char *line)
{
    put_masked(context, line);
    hdx_buffer_text(context, "\n");
}

static bool cancelled(void *context)
{
    (void)context;
    return ++asked >= stop_at && stop_at > 0;
}

/* ---- files ---- */

static void act(const char *what, char *value)
{
    char       *second = strchr(value, ',');
    struct stat st;
    if (second != NULL)
        *second++ = '\0';
    if (strcmp(what, "!copy") == 0) {
        static char bytes[1 << 20];
        FILE       *f = fopen(value, "rb");
        cr_assert(f != NULL && second != NULL, "%s", value);
        const size_t len = fread(bytes, 1, sizeof bytes, f);
        fclose(f);
        dump_maker_save_bytes(second, bytes, len);
    } else if (strcmp(what, "!move") == 0) {
        cr_assert(rename(value, second) == 0, "%s", value);
    } else if (strcmp(what, "!rm") == 0) {
        cr_assert(unlink(value) == 0, "%s", value);
    } else if (strcmp(what, "!folder") == 0) {
        cr_assert(mkdir(value, 0755) == 0, "%s", value);
    } else if (strcmp(what, "!junk") == 0) {
        FILE *f = fopen(value, "ab");
        cr_assert(f != NULL && fputc('x', f) == 'x', "%s", value);
        fclose(f);
    } else if (strcmp(what, "!cut") == 0) {
        cr_assert(stat(value, &st) == 0 && truncate(value, st.st_size - 1) == 0, "%s", value);
    } else if (strcmp(what, "!flip") == 0) {
        const int fd = open(value, O_RDWR);
        char      byte;
        cr_assert(fd >= 0 && pread(fd, &byte, 1, atoi(second)) == 1, "%s", value);
        byte ^= 0x55;
        cr_assert(pwrite(fd, &byte, 1, atoi(second)) == 1);
        close(fd);
    } else if (strcmp(what, "!touch") == 0) {
        const struct timespec times[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
        cr_assert(utimensat(AT_FDCWD, value, times, 0) == 0, "%s", value);
    } else {
        cr_assert(false, "%s", what);
    }
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* Names and sizes; not the size of what has times in it. */
static void put_files(hdx_buffer *b, const char *path, unsigned depth)
{
    struct dirent **names;
    const int       count = scandir(path, &names, NULL, by_name);
    for (int i = 0; i < count; i++) {
        char        file[4200];
        struct stat st;
        const char *name = names[i]->d_name;
        (void)snprintf(file, sizeof file, "%s/%s", path, name);
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && lstat(file, &st) == 0) {
            const bool sized = S_ISREG(st.st_mode) && strstr(name, "catalog") == NULL && name[0] != '.';
            hdx_buffer_format(b, "%*s%s %lld\n", (int)(2 * depth), "", name, sized ? (long long)st.st_size : -1);
            if (S_ISDIR(st.st_mode))
                put_files(b, file, depth + 1);
        }
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

/* ---- calls ---- */

static void put_report(hdx_buffer *b, const hdx_index_report *r)
{
    put_masked(b, r->path);
    hdx_buffer_text(b, "|");
    put_masked(b, r->dump);
    hdx_buffer_format(b, "|%d %d %llu %llu %llu %d\n", r->reused, r->likeness, (unsigned long long)r->objects,
                      (unsigned long long)r->live_objects, (unsigned long long)r->references, r->bytes > 0);
    for (unsigned i = 0; i < r->step_count; i++)
        hdx_buffer_format(b, "%s %d, ", r->steps[i].name, r->steps[i].written_bytes > 0);
    hdx_buffer_text(b, "\n");
}

static void put_forecast(hdx_buffer *b, const hdx_index_forecast *f)
{
    hdx_buffer_format(b, "%llu %llu %d %s %u %llu %llu %llu %llu %llu %llu %d\n", (unsigned long long)f->dump_size,
                      (unsigned long long)f->sampled_bytes, f->whole, f->version, f->id_size,
                      (unsigned long long)f->objects, (unsigned long long)f->references, (unsigned long long)f->classes,
                      (unsigned long long)f->roots, (unsigned long long)f->disk, (unsigned long long)f->temporary,
                      f->least > 0 && f->memory >= f->least);
    for (unsigned i = 0; i < f->step_count; i++)
        hdx_buffer_format(b, "%s %llu %llu %llu\n", f->steps[i].name, (unsigned long long)f->steps[i].memory,
                          (unsigned long long)f->steps[i].least, (unsigned long long)f->steps[i].disk);
}

static bool option(hdx_index_options *o, const char *key, char *value)
{
    if (strcmp(key, "dump") == 0)
        o->dump = value;
    else if (strcmp(key, "dir") == 0)
        o->index_dir = value;
    else if (strcmp(key, "number") == 0)
        o->dump_number = (uint32_t)atoi(value);
    else if (strcmp(key, "threads") == 0)
        o->threads = (unsigned)atoi(value);
    else if (strcmp(key, "memory") == 0)
        o->memory = strtoull(value, NULL, 10) << 20;
    else if (strcmp(key, "most") == 0)
        o->max_uncompressed = strtoull(value, NULL, 10);
    else if (strcmp(key, "until") == 0)
        o->until = (hdx_step)atoi(value);
    else if (strcmp(key, "width") == 0)
        o->width = (unsigned)atoi(value);
    else if (strcmp(key, "stop") == 0)
        stop_at = (unsigned)atoi(value);
    else
        return false;
    return true;
}

static void call(hdx_buffer *b, char *words)
{
    static hdx_index_report   report;
    static hdx_index_forecast forecast;
    static char               removed[4096];
    const char               *verb = "build";
    hdx_error                 err = { .offset = HDX_NOWHERE };
    hdx_code                  code;
    hdx_index_options         o = { .dump = "a.hprof", .threads = 1, .notice = notice, .notice_context = b };
    o.progress = (hdx_progress){ NULL, NULL, cancelled };
    told = b;
    asked = stop_at = 0;
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        if (value != NULL)
            *value++ = '\0';
        if (word[0] == '!')
            act(word, value);
        else if (value != NULL)
            cr_assert(option(&o, word, value), "%s", word);
        else if (strcmp(word, "force") == 0)
            o.force = true;
        else if (strcmp(word, "no-build") == 0)
            o.no_build = true;
        else if (strcmp(word, "no-wait") == 0)
            o.no_wait = true;
        else
            verb = word;
    }
    hdx_buffer_format(b, "%s: ", verb);
    if (strcmp(verb, "estimate") == 0) {
        if ((code = hdx_index_estimate(&o, &forecast, &err)) == HDX_OK)
            put_forecast(b, &forecast);
    } else if (strcmp(verb, "remove") == 0) {
        if ((code = hdx_index_remove(&o, removed, sizeof removed, &err)) == HDX_OK)
            put_masked(b, removed);
    } else {
        cr_assert(strcmp(verb, "build") == 0, "%s", verb);
        if ((code = hdx_index_build(&o, &report, &err)) == HDX_OK)
            put_report(b, &report);
    }
    if (code != HDX_OK) {
        hdx_buffer_format(b, "%s at %lld of ", hdx_code_name(code), (long long)err.offset);
        put_masked(b, err.where);
        hdx_buffer_text(b, ": ");
        put_masked(b, err.message);
        hdx_buffer_format(b, " (%s)\n", err.hint);
    }
    put_files(b, ".", 0);
}

static void make_dumps(void)
{
    static heap_model model;
    dump_maker       *m = model_make(&model, 7, 300, 8);
    dump_maker_save(m, "a.hprof");
    dump_maker_free(m);
    leaky_make("leaky.hprof", true);
    odd_make("odd.hprof");
    m = dump_maker_new(8); /* two heaps in one file */
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, object, NULL), 0, 0);
    dump_maker_end(m);
    for (unsigned i = 0; i < 3; i++)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, object, NULL), 0, 0);
    dump_maker_save(m, "two.hprof");
    dump_maker_free(m);
    dump_maker_save_bytes("text.hprof", "hello", 5);
    dump_maker_save_bytes("empty.hprof", "", 0);
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    char copy[512], *at = copy;
    (void)context;
    (void)snprintf(copy, sizeof copy, "%s", ask);
    test_folder_make_fast(folder, "calls");
    cr_assert(chdir(folder) == 0 && setenv("XDG_CACHE_HOME", folder, 1) == 0);
    make_dumps();
    for (char *words; (words = strsep(&at, "|")) != NULL;)
        call(b, words);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
    return b->len;
}

Test(calls, are_answered_as_they_were, .timeout = 120)
{
    (void)umask(022);
    checksums_check(HDX_TREE "/tests/making/calls.txt", text_of, NULL);
}
