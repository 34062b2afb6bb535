/*
 * golden.h - the dumps of the reference collection, one after the other (../shared beside this tree; tests skip where
 * it is not).
 *
 *     golden_dumps d;
 *     if (!golden_open(&d))
 *         cr_skip("the reference collection is not beside this tree");
 *     while (golden_next(&d))
 *         ... d.path ...                                          closes itself at the end
 */
#ifndef HDX_TESTS_SUPPORT_GOLDEN_H
#define HDX_TESTS_SUPPORT_GOLDEN_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define GOLDEN_DUMPS HDX_TREE "/../shared/golden/dumps"

typedef struct golden_dumps {
    DIR *folder;
    char path[1024];
} golden_dumps;

static inline bool golden_open(golden_dumps *d) { return (d->folder = opendir(GOLDEN_DUMPS)) != NULL; }

static inline bool golden_next(golden_dumps *d)
{
    struct dirent *entry;
    while ((entry = readdir(d->folder)) != NULL)
        if (strstr(entry->d_name, ".hprof.gz") != NULL) {
            (void)snprintf(d->path, sizeof d->path, GOLDEN_DUMPS "/%s", entry->d_name);
            return true;
        }
    (void)closedir(d->folder);
    return false;
}

#endif
