/* same_index.h - the index of a build that resumed is that of a build without interruption. */
#ifndef TESTS_MAKING_SAME_INDEX_H
#define TESTS_MAKING_SAME_INDEX_H

#include "making/partial_build.h"

#include <criterion/criterion.h>

/* The folder has the files of a whole build; index files have its bytes, too. */
static inline void partial_expect_same(partial_build *whole, const char *folder, const char *what)
{
    partial_build now = { .count = 0 };
    partial_read_folder(&now, folder);
    cr_expect(now.count == whole->count, "%s: %u files, not %u", what, now.count, whole->count);
    for (unsigned i = 0; i < now.count; i++) {
        const partial_file *f = partial_find(whole, now.files[i].name);
        cr_assert(f != NULL, "%s: %s in the index", what, now.files[i].name);
        if (strstr(f->name, ".hdx") != NULL)
            cr_expect(f->len == now.files[i].len && memcmp(f->at, now.files[i].at, f->len) == 0,
                      "%s: %s has other bytes", what, f->name);
    }
    partial_free(&now);
}

#endif
