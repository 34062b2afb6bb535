/*
 * session.c - from the words of a call to an open graph (or counts, where the question needs no more): find or build the index, open it, say
 * what is odd about the dump.
 *
 * An index folder given as DUMP may travel alone: then values of fields cannot be read, and everything else is answered.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>

static void notice(void *context, const char *line)
{
    cli_session *s = context;
    cli_notice(s->console, "%s: %s", s->call->dump, line);
}

hdx_index_options cli_index_options(cli_session *s)
{
    const cli_call *c = s->call;
    return (hdx_index_options){ .dump = c->dump, .index_dir = c->index_dir, .dump_number = c->dump_number, .threads = c->threads,
                                .memory = c->memory, .max_uncompressed = c->max_uncompressed, .force = c->force, .no_build = c->no_build,
                                .no_wait = c->no_wait, .until = c->until, .progress = s->progress, .notice = notice, .notice_context = s };
}

/* Whoever ran out of memory knows what one piece takes; what a build takes is asked of a sample, without a budget. */
static hdx_code advise_memory(cli_session *s, hdx_code code, hdx_error *err)
{
    hdx_index_options   options = cli_index_options(s);
    hdx_index_forecast *forecast = hdx_arena_get(&s->arena, sizeof *forecast);
    hdx_error           ignored;
    options.memory = 0;
    if (forecast == NULL || hdx_index_estimate(&options, forecast, &ignored) != HDX_OK ||
        forecast->least < s->call->memory)
        return hdx_hint(err, code, "--memory is less than this needs; give it more");
    return hdx_hint(err, code, "--memory %lluM would do", (unsigned long long)((forecast->least >> 20) + 1));
}

/* What to do about it, where whoever met the fault did not know the options of the call. */
static hdx_code advise(cli_session *s, hdx_code code, hdx_error *err)
{
    if (code == HDX_LIMIT && s->call->memory != 0 && (err->hint[0] == '\0' || strncmp(err->hint, "heapdex estimate ", 17) == 0))
        return advise_memory(s, code, err);
    if (err->hint[0] != '\0')
        return code;
    if (code == HDX_DAMAGED)
        return hdx_hint(err, code, "heapdex index --force %s builds it again", s->call->dump);
    if (code == HDX_IO && strstr(err->message, strerror(ENOSPC)) != NULL) /* the door to files passes on the system's words, and only those */
        return hdx_hint(err, code, "make room on that disk, or put the index elsewhere with --index-dir DIR");
    return code;
}

static void tell(const cli_session *s)
{
    char human[16];
    hdx_render_human(s->report.bytes, human);
    if (s->report.reused)
        cli_notice(s->console, "%s: index %s, %s", s->call->dump, s->report.path, human);
    else
        cli_notice(s->console, "%s: index %s, %s, built in %.3f s", s->call->dump, s->report.path, human, (double)s->report.wall_ns / 1e9);
    if (s->dump_path == NULL)
        cli_notice(s->console, "%s: the dump is not at hand; values of fields and arrays cannot be read", s->call->dump);
}

static hdx_code scan(cli_session *s, const hdx_index_options *options, hdx_error *err)
{
    hdx_counts *counts = NULL;
    hdx_code    code = hdx_counts_take(options, &counts, err);
    s->counts = counts;
    cli_console_erase(s->console);
    return code;
}

hdx_code cli_session_open(cli_session *s, void (*first_pass)(void *session, const hdx_counts *counts), hdx_error *err)
{
    hdx_index_options options = cli_index_options(s);
    hdx_code          code;
    if (s->call->scan)
        return scan(s, &options, err);
    options.first_pass = first_pass;
    options.first_pass_context = s;
    cli_building(true);
    code = hdx_index_build(&options, &s->report, err);
    cli_building(false);
    if (code != HDX_OK)
        return advise(s, code, err);
    s->dump_path = s->report.dump[0] != '\0' ? s->report.dump : NULL;
    if ((code = hdx_graph_open(s->report.path, s->dump_path, &s->graph, err)) != HDX_OK)
        return advise(s, code, err);
    cli_guard(s->graph);
    cli_console_erase(s->console);
    s->query = (hdx_query){ .graph = s->graph, .scope = s->call->scope, .threads = s->call->threads, .progress = &s->progress };
    if (s->call->verbose)
        tell(s);
    return HDX_OK;
}

void cli_session_close(cli_session *s)
{
    cli_leaks_close(s);
    cli_guard(NULL);
    hdx_graph_close(s->graph);
    s->graph = NULL;
    hdx_counts_free((hdx_counts *)(uintptr_t)s->counts); /* lent ones are gone by now */
    s->counts = NULL;
    hdx_arena_free(&s->arena);
}

/* ---- the head of the JSON document ---- */

static hdx_cell text(const char *at)
{
    return at == NULL ? (hdx_cell){ .kind = HDX_CELL_NULL } : (hdx_cell){ .kind = HDX_CELL_TEXT, .as.text = { at, (uint32_t)strlen(at) } };
}
static hdx_cell natural(uint64_t n) { return (hdx_cell){ .kind = HDX_CELL_UINT, .as.natural = n }; }

static hdx_cell damage_list(hdx_arena *arena, const hdx_damage *damage, uint64_t count, bool *failed)
{
    hdx_cell *list = hdx_arena_get(arena, (count + 1) * sizeof *list);
    for (uint64_t i = 0; list != NULL && i < count; i++) {
        const hdx_damage *d = &damage[i];
        hdx_member       *m = hdx_arena_get(arena, 6 * sizeof *m);
        if (m == NULL) {
            list = NULL;
            break;
        }
        m[0] = (hdx_member){ "offset", natural(d->offset) };
        m[1] = (hdx_member){ "record", text(d->record) };
        m[2] = (hdx_member){ "expected", text(d->expected) };
        m[3] = (hdx_member){ "kept_objects", natural(d->kept_objects) };
        m[4] = (hdx_member){ "lost_bytes", natural(d->lost_bytes) };
        m[5] = (hdx_member){ "kind", text(hdx_damage_name(d->kind)) };
        list[i] = (hdx_cell){ .kind = HDX_CELL_OBJECT, .as.object = { m, 6 } };
    }
    *failed |= list == NULL;
    return (hdx_cell){ .kind = HDX_CELL_LIST, .as.list = { list, list != NULL ? count : 0 } };
}

static hdx_cell warning_list(hdx_arena *arena, const hdx_graph_summary *sum, bool *failed)
{
    uint32_t  count = sum != NULL ? sum->warning_count : 0;
    hdx_cell *list = hdx_arena_get(arena, ((uint64_t)count + 1) * sizeof *list);
    if (list == NULL) {
        *failed = true;
        return (hdx_cell){ .kind = HDX_CELL_LIST };
    }
    for (uint32_t i = 0; i < count; i++)
        list[i] = text(sum->warnings[i]);
    if (sum != NULL && sum->damage_more > 0) {
        char line[96];
        int  len = snprintf(line, sizeof line, "%llu further damaged places were only counted", (unsigned long long)sum->damage_more);
        list[count++] = text(hdx_arena_copy(arena, line, (uint64_t)len));
    }
    return (hdx_cell){ .kind = HDX_CELL_LIST, .as.list = { list, count } };
}

const hdx_graph_summary *cli_session_summary(const cli_session *s)
{
    return s->graph != NULL ? hdx_graph_summary_of(s->graph) : s->counts != NULL ? hdx_counts_summary(s->counts) : NULL;
}

hdx_code cli_session_head(cli_session *s, hdx_error *err)
{
    const hdx_graph_summary *sum = cli_session_summary(s);
    const hdx_index_forecast *f = s->forecast;
    const char              *version = sum != NULL ? sum->version : f != NULL ? f->version : NULL;
    hdx_member              *dump = hdx_arena_get(&s->arena, 5 * sizeof *dump);
    bool                     failed = dump == NULL;
    if (!failed) {
        char  name[64];
        char *format = NULL;
        if (version != NULL) {
            int len = snprintf(name, sizeof name, "JAVA PROFILE %.40s", version);
            format = hdx_arena_copy(&s->arena, name, (uint64_t)len);
            failed = format == NULL;
        }
        dump[0] = (hdx_member){ "path", text(s->call->dump) };
        dump[1] = (hdx_member){ "size", sum != NULL ? natural(sum->dump_size) : f != NULL ? natural(f->dump_size) : text(NULL) };
        dump[2] = (hdx_member){ "format", text(format) };
        dump[3] = (hdx_member){ "id_size", sum != NULL ? natural(sum->id_size) : f != NULL ? natural(f->id_size) : text(NULL) };
        dump[4] = (hdx_member){ "number", natural(sum != NULL ? sum->dump_number : s->call->dump_number) };
    }
    s->head[0] = (hdx_member){ "heapdex", text(HEAPDEX_VERSION) };
    s->head[1] = (hdx_member){ "command", text(s->call->command->name) };
    s->head[2] = (hdx_member){ "dump", { .kind = HDX_CELL_OBJECT, .as.object = { dump, dump != NULL ? 5 : 0 } } };
    s->head[3] = (hdx_member){ "damage", damage_list(&s->arena, sum != NULL ? sum->damage : NULL, sum != NULL ? sum->damage_count : 0, &failed) };
    s->head[4] = (hdx_member){ "warnings", warning_list(&s->arena, sum, &failed) };
    return failed ? hdx_no_memory(err, "the head of the document", 0) : HDX_OK;
}

void cli_session_warn(cli_session *s)
{
    const hdx_graph_summary *sum = cli_session_summary(s);
    if (sum == NULL)
        return;
    if (sum->damage_count > 0) {
        const hdx_damage  *d = &sum->damage[0];
        unsigned long long places = (unsigned long long)(sum->damage_count + sum->damage_more);
        cli_notice(s->console, "%s: warning: the dump is damaged in %llu place%s, first at offset 0x%llx: %s: %s", s->call->dump, places,
                   places == 1 ? "" : "s", (unsigned long long)d->offset, d->record, d->expected);
    }
    for (uint32_t i = 0; i < sum->warning_count; i++)
        cli_notice(s->console, "%s: warning: %s", s->call->dump, sum->warnings[i]);
}
