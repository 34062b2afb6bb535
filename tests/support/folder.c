/* folder.c - folders of tests: made, and removed with what is in them. */
#include "support/folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void give_up(const char *what, const char *path)
{
    (void)fprintf(stderr, "cannot %s the folder %s: %s\n", what, path, strerror(errno));
    abort();
}

/* A stem that is too long cuts the template short, and mkdtemp refuses it. */
static void make(char path[TEST_FOLDER], const char *parent, const char *stem)
{
    (void)snprintf(path, TEST_FOLDER, "%s/hdx-%s-XXXXXX", parent, stem);
    if (mkdtemp(path) == NULL)
        give_up("make", path);
}

void test_folder_make(char path[TEST_FOLDER], const char *stem) { make(path, "/tmp", stem); }
void test_folder_make_fast(char path[TEST_FOLDER], const char *stem)
{
    make(path, access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", stem);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

void test_folder_remove(const char *path)
{
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        give_up("remove", path);
}
