/*
 * pattern.h - names as a user asks for them: an exact name, a glob, or /regex/.
 *
 *     hdx_pattern p;
 *     if ((code = hdx_pattern_open(&p, "com.acme.*", progress, mem, err)) == HDX_OK)
 *         code = hdx_pattern_match(&p, name, &yes, err);
 *     hdx_pattern_close(&p);
 */
#ifndef HDX_BASE_PATTERN_H
#define HDX_BASE_PATTERN_H

#include "base/map.h"
#include "base/regex.h"

/* Names so long are matched once each: very many classes may have one. */
#define HDX_LONG_PATTERNED 256u

/* Glob over a whole text: '*' any run, '?' one character (of UTF-8); all else means itself. */
bool hdx_glob_match(hdx_text pattern, hdx_text text);
bool hdx_is_glob(hdx_text pattern);

typedef struct hdx_pattern {
    hdx_text   text; /* borrowed */
    bool       glob;
    hdx_regex *regex; /* NULL: a name or a glob */
    hdx_map    known; /* where a long name stands -> does it match */
} hdx_pattern;

/* HDX_USAGE: a regex that is none (base/regex.h). Closed in any case. `progress` may be NULL; it must outlive it. */
hdx_code hdx_pattern_open(hdx_pattern *p, const char *text, const hdx_progress *progress, hdx_mem *mem, hdx_error *err);
/* Names keep their place while the pattern is open. */
hdx_code hdx_pattern_match(hdx_pattern *p, hdx_text name, bool *yes, hdx_error *err);
/* The same of any text: nothing is remembered. */
hdx_code hdx_pattern_look(const hdx_pattern *p, hdx_text text, bool *yes, hdx_error *err);
void     hdx_pattern_close(hdx_pattern *p);

#endif
