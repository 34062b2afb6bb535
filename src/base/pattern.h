/*
 * pattern.h - matches names against a user's pattern: an exact name, a glob, or /regex/.
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

/* Names of this length are matched once each, because very many classes may share one. */
#define HDX_LONG_PATTERNED 256u

/* Matches a glob with a whole text: '*' is any run, '?' one UTF-8 character; all other characters match themselves. */
bool hdx_glob_match(hdx_text pattern, hdx_text text);
bool hdx_is_glob(hdx_text pattern);

typedef struct hdx_pattern {
    hdx_text   text; /* borrowed */
    bool       glob;
    hdx_regex *regex; /* NULL: the pattern is a name or a glob */
    hdx_map    known; /* address of a long name -> result */
} hdx_pattern;

/*
 * Parses a pattern. Returns HDX_USAGE for an invalid regex (base/regex.h). The caller closes the pattern in any case.
 * REQUIRES: *progress (may be NULL) outlives it.
 */
hdx_code hdx_pattern_open(hdx_pattern *p, const char *text, const hdx_progress *progress, hdx_mem *mem, hdx_error *err);
/* Matches a name. REQUIRES: names do not move while the pattern is open, because results are cached by address. */
hdx_code hdx_pattern_match(hdx_pattern *p, hdx_text name, bool *yes, hdx_error *err);
/* Same for any text, without the cache. */
hdx_code hdx_pattern_look(const hdx_pattern *p, hdx_text text, bool *yes, hdx_error *err);
void     hdx_pattern_close(hdx_pattern *p);

#endif
