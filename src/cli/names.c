/*
 * names.c - objects named on standard input ("-"): the column `address` of any earlier output, or the first word of a
 * line.
 *
 * The input is csv, tsv, a table, a page, jsonl or json of heapdex, or a plain list. Lines without a name (headers,
 * "… 5 more rows") are skipped. A wrong name is not skipped: the query refuses it.
 */
#include "cli/cli.h"

#include <errno.h>
#include <unistd.h>

#define OWN_ARGUMENTS 8u /* arguments that the command line adds later */

hdx_code cli_read_all(int fd, const char *name, uint64_t most, hdx_buffer *in, hdx_error *err)
{
    char bytes[8192];
    for (;;) {
        ssize_t n = cli_signal() == 0 ? read(fd, bytes, sizeof bytes) : -1;
        if (n == 0)
            return HDX_OK;
        if (n > 0)
            hdx_buffer_put(in, bytes, (uint64_t)n);
        else if (cli_signal() != 0)
            return hdx_fail(err, HDX_CANCELLED, name, HDX_NOWHERE, "interrupted");
        else if (errno != EINTR)
            return hdx_fail(err, HDX_IO, name, HDX_NOWHERE, "cannot read: %s", strerror(errno));
        if (in->failed)
            return hdx_no_memory(err, name, in->len);
        if (in->len > most)
            return hdx_fail(err, HDX_LIMIT, name, HDX_NOWHERE, "more than %llu bytes", (unsigned long long)most);
    }
}

static bool is_name(const char *s)
{
    const char *at = strstr(s, "@0x");
    return strncmp(s, "0x", 2) == 0 || (s[0] == '#' && s[1] >= '0' && s[1] <= '9') || strncmp(s, "class:", 6) == 0 ||
           strncmp(s, "thread:", 7) == 0 || (at != NULL && at != s);
}

/* ---- finding the address ---- */

/* Removes the quotes of the csv field that begins here. *rest: the text after it. */
static char *unquote(char *field, char **rest)
{
    char *to = field, *p = field + 1;
    for (; *p != '\0'; p++) {
        if (*p == '"' && *++p != '"')
            break;
        *to++ = *p;
    }
    *rest = p;
    *to = '\0';
    return field;
}

/* Returns field n of a line, in csv without quotes; NULL: the line has fewer fields. The line is modified. */
static char *field_of(char *line, char separator, unsigned n)
{
    for (char *p = line;; n--) {
        char *rest = p, *field = p;
        if (separator == ',' && *p == '"')
            field = unquote(p, &rest);
        rest += strcspn(rest, separator == ',' ? "," : "\t");
        const bool last = *rest == '\0';
        if (n == 0) {
            if (field == p && (separator != ',' || *p != '"'))
                *rest = '\0';
            return field;
        }
        if (last)
            return NULL;
        p = rest + 1;
    }
}

static bool is_address_column(const char *at, size_t len) { return len == 7 && memcmp(at, "address", 7) == 0; }

/* Returns whether the line is the header of csv, tsv or a table with a column `address`; *c is then its position. */
static bool is_head(cli_columns *c, const char *line)
{
    static const char separators[] = { ',', '\t' };
    for (unsigned s = 0; s < 2; s++) {
        const char *p = line;
        for (unsigned n = 0;; n++) {
            const size_t len = strcspn(p, separators[s] == ',' ? "," : "\t");
            if (is_address_column(p, len) && (n > 0 || p[len] != '\0')) {
                *c = (cli_columns){ separators[s], n, 0 };
                return true;
            }
            if (p[len] == '\0')
                break;
            p += len + 1;
        }
    }
    for (const char *p = line; *p != '\0';) { /* columns of a table are separated by two blanks */
        const char  *gap = strstr(p, "  ");
        const size_t len = gap == NULL ? strlen(p) : (size_t)(gap - p);
        if (is_address_column(p, len)) {
            *c = (cli_columns){ ' ', 0, (unsigned)(p - line) };
            return true;
        }
        p += len;
        p += strspn(p, " ");
    }
    return false;
}

/* Returns the text after `column` characters, which are assumed to be one column wide. */
static char *at_column(char *line, unsigned column)
{
    char *p = line;
    for (; *p != '\0' && column > 0; column--)
        for (p++; ((uint8_t)*p & 0xc0) == 0x80;)
            p++;
    return p;
}

/*
 * Returns the value of the key "address" of the row itself, not of nested objects. *document: the line contains a whole
 * document and not a row.
 */
static char *address_of_row(char *line, bool *document)
{
    static const char rows[] = "\"rows\"";
    unsigned          depth = 0;
    *document = false;
    for (char *p = line; *p != '\0'; p++) {
        if (*p == '{' || *p == '[')
            depth++;
        else if (*p == '}' || *p == ']')
            depth--;
        if (*p != '"')
            continue;
        char *end = p + 1;
        while (*end != '\0' && *end != '"')
            end += *end == '\\' && end[1] != '\0' ? 2 : 1;
        if (*end == '\0')
            return NULL;
        char *value = end + 1 + strspn(end + 1, " :");
        *document = *document || (depth == 1 && *value == '[' && strncmp(p, rows, sizeof rows - 1) == 0);
        if (depth == 1 && is_address_column(p + 1, (size_t)(end - p) - 1) && *value == '"')
            return value + 1;
        p = end;
    }
    return NULL;
}

/* Returns the last word that begins with 0x; NULL: none. */
static char *last_address(char *line)
{
    char *at = NULL;
    for (char *p = strstr(line, " 0x"); p != NULL; p = strstr(p + 1, " 0x"))
        at = p + 1;
    return at;
}

/*
 * On pages of objects and threads, a line that is not indented names the object: `Thread "main"  0xfe10  #353` or
 * `"main" prio=5 RUNNABLE   retained 288 B   0xfe10`. Indented lines are details.
 */
static char *address_on_page(cli_columns *c, char *line)
{
    char *at = line[0] == ' ' || (c->separator != '\0' && c->separator != '=') ? NULL : last_address(line);
    if (at == NULL)
        return NULL;
    const size_t len = 2 + strspn(at + 2, "0123456789abcdef");
    const bool   object = strncmp(at + len, "  #", 3) == 0 && at[len + 3 + strspn(at + len + 3, "0123456789")] == '\0';
    const bool   thread =
        at[len] == '\0' && at - line > 3 && strncmp(at - 3, "   ", 3) == 0 && (line[0] == '"' || line[0] == '(');
    if (!object && !thread)
        return NULL;
    at[len] = '\0';
    c->separator = '=';
    return at;
}

bool cli_row_continues(const cli_columns *columns, const char *line)
{
    bool within = false;
    for (; columns->separator == ',' && *line != '\0'; line++)
        within ^= *line == '"';
    return within;
}

bool cli_name_in_line(cli_columns *c, char *line, char **name)
{
    size_t len = strlen(line);
    while (len > 0 && (line[len - 1] == '\r' || line[len - 1] == ' '))
        line[--len] = '\0';
    char *text = line + strspn(line, " ");
    if (*text == '{' && c->separator == '\0') { /* a row of jsonl or of a json document */
        bool  document;
        char *value = address_of_row(text, &document);
        if (document)
            return false;
        if (value == NULL && (value = strstr(text, "\"0x")) != NULL)
            value++;
        if (value == NULL)
            return false;
        *name = value;
        (*name)[strcspn(*name, "\"")] = '\0';
        return is_name(*name);
    }
    if ((text = address_on_page(c, line)) != NULL || c->separator == '=')
        return (*name = text) != NULL;
    if (c->separator == '\0' && is_head(c, line))
        return false;
    text = line + strspn(line, " ");
    if (c->separator == ' ') {
        char *cell = at_column(line, c->at);
        if (!is_name(cell) && is_head(c, line)) /* the header of another answer; a label may look like a header */
            return false;
        if (!is_name(cell)) /* a text before it has wide characters; the address is the last column */
            cell = last_address(line);
        if ((text = cell) == NULL)
            return false;
        text[strcspn(text, " ")] = '\0';
    } else if (c->separator != '\0') {
        cli_columns another = *c;
        const bool  head = is_head(&another, line);
        text = field_of(line, c->separator, c->field);
        if (head && (text == NULL || !is_name(text)))
            *c = another;
        if (text == NULL)
            return false;
    } else if (*text == '"') {
        text = field_of(text, ',', 0);
    } else if (strncmp(text, "thread:", 7) == 0) {
        text[strcspn(text, "\t,")] = '\0';                             /* names of threads contain blanks */
    } else if (is_name(text) || (text = last_address(line)) != NULL) { /* a name, or a line of a page */
        text[strcspn(text, "\t, ")] = '\0';
    }
    *name = text;
    return text != NULL && is_name(text);
}

/*
 * Only the member "rows" of a json document contains rows. A document begins with a line that is a single brace, and
 * each of its members has its own lines.
 */
static bool in_rows(const char *line, bool rows)
{
    if (strcmp(line, "{") == 0)
        return false;
    if (strncmp(line, "  \"", 3) == 0)
        return strncmp(line, "  \"rows\": ", 10) == 0;
    return rows;
}

/* Appends the names on standard input to the arguments. */
static hdx_code add_lines(hdx_buffer *in, const char *name, cli_call *call, size_t more, hdx_arena *arena,
                          hdx_error *err)
{
    size_t      lines = 1, room;
    char       *found;
    cli_columns columns = { 0 };
    bool        rows = true;
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
            stop = end; /* the buffer ends with a NUL */
        *stop = '\0';
        while (stop < end && cli_row_continues(&columns, line)) {
            char *next = memchr(stop + 1, '\n', (size_t)(end - stop - 1));
            *stop = '\n';
            stop = next != NULL ? next : end;
            *stop = '\0';
        }
        rows = in_rows(line, rows);
        if (rows && cli_name_in_line(&columns, line, &found)) {
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
        if ((code = cli_read_all(STDIN_FILENO, "standard input", UINT64_MAX, &in, err)) == HDX_OK)
            code = add_lines(&in, name, call, call->word_count - i + OWN_ARGUMENTS, arena, err);
        hdx_buffer_free(&in);
        if (code != HDX_OK)
            return code;
    }
    if (read && call->argument_count == before)
        return hdx_fail(err, HDX_USAGE, "standard input", HDX_NOWHERE,
                        "contains no object names; expected 0x7f3a10, #1234 ... one per line, or a column `address`");
    return HDX_OK;
}
