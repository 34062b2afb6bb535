/*
 * profile.c - the dominator tree by class path as a profile: a stack is a class path, its weight are the bytes of its
 * objects themselves.
 *
 * In:  rows of dominators --merge.
 * Out: folded stacks (a line a stack, as flamegraph.pl reads them), a document of speedscope, or a profile of pprof
 *      (compressed). The weights add up to the retained size of the whole tree, to the byte.
 * Cost: the rows are held; a stack is written by following its parents.
 *
 * Formats: github.com/brendangregg/FlameGraph (folded), speedscope.app/file-format-schema.json, and profile.proto of
 * github.com/google/pprof.
 */
#include "base/list.h"
#include "report/picture.h"
#include "source/source.h"

#include <stdlib.h>

typedef struct stack {
    const char *name; /* of the innermost frame */
    uint64_t    objects, own, retained;
    uint32_t    parent; /* index + 1; 0: none */
    uint32_t    frame;  /* number of the name */
} stack;

typedef struct named { /* a stack by the name of its innermost frame */
    const char *name;
    uint32_t    stack;
} named;

typedef struct profile {
    picture        *p;
    hdx_arena       arena; /* names */
    HDX_LIST(stack) stacks;
    named          *order; /* stacks by name */
    uint32_t       *path;  /* of the stack that is being written, from the innermost frame */
    uint32_t        deepest, frames;
    uint64_t        total;
} profile;

/* ---- rows ---- */

static hdx_code frame_name(profile *f, hdx_rows *rows, const hdx_cell *row, const char **out, hdx_error *err)
{
    const hdx_cell *name = hdx_picture_cell(rows, row, "class"), *label = hdx_picture_cell(rows, row, "label");
    hdx_buffer      text = hdx_buffer_of(NULL);
    if (name->kind == HDX_CELL_TEXT)
        (void)hdx_render_text(&text, name->as.text.at, name->as.text.len, false);
    else if (name->kind == HDX_CELL_ADDRESS)
        hdx_buffer_format(&text, "loader 0x%llx", (unsigned long long)name->as.address);
    if (label->kind == HDX_CELL_TEXT) {
        hdx_buffer_text(&text, text.len > 0 ? " " : "");
        (void)hdx_render_text(&text, label->as.text.at, label->as.text.len, false);
    }
    if (text.len == 0)
        hdx_buffer_text(&text, "(no name)");
    *out = text.failed ? NULL : hdx_arena_copy(&f->arena, text.at, text.len);
    const hdx_code code = *out != NULL ? HDX_OK : hdx_no_memory(err, "a profile", text.len);
    hdx_buffer_free(&text);
    return code;
}

static hdx_code read_rows(profile *f, hdx_rows *rows, hdx_error *err)
{
    const hdx_cell *row;
    hdx_code        code = HDX_OK;
    while (code == HDX_OK && hdx_rows_next(rows, &row)) {
        const uint64_t parent = hdx_picture_number(rows, row, "parent"), depth = hdx_picture_number(rows, row, "depth");
        if (!hdx_list_room(NULL, HDX_LIST_REF(&f->stacks)))
            return hdx_no_memory(err, "a profile", f->stacks.count * sizeof *f->stacks.at);
        if (parent > f->stacks.count || depth > f->stacks.count)
            return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                            "a profile needs all rows of dominators --merge in their order");
        stack *s = &f->stacks.at[f->stacks.count++];
        *s = (stack){ .objects = hdx_picture_number(rows, row, "objects"),
                      .retained = hdx_picture_number(rows, row, "retained"),
                      .parent = (uint32_t)parent };
        f->deepest = depth + 1 > f->deepest ? (uint32_t)depth + 1 : f->deepest;
        code = frame_name(f, rows, row, &s->name, err);
    }
    return code == HDX_OK ? hdx_rows_end(rows, err) : code;
}

/* What a stack has beyond the stacks below it. */
static void subtract_children(profile *f)
{
    for (uint64_t i = 0; i < f->stacks.count; i++)
        f->stacks.at[i].own = f->stacks.at[i].retained;
    for (uint64_t i = 0; i < f->stacks.count; i++) {
        const stack *s = &f->stacks.at[i];
        if (s->parent == 0)
            f->total += s->retained;
        else
            f->stacks.at[s->parent - 1].own -= s->retained;
    }
}

static int by_name(const void *a, const void *b)
{
    const named *x = a, *y = b;
    const int    order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->stack > y->stack) - (x->stack < y->stack);
}

/* Gives equal names the same number. */
static hdx_code number_frames(profile *f, hdx_error *err)
{
    const uint64_t count = f->stacks.count;
    f->order = hdx_mem_array(NULL, count + 1, sizeof *f->order);
    f->path = hdx_mem_array(NULL, f->deepest + 1ull, sizeof *f->path);
    if (f->order == NULL || f->path == NULL)
        return hdx_no_memory(err, "a profile", count * sizeof *f->order);
    for (uint64_t i = 0; i < count; i++)
        f->order[i] = (named){ f->stacks.at[i].name, (uint32_t)i };
    if (count > 0)
        qsort(f->order, count, sizeof *f->order, by_name);
    for (uint64_t i = 0; i < count; i++) {
        f->frames += i == 0 || strcmp(f->order[i - 1].name, f->order[i].name) != 0;
        f->stacks.at[f->order[i].stack].frame = f->frames - 1;
    }
    return HDX_OK;
}

/* Returns the number of frames in f->path, the innermost first. */
static uint32_t path_of(profile *f, uint64_t i)
{
    uint32_t n = 0;
    for (uint64_t at = i + 1; at != 0 && n < f->deepest; at = f->stacks.at[at - 1].parent)
        f->path[n++] = (uint32_t)at - 1;
    return n;
}

/* Calls `put` for each frame name, in the order of their numbers. */
static void each_name(profile *f, void (*put)(profile *f, hdx_buffer *out, const char *name), hdx_buffer *out)
{
    for (uint64_t i = 0; i < f->stacks.count; i++) {
        if (i == 0 || strcmp(f->order[i - 1].name, f->order[i].name) != 0)
            put(f, out, f->order[i].name);
        hdx_picture_flush(f->p, false);
    }
}

/* ---- folded ---- */

static void put_folded(profile *f)
{
    hdx_buffer *out = &f->p->out;
    for (uint64_t i = 0; i < f->stacks.count; i++) {
        if (f->stacks.at[i].own == 0)
            continue;
        for (uint32_t n = path_of(f, i); n-- > 0;) {
            for (const char *c = f->stacks.at[f->path[n]].name; *c != '\0'; c++)
                hdx_buffer_put(out, *c == ';' ? ":" : c, 1); /* a semicolon separates frames */
            hdx_buffer_text(out, n > 0 ? ";" : "");
        }
        hdx_buffer_format(out, " %llu\n", (unsigned long long)f->stacks.at[i].own);
        hdx_picture_flush(f->p, false);
    }
}

/* ---- speedscope ---- */

static void put_json(hdx_buffer *out, const char *text)
{
    const hdx_cell cell = hdx_cell_text((hdx_text){ text, (uint32_t)strlen(text) });
    hdx_render_json_cell(out, &cell);
}

static void put_frame(profile *f, hdx_buffer *out, const char *name)
{
    hdx_buffer_text(out, name == f->order[0].name ? "\n{\"name\": " : ",\n{\"name\": ");
    put_json(out, name);
    hdx_buffer_text(out, "}");
}

static void put_speedscope(profile *f)
{
    hdx_buffer *out = &f->p->out;
    bool        first = true;
    hdx_buffer_format(out,
                      "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\", \"exporter\": \"heapdex "
                      "%s\", \"name\": ",
                      hdx_version());
    put_json(out, f->p->options->title);
    hdx_buffer_text(out, ", \"activeProfileIndex\": 0,\n\"shared\": {\"frames\": [");
    each_name(f, put_frame, out);
    hdx_buffer_text(out, "]},\n\"profiles\": [{\"type\": \"sampled\", \"name\": ");
    put_json(out, f->p->options->title);
    hdx_buffer_format(out, ", \"unit\": \"bytes\", \"startValue\": 0, \"endValue\": %llu,\n\"samples\": [",
                      (unsigned long long)f->total);
    for (uint64_t i = 0; i < f->stacks.count; i++) {
        if (f->stacks.at[i].own == 0)
            continue;
        hdx_buffer_text(out, first ? "\n[" : ",\n[");
        first = false;
        for (uint32_t n = path_of(f, i); n-- > 0;)
            hdx_buffer_format(out, n > 0 ? "%u, " : "%u]", f->stacks.at[f->path[n]].frame);
        hdx_picture_flush(f->p, false);
    }
    hdx_buffer_text(out, "],\n\"weights\": [");
    first = true;
    for (uint64_t i = 0; i < f->stacks.count; i++) {
        if (f->stacks.at[i].own == 0)
            continue;
        hdx_buffer_format(out, first ? "%llu" : ", %llu", (unsigned long long)f->stacks.at[i].own);
        first = false;
        hdx_picture_flush(f->p, false);
    }
    hdx_buffer_text(out, "]}]}\n");
}

/* ---- pprof: Protocol Buffers, in gzip ---- */

enum { /* fields of the messages of profile.proto */
       PROFILE_SAMPLE_TYPE = 1,
       PROFILE_SAMPLE = 2,
       PROFILE_LOCATION = 4,
       PROFILE_FUNCTION = 5,
       PROFILE_STRING = 6,
       PROFILE_DEFAULT_TYPE = 14,
       TYPE_TYPE = 1,
       TYPE_UNIT = 2,
       SAMPLE_LOCATIONS = 1,
       SAMPLE_VALUES = 2,
       LOCATION_ID = 1,
       LOCATION_LINE = 4,
       LINE_FUNCTION = 1,
       FUNCTION_ID = 1,
       FUNCTION_NAME = 2
};
static const char *const types[] = { "", "objects", "count", "retained", "bytes" }; /* the string table's beginning */

static void put_varint(hdx_buffer *out, uint64_t value)
{
    uint8_t  bytes[10];
    unsigned n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    hdx_buffer_put(out, bytes, n);
}

static void put_number(hdx_buffer *out, unsigned field, uint64_t value)
{
    put_varint(out, field << 3);
    put_varint(out, value);
}

static void put_bytes(hdx_buffer *out, unsigned field, const void *bytes, uint64_t len)
{
    put_varint(out, field << 3 | 2);
    put_varint(out, len);
    hdx_buffer_put(out, bytes, len);
}

/* Moves a finished message into the one around it. */
static void put_message(hdx_buffer *out, unsigned field, hdx_buffer *message)
{
    out->failed = out->failed || message->failed;
    put_bytes(out, field, message->at != NULL ? message->at : "", message->len);
    hdx_buffer_clear(message);
}

static void put_sample(profile *f, uint64_t i, hdx_buffer *out, hdx_buffer *message, hdx_buffer *packed)
{
    const stack   *s = &f->stacks.at[i];
    const uint32_t depth = path_of(f, i);
    for (uint32_t n = 0; n < depth; n++)
        put_varint(packed, f->stacks.at[f->path[n]].frame + 1ull);
    put_message(message, SAMPLE_LOCATIONS, packed);
    put_varint(packed, s->objects);
    put_varint(packed, s->own);
    put_message(message, SAMPLE_VALUES, packed);
    put_message(out, PROFILE_SAMPLE, message);
}

static void put_string(profile *f, hdx_buffer *out, const char *text)
{
    (void)f;
    put_bytes(out, PROFILE_STRING, text, strlen(text));
}

/* A location and a function for each frame: all have the number of the frame + 1. */
static void put_functions(const profile *f, hdx_buffer *out, hdx_buffer *message, hdx_buffer *line)
{
    for (uint64_t id = 1; id <= f->frames; id++) {
        put_number(line, LINE_FUNCTION, id);
        put_number(message, LOCATION_ID, id);
        put_message(message, LOCATION_LINE, line);
        put_message(out, PROFILE_LOCATION, message);
        put_number(message, FUNCTION_ID, id);
        put_number(message, FUNCTION_NAME, sizeof types / sizeof *types + id - 1);
        put_message(out, PROFILE_FUNCTION, message);
    }
}

static hdx_code put_pprof(profile *f, hdx_error *err)
{
    hdx_buffer out = hdx_buffer_of(NULL), message = hdx_buffer_of(NULL), inner = hdx_buffer_of(NULL);
    for (unsigned i = 0; i < 2; i++) {
        put_number(&message, TYPE_TYPE, 2ull * i + 1); /* of the string table */
        put_number(&message, TYPE_UNIT, 2ull * i + 2);
        put_message(&out, PROFILE_SAMPLE_TYPE, &message);
    }
    for (uint64_t i = 0; i < f->stacks.count; i++)
        put_sample(f, i, &out, &message, &inner);
    put_functions(f, &out, &message, &inner);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        put_string(f, &out, types[i]);
    each_name(f, put_string, &out);
    put_number(&out, PROFILE_DEFAULT_TYPE, 3);
    const bool     good = !out.failed && hdx_gzip(&f->p->out, out.at, out.len);
    const hdx_code code = good ? HDX_OK : hdx_no_memory(err, "a profile", out.len);
    hdx_buffer_free(&out);
    hdx_buffer_free(&message);
    hdx_buffer_free(&inner);
    return code;
}

hdx_code hdx_picture_profile(picture *p, hdx_rows *rows, hdx_error *err)
{
    profile  f = { .p = p, .arena = hdx_arena_of(NULL) };
    hdx_code code = read_rows(&f, rows, err);
    if (code == HDX_OK)
        code = number_frames(&f, err);
    if (code == HDX_OK) {
        subtract_children(&f);
        if (p->options->format == HDX_PICTURE_FOLDED)
            put_folded(&f);
        else if (p->options->format == HDX_PICTURE_SPEEDSCOPE)
            put_speedscope(&f);
        else
            code = put_pprof(&f, err);
    }
    hdx_mem_put(NULL, f.order, (f.stacks.count + 1) * sizeof *f.order);
    hdx_mem_put(NULL, f.path, (f.deepest + 1ull) * sizeof *f.path);
    hdx_list_free(NULL, HDX_LIST_REF(&f.stacks));
    hdx_arena_free(&f.arena);
    return code;
}
