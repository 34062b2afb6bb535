/* Texts that a user names: files, pipes, and what is refused. */
#include "base/textfile.h"
#include "support/folder.h"
#include "support/wait.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1u << 20)

static char       *folder;
static hdx_arena   arena;
static hdx_text    text;
static hdx_error   err;
static atomic_bool stop;

static void enter(void)
{
    folder = malloc(TEST_FOLDER);
    test_folder_make(folder, "texts");
    cr_assert(chdir(folder) == 0);
    arena = hdx_arena_of(NULL);
    err = (hdx_error){ .code = HDX_OK };
}
static void leave(void)
{
    hdx_arena_free(&arena);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
    free(folder);
}
TestSuite(texts, .init = enter, .fini = leave, .timeout = 60);

static void *write_bytes(void *context) /* "PATH", then a size */
{
    const char  *path = context;
    const size_t size = strtoul(path + strlen(path) + 1, NULL, 10);
    FILE        *f = fopen(path, "w");
    for (size_t i = 0; f != NULL && i < size; i++)
        (void)fputc((int)('a' + i % 26), f);
    if (f != NULL)
        (void)fclose(f);
    return NULL;
}

static void expect_bytes(size_t size)
{
    cr_assert(eq(u64, text.len, size));
    for (size_t i = 0; i < size; i++)
        cr_assert(text.at[i] == (char)('a' + i % 26), "%zu", i);
    cr_expect(text.at[size] == '\0');
}

Test(texts, are_read_from_files_up_to_their_maximum)
{
    (void)write_bytes((void *)(uintptr_t) "a\0"
                                          "1048576");
    cr_assert(hdx_text_file("a", MIB, NULL, &arena, &text, &err) == HDX_OK, "%s", err.message);
    expect_bytes(MIB);
    (void)write_bytes((void *)(uintptr_t) "a\0"
                                          "0");
    cr_assert(hdx_text_file("a", MIB, NULL, &arena, &text, &err) == HDX_OK);
    expect_bytes(0);
    (void)write_bytes((void *)(uintptr_t) "a\0"
                                          "1048577");
    cr_expect(eq(int, hdx_text_file("a", MIB, NULL, &arena, &text, &err), HDX_USAGE));
    cr_expect_str_eq(err.message, "is larger than 1 MiB");
    cr_expect(eq(int, hdx_text_file(".", MIB, NULL, &arena, &text, &err), HDX_USAGE));
    cr_expect_str_eq(err.message, "cannot be read: Is a directory");
    cr_expect(eq(int, hdx_text_file("none", MIB, NULL, &arena, &text, &err), HDX_USAGE));
    cr_expect_str_eq(err.message, "cannot be read: No such file or directory");
    cr_expect_str_eq(err.where, "none");
}

Test(texts, are_read_from_pipes)
{
    pthread_t writer;
    cr_assert(mkfifo("pipe", 0600) == 0);
    cr_assert(pthread_create(&writer, NULL, write_bytes,
                             (void *)(uintptr_t) "pipe\0"
                                                 "300000") == 0);
    cr_assert(hdx_text_file("pipe", MIB, NULL, &arena, &text, &err) == HDX_OK, "%s", err.message);
    (void)pthread_join(writer, NULL);
    expect_bytes(300000);
}

static bool stopped(void *context) { return (void)context, atomic_load(&stop); }
static void note(int number) { (void)number, atomic_store(&stop, true); }

/* A signal ends the wait for the writer, and the wait for its bytes. */
Test(texts, of_pipes_that_nobody_writes_end_when_a_signal_cancels_them)
{
    const hdx_progress progress = { .cancelled = stopped };
    struct sigaction   on = { .sa_handler = note };
    cr_assert(mkfifo("pipe", 0600) == 0 && sigemptyset(&on.sa_mask) == 0 && sigaction(SIGUSR1, &on, NULL) == 0);
    for (int open_end = 0; open_end < 2; open_end++) {
        atomic_store(&stop, false);
        const int   fd = open_end ? open("pipe", O_RDWR) : -1;
        const pid_t self = getpid(), child = fork();
        if (child == 0) {
            /* The signal is sent again as long as the reader sleeps: it may have slept elsewhere the first time. */
            do
                for (unsigned naps = 0; !process_is_asleep(self, 0);)
                    wait_nap(&naps, "the reader waits at the pipe");
            while (kill(self, SIGUSR1) == 0);
            _exit(0);
        }
        cr_expect(eq(int, hdx_text_file("pipe", MIB, &progress, &arena, &text, &err), HDX_CANCELLED));
        (void)kill(child, SIGKILL);
        if (open_end)
            (void)close(fd);
    }
}
