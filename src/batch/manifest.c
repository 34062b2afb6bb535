/*
 * manifest.c - reads lists of dumps: CSV with a header (RFC 4180), and JSONL.
 *
 * In:  a complete text, which is untrusted.
 * Out: its rows one by one, as keys and values; unknown columns are included.
 * Line ends are those of Unix or DOS; a byte order mark and empty lines are skipped. Errors name their line.
 */
#include "batch/batch.h"

#include <stdio.h>

static void skip_mark(const char **text, size_t *len)
{
    if (*len >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0) {
        *text += 3;
        *len -= 3;
    }
}

static hdx_code wrong(const char *name, uint64_t line, const char *what, hdx_error *err)
{
    return hdx_fail(err, HDX_USAGE, name, HDX_NOWHERE, "line %llu: %s", (unsigned long long)line, what);
}

/* ---- CSV ---- */

typedef struct csv {
    const char *name, *at, *end;
    uint64_t    line; /* line of `at`, from 1 */
    hdx_arena  *arena;
} csv;

/* Reads a field in quotes, after its opening quote. */
static hdx_code quoted(csv *c, const char **out, hdx_error *err)
{
    const char    *from = c->at;
    const uint64_t begun = c->line;
    uint64_t       len = 0, doubled = 0;
    for (;; c->at++) {
        if (c->at == c->end)
            return wrong(c->name, begun, "a quote is not closed", err);
        if (*c->at == '\n')
            c->line++;
        if (*c->at != '"')
            continue;
        if (c->end - c->at < 2 || c->at[1] != '"')
            break;
        c->at++;
        doubled++;
    }
    if ((uint64_t)(c->at - from) > BATCH_MOST_LINE)
        return wrong(c->name, begun, "a field exceeds 1 MB", err);
    char *text = hdx_arena_get(c->arena, (uint64_t)(c->at - from) - doubled + 1);
    if (text == NULL)
        return hdx_no_memory(err, "a manifest", 0);
    for (const char *p = from; p < c->at; p++) {
        text[len++] = *p;
        p += *p == '"';
    }
    text[len] = '\0';
    c->at++;
    *out = text;
    return HDX_OK;
}

static hdx_code plain(csv *c, const char **out, hdx_error *err)
{
    const char *from = c->at;
    while (c->at < c->end && *c->at != ',' && *c->at != '\n' && *c->at != '\r')
        c->at++;
    if ((uint64_t)(c->at - from) > BATCH_MOST_LINE)
        return wrong(c->name, c->line, "a field exceeds 1 MB", err);
    *out = "";
    if (c->at == from) /* most fields of a wide manifest are empty */
        return HDX_OK;
    *out = hdx_arena_copy(c->arena, from, (uint64_t)(c->at - from));
    return *out != NULL ? HDX_OK : hdx_no_memory(err, "a manifest", 0);
}

/* Reads the fields of a row; *count 0: no further row. */
static hdx_code csv_row(csv *c, const char **fields, size_t *count, uint64_t *line, hdx_error *err)
{
    *count = 0;
    while (c->at < c->end && (*c->at == '\n' || *c->at == '\r'))
        c->line += *c->at++ == '\n';
    *line = c->line;
    if (c->at == c->end)
        return HDX_OK;
    for (;;) {
        hdx_code   code;
        const bool quotes = c->at < c->end && *c->at == '"';
        if (*count == BATCH_MOST_COLUMNS)
            return wrong(c->name, *line, "more than 512 columns", err);
        if (quotes)
            c->at++;
        if ((code = quotes ? quoted(c, &fields[*count], err) : plain(c, &fields[*count], err)) != HDX_OK)
            return code;
        ++*count;
        if (c->at == c->end)
            return HDX_OK;
        if (*c->at == ',') {
            c->at++;
            continue;
        }
        if (*c->at == '\r')
            c->at++;
        else if (*c->at != '\n')
            return wrong(c->name, *line, "text follows a closing quote", err);
        if (c->at < c->end && *c->at == '\n') {
            c->at++;
            c->line++;
        }
        return HDX_OK;
    }
}

static bool is_among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static hdx_code check_heads(const csv *c, const char *const *heads, size_t columns, uint64_t line, hdx_error *err)
{
    for (size_t i = 0; i < columns; i++)
        if (is_among(heads, i, heads[i]))
            return wrong(c->name, line, "two columns have the same name", err);
    return is_among(heads, columns, "dump")
               ? HDX_OK
               : hdx_hint(err,
                          hdx_fail(err, HDX_USAGE, c->name, HDX_NOWHERE,
                                   "the first line of a manifest must name its columns, including `dump`"),
                          "for example dump,application,host,release,time");
}

hdx_code hdx_batch_manifest_csv(const char *name, const char *text, size_t len, hdx_arena *arena, batch_take *take,
                                void *context, hdx_error *err)
{
    const char   *heads[BATCH_MOST_COLUMNS], *fields[BATCH_MOST_COLUMNS];
    hdx_flat_pair pairs[BATCH_MOST_COLUMNS];
    size_t        columns, count;
    uint64_t      line;
    hdx_arena     head = hdx_arena_of(arena->mem);
    skip_mark(&text, &len);
    csv      c = { name, text, text + len, 1, &head };
    hdx_code code = memchr(text, '\0', len) != NULL ? hdx_fail(err, HDX_USAGE, name, HDX_NOWHERE,
                                                               "contains a NUL byte, which a manifest cannot have")
                                                    : csv_row(&c, heads, &columns, &line, err);
    if (code == HDX_OK)
        code = check_heads(&c, heads, columns, line, err);
    c.arena = arena;
    while (code == HDX_OK && (code = csv_row(&c, fields, &count, &line, err)) == HDX_OK && count > 0) {
        const hdx_flat row = { pairs, count };
        if (count > columns) {
            code = wrong(name, line, "more fields than columns", err);
            break;
        }
        for (size_t i = 0; i < count; i++)
            pairs[i] = (hdx_flat_pair){ heads[i], fields[i], true };
        code = take(context, &row, line, err);
        hdx_arena_empty(arena);
    }
    hdx_arena_free(&head);
    return code;
}

/* ---- JSONL ---- */

hdx_code hdx_batch_manifest_jsonl(const char *name, const char *text, size_t len, hdx_arena *arena, batch_take *take,
                                  void *context, hdx_error *err)
{
    uint64_t line = 0;
    hdx_code code = HDX_OK;
    skip_mark(&text, &len);
    for (const char *at = text, *end = text + len; code == HDX_OK && at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *last = stop != NULL ? stop : end;
        hdx_flat    row;
        size_t      blank = 0;
        line++;
        while (at + blank < last && (at[blank] == ' ' || at[blank] == '\t' || at[blank] == '\r'))
            blank++;
        if (at + blank < last) {
            if ((uint64_t)(last - at) > BATCH_MOST_LINE)
                return wrong(name, line, "the line exceeds 1 MB", err);
            if (!hdx_flat_read(arena, at, (size_t)(last - at), &row))
                return hdx_hint(err, wrong(name, line, "not a JSON object", err),
                                "for example {\"dump\": \"app.hprof\", \"application\": \"shop\"}");
            code = take(context, &row, line, err);
            hdx_arena_empty(arena);
        }
        at = last + (stop != NULL);
    }
    return code;
}
