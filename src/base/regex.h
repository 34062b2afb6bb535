/*
 * regex.h - regular expressions (PCRE2) with a bounded cost: the pattern comes from a user and the text from a dump,
 * and together they may take practically forever ("(a+)+$").
 *
 *     hdx_regex *r;
 *     if ((code = hdx_regex_open("Cache$", 6, progress, &r, err)) != HDX_OK) return code;
 *     code = hdx_regex_match(r, name, &yes, err);
 *     hdx_regex_close(r);
 *
 * The syntax is Perl's. Texts are UTF-8; an invalid byte matches nothing. `.` matches line feeds, too, and `$` only the
 * end. One thread at a time may use a regex.
 */
#ifndef HDX_BASE_REGEX_H
#define HDX_BASE_REGEX_H

#include <heapdex/error.h>
#include <heapdex/progress.h>

/*
 * A step is one item of the pattern tried at one position, or 16 bytes that an item skips: about 10 ns. All matches of
 * one regex together may take HDX_REGEX_STEPS, and HDX_REGEX_STEPS_BYTE more for each byte of text: far more than
 * ordinary patterns need, and linear in the text.
 */
#define HDX_REGEX_STEPS      20000000u
#define HDX_REGEX_STEPS_BYTE 256u

typedef struct hdx_regex hdx_regex;
/*
 * Compiles a pattern. Returns HDX_USAGE with the error and its position in the pattern. REQUIRES: *progress (may be
 * NULL) outlives the regex.
 */
hdx_code hdx_regex_open(const char *pattern, size_t len, const hdx_progress *progress, hdx_regex **out, hdx_error *err);
/*
 * Sets *yes if the pattern is found anywhere in the text. Returns HDX_USAGE with the pattern if it is too costly,
 * HDX_CANCELLED if `progress` requests it, also during a match.
 */
hdx_code hdx_regex_match(hdx_regex *r, hdx_text text, bool *yes, hdx_error *err);
uint64_t hdx_regex_steps(const hdx_regex *r); /* used so far */
void     hdx_regex_close(hdx_regex *r);       /* NULL is allowed */

#endif
