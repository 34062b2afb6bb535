/*
 * session.c - dumps, their indexes and graphs: opened when a question first needs them, closed with the session.
 *
 * A dump may also be given as an index folder without its dump. Then field values cannot be read; all other questions
 * can be answered.
 */
#include "answer/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- life ---- */

static bool is_cancelled(void *context)
{
    hdx_session        *s = context;
    const hdx_progress *p = &s->options.progress;
    return atomic_load_explicit(&s->cancelled, memory_order_relaxed) ||
           (p->cancelled != NULL && p->cancelled(p->context));
}

static void report(void *context, const hdx_progress_report *r)
{
    const hdx_progress *p = &((hdx_session *)context)->options.progress;
    if (p->report != NULL)
        p->report(p->context, r);
}

static bool copy(hdx_arena *arena, const char **text)
{
    if (*text != NULL)
        *text = hdx_arena_copy(arena, *text, strlen(*text));
    return *text != NULL;
}

#define OPEN_TRIES 8u

hdx_code hdx_session_open(const hdx_index_options *options, hdx_session **out, hdx_error *err)
{
    hdx_session *s = *out = calloc(1, sizeof *s);
    if (s == NULL)
        return hdx_no_memory(err, "a session", sizeof *s);
    s->arena = hdx_arena_of(NULL);
    s->check_arena = hdx_arena_of(NULL);
    s->options = *options;
    if (s->options.dump_number == 0)
        s->options.dump_number = 1;
    s->progress = (hdx_progress){ s, report, is_cancelled };
    atomic_init(&s->cancelled, false);
    atomic_init(&s->uses, 1);
    (void)pthread_mutex_init(&s->asking, NULL); /* never fails for a default mutex */
    hdx_code code = options->index_dir == NULL || copy(&s->arena, &s->options.index_dir)
                        ? hdx_session_add(s, options->dump, err)
                        : hdx_no_memory(err, "a session", 0);
    if (code != HDX_OK) {
        hdx_session_close(s);
        *out = NULL;
    }
    return code;
}

hdx_code hdx_session_add(hdx_session *s, const char *dump, hdx_error *err)
{
    if (!copy(&s->arena, &dump) ||
        !hdx_mem_room(NULL, (void **)&s->dumps, &s->dump_capacity, s->dump_count, sizeof *s->dumps))
        return hdx_no_memory(err, "a dump of a session", sizeof *s->dumps);
    s->dumps[s->dump_count++] = (answer_dump){ .path = dump };
    return HDX_OK;
}

/* Streams may continue after this, but must not call the caller's callbacks any more. */
void hdx_session_close(hdx_session *s)
{
    if (s == NULL)
        return;
    (void)pthread_mutex_lock(&s->asking);
    s->options.progress = (hdx_progress){ 0 };
    (void)pthread_mutex_unlock(&s->asking);
    hdx_answer_leave(s);
}

void hdx_answer_leave(hdx_session *s)
{
    if (atomic_fetch_sub(&s->uses, 1) != 1)
        return;
    for (size_t i = 0; i < s->dump_count; i++) {
        hdx_leaks_free(s->dumps[i].leaks);
        for (answer_view *v = s->dumps[i].views; v != NULL; v = v->next) /* the structs are in the arena */
            hdx_graph_close(v->graph);
        hdx_graph_close(s->dumps[i].graph);
    }
    hdx_mem_put(NULL, s->dumps, s->dump_capacity * sizeof *s->dumps);
    hdx_counts_free(
        (hdx_counts *)(uintptr_t)s->counts); /* owned ones only: borrowed counts are reset when the build ends */
    hdx_arena_free(&s->check_arena);
    hdx_arena_free(&s->arena);
    (void)pthread_mutex_destroy(&s->asking);
    free(s);
}

void hdx_session_cancel(hdx_session *s) { atomic_store(&s->cancelled, true); }
void hdx_session_limit(hdx_session *s, uint64_t bytes) { s->mem.limit = bytes; }
void hdx_session_listen(hdx_session *s, const hdx_session_events *events) { s->events = *events; }

void hdx_answer_notice(hdx_session *s, const char *format, ...)
{
    char    line[512];
    va_list list;
    if (s->options.notice == NULL)
        return;
    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    s->options.notice(s->options.notice_context, line);
}

/* ---- graphs ---- */

hdx_index_options hdx_answer_index_options(hdx_session *s, size_t place)
{
    hdx_index_options options = s->options;
    options.dump = s->dumps[place].path;
    options.index_dir = place == 0 ? s->options.index_dir : NULL;
    options.progress = s->progress;
    return options;
}

hdx_code hdx_session_graph(hdx_session *s, size_t place, hdx_graph **out, hdx_error *err)
{
    *out = NULL;
    if (place >= s->dump_count)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "the session has %zu dumps", s->dump_count);
    answer_dump *d = &s->dumps[place];
    if (d->graph == NULL) {
        hdx_index_options options = hdx_answer_index_options(s, place);
        if (s->first_pass != NULL && s->events.early != NULL) {
            options.first_pass = s->first_pass;
            options.first_pass_context = s;
        }
        if (s->events.opening != NULL)
            s->events.opening(s->events.context, place);
        hdx_code code = HDX_BUSY;
        /* the index may be replaced or removed between being found and being opened */
        for (unsigned left = OPEN_TRIES; (code == HDX_BUSY || code == HDX_NOT_FOUND) && left > 0; left--) {
            if ((code = hdx_index_build(&options, &d->report, err)) != HDX_OK)
                return code;
            code = hdx_graph_open(d->report.path, d->report.dump[0] != '\0' ? d->report.dump : NULL, &d->graph, err);
        }
        if (code != HDX_OK)
            return code;
        d->opened = true;
        if (s->events.opened != NULL)
            s->events.opened(s->events.context, place);
    }
    *out = d->graph;
    return HDX_OK;
}

/* Lists the existing views after an unknown name. */
static void hint_views(const hdx_graph *g, hdx_error *err)
{
    char           list[300] = "";
    size_t         n = 0;
    hdx_graph_view view;
    for (unsigned i = 0; n < sizeof list && hdx_graph_view_at(g, i, &view); i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i == 0 ? "" : ", ", view.name);
    if (n > 0)
        (void)hdx_hint(err, err->code, "there are %s", list);
    else
        (void)hdx_hint(err, err->code, "the index has no views; heapdex index --view NAME=SPEC makes one");
}

hdx_code hdx_session_view(hdx_session *s, size_t place, const char *view, hdx_graph **out, hdx_error *err)
{
    hdx_error own;
    hdx_code  code = hdx_session_graph(s, place, out, err == NULL ? (err = &own) : err);
    if (code != HDX_OK || view == NULL)
        return code;
    answer_dump *d = &s->dumps[place];
    for (const answer_view *v = d->views; v != NULL; v = v->next)
        if (strcmp(v->name, view) == 0) {
            *out = v->graph;
            return HDX_OK;
        }
    *out = NULL;
    answer_view *v = hdx_arena_get(&s->arena, sizeof *v);
    if (v == NULL)
        return hdx_no_memory(err, "a view", sizeof *v);
    code = hdx_graph_open_view(d->report.path, view, d->report.dump[0] != '\0' ? d->report.dump : NULL, &v->graph, err);
    if (code == HDX_NOT_FOUND)
        hint_views(d->graph, err);
    if (code != HDX_OK)
        return code;
    (void)snprintf(v->name, sizeof v->name, "%s", view);
    v->next = d->views;
    d->views = v; /* linked only when complete: hdx_session_handle_fault may run at any time */
    *out = v->graph;
    return HDX_OK;
}

hdx_code hdx_answer_graph(hdx_session *s, const hdx_arguments *a, hdx_graph **out, hdx_error *err)
{
    const char    *view = hdx_answer_last(a, "view");
    const hdx_code code = hdx_session_view(s, 0, view, out, err);
    s->dumps[0].shown = code == HDX_OK && view != NULL ? *out : NULL;
    return code;
}

hdx_code hdx_answer_judge(void *session, hdx_code code, hdx_error *err)
{
    const hdx_session *s = session;
    hdx_error          mine;
    if (code == HDX_LIMIT || code == HDX_IO || code == HDX_BUSY || code == HDX_CANCELLED)
        return code;
    for (size_t i = 0; i < s->dump_count; i++) {
        hdx_graph     *g = s->dumps[i].shown != NULL ? s->dumps[i].shown : s->dumps[i].graph;
        const hdx_code found = g == NULL ? HDX_OK : hdx_graph_check(g, &mine);
        if (found == HDX_OK)
            continue;
        if (err != NULL)
            *err = mine;
        return found;
    }
    return code;
}

void hdx_answer_forget_view(hdx_session *s, const char *name)
{
    for (answer_view *v = s->dumps[0].views; v != NULL; v = v->next)
        if (strcmp(v->name, name) == 0)
            v->name[0] = '\0'; /* rows may still need the graph */
}

void hdx_answer_release(hdx_session *s, size_t place)
{
    if (place > 0) {
        hdx_graph *g = s->dumps[place].graph;
        s->dumps[place].graph = NULL; /* reset first: hdx_session_handle_fault may run at any time */
        hdx_graph_close(g);
    }
}

hdx_query hdx_answer_query(hdx_session *s, const hdx_arguments *a, hdx_graph *g)
{
    static const char words[] = "live all garbage"; /* order of hdx_refs_scope */
    static const char lengths[] = "cut whole all";  /* order of hdx_whole */
    const char       *scope = hdx_answer_last(a, "reachable"), *whole = hdx_answer_last(a, "texts");
    return (hdx_query){ .graph = g,
                        .scope = (hdx_refs_scope)(scope != NULL ? hdx_word_place(words, scope, strlen(scope)) : 0),
                        .whole = (hdx_whole)(whole != NULL ? hdx_word_place(lengths, whole, strlen(whole)) : 0),
                        .sizes =
                            hdx_answer_last(a, "sizes") != NULL && strcmp(hdx_answer_last(a, "sizes"), "true") == 0,
                        .threads = s->options.threads,
                        .progress = &s->progress,
                        .mem = &s->mem,
                        .notice = s->options.notice,
                        .notice_context = s->options.notice_context };
}

/* ---- what a session has ---- */

const hdx_graph_summary *hdx_session_summary(const hdx_session *s, size_t place)
{
    if (place >= s->dump_count)
        return NULL;
    if (s->dumps[place].graph != NULL)
        return hdx_graph_summary_of(s->dumps[place].shown != NULL ? s->dumps[place].shown : s->dumps[place].graph);
    return place == 0 && s->counts != NULL ? hdx_counts_summary(s->counts) : NULL;
}

const hdx_index_report *hdx_session_report(const hdx_session *s, size_t place)
{
    return place < s->dump_count && s->dumps[place].opened ? &s->dumps[place].report : NULL;
}

const char *hdx_session_dump(const hdx_session *s, size_t place)
{
    return place < s->dump_count ? s->dumps[place].path : NULL;
}

const hdx_leaks *hdx_session_leaks(const hdx_session *s, size_t place)
{
    return place < s->dump_count ? s->dumps[place].leaks : NULL;
}

bool hdx_session_handle_fault(hdx_session *s, const void *address)
{
    for (size_t i = 0; i < s->dump_count; i++) {
        if (s->dumps[i].graph != NULL && hdx_graph_handle_fault(s->dumps[i].graph, address))
            return true;
        for (const answer_view *v = s->dumps[i].views; v != NULL; v = v->next)
            if (hdx_graph_handle_fault(v->graph, address))
                return true;
    }
    return s->baseline != NULL && hdx_session_handle_fault(s->baseline, address);
}
