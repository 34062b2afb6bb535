/* error.c - fills an hdx_error; names of codes and damage kinds. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

/* Quoted names may contain line breaks; a message is one line. */
static void make_one_line(char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\n' || *text == '\r')
            *text = ' ';
}

hdx_code hdx_fail(hdx_error *err, hdx_code code, const char *where, uint64_t offset, const char *format, ...)
{
    va_list args;
    if (err == NULL)
        return code;
    err->code = code;
    err->offset = offset;
    err->hint[0] = '\0';
    (void)snprintf(err->where, sizeof err->where, "%s", where != NULL ? where : "");
    va_start(args, format);
    (void)vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    make_one_line(err->message);
    return code;
}

hdx_code hdx_hint(hdx_error *err, hdx_code code, const char *format, ...)
{
    va_list args;
    if (err == NULL)
        return code;
    va_start(args, format);
    (void)vsnprintf(err->hint, sizeof err->hint, format, args);
    va_end(args);
    make_one_line(err->hint);
    return code;
}

hdx_code hdx_no_memory(hdx_error *err, const char *what, uint64_t bytes)
{
    if (bytes == 0) /* the size is unknown */
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "no memory for %s", what);
    return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "no memory for %s (%llu bytes)", what, (unsigned long long)bytes);
}

const char *hdx_code_name(hdx_code code)
{
    static const char *const names[] = { "ok",    "usage", "bad_dump", "not_found", "damaged",
                                         "limit", "io",    "busy",     "cancelled" };
    return (size_t)code < sizeof names / sizeof *names ? names[code] : "unknown";
}

const char *hdx_damage_name(hdx_damage_kind kind)
{
    static const char *const names[HDX_DAMAGE_KINDS] = { "truncated", "length",  "unknown_tag", "layout",
                                                         "duplicate", "missing", "cycle",       "count",
                                                         "garbage",   "gzip",    "crc" };
    return (size_t)kind < HDX_DAMAGE_KINDS ? names[kind] : "unknown";
}
