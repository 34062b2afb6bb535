/*
 * folder.h - a folder of one fuzzing process, in memory where the system has a place for that, removed when the process
 * ends.
 */
#ifndef HDX_TESTS_FUZZ_FOLDER_H
#define HDX_TESTS_FUZZ_FOLDER_H

#include "support/folder.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FOLDER_PATH 512

static char folder_name[TEST_FOLDER];

static inline void folder_end(void) { test_folder_remove(folder_name); }

/* path (FOLDER_PATH bytes): where `name` lies in the folder, which the first call makes. */
static inline void folder_path(char *path, const char *name)
{
    if (folder_name[0] == 0) {
        test_folder_make_fast(folder_name, "fuzz");
        if (atexit(folder_end) != 0)
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
