/*
 * leaks.c - leaks of the dumps of a session: reads files of rules, searches each dump, and merges leaks with the same
 * signature into one row.
 */
#include "answer/answer.h"
#include "base/textfile.h"
#include "leaks/leaks.h"

#define FILE_MOST (1ull << 30) /* a mapping of R8 has about ten MB */

static hdx_code read_file(hdx_session *s, const char *path, hdx_leak_file *out, hdx_error *err)
{
    hdx_text text;
    if (path == NULL)
        return HDX_OK;
    const hdx_code code = hdx_text_file(path, FILE_MOST, &s->progress, &s->arena, &text, err);
    if (code == HDX_OK)
        *out = (hdx_leak_file){ path, text.at, text.len };
    return code;
}

hdx_code hdx_answer_leaks_wanted(hdx_session *s, const hdx_arguments *a, hdx_leaks_options *o, hdx_error *err)
{
    static const hdx_leak_finder finders[] = { HDX_LEAKS_WATCHED, HDX_LEAKS_FILTERS,
                                               HDX_LEAKS_CLASSES }; /* choices of `finder` */
    const int                    finder = hdx_argument_choice(a, "finder");
    const hdx_code               code = hdx_argument_texts(a, "class", &s->arena, &o->classes, &o->class_count, err);
    o->finder = finder < 0 ? HDX_LEAKS_WATCHED : finders[finder];
    o->threads = s->options.threads;
    o->progress = &s->progress;
    o->memory = s->options.memory;
    return code == HDX_OK && (o->finder == HDX_LEAKS_CLASSES) != (o->class_count > 0)
               ? hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                          "--finder classes and --class PATTERN must be used together")
               : code;
}

static hdx_code options_of(hdx_session *s, const hdx_arguments *a, hdx_leaks_options *o, hdx_error *err)
{
    *o = (hdx_leaks_options){ .retained = !hdx_argument_flag(a, "no-retained"),
                              .key = hdx_argument_text(a, "key"),
                              .min_watch_ms = hdx_argument_number(a, "min-watch") * 1000 };
    hdx_code code = hdx_answer_leaks_wanted(s, a, o, err);
    if (code != HDX_OK)
        return code;
    if (o->key != NULL && o->finder != HDX_LEAKS_WATCHED)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--key names a watched object; remove --finder");
    if (s->dump_count > 1 && s->options.index_dir != NULL)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--index-dir names a single index, but there are %zu dumps",
                        s->dump_count);
    if ((code = read_file(s, hdx_argument_text(a, "matchers"), &o->matcher_file, err)) != HDX_OK ||
        (code = read_file(s, hdx_argument_text(a, "filters"), &o->rule_file, err)) != HDX_OK)
        return code;
    return read_file(s, hdx_argument_text(a, "mapping"), &o->mapping, err);
}

/* Reports an unknown class as all questions do. Names in a mapping are known only to the search. */
static hdx_code not_found(hdx_session *s, hdx_graph *g, const hdx_leaks_options *o, hdx_error *err)
{
    hdx_query q = { .graph = g, .scope = HDX_LIVE, .progress = &s->progress, .mem = &s->mem };
    hdx_error own;
    for (size_t i = 0; i < o->class_count && o->mapping.at == NULL; i++) {
        uint32_t *numbers = NULL;
        size_t    count = 0;
        hdx_code  code = hdx_query_classes_named(&q, o->classes[i], false, &numbers, &count, &own);
        hdx_numbers_free(numbers);
        if (code == HDX_OK)
            continue;
        *err = own;
        return code;
    }
    return HDX_NOT_FOUND;
}

/*
 * Replaces a simple name by the full name of the only class of this dump with that simple name, because the search
 * needs full names. Unknown and ambiguous names are reported by the search and by not_found.
 */
static hdx_code whole_names(hdx_session *s, hdx_graph *g, const hdx_leaks_options *o, const char *const **out,
                            hdx_error *err)
{
    hdx_query    q = { .graph = g,
                       .scope = HDX_LIVE,
                       .progress = &s->progress,
                       .mem = &s->mem,
                       .notice = s->options.notice,
                       .notice_context = s->options.notice_context };
    const char **names = hdx_arena_get(&s->arena, (o->class_count + 1) * sizeof *names);
    *out = names;
    if (names == NULL)
        return hdx_no_memory(err, "classes", o->class_count * sizeof *names);
    for (size_t i = 0; i < o->class_count; i++) {
        uint32_t *numbers = NULL;
        size_t    count = 0;
        hdx_error own;
        names[i] = o->classes[i];
        if (o->mapping.at != NULL || strpbrk(names[i], "./*?") != NULL)
            continue;
        const hdx_code   code = hdx_query_classes_named(&q, names[i], false, &numbers, &count, &own);
        const hdx_class *c = code == HDX_OK && count > 0 ? hdx_graph_class(g, numbers[0]) : NULL;
        if (c != NULL)
            names[i] = hdx_arena_copy(&s->arena, c->name.at, c->name.len);
        hdx_numbers_free(numbers);
        if (code != HDX_OK && code != HDX_NOT_FOUND && code != HDX_USAGE) {
            if (err != NULL)
                *err = own;
            return code;
        }
        if (names[i] == NULL)
            return hdx_no_memory(err, "classes", o->class_count);
    }
    return HDX_OK;
}

hdx_code hdx_answer_leaks_search(hdx_session *s, hdx_graph *g, const hdx_leaks_options *o, hdx_leaks **out,
                                 hdx_error *err)
{
    hdx_leaks_options whole = *o;
    *out = NULL;
    const hdx_code code = whole_names(s, g, o, &whole.classes, err);
    return code == HDX_OK ? hdx_leaks_search(g, &whole, out, err) : code;
}

static hdx_code search(hdx_session *s, size_t place, const hdx_leaks_options *o, hdx_error *err)
{
    answer_dump *d = &s->dumps[place];
    hdx_graph   *g;
    hdx_code     code = hdx_session_graph(s, place, &g, err);
    if (code != HDX_OK)
        return code;
    hdx_leaks_free(d->leaks);
    code = hdx_answer_leaks_search(s, g, o, &d->leaks, err);
    /* with several dumps the search reports the class together with the name of the dump */
    if (code == HDX_NOT_FOUND && o->finder == HDX_LEAKS_CLASSES && s->dump_count == 1)
        code = not_found(s, g, o, err);
    hdx_answer_release(s, place);
    return code;
}

hdx_code hdx_answer_run_leaks(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_leaks_options o;
    const hdx_leaks **leaks = hdx_arena_get(&s->arena, s->dump_count * sizeof *leaks);
    const char      **names = hdx_arena_get(&s->arena, s->dump_count * sizeof *names);
    hdx_code          code = options_of(s, a, &o, err);
    if (code == HDX_OK && (leaks == NULL || names == NULL))
        code = hdx_no_memory(err, "dumps", s->dump_count);
    for (size_t i = 0; code == HDX_OK && i < s->dump_count; i++) {
        code = search(s, i, &o, err);
        leaks[i] = s->dumps[i].leaks;
        names[i] = s->dumps[i].path;
    }
    return code == HDX_OK ? hdx_leaks_rows(leaks, names, s->dump_count, !hdx_argument_plain(a), out, err) : code;
}
