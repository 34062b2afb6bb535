/*
 * told.h - what every reader of a text file owes to whoever wrote it: an error of the code HDX_USAGE that names the
 * file, and one of its lines.
 */
#ifndef HDX_TESTS_FUZZ_TOLD_H
#define HDX_TESTS_FUZZ_TOLD_H

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void told_wrong(const hdx_error *err, const char *why)
{
    fprintf(stderr, "%s: %s: %s: %s\n", why, hdx_code_name(err->code), err->where, err->message);
    abort();
}

static inline void told_of_file(hdx_code code, const hdx_error *err, const char *file)
{
    if (err->code != code)
        told_wrong(err, "another code than was returned");
    if (err->message[0] == '\0' || strchr(err->message, '\n') != NULL)
        told_wrong(err, "not one line");
    if (code == HDX_LIMIT)
        return;
    if (code != HDX_USAGE || strcmp(err->where, file) != 0)
        told_wrong(err, "another code, or no file");
}

/* "line N: ..." with N a line of the text. */
static inline void told_of_line(hdx_code code, const hdx_error *err, const char *file, const char *text, size_t len)
{
    unsigned long long line = 0, lines = 1;
    told_of_file(code, err, file);
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    if (code == HDX_USAGE && (sscanf(err->message, "line %llu: ", &line) != 1 || line < 1 || line > lines))
        told_wrong(err, "no line of the file");
}

#endif
