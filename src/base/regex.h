/*
 * regex.h - the door to regular expressions (PCRE2), whose cost is counted: a pattern comes from whoever asks, a text
 * from a dump, and together they may take longer than the universe has lasted ("(a+)+$").
 *
 *     hdx_regex *r;
 *     if ((code = hdx_regex_open("Cache$", 6, progress, &r, err)) != HDX_OK) return code;
 *     code = hdx_regex_match(r, name, &yes, err);
 *     hdx_regex_close(r);
 *
 * Syntax is Perl's. Texts are UTF-8; a byte that is none matches nothing. `.` takes line feeds too, `$` is the end
 * alone. One regex serves one thread at a time.
 */
#ifndef HDX_BASE_REGEX_H
#define HDX_BASE_REGEX_H

#include <heapdex/error.h>
#include <heapdex/progress.h>

/*
 * A step is one item of the pattern tried at one place, and 16 bytes that an item ran over: some 10 ns. All matches of
 * one regex together may take HDX_REGEX_STEPS, and so many more for each byte of text: far above what honest patterns
 * need, and linear in the text.
 */
#define HDX_REGEX_STEPS      20000000u
#define HDX_REGEX_STEPS_BYTE 256u

typedef struct hdx_regex hdx_regex;
/*
 * Compiles. HDX_USAGE with the fault and its place in the pattern. `progress` may be NULL; it must outlive the regex.
 */
hdx_code hdx_regex_open(const char *pattern, size_t len, const hdx_progress *progress, hdx_regex **out, hdx_error *err);
/*
 * *yes: found anywhere in the text. HDX_USAGE naming the pattern: too costly; HDX_CANCELLED: progress asked to stop,
 * also inside of one match.
 */
hdx_code hdx_regex_match(hdx_regex *r, hdx_text text, bool *yes, hdx_error *err);
uint64_t hdx_regex_steps(const hdx_regex *r); /* so far */
void     hdx_regex_close(hdx_regex *r);       /* NULL: nothing */

#endif
