/*
 * regex.c - regular expressions with limited cost. The only file that includes pcre2.h.
 *
 * PCRE2's own match limit restarts at every position of a text, so a text of n bytes may cost n times as much.
 * Therefore automatic callouts run before each item of the pattern, with or without machine code: they count steps and
 * check for cancellation. PCRE2's limits remain as a second limit, mainly for memory. With callouts a compiled pattern
 * is as fast as an interpreted one without: 20 to 300 ns for the name of a class.
 */
#include "base/regex.h"
#include "base/error.h"
#include "base/tick.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#define ASK_STEPS       4096u
#define RUN_BYTES       16u  /* bytes that count as a step */
#define NEST_LIMIT      100u /* nested groups: each needs some 600 bytes of the stack */
#define MATCH_LIMIT     10000000u
#define HEAP_KIB        (32u << 10)
#define JIT_STACK_LEAST (32u << 10)
#define JIT_STACK_MOST  (1u << 20)

struct hdx_regex {
    pcre2_code          *code;
    pcre2_match_context *context;
    pcre2_match_data    *data;
    pcre2_jit_stack     *stack;
    const hdx_progress  *progress;
    size_t               at; /* position in the text at the last callout */
    uint64_t             steps, allowed, ask_at;
    bool                 stopped, costly;
    char                 pattern[81]; /* its beginning, for messages */
};

static bool more_steps(hdx_regex *r, uint64_t steps)
{
    r->steps += steps;
    r->costly = r->steps > r->allowed;
    if (r->steps >= r->ask_at) {
        r->ask_at = r->steps + ASK_STEPS;
        r->stopped =
            r->progress != NULL && r->progress->cancelled != NULL && r->progress->cancelled(r->progress->context);
    }
    return !r->costly && !r->stopped;
}

static int on_item(pcre2_callout_block *block, void *context)
{
    hdx_regex   *r = context;
    const size_t at = block->current_position, run = at > r->at ? at - r->at : r->at - at;
    r->at = at;
    return more_steps(r, 1 + run / RUN_BYTES) ? 0 : PCRE2_ERROR_CALLOUT;
}

static hdx_code too_costly(const hdx_regex *r, hdx_error *err)
{
    hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "regular expression \"%s\" is too costly: stopped after %llu steps",
             r->pattern, (unsigned long long)r->steps);
    return hdx_hint(err, HDX_USAGE,
                    "avoid nested repetitions such as (a+)+: use one repetition, an anchor ^ or a possessive a++");
}

/* Reports the error with its offset in bytes: terminals show the pattern, not numbers of characters. */
static hdx_code no_pattern(const hdx_regex *r, int number, size_t offset, hdx_error *err)
{
    PCRE2_UCHAR why[128];
    if (number == PCRE2_ERROR_NOMEMORY || number == PCRE2_ERROR_HEAP_FAILED)
        return hdx_no_memory(err, "a regular expression", offset);
    if (pcre2_get_error_message(number, why, sizeof why) < 0)
        memcpy(why, "not understood", sizeof "not understood");
    return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "regular expression \"%s\": %s at byte %zu", r->pattern,
                    (const char *)why, offset);
}

static hdx_code compile(hdx_regex *r, const char *pattern, size_t len, hdx_error *err)
{
    const uint32_t options =
        PCRE2_MATCH_INVALID_UTF | PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;
    int                    number = 0;
    size_t                 offset = 0;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (context == NULL)
        return hdx_no_memory(err, "a regular expression", len);
    (void)pcre2_set_parens_nest_limit(context, NEST_LIMIT);
    r->code = pcre2_compile((PCRE2_SPTR)pattern, len, options, &number, &offset, context);
    pcre2_compile_context_free(context);
    if (r->code == NULL)
        return no_pattern(r, number, offset, err);
    if ((r->context = pcre2_match_context_create(NULL)) == NULL || (r->data = pcre2_match_data_create(1, NULL)) == NULL)
        return hdx_no_memory(err, "a regular expression", len);
    (void)pcre2_set_callout(r->context, on_item, r);
    (void)pcre2_set_match_limit(r->context, MATCH_LIMIT);
    (void)pcre2_set_depth_limit(r->context, MATCH_LIMIT);
    (void)pcre2_set_heap_limit(r->context, HEAP_KIB);
    /*
     * If machine code is not allowed, or not available for this processor, the pattern is interpreted: slower, with the
     * same results.
     */
    if (pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE) == 0 &&
        (r->stack = pcre2_jit_stack_create(JIT_STACK_LEAST, JIT_STACK_MOST, NULL)) != NULL)
        pcre2_jit_stack_assign(r->context, NULL, r->stack);
    return HDX_OK;
}

hdx_code hdx_regex_open(const char *pattern, size_t len, const hdx_progress *progress, hdx_regex **out, hdx_error *err)
{
    hdx_regex *r = calloc(1, sizeof *r);
    *out = NULL;
    if (r == NULL)
        return hdx_no_memory(err, "a regular expression", sizeof *r);
    r->progress = progress;
    r->allowed = HDX_REGEX_STEPS;
    memcpy(r->pattern, pattern, len < sizeof r->pattern ? len : sizeof r->pattern - 1);
    hdx_code code = compile(r, pattern, len, err);
    if (code == HDX_OK)
        *out = r;
    else
        hdx_regex_close(r);
    return code;
}

hdx_code hdx_regex_match(hdx_regex *r, hdx_text text, bool *yes, hdx_error *err)
{
    int rc = PCRE2_ERROR_CALLOUT;
    r->at = 0;
    r->allowed += (uint64_t)HDX_REGEX_STEPS_BYTE * text.len;
    if (more_steps(r, 1))
        rc = pcre2_match(r->code, (PCRE2_SPTR)(text.at == NULL ? "" : text.at), text.len, 0, 0, r->data, r->context);
    *yes = rc >= 0;
    if (rc >= 0 || rc == PCRE2_ERROR_NOMATCH)
        return HDX_OK;
    if (r->stopped)
        return hdx_tick_stop(err);
    switch (rc) {
    case PCRE2_ERROR_CALLOUT:
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
    case PCRE2_ERROR_JIT_STACKLIMIT:
    case PCRE2_ERROR_RECURSELOOP: return too_costly(r, err);
    default: return no_pattern(r, rc, 0, err);
    }
}

uint64_t hdx_regex_steps(const hdx_regex *r) { return r->steps; }

void hdx_regex_close(hdx_regex *r)
{
    if (r == NULL)
        return;
    pcre2_match_data_free(r->data);
    pcre2_match_context_free(r->context);
    pcre2_jit_stack_free(r->stack);
    pcre2_code_free(r->code);
    free(r);
}
