/*
 * check_path.c - one object of a finding: its class, what it retains, and the path that keeps it alive, as steps and as
 * a line.
 *
 *     thread: java.lang.Thread "clerk" <Java Local> -> shop.Desk .visitors -> shop.SessionCache
 *
 * Paths avoid weak, soft, phantom and finalizer references, unless no other path exists. A path may be as long as a
 * linked list: only its first and last steps are stored, and the number of steps between them.
 */
#include "answer/checking.h"
#include "render/render.h"

#include <stdio.h>

#define HEAD  12u /* first steps that are stored */
#define TAIL  8u
#define LABEL 60u /* characters of a label in the line */

/* ---- the line ---- */

/* "thread", "system class", "Java local" */
static const char *root_words(const char *type, size_t len)
{
    const char *words = hdx_root_type_words(type, len);
    return words != NULL ? words : "GC root";
}

static void put_step(hdx_buffer *b, const hdx_check_step *s)
{
    const bool class_object = s->label != NULL && strcmp(s->class_name, "java.lang.Class") == 0;
    hdx_buffer_text(b, class_object ? s->label : s->class_name[0] != '\0' ? s->class_name : "(no class)");
    if (s->label != NULL && !class_object) {
        const size_t len = strlen(s->label), some = hdx_render_bytes(s->label, len, LABEL, false);
        hdx_buffer_text(b, " \"");
        hdx_buffer_put(b, s->label, some);
        hdx_buffer_text(b, some < len ? "...\"" : "\"");
    }
    if (s->reference != NULL)
        hdx_buffer_format(b, " %s%s", s->reference[0] == '[' || s->reference[0] == '<' ? "" : ".", s->reference);
}

static hdx_code put_line(hdx_checking *c, hdx_check_result *r, hdx_error *err)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    hdx_buffer_format(&b, "%s: ", r->root);
    for (uint64_t i = 0; i < r->step_count; i++) {
        if (i > 0)
            hdx_buffer_text(&b, " -> ");
        if (r->left_out > 0 && i == r->left_at)
            hdx_buffer_format(&b, "(%llu more) -> ", (unsigned long long)r->left_out);
        put_step(&b, &r->steps[i]);
    }
    r->path = b.failed ? NULL : hdx_arena_copy(c->arena, b.at, b.len);
    hdx_buffer_free(&b);
    return r->path == NULL ? hdx_no_memory(err, "a path", b.len) : HDX_OK;
}

/* ---- of an object ---- */

static const char *text_of(hdx_checking *c, const hdx_cell *cell)
{
    return cell->kind == HDX_CELL_TEXT ? hdx_arena_copy(c->arena, cell->as.text.at, cell->as.text.len) : NULL;
}

static int place_of(const hdx_rows *rows, const char *name)
{
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    for (unsigned i = 0; i < count; i++)
        if (strcmp(columns[i].name, name) == 0)
            return (int)i;
    assert(false && "a column of the answer path");
    return 0;
}

/* Stores the rows of one path as steps: the first ones, and the last ones, which pass through a ring buffer. */
static hdx_code take_steps(hdx_checking *c, hdx_rows *rows, hdx_check_result *r, hdx_error *err)
{
    const int address = place_of(rows, "address"), name = place_of(rows, "class"), label = place_of(rows, "label"),
              reference = place_of(rows, "reference"), retained = place_of(rows, "retained");
    hdx_check_step *steps = hdx_arena_get(c->arena, (HEAD + TAIL) * sizeof *steps), ring[TAIL];
    const hdx_cell *cells;
    uint64_t        n = 0;
    if (steps == NULL)
        return hdx_no_memory(err, "a path", (HEAD + TAIL) * sizeof *steps);
    for (; hdx_rows_next(rows, &cells); n++) {
        hdx_check_step *to = n < HEAD ? &steps[n] : &ring[(n - HEAD) % TAIL];
        const char     *class_name = text_of(c, &cells[name]);
        *to = (hdx_check_step){ .address = cells[address].as.address,
                                .class_name = class_name != NULL ? class_name : "",
                                .label = text_of(c, &cells[label]),
                                .reference = text_of(c, &cells[reference]),
                                .retained = cells[retained].kind == HDX_CELL_UINT ? cells[retained].as.natural : 0 };
    }
    const uint64_t others = n > HEAD ? n - HEAD : 0, stored = others < TAIL ? others : TAIL;
    for (uint64_t i = 0; i < stored; i++)
        steps[HEAD + i] = ring[(others - stored + i) % TAIL];
    r->steps = steps;
    r->step_count = n - others + stored;
    r->left_out = others - stored;
    r->left_at = HEAD;
    return hdx_rows_end(rows, err);
}

static hdx_code find_path(hdx_checking *c, const char *object, const char *exclude, hdx_check_result *r, hdx_error *err)
{
    const hdx_argument arguments[] = { { "object", object }, { "document", "false" }, { "exclude", exclude } };
    hdx_rows          *rows = NULL;
    hdx_code code = hdx_answer_question(&hdx_question_path, &c->q, arguments, exclude != NULL ? 3 : 2, &rows, err);
    if (code == HDX_OK)
        code = take_steps(c, rows, r, err);
    hdx_rows_close(rows);
    return code;
}

static hdx_code root_of(hdx_checking *c, hdx_addr first, hdx_check_result *r, hdx_error *err)
{
    hdx_id   id;
    hdx_cell types;
    if (!hdx_graph_find(c->g, first, &id))
        return HDX_OK;
    const hdx_code code = hdx_root_types_cell(c->g, id, true, c->arena, &types, err);
    if (code != HDX_OK)
        return code;
    const bool any =
        types.kind == HDX_CELL_LIST && types.as.list.count > 0 && types.as.list.at[0].kind == HDX_CELL_TEXT;
    r->root = any ? root_words(types.as.list.at[0].as.text.at, types.as.list.at[0].as.text.len) : "GC root";
    return HDX_OK;
}

hdx_code hdx_checking_describe(hdx_checking *c, hdx_id id, hdx_check_result *result, hdx_error *err)
{
    char             object[24];
    const hdx_class *class_of = id == HDX_NO_ID ? NULL : hdx_graph_class(c->g, hdx_graph_class_of(c->g, id));
    if (id == HDX_NO_ID)
        return HDX_OK;
    (void)snprintf(object, sizeof object, "#%llu", (unsigned long long)id);
    result->address = hdx_graph_address(c->g, id);
    result->retained = hdx_graph_retained(c->g, id);
    if (class_of != NULL) {
        result->class_name = hdx_arena_copy(c->arena, class_of->name.at, class_of->name.len);
        if (result->class_name == NULL)
            return hdx_no_memory(err, "a class name", class_of->name.len);
    }
    hdx_code code = find_path(c, object, "weak,soft,phantom,finalizer", result, err);
    if (code == HDX_OK && result->step_count == 0)
        code = find_path(c, object, NULL, result, err);
    if (code != HDX_OK || result->step_count == 0)
        return code;
    code = root_of(c, result->steps[0].address, result, err);
    return code == HDX_OK && result->root != NULL ? put_line(c, result, err) : code;
}

/* ---- of a leak ---- */

static const char *copied(hdx_checking *c, const char *text) /* NULL if text is NULL */
{
    return text == NULL ? NULL : hdx_arena_copy(c->arena, text, strlen(text));
}

hdx_code hdx_checking_describe_trace(hdx_checking *c, const hdx_leaks *leaks, const hdx_leak_trace *trace,
                                     hdx_check_result *result, hdx_error *err)
{
    hdx_leak_steps  read = { .at = NULL };
    hdx_check_step *steps = hdx_arena_get(c->arena, (HEAD + TAIL) * sizeof *steps);
    hdx_code code = steps == NULL ? hdx_no_memory(err, "a path", 0) : hdx_leak_steps_read(leaks, trace, &read, err);
    result->address = trace->address;
    result->retained = trace->sized ? trace->retained_bytes : 0;
    result->class_name = copied(c, trace->class_name);
    for (uint64_t i = 0; code == HDX_OK && i < read.count; i++) {
        const hdx_leak_step *s = &read.at[i];
        if (i >= HEAD && i + TAIL < read.count) {
            result->left_out++;
            continue;
        }
        const char *name = s->last                             ? NULL
                           : s->ref_kind == HDX_LEAK_REF_LOCAL ? "<Java Local>"
                           : s->ref_name != NULL               ? s->ref_name
                                                               : "[key]";
        const char *own = copied(c, s->class_name);
        steps[result->step_count++] = (hdx_check_step){ .address = s->address,
                                                        .class_name = own != NULL ? own : "",
                                                        .reference = copied(c, name),
                                                        .retained = s->sized ? s->retained_bytes : 0 };
    }
    hdx_leak_steps_free(&read);
    result->steps = steps;
    result->left_at = HEAD;
    if (code != HDX_OK || result->step_count == 0 || trace->root_type == NULL)
        return code;
    result->root = root_words(trace->root_type, strlen(trace->root_type));
    return result->root == NULL ? hdx_no_memory(err, "a path", 0) : put_line(c, result, err);
}
