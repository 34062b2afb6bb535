/*
 * folder.h - a folder of one fuzzing process, in memory where the system has a place for that, removed when the process ends.
 */
#ifndef HDX_TESTS_FUZZ_FOLDER_H
#define HDX_TESTS_FUZZ_FOLDER_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER_PATH 512

static char folder_name[64];

/* Removes what is in it, and it: two levels are all there are. */
static inline void folder_clear(const char *path)
{
    DIR           *d = opendir(path);
    struct dirent *e;
    char           inner[2 * FOLDER_PATH];
    while (d != NULL && (e = readdir(d)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && snprintf(inner, sizeof inner, "%s/%s", path, e->d_name) < (int)sizeof inner &&
            unlink(inner) != 0)
            folder_clear(inner);
    if (d != NULL)
        (void)closedir(d);
    (void)rmdir(path);
}

static inline void folder_end(void) { folder_clear(folder_name); }

/* path (FOLDER_PATH bytes): where `name` lies in the folder, which the first call makes. */
static inline void folder_path(char *path, const char *name)
{
    if (folder_name[0] == 0) {
        (void)snprintf(folder_name, sizeof folder_name, "%s/heapdex_fuzz_XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        if (mkdtemp(folder_name) == NULL || atexit(folder_end) != 0)
            abort();
    }
    if (snprintf(path, FOLDER_PATH, "%s/%s", folder_name, name) >= FOLDER_PATH)
        abort();
}

static inline void folder_save(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(bytes, 1, size, f) != size || fclose(f) != 0)
        abort();
}

#endif
