/*
 * checksums.h - long texts against a file that has a line for each: a count, a checksum, and what it is the text of.
 *
 *     static uint64_t text_of(void *context, const char *ask, hdx_buffer *b) ...      gives the count
 *     checksums_check(HDX_TREE "/tests/graph/bookshop.txt", text_of, context);
 *
 * Where a text changes on purpose: HDX_WRITE_CHECKSUMS=/tmp/new makes the test write the file as it would be now, and
 * HDX_SHOW_CHECKSUMS=histogram makes it print the texts whose line has that word.
 */
#ifndef HDX_TESTS_SUPPORT_CHECKSUMS_H
#define HDX_TESTS_SUPPORT_CHECKSUMS_H

#include "base/base.h"
#include "base/crc.h"
#include "support/whole.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef CHECKSUMS_EACH /* so many asks, of which one is put (whole.h) */
#define CHECKSUMS_EACH 1u
#endif

static inline void checksums_check(const char *path, uint64_t (*text_of)(void *context, const char *ask, hdx_buffer *b),
                                   void       *context)
{
    const char *new_path = getenv("HDX_WRITE_CHECKSUMS"), *word = getenv("HDX_SHOW_CHECKSUMS");
    char        line[512];
    FILE       *file = fopen(path, "r"), *anew = new_path == NULL ? NULL : fopen(new_path, "w");
    unsigned    looked_at = 0, each = anew != NULL || word != NULL ? 1 : test_each(CHECKSUMS_EACH);
    cr_assert(file != NULL, "%s", path);
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned long long count = 0;
        unsigned           crc = 0;
        int                at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#') {
            if (anew != NULL)
                (void)fprintf(anew, "%s\n", line);
            continue;
        }
        const int read = sscanf(line, "%llu %x %n", &count, &crc, &at);
        cr_assert(read == 2, "%s", line);
        if (looked_at++ % each != 0)
            continue;
        hdx_buffer     b = hdx_buffer_of(NULL);
        const uint64_t n = text_of(context, line + at, &b);
        const uint32_t now = hdx_crc32c(0, b.at, b.len);
        cr_assert(b.failed == false);
        if (word != NULL && strstr(line, word) != NULL)
            (void)printf("%s\n%s\n", line, b.at);
        if (anew != NULL)
            (void)fprintf(anew, "%llu %08x %s\n", (unsigned long long)n, now, line + at);
        else
            cr_expect(n == count && now == crc, "%s: now %llu %08x", line, (unsigned long long)n, now);
        hdx_buffer_free(&b);
    }
    cr_expect(looked_at > 0, "%s is empty", path);
    if (anew != NULL)
        (void)fclose(anew);
    (void)fclose(file);
}

#endif
