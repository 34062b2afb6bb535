/* test_clear.c - removing the folder of an index while a reader writes an answer that it keeps into it. */
#include "base/base.h"
#include "indexes/folder.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char     folder[TEST_FOLDER], index_path[256];
static hdx_io   io;
static unsigned writes; /* that are still to come: each when the folder is about to be removed */

static void put(const char *name)
{
    char  path[512];
    FILE *f;
    (void)snprintf(path, sizeof path, "%s/%s", index_path, name);
    if ((f = fopen(path, "w")) != NULL)
        (void)fclose(f);
}

static int remove_late(hdx_io *of, const char *path)
{
    (void)of;
    if (strcmp(path, index_path) == 0 && writes > 0) {
        writes--;
        put("retained-class");
    }
    return hdx_io_system()->remove(hdx_io_system(), path);
}

static void enter(void)
{
    test_folder_make(folder, "clear");
    (void)snprintf(index_path, sizeof index_path, "%s/a.hprof.hdx", folder);
    cr_assert(mkdir(index_path, 0700) == 0);
    put("catalog.sum");
    put("catalog.mdb");
    io = *hdx_io_system();
    io.remove = remove_late;
}

static void leave(void) { test_folder_remove(folder); }

TestSuite(clear, .init = enter, .fini = leave);

Test(clear, what_a_reader_wrote_meanwhile_goes_too)
{
    writes = 3;
    cr_assert(hdx_folder_clear(&io, index_path) == 0);
    cr_assert(writes == 0);
    cr_assert(access(index_path, F_OK) != 0 && errno == ENOENT);
}

Test(clear, ends_where_somebody_never_stops_writing)
{
    writes = 1000;
    cr_assert(hdx_folder_clear(&io, index_path) == -ENOTEMPTY);
    cr_assert(writes > 900);
}

Test(clear, a_file_of_somebody_else_stays_and_is_not_tried_again)
{
    char path[512];
    put("notes.txt");
    writes = 1000;
    cr_assert(hdx_folder_clear(&io, index_path) == -ENOTEMPTY);
    cr_assert(writes == 1000);
    (void)snprintf(path, sizeof path, "%s/notes.txt", index_path);
    cr_assert(access(path, F_OK) == 0);
    (void)snprintf(path, sizeof path, "%s/catalog.mdb", index_path);
    cr_assert(access(path, F_OK) != 0);
}
