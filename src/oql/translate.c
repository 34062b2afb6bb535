/* translate.c - the public function: translates OQL to one statement of SQL. */
#include "oql/oql.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(oql *o, hdx_code code, uint32_t at, const char *hint, const char *format, va_list ap)
{
    char words[200];
    if (o->code != HDX_OK)
        return;
    o->code = code;
    (void)vsnprintf(words, sizeof words, format, ap);
    hdx_fail(o->err, code, "", at, "%s", words);
    if (hint != NULL && hint[0] != '\0')
        (void)hdx_hint(o->err, code, "%s", hint);
}

void *hdx_oql_refuse(oql *o, uint32_t at, const char *hint, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fail(o, HDX_USAGE, at, hint, format, ap);
    va_end(ap);
    return NULL;
}

void *hdx_oql_fail(oql *o, hdx_code code, uint32_t at, const char *hint, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fail(o, code, at, hint, format, ap);
    va_end(ap);
    return NULL;
}

void *hdx_oql_get(oql *o, uint64_t bytes)
{
    if (o->code != HDX_OK)
        return NULL;
    if (bytes > SQL_MOST * 4u || o->arena.size > ARENA_MOST)
        return hdx_oql_fail(o, HDX_LIMIT, 0, "simplify the query", "the translation needs more than %u MiB",
                            ARENA_MOST >> 20);
    void *p = hdx_arena_get(&o->arena, bytes);
    if (p == NULL)
        o->code = hdx_no_memory(o->err, "a query", bytes);
    return p;
}

const char *hdx_oql_format(oql *o, const char *format, ...)
{
    va_list ap;
    if (o->code != HDX_OK)
        return NULL;
    va_start(ap, format);
    const int n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (n < 0 || (unsigned)n > SQL_MOST)
        return hdx_oql_fail(o, HDX_LIMIT, 0, "simplify the query", "the SQL exceeds %u MiB", SQL_MOST >> 20);
    char *out = hdx_oql_get(o, (uint64_t)n + 1);
    if (out == NULL)
        return NULL;
    va_start(ap, format);
    (void)vsnprintf(out, (size_t)n + 1, format, ap);
    va_end(ap);
    return out;
}

hdx_code hdx_oql_translate(hdx_graph *g, const char *text, char **sql, hdx_error *err)
{
    const size_t      len = strlen(text);
    const oql_select *s;
    const char       *out;
    *sql = NULL;
    if (len > HDX_OQL_MOST)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "query is %zu bytes; the maximum is %u", len, HDX_OQL_MOST);
    oql o = { .g = g, .text = text, .len = (uint32_t)len, .arena = hdx_arena_of(NULL), .err = err };
    if (hdx_oql_tokens(&o) && (s = hdx_oql_parse(&o)) != NULL &&
        (out = hdx_oql_statement(&o, s, NULL, WANT_ROWS)) != NULL && (*sql = strdup(out)) == NULL)
        o.code = hdx_no_memory(err, "a query", strlen(out));
    hdx_arena_free(&o.arena);
    hdx_error damage; /* a class may seem to be missing because the index is damaged */
    if (o.code != HDX_LIMIT && g != NULL && hdx_graph_check(g, &damage) != HDX_OK) {
        free(*sql);
        *sql = NULL;
        o.code = damage.code;
        if (err != NULL)
            *err = damage;
    }
    return o.code;
}
