/*
 * names.c - objects named on standard input ("-"): the first column of any earlier output, one a line.
 *
 * Understood are csv, tsv, tables and jsonl of heapdex itself and plain lists. Lines without a name (headers, "… 5 more rows")
 * are passed over; a name that is wrong is not, it reaches the question and is refused there.
 */
#include "cli/cli.h"

#include <errno.h>
#include <unistd.h>

static bool read_all(hdx_buffer *in, hdx_error *err, hdx_code *code)
{
    char bytes[65536];
    for (;;) {
        ssize_t n = cli_signal() == 0 ? read(STDIN_FILENO, bytes, sizeof bytes) : -1;
        if (n == 0)
            return true;
        if (n > 0) {
            hdx_buffer_put(in, bytes, (uint64_t)n);
        } else if (cli_signal() != 0) {
            *code = hdx_fail(err, HDX_CANCELLED, "standard input", HDX_NOWHERE, "interrupted");
            return false;
        } else if (errno != EINTR) {
            *code = hdx_fail(err, HDX_IO, "standard input", HDX_NOWHERE, "cannot read: %s", strerror(errno));
            return false;
        }
        if (in->failed) {
            *code = hdx_no_memory(err, "the names on standard input", in->len);
            return false;
        }
    }
}

static bool is_name(const char *s)
{
    const char *at = strstr(s, "@0x");
    return strncmp(s, "0x", 2) == 0 || (s[0] == '#' && s[1] >= '0' && s[1] <= '9') || strncmp(s, "class:", 6) == 0 ||
           strncmp(s, "thread:", 7) == 0 || (at != NULL && at != s);
}

bool cli_name_in_line(char *line, char **name)
{
    size_t len = strlen(line);
    while (len > 0 && (line[len - 1] == '\r' || line[len - 1] == ' '))
        line[--len] = '\0';
    line += strspn(line, " ");
    if (*line == '{') { /* jsonl: the first address of the row */
        char *value = strstr(line, "\"0x");
        if (value == NULL)
            return false;
        *name = value + 1;
        (*name)[strcspn(*name, "\"")] = '\0';
        return true;
    }
    if (*line == '"') { /* csv with quotes; doubled ones stand for one */
        char *to = line;
        for (const char *p = line + 1; *p != '\0'; p++) {
            if (*p == '"' && *++p != '"')
                break;
            *to++ = *p;
        }
        *to = '\0';
    } else if (strncmp(line, "thread:", 7) == 0) {
        line[strcspn(line, "\t,")] = '\0'; /* names of threads hold blanks */
    } else {
        line[strcspn(line, "\t, ")] = '\0';
    }
    *name = line;
    return is_name(line);
}

hdx_code cli_object_words(cli_session *s, const char *const **words, size_t *count, hdx_error *err)
{
    const cli_call *call = s->call;
    size_t          dash = 0;
    while (dash < call->word_count && strcmp(call->words[dash], "-") != 0)
        dash++;
    *words = call->words;
    *count = call->word_count;
    if (dash == call->word_count)
        return HDX_OK;

    hdx_buffer   in = hdx_buffer_of(NULL);
    hdx_code     code = HDX_OK;
    char        *name;
    const char **all = NULL;
    size_t       lines = 1, n = 0;
    if (!read_all(&in, err, &code))
        goto out;
    for (uint64_t i = 0; i < in.len; i++)
        lines += in.at[i] == '\n';
    all = hdx_arena_get(&s->arena, (lines + call->word_count) * sizeof *all);
    if (all == NULL) {
        code = hdx_no_memory(err, "the names on standard input", lines * sizeof *all);
        goto out;
    }
    for (size_t i = 0; i < dash; i++)
        all[n++] = call->words[i];
    for (char *line = in.at, *end = in.at + in.len; line != NULL && line < end;) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL)
            stop = end; /* the buffer has a NUL there */
        *stop = '\0';
        if (cli_name_in_line(line, &name) && (all[n++] = hdx_arena_copy(&s->arena, name, strlen(name))) == NULL) {
            code = hdx_no_memory(err, "the names on standard input", in.len);
            goto out;
        }
        line = stop + 1;
    }
    if (n == dash && call->word_count == 1)
        code = hdx_fail(err, HDX_USAGE, "standard input", HDX_NOWHERE, "names no object; expected are 0x7f3a10, #1234 ... one a line, in the first column");
    for (size_t i = dash + 1; i < call->word_count; i++)
        if (strcmp(call->words[i], "-") != 0)
            all[n++] = call->words[i];
    *words = all;
    *count = n;
out:
    hdx_buffer_free(&in);
    return code;
}
