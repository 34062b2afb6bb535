/*
 * compare.c - the answers that compare several dumps: each dump is opened, measured into a column of the ledger, and
 * closed.
 */
#include "answer/answer.h"
#include "compare/compare.h"

/* Refuses --index and --view where they would apply to several dumps. */
static hdx_code check_session(hdx_session *s, const hdx_arguments *a, hdx_error *err)
{
    static const char *const of_leaks[] = { "finder", "class" };
    const hdx_compare_by     by = hdx_compare_by_of(a);
    if (s->dump_count > 1 && s->options.index_dir != NULL)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--index-dir names a single index, but there are %zu dumps",
                        s->dump_count);
    if (hdx_answer_last(a, "view") != NULL && (by == HDX_COMPARE_LEAK || by == HDX_COMPARE_PATH))
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                        "--view does not apply: leaks and paths use their own roots and references");
    for (unsigned i = 0; i < HDX_COUNT(of_leaks); i++)
        if (hdx_answer_last(a, of_leaks[i]) != NULL && by != HDX_COMPARE_LEAK)
            return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--%s requires --by leak", of_leaks[i]);
    hdx_leaks_options ignored;
    return by == HDX_COMPARE_LEAK ? hdx_answer_leaks_wanted(s, a, &ignored, err) : HDX_OK;
}

static hdx_code add_leak(const hdx_leak *k, hdx_ledger *l, size_t place, hdx_error *err)
{
    const char     *name = k->signature[0] != '\0' ? k->signature : "unreachable", *suspects = k->suspects;
    const uint32_t  named = hdx_ledger_name(l, (hdx_text){ name, (uint32_t)strlen(name) });
    hdx_ledger_sum *sum = hdx_ledger_sum_of(l, place, hdx_ledger_thing_of(l, HDX_LEDGER_TOP, named));
    hdx_buffer      label = hdx_buffer_of(l->mem);
    hdx_buffer_format(&label, "%s: %s%s%s", hdx_leak_kind_name(k->kind),
                      k->trace_count > 0 ? k->traces[0].class_name : "", *suspects != '\0' ? " by " : "", suspects);
    const bool good = sum != NULL && !label.failed && hdx_ledger_label(l, named, label.at);
    if (good) {
        sum->objects += k->trace_count;
        sum->retained += k->sized ? k->retained_bytes : 0;
    }
    hdx_buffer_free(&label);
    return good ? HDX_OK : hdx_ledger_refused(l, err);
}

/* A class that a dump lacks has no leaks there: it may be new in the next one. */
static hdx_code leaks_of(hdx_session *s, const hdx_arguments *a, hdx_graph *g, hdx_ledger *l, size_t place,
                         hdx_error *err)
{
    hdx_leaks_options options = { .retained = true };
    hdx_leaks        *leaks = NULL;
    hdx_code          code = hdx_answer_leaks_wanted(s, a, &options, err);
    if (code == HDX_OK)
        code = hdx_answer_leaks_search(s, g, &options, &leaks, err);
    if (code == HDX_NOT_FOUND && options.finder == HDX_LEAKS_CLASSES) {
        hdx_answer_notice(s, "note: %s: %s", s->dumps[place].path, err->message);
        return HDX_OK;
    }
    for (uint64_t i = 0; code == HDX_OK && i < leaks->leak_count; i++)
        code = add_leak(&leaks->leaks[i], l, place, err);
    hdx_leaks_free(leaks);
    return code;
}

static hdx_code measure(hdx_session *s, const hdx_arguments *a, bool retained, hdx_ledger *l, size_t place,
                        hdx_error *err)
{
    const hdx_compare_by by = hdx_compare_by_of(a);
    hdx_graph           *g;
    hdx_code             code = hdx_session_view(s, place, hdx_answer_last(a, "view"), &g, err);
    if (code != HDX_OK)
        return code;
    if (place == 0 &&
        hdx_answer_last(a, "view") != NULL) /* the head of the document names the view of the first dump */
        s->dumps[0].shown = g;
    const hdx_query q = hdx_answer_query(s, a, g);
    code = hdx_ledger_head(l, place, s->dumps[place].path, hdx_graph_summary_of(g), err);
    if (code == HDX_OK && by == HDX_COMPARE_DOMINATOR)
        code = hdx_compare_dominators(&q, (unsigned)hdx_argument_number(a, "depth"), l, place, err);
    else if (code == HDX_OK && by == HDX_COMPARE_PATH)
        code = hdx_compare_paths(&q, s->options.memory, l, place, err);
    else if (code == HDX_OK && by == HDX_COMPARE_LEAK)
        code = leaks_of(s, a, g, l, place, err);
    else if (code == HDX_OK)
        code = hdx_compare_classes(&q, by, retained, l, place, err);
    hdx_answer_release(s, place);
    return code;
}

/* The first `count` dumps of the session. */
static hdx_code measure_all(hdx_session *s, const hdx_arguments *a, size_t count, bool retained, hdx_ledger **out,
                            hdx_error *err)
{
    hdx_code code = hdx_ledger_open(&s->mem, count, out, err);
    for (size_t i = 0; code == HDX_OK && i < count; i++)
        code = measure(s, a, retained, *out, i, err);
    if (code != HDX_OK) {
        hdx_ledger_close(*out);
        *out = NULL;
    }
    return code;
}

hdx_code hdx_answer_run_diff(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ledger *l = NULL;
    hdx_code    code = hdx_compare_diff_check(a, s->dump_count, err);
    if (code == HDX_OK)
        code = check_session(s, a, err);
    if (code == HDX_OK)
        code = measure_all(s, a, s->dump_count, true, &l, err);
    return code == HDX_OK ? hdx_compare_diff_rows(l, a, &s->progress, out, err) : code;
}

/* A broken dump of a folder does not end the call: it is reported and removed from the first `count` dumps. */
static hdx_code leave_out_broken(hdx_session *s, size_t *count, hdx_error *err)
{
    for (size_t i = 0; i < *count;) {
        hdx_graph *g;
        hdx_error  why = { .offset = HDX_NOWHERE };
        hdx_code   code = s->dumps[i].listed ? hdx_session_graph(s, i, &g, &why) : HDX_OK;
        if (code == HDX_OK) {
            hdx_answer_release(s, i++);
        } else if (code == HDX_BAD_DUMP || code == HDX_DAMAGED || code == HDX_NOT_FOUND) {
            hdx_answer_notice(s, "warning: skipping %s: %s", s->dumps[i].path, why.message);
            memmove(s->dumps + i, s->dumps + i + 1, (--s->dump_count - i) * sizeof *s->dumps);
            --*count;
        } else {
            *err = why;
            return code;
        }
    }
    return HDX_OK;
}

hdx_code hdx_answer_run_trend(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ledger *l = NULL;
    size_t      count = 0;
    hdx_code    code = hdx_answer_expand_folders(s, err);
    if (code == HDX_OK)
        code = check_session(s, a, err);
    if (code == HDX_OK)
        code = hdx_answer_choose_application(s, hdx_answer_last(a, "application"), !hdx_argument_flag(a, "outliers"),
                                             &count, err);
    if (code == HDX_OK)
        code = leave_out_broken(s, &count, err);
    if (code == HDX_OK)
        code = hdx_compare_trend_check(a, count, err);
    if (code == HDX_OK)
        code = measure_all(s, a, count, hdx_compare_trend_retains(a), &l, err);
    return code == HDX_OK ? hdx_compare_trend_rows(l, a, out, err) : code;
}
