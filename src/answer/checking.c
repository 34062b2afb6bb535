/*
 * checking.c - shared by the files of the answer `check`: formats texts and numbers of a result, and manages the list
 * of results.
 */
#include "answer/checking.h"
#include "render/render.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

const char *hdx_checking_format(hdx_checking *c, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int len = vsnprintf(NULL, 0, format, list);
    char     *text = len < 0 ? NULL : hdx_arena_get(c->arena, (uint64_t)len + 1);
    if (text != NULL)
        (void)vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    va_end(list);
    return text;
}

const char *hdx_checking_number(hdx_checking *c, hdx_check_unit unit, double value)
{
    const hdx_render_options human = { .human_sizes = true };
    const hdx_cell           cell = hdx_cell_uint(value < 0x1p64 ? (uint64_t)value : UINT64_MAX);
    const double             off = fabs(value - nearbyint(value));
    hdx_buffer               b = hdx_buffer_of(NULL);
    if (unit == HDX_CHECK_PERCENT)
        hdx_buffer_format(&b, off < 0.005 ? "%.0f%%" : "%.2f%%", value);
    else
        (void)hdx_render_cell(&b, &cell, unit == HDX_CHECK_BYTES ? HDX_UNIT_BYTES : HDX_UNIT_COUNT, &human);
    const char *text = b.failed ? NULL : hdx_arena_copy(c->arena, b.at, b.len);
    hdx_buffer_free(&b);
    return text;
}

hdx_check_result hdx_checking_result(hdx_checking *c, const hdx_rule *rule)
{
    static const char *const verbs[] = { "max", "min", "growth", "no" };
    static const char *const wastes[] = { "-strings", "-collections", "-arrays" };
    const char *kind = hdx_checking_format(c, "%s-%s%s", verbs[rule->verb], hdx_measure_name(rule->measure),
                                           rule->measure == HDX_MEASURE_WASTE ? wastes[rule->waste] : "");
    return (hdx_check_result){ .rule = rule->text,
                               .name = rule->name,
                               .reason = rule->reason,
                               .kind = kind,
                               .file = rule->file,
                               .line = rule->line,
                               .limit = rule->verb == HDX_VERB_NO ? 0
                                        : rule->percent           ? rule->share
                                                                  : (double)rule->limit,
                               .signature = rule->text };
}

hdx_code hdx_checking_add(hdx_checking *c, const hdx_check_result *result, hdx_error *err)
{
    if (result->message == NULL || result->kind == NULL || c->arena->refused)
        return hdx_no_memory(err, "a finding", sizeof *result);
    if (c->count == c->capacity) {
        const uint64_t    more = c->capacity == 0 ? 16 : 2 * c->capacity;
        hdx_check_result *at = hdx_arena_get(c->arena, more * sizeof *at);
        if (at == NULL)
            return hdx_no_memory(err, "findings", more * sizeof *at);
        if (c->count > 0)
            memcpy(at, c->results, c->count * sizeof *at);
        c->results = at;
        c->capacity = more;
    }
    c->results[c->count++] = *result;
    return HDX_OK;
}
