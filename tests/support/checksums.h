/*
 * checksums.h - answers against a file that has a line for each: a count, a checksum, and the ask. Short answers are
 * written out below their line, so that a change can be reviewed:
 *
 *     2 85d0e0c5 live histogram class=app.Node
 *     | class=app.Node, objects=4, shallow=80
 *     | class=app.Node[], objects=1, shallow=16
 *     186 caf04526 live table:named_references
 *
 *     static uint64_t text_of(void *context, const char *ask, hdx_buffer *b) ...      gives the count
 *     checksums_check(HDX_TREE "/tests/graph/bookshop.txt", text_of, context);
 *
 * Which answers are written out is said by a line at the beginning of the file; without it none is:
 *
 *     # Written out: answers with fewer than 30 rows and at most 900 bytes, 1 of 3.
 *
 * The count is that of rows. Of equal answers the first is written out, as the others have its checksum; and of those
 * that are left one of so many, for questions that are asked in more variants than anybody reads.
 *
 * Where an answer changes on purpose: HDX_WRITE_CHECKSUMS=/tmp/new makes the test write the file as it would be now,
 * and HDX_SHOW_CHECKSUMS=histogram makes it print the answers whose line has that word.
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

/* Which answers are written out, and the checksums of those so far that are short enough. */
typedef struct checksums_rule {
    unsigned   rows, bytes, each;
    hdx_buffer seen;
} checksums_rule;

/* The text as it stands in the file: "| " before each line, bytes that are no ASCII as \xNN. */
static inline void checksums_put_text(hdx_buffer *out, const hdx_buffer *text)
{
    for (uint64_t i = 0; i < text->len; i++) {
        const unsigned char byte = (unsigned char)text->at[i];
        if (i == 0 || text->at[i - 1] == '\n')
            hdx_buffer_text(out, byte == '\n' ? "|" : "| ");
        if (byte == '\n' || (byte >= ' ' && byte <= '~'))
            hdx_buffer_put(out, &text->at[i], 1);
        else
            hdx_buffer_format(out, "\\x%02x", byte);
    }
    if (text->len > 0 && text->at[text->len - 1] != '\n')
        hdx_buffer_text(out, "\n");
}

/* The text that the file has below the line that was read; empty: it has none. */
static inline void checksums_read_text(FILE *file, hdx_buffer *out)
{
    char  *line = NULL;
    size_t room = 0;
    int    first;
    while ((first = getc(file)) == '|') {
        cr_assert(getline(&line, &room, file) > 0);
        hdx_buffer_format(out, "|%s", line);
    }
    (void)ungetc(first, file);
    free(line);
}

static inline void checksums_expect_text(const char *ask, const char *want, const char *now)
{
    if (strcmp(want, now) == 0)
        return;
    while (*want != '\0' && strcspn(want, "\n") == strcspn(now, "\n") && strncmp(want, now, strcspn(want, "\n")) == 0) {
        want += strcspn(want, "\n") + (*want != '\0');
        now += strcspn(now, "\n") + (*now != '\0');
    }
    cr_expect(false, "%s: the file has\n%.*s\nnow\n%.*s", ask, (int)strcspn(want, "\n"), want, (int)strcspn(now, "\n"),
              now);
}

static inline bool checksums_is_written_out(checksums_rule *r, uint64_t rows, const hdx_buffer *text, uint32_t crc)
{
    const uint64_t count = r->seen.len / sizeof crc;
    if (rows >= r->rows || text->len > r->bytes || text->len == 0)
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (memcmp(r->seen.at + i * sizeof crc, &crc, sizeof crc) == 0)
            return false;
    hdx_buffer_put(&r->seen, &crc, sizeof crc);
    return count % r->each == 0;
}

#define CHECKSUMS_LINE 512u

/* The next ask of a file that is open, without its count and checksum; NULL: there is none. It lies in `line`. */
static inline const char *checksums_next_ask(FILE *file, char line[CHECKSUMS_LINE])
{
    while (fgets(line, CHECKSUMS_LINE, file) != NULL) {
        int  at = 0;
        bool whole = strchr(line, '\n') != NULL;
        line[strcspn(line, "\n")] = '\0';
        for (int byte = 0; !whole && byte != EOF; whole = byte == '\n')
            byte = getc(file);
        if (line[0] != '#' && line[0] != '|' && sscanf(line, "%*s %*s %n", &at) == 0 && at > 0)
            return line + at;
    }
    return NULL;
}

static inline void checksums_check(const char *path, uint64_t (*text_of)(void *context, const char *ask, hdx_buffer *b),
                                   void       *context)
{
    const char    *new_path = getenv("HDX_WRITE_CHECKSUMS"), *word = getenv("HDX_SHOW_CHECKSUMS");
    char           line[CHECKSUMS_LINE];
    FILE          *file = fopen(path, "r"), *anew = new_path == NULL ? NULL : fopen(new_path, "w");
    unsigned       looked_at = 0, each = anew != NULL || word != NULL ? 1 : test_each(CHECKSUMS_EACH);
    hdx_buffer     want = hdx_buffer_of(NULL);
    checksums_rule rule = { .seen = hdx_buffer_of(NULL) };
    cr_assert(file != NULL, "%s", path);
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned long long count = 0;
        unsigned           crc = 0;
        int                at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#') {
            (void)sscanf(line, "# Written out: answers with fewer than %u rows and at most %u bytes, 1 of %u.",
                         &rule.rows, &rule.bytes, &rule.each);
            if (anew != NULL)
                (void)fprintf(anew, "%s\n", line);
            continue;
        }
        const int read = sscanf(line, "%llu %x %n", &count, &crc, &at);
        cr_assert(read == 2, "%s", line);
        hdx_buffer_clear(&want);
        checksums_read_text(file, &want);
        if (looked_at++ % each != 0)
            continue;
        hdx_buffer     b = hdx_buffer_of(NULL), text = hdx_buffer_of(NULL);
        const uint64_t n = text_of(context, line + at, &b);
        const uint32_t now = hdx_crc32c(0, b.at, b.len);
        checksums_put_text(&text, &b);
        cr_assert(b.failed == false && text.failed == false && want.failed == false);
        if (word != NULL && strstr(line, word) != NULL)
            (void)printf("%s\n%s\n", line, b.at);
        if (anew != NULL) {
            (void)fprintf(anew, "%llu %08x %s\n", (unsigned long long)n, now, line + at);
            if (checksums_is_written_out(&rule, n, &b, now))
                (void)fputs(text.at, anew);
        } else {
            cr_expect(n == count && now == crc, "%s: now %llu %08x", line, (unsigned long long)n, now);
            if (want.len > 0)
                checksums_expect_text(line, want.at, text.at == NULL ? "" : text.at);
        }
        hdx_buffer_free(&text);
        hdx_buffer_free(&b);
    }
    cr_expect(looked_at > 0, "%s is empty", path);
    hdx_buffer_free(&rule.seen);
    hdx_buffer_free(&want);
    if (anew != NULL)
        (void)fclose(anew);
    (void)fclose(file);
}

#endif
