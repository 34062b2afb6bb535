/* head.c - the head of every document: version of heapdex, command, dump, damage and warnings. */
#include "answer/answer.h"

#include <stdio.h>

enum { HEAPDEX, COMMAND, DUMP, DAMAGE, WARNINGS, VIEW, MEMBERS }; /* VIEW: only if a view is used */

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
        m[0] = (hdx_member){ "offset", hdx_cell_uint(d->offset) };
        m[1] = (hdx_member){ "record", hdx_cell_string(d->record) };
        m[2] = (hdx_member){ "expected", hdx_cell_string(d->expected) };
        m[3] = (hdx_member){ "kept_objects", hdx_cell_uint(d->kept_objects) };
        m[4] = (hdx_member){ "lost_bytes", hdx_cell_uint(d->lost_bytes) };
        m[5] = (hdx_member){ "kind", hdx_cell_string(hdx_damage_name(d->kind)) };
        list[i] = hdx_cell_object(m, 6);
    }
    *failed |= list == NULL;
    return hdx_cell_list(list, list != NULL ? count : 0);
}

const char *hdx_session_lacks(const hdx_session *s, size_t place, const hdx_answer *answer)
{
    return place < s->dump_count && s->dumps[place].opened && s->dumps[place].report.dump[0] == '\0' &&
                   (answer->flags & HDX_ANSWER_VALUES) != 0
               ? "the dump is not available: names of references, labels and values are missing"
               : NULL;
}

static hdx_cell warning_list(hdx_arena *arena, const hdx_graph_summary *sum, const char *lacks, bool *failed)
{
    uint32_t  count = sum != NULL ? sum->warning_count : 0;
    hdx_cell *list = hdx_arena_get(arena, ((uint64_t)count + 2) * sizeof *list);
    if (list == NULL) {
        *failed = true;
        return hdx_cell_list(NULL, 0);
    }
    for (uint32_t i = 0; i < count; i++)
        list[i] = hdx_cell_string(sum->warnings[i]);
    if (sum != NULL && sum->damage_more > 0) {
        char line[96];
        (void)snprintf(line, sizeof line, "%llu further damaged places were only counted",
                       (unsigned long long)sum->damage_more);
        list[count++] = hdx_cell_copy(arena, line);
    }
    if (lacks != NULL)
        list[count++] = hdx_cell_string(lacks);
    return hdx_cell_list(list, count);
}

static hdx_cell dump_of(const hdx_session *s, hdx_arena *arena, bool *failed)
{
    const hdx_graph_summary  *sum = hdx_session_summary(s, 0);
    const hdx_index_forecast *f = s->forecast;
    const char               *version = sum != NULL ? sum->version : f != NULL ? f->version : NULL;
    hdx_member               *m = hdx_arena_get(arena, 5 * sizeof *m);
    char                      name[64];
    if (m == NULL) {
        *failed = true;
        return hdx_cell_null();
    }
    if (version != NULL)
        (void)snprintf(name, sizeof name, "JAVA PROFILE %.40s", version);
    m[0] = (hdx_member){ "path", hdx_cell_string(s->dumps[0].path) };
    m[1] = (hdx_member){ "size", sum != NULL ? hdx_cell_uint(sum->dump_size)
                                 : f != NULL ? hdx_cell_uint(f->dump_size)
                                             : hdx_cell_null() };
    m[2] = (hdx_member){ "format", version != NULL ? hdx_cell_copy(arena, name) : hdx_cell_null() };
    m[3] = (hdx_member){ "id_size", sum != NULL ? hdx_cell_uint(sum->id_size)
                                    : f != NULL ? hdx_cell_uint(f->id_size)
                                                : hdx_cell_null() };
    m[4] = (hdx_member){ "number", hdx_cell_uint(sum != NULL ? sum->dump_number : s->options.dump_number) };
    return hdx_cell_object(m, 5);
}

static hdx_cell view_of(const hdx_graph_summary *sum, hdx_arena *arena, bool *failed)
{
    hdx_member *m = hdx_arena_get(arena, 3 * sizeof *m);
    if (m == NULL) {
        *failed = true;
        return hdx_cell_null();
    }
    m[0] = (hdx_member){ "name", hdx_cell_string(sum->view) };
    m[1] = (hdx_member){ "spec", hdx_cell_string(sum->view_spec) };
    m[2] = (hdx_member){ "references_left_out", hdx_cell_uint(sum->view_cut) };
    return hdx_cell_object(m, 3);
}

hdx_code hdx_answer_set_head(hdx_session *s, const char *command, const char *lacks, hdx_rows *rows, hdx_error *err)
{
    const hdx_graph_summary *sum = hdx_session_summary(s, 0);
    hdx_arena               *arena = hdx_rows_arena(rows);
    bool                     failed = false;
    const bool               viewed = sum != NULL && sum->view != NULL;
    const hdx_member         head[MEMBERS] = {
                [HEAPDEX] = { "heapdex", hdx_cell_string(HEAPDEX_VERSION) },
                [COMMAND] = { "command", hdx_cell_string(command) },
                [DUMP] = { "dump", dump_of(s, arena, &failed) },
                [DAMAGE] = { "damage", sum != NULL ? damage_list(arena, sum->damage, sum->damage_count, &failed)
                                                   : damage_list(arena, NULL, 0, &failed) },
                [WARNINGS] = { "warnings", warning_list(arena, sum, lacks, &failed) },
                [VIEW] = { "view", viewed ? view_of(sum, arena, &failed) : hdx_cell_null() },
    };
    return failed ? hdx_no_memory(err, "the head of the document", 0)
                  : hdx_rows_set_head(rows, head, viewed ? MEMBERS : VIEW, err);
}
