/*
 * fuzz_leak_mapping.c - a mapping file of any content. Names are asked for that are in it and that are not; those of
 * classes are what a slow reader of the lines says, and a second copy of the text behind the first changes none of
 * them.
 */
#include "leaks/leaks.h"
#include "fuzz/told.h"

#define CLASSES 64u /* of those asked for */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static hdx_text stripped(hdx_text t)
{
    for (; t.len > 0 && (unsigned char)t.at[0] <= ' '; t.len--)
        t.at++;
    while (t.len > 0 && (unsigned char)t.at[t.len - 1] <= ' ')
        t.len--;
    return t;
}

static size_t line_from(const char *text, size_t size, size_t from, hdx_text *line)
{
    size_t end = from;
    while (end < size && text[end] != '\n')
        end++;
    *line = stripped((hdx_text){ text + from, (uint32_t)(end - from) });
    return end + 1;
}

/* "CLEAR -> OBSCURE:" */
static bool class_of(hdx_text line, hdx_text *clear, hdx_text *obscure)
{
    uint32_t arrow = 0, colon;
    if (line.len == 0 || line.at[0] == '#' || line.at[line.len - 1] != ':')
        return false;
    while (arrow + 1 < line.len && memcmp(line.at + arrow, "->", 2) != 0)
        arrow++;
    if (arrow + 1 >= line.len)
        return false;
    for (colon = arrow + 2; line.at[colon] != ':'; colon++)
        ;
    *clear = stripped((hdx_text){ line.at, arrow });
    *obscure = stripped((hdx_text){ line.at + arrow + 2, colon - arrow - 2 });
    return true;
}

static bool is_array(hdx_text name) { return name.len >= 2 && memcmp(name.at + name.len - 2, "[]", 2) == 0; }

/* The last line that names the class holds. */
static void check_class(const leak_mapping *m, const char *text, size_t size, hdx_text asked, hdx_arena *arena)
{
    hdx_text line, clear, obscure, last = { NULL, 0 };
    for (size_t from = 0; from < size;) {
        from = line_from(text, size, from, &line);
        if (class_of(line, &clear, &obscure) && hdx_text_same(obscure, asked))
            last = clear;
    }
    if (!is_array(asked) && !hdx_text_same(hdx_leak_mapping_class(m, asked, arena), last))
        abort();
}

static void check_classes(const leak_mapping *m, const char *text, size_t size, hdx_arena *arena)
{
    hdx_text line, clear, obscure;
    unsigned asked = 0;
    for (size_t from = 0; from < size && asked < CLASSES;) {
        from = line_from(text, size, from, &line);
        if (class_of(line, &clear, &obscure)) {
            check_class(m, text, size, obscure, arena);
            asked++;
        }
    }
}

/* Behind a line that ends the last class of the first copy. */
static leak_mapping *read_twice(const char *text, size_t size)
{
    static const char end[] = "\n:\n";
    leak_mapping     *m;
    hdx_error         err = { .code = HDX_OK };
    const size_t      gap = sizeof end - 1;
    char             *both = malloc(2 * size + gap);
    if (both == NULL)
        abort();
    memcpy(both, text, size);
    memcpy(both + size, end, gap);
    memcpy(both + size + gap, text, size);
    if (hdx_leak_mapping_read(both, 2 * size + gap, &m, &err) != HDX_OK)
        told_wrong(&err, "twice");
    free(both);
    return m;
}

static void ask(const leak_mapping *m, const leak_mapping *twice, hdx_text t, hdx_text first, hdx_arena *arena)
{
    if (!hdx_text_same(hdx_leak_mapping_class(m, t, arena), hdx_leak_mapping_class(twice, t, arena)) ||
        !hdx_text_same(hdx_leak_mapping_field(m, t, first), hdx_leak_mapping_field(twice, t, first)) ||
        !hdx_text_same(hdx_leak_mapping_method(m, first, t), hdx_leak_mapping_method(twice, first, t)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char   *text = (const char *)data;
    leak_mapping *m;
    hdx_error     err = { .code = HDX_OK };
    hdx_arena     arena = hdx_arena_of(NULL);
    if (hdx_leak_mapping_read(text, size, &m, &err) != HDX_OK)
        told_wrong(&err, "a mapping is never refused");
    leak_mapping *twice = read_twice(text, size);
    for (size_t from = 0; from < size && from < 4096; from += 1 + from % 7)
        for (uint32_t len = 0; len < 12 && from + len <= size; len += 1 + len % 3)
            ask(m, twice, (hdx_text){ text + from, len }, (hdx_text){ text, (uint32_t)(size < 3 ? size : 3) }, &arena);
    check_classes(m, text, size, &arena);
    hdx_leak_mapping_free(m);
    hdx_leak_mapping_free(twice);
    hdx_arena_free(&arena);
    return 0;
}
