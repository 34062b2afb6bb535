/*
 * names.c - objects named on standard input ("-"): the first column of any earlier output, one a line.
 *
 * Understood are csv, tsv, tables and jsonl of heapdex itself and plain lists. Lines without a name (headers, "… 5 more
 * rows") are passed over; a name that is wrong is not, it reaches the question and is refused there.
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

/* Names out of standard input, as arguments after those that are there. */
static hdx_code add_lines(hdx_buffer *in, const char *name, cli_call *call, size_t more, hdx_arena *arena,
                          hdx_error *err)
{
    size_t lines = 1, room;
    char  *found;
    for (uint64_t i = 0; i < in->len; i++)
        lines += in->at[i] == '\n';
    room = call->argument_count + lines + more;
    hdx_argument *all = hdx_arena_get(arena, room * sizeof *all);
    if (all == NULL)
        return hdx_no_memory(err, "the names on standard input", lines * sizeof *all);
    memcpy(all, call->arguments, call->argument_count * sizeof *all);
    call->arguments = all;
    call->argument_room = room;
    for (char *line = in->at, *end = in->at + in->len; line != NULL && line < end;) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL)
            stop = end; /* the buffer has a NUL there */
        *stop = '\0';
        if (cli_name_in_line(line, &found)) {
            const char *copy = hdx_arena_copy(arena, found, strlen(found));
            if (copy == NULL)
                return hdx_no_memory(err, "the names on standard input", in->len);
            call->arguments[call->argument_count++] = (hdx_argument){ name, copy };
        }
        line = stop + 1;
    }
    return HDX_OK;
}

hdx_code cli_add_objects(cli_call *call, const char *name, hdx_arena *arena, hdx_error *err)
{
    const size_t before = call->argument_count;
    bool         read = false;
    for (size_t i = 0; i < call->word_count; i++) {
        hdx_code code = HDX_OK;
        if (strcmp(call->words[i], "-") != 0) {
            call->arguments[call->argument_count++] = (hdx_argument){ name, call->words[i] };
            continue;
        }
        if (read)
            continue;
        read = true;
        hdx_buffer in = hdx_buffer_of(NULL);
        if (read_all(&in, err, &code))
            code = add_lines(&in, name, call, call->word_count - i + 8, arena,
                             err); /* 8: what the command line itself adds */
        hdx_buffer_free(&in);
        if (code != HDX_OK)
            return code;
    }
    if (read && call->argument_count == before)
        return hdx_fail(err, HDX_USAGE, "standard input", HDX_NOWHERE,
                        "names no object; expected are 0x7f3a10, #1234 ... one a line, in the first column");
    return HDX_OK;
}
