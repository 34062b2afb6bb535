/*
 * shown.c - cells formatted for people, for tables and pages.
 *
 * Characters that could control a terminal or change the direction of a text are shown as \xNN, so that a name in a
 * dump cannot manipulate the terminal. With ASCII output, all characters outside of ASCII are shown as \uNNNN.
 */
#include "render/render.h"
#include "render/out.h"

#include <math.h>
#include <stdio.h>

#define MOST      4096u /* bytes that are shown of a text */
#define CUT_LEAST 4u    /* least columns of a name that is cut, including the dots */

#define FULL (256u << 20) /* limit with full_text: escaped, a text must remain far below 4 GiB */

/*
 * Characters that control a terminal, change the direction of a text or are invisible (two different names would look
 * the same).
 */
static bool is_unsafe(uint32_t point)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = { { 0x0000, 0x001f },   { 0x007f, 0x009f },   { 0x00ad, 0x00ad },  { 0x034f, 0x034f },
                   { 0x061c, 0x061c },   { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },  { 0x180b, 0x180f },
                   { 0x200b, 0x200f },   { 0x2028, 0x202e },   { 0x2060, 0x206f },  { 0x3164, 0x3164 },
                   { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },  { 0xfff0, 0xfffb },
                   { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff } };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && point >= ranges[i].first; i++)
        if (point <= ranges[i].last)
            return true;
    return false;
}

/* Width in terminal columns: 2 for Unicode's East Asian Width W and F, 0 for combining marks. */
static unsigned columns_of(uint32_t point)
{
    static const struct {
        uint32_t first, last;
        unsigned columns;
    } ranges[] = {
        { 0x0300, 0x036f, 0 },   { 0x1100, 0x115f, 2 },   { 0x200b, 0x200d, 0 },   { 0x20d0, 0x20ff, 0 },
        { 0x2e80, 0x303e, 2 },   { 0x3041, 0xa4cf, 2 },   { 0xa960, 0xa97c, 2 },   { 0xac00, 0xd7a3, 2 },
        { 0xf900, 0xfaff, 2 },   { 0xfe00, 0xfe0f, 0 },   { 0xfe20, 0xfe2f, 0 },   { 0xfe30, 0xfe6f, 2 },
        { 0xff00, 0xff60, 2 },   { 0xffe0, 0xffe6, 2 },   { 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 },
        { 0x1f900, 0x1f9ff, 2 }, { 0x20000, 0x3fffd, 2 },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && point >= ranges[i].first; i++)
        if (point <= ranges[i].last)
            return ranges[i].columns;
    return 1;
}

static unsigned put_escaped(hdx_buffer *to, const uint8_t *p, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        hdx_buffer_format(to, "\\x%02x", p[i]);
    return 4 * n;
}

uint32_t hdx_render_text(hdx_buffer *to, const char *at, size_t len, bool ascii)
{
    if (len <= MOST)
        return hdx_render_full_text(to, at, len, ascii);
    for (len = MOST; len > MOST - 3 && ((uint8_t)at[len] & 0xc0) == 0x80;)
        len--;
    const uint32_t width = hdx_render_full_text(to, at, len, ascii);
    hdx_buffer_text(to, ascii ? "..." : "…");
    return width + (ascii ? 3 : 1);
}

static uint32_t shown_text(hdx_buffer *to, hdx_text text, const hdx_render_options *options)
{
    return (options->full_text && text.len <= FULL ? hdx_render_full_text : hdx_render_text)(to, text.at, text.len,
                                                                                             options->ascii);
}

uint32_t hdx_render_full_text(hdx_buffer *to, const char *at, size_t len, bool ascii)
{
    const uint8_t *p = (const uint8_t *)at;
    uint32_t       width = 0;
    for (size_t i = 0; i < len;) {
        uint32_t       point = 0;
        const unsigned n = hdx_utf8(p + i, len - i, &point);
        if (n == 0 || is_unsafe(point)) {
            width += put_escaped(to, p + i, n == 0 ? 1 : n);
        } else if (ascii && point > 0x7e) {
            const uint64_t before = to->len;
            hdx_buffer_format(to, point > 0xffff ? "\\U%08x" : "\\u%04x", point);
            width += (uint32_t)(to->len - before);
        } else {
            hdx_buffer_put(to, p + i, n);
            width += columns_of(point);
        }
        i += n == 0 ? 1 : n;
    }
    return width;
}

uint32_t hdx_render_columns(const char *at, size_t len)
{
    uint32_t width = 0;
    for (size_t i = 0; i < len;) {
        uint32_t       point = 0;
        const unsigned n = hdx_utf8((const uint8_t *)at + i, len - i, &point);
        width += n == 0 ? 1 : columns_of(point);
        i += n == 0 ? 1 : n;
    }
    return width;
}

size_t hdx_render_bytes(const char *at, size_t len, uint32_t columns, bool from_end)
{
    size_t i = 0;
    for (;;) {
        size_t n = 1;
        if (from_end)
            while (i + n < len && ((uint8_t)at[len - i - n] & 0xc0) == 0x80)
                n++;
        else
            while (i + n < len && ((uint8_t)at[i + n] & 0xc0) == 0x80)
                n++;
        if (i >= len)
            return len;
        const uint32_t wide = hdx_render_columns(from_end ? at + len - i - n : at + i, n);
        if (wide > columns)
            return i;
        columns -= wide;
        i += n;
    }
}

uint32_t hdx_render_cut(hdx_buffer *to, const char *at, size_t len, uint32_t columns, bool ascii)
{
    const uint32_t all = hdx_render_columns(at, len), dots = ascii ? 3 : 1;
    columns = columns < CUT_LEAST ? CUT_LEAST : columns;
    if (all <= columns) {
        hdx_buffer_put(to, at, len);
        return all;
    }
    const uint32_t head = (columns - dots) / 2;
    const size_t   first = hdx_render_bytes(at, len, head, false),
                 last = hdx_render_bytes(at, len, columns - dots - head, true);
    hdx_buffer_put(to, at, first);
    hdx_buffer_text(to, ascii ? "..." : "…");
    hdx_buffer_put(to, at + len - last, last);
    return hdx_render_columns(at, first) + dots + hdx_render_columns(at + len - last, last);
}

/* ---- numbers ---- */

/* 23,875 */
static void put_count(hdx_buffer *to, uint64_t value, bool negative, bool human)
{
    char           digits[24];
    const unsigned n = (unsigned)snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    hdx_buffer_text(to, negative ? "-" : "");
    for (unsigned i = 0; i < n; i++) {
        if (human && i > 0 && (n - i) % 3 == 0)
            hdx_buffer_text(to, ",");
        hdx_buffer_put(to, digits + i, 1);
    }
}

static void put_real(hdx_buffer *to, double value, hdx_unit unit, bool human)
{
    char text[32];
    if (unit == HDX_UNIT_PERCENT && isfinite(value)) {
        hdx_buffer_format(to, value > 0 && value < 0.05 ? "<0.1%%" : "%.1f%%", value);
        return;
    }
    if (unit == HDX_UNIT_BYTES && human && value >= 0 && value < 18446744073709551616.0) {
        hdx_human_size((uint64_t)value, text);
        hdx_buffer_text(to, text);
        return;
    }
    if (unit == HDX_UNIT_SECONDS && human && value >= 0) {
        hdx_buffer_format(to, value < 0.0995 ? "%.3f s" : "%.2f s", value);
        return;
    }
    hdx_buffer_format(to, "%.6g", value);
}

/* Sign and magnitude are separate arguments, because a difference may be negative. */
static void put_whole(hdx_buffer *to, uint64_t value, bool negative, hdx_unit unit, bool human)
{
    char text[32];
    if (unit == HDX_UNIT_PERCENT) {
        put_real(to, negative ? -(double)value : (double)value, unit, human);
    } else if (unit == HDX_UNIT_BYTES && human) {
        hdx_human_size(value, text);
        hdx_buffer_format(to, "%s%s", negative ? "-" : "", text);
    } else {
        put_count(to, value, negative, human && unit != HDX_UNIT_NONE);
    }
}

uint32_t hdx_render_cell(hdx_buffer *to, const hdx_cell *c, hdx_unit unit, const hdx_render_options *options)
{
    const uint64_t start = to->len;
    const bool     human = options->human_sizes;
    hdx_buffer     json = hdx_buffer_of(NULL);
    uint32_t       width;
    switch (c->kind) {
    case HDX_CELL_TEXT: return shown_text(to, c->as.text, options);
    case HDX_CELL_NULL: hdx_buffer_text(to, "-"); break;
    case HDX_CELL_ABSENT: hdx_buffer_text(to, "absent"); break;
    case HDX_CELL_BOOL: hdx_buffer_text(to, c->as.boolean ? "true" : "false"); break;
    case HDX_CELL_ADDRESS: hdx_buffer_format(to, "0x%llx", (unsigned long long)c->as.address); break;
    case HDX_CELL_REAL: put_real(to, c->as.real, unit, human); break;
    case HDX_CELL_INT:
        put_whole(to, c->as.integer < 0 ? 0 - (uint64_t)c->as.integer : (uint64_t)c->as.integer, c->as.integer < 0,
                  unit, human);
        break;
    case HDX_CELL_UINT: put_whole(to, c->as.natural, false, unit, human); break;
    default:
        hdx_render_json_cell(&json, c);
        to->failed = to->failed || json.failed;
        width = hdx_render_text(to, json.at == NULL ? "" : json.at, json.len, options->ascii);
        hdx_buffer_free(&json);
        return width;
    }
    return (uint32_t)(to->len - start);
}

/* ---- class names and labels ---- */

/* Returns the start of the simple name: after the last dot before the first $ (Outer$$Lambda.0x7f is one name). */
static size_t simple_name(const char *name, size_t len)
{
    const char *dollar = memchr(name, '$', len);
    size_t      i = dollar != NULL ? (size_t)(dollar - name) : len;
    while (i > 0 && name[i - 1] != '.')
        i--;
    return i;
}

uint32_t hdx_render_class(hdx_buffer *to, const char *name, size_t len, uint32_t columns)
{
    uint32_t     width = hdx_render_columns(name, len);
    const size_t simple = simple_name(name, len);
    for (size_t i = 0; i < simple;) {
        const char    *dot = memchr(name + i, '.', simple - i);
        const size_t   part = (size_t)(dot - (name + i));
        const size_t   letter = hdx_render_bytes(name + i, part, 1, false);
        const uint32_t saved = hdx_render_columns(name + i + letter, part - letter);
        const bool     cut = width > columns && letter > 0;
        hdx_buffer_put(to, name + i, cut ? letter : part);
        hdx_buffer_text(to, ".");
        width -= cut ? saved : 0;
        i += part + 1;
    }
    hdx_buffer_put(to, name + simple, len - simple);
    return width;
}

static bool is_text_class(hdx_text class)
{
    static const char *const names[] = { "java.lang.String", "char[]", "byte[]", "java.lang.Thread" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (hdx_text_is(class, names[i]))
            return true;
    return false;
}

/* 42, -1.5, DAYS and true are shown without quotes; any other label is a quoted text. */
static bool is_word(hdx_text label)
{
    bool number = label.len > 0, constant = label.len > 0;
    for (uint32_t i = 0; i < label.len; i++) {
        const char c = label.at[i];
        const bool digit = c >= '0' && c <= '9';
        number = number && (digit || c == '.' || c == '-' || c == 'E');
        constant = constant && ((c >= 'A' && c <= 'Z') || c == '_' || (digit && i > 0));
    }
    return number || constant || hdx_text_is(label, "true") || hdx_text_is(label, "false");
}

/* Bytes to skip: before a label "java.lang." is omitted, as in Java source. 0: the class is in another package. */
static uint32_t java_lang_len(hdx_text name)
{
    static const char package[] = "java.lang.";
    const uint32_t    len = sizeof package - 1;
    return name.len > len && memcmp(name.at, package, len) == 0 && memchr(name.at + len, '.', name.len - len) == NULL
               ? len
               : 0;
}

hdx_render_object hdx_render_object_text(hdx_buffer *to, const hdx_cell *class_name, const hdx_cell *label,
                                         const hdx_render_options *options)
{
    const uint64_t    start = to->len;
    hdx_render_object o = { 0 };
    const bool     named = class_name->kind == HDX_CELL_TEXT, has_label = label != NULL && label->kind == HDX_CELL_TEXT;
    const hdx_text none = { "", 0 }, name = named ? class_name->as.text : none,
                   text = has_label ? label->as.text : none;
    if (hdx_text_is(name, "java.lang.Class") && text.len > 0) { /* the label is "class com.acme.Cache" or "int" */
        const uint32_t skip = text.len > 6 && memcmp(text.at, "class ", 6) == 0 ? 6 : 0;
        hdx_buffer_text(to, "class ");
        o.name_at = 6;
        o.width = 6 + hdx_render_text(to, text.at + skip, text.len - skip, options->ascii);
        o.name_len = (uint32_t)(to->len - start - 6);
        return o;
    }
    const uint32_t known = has_label ? java_lang_len(name) : 0;
    o.width = named ? hdx_render_text(to, name.at + known, name.len - known, options->ascii) : 0;
    o.name_len = (uint32_t)(to->len - start);
    if (!named) {
        hdx_buffer_text(to, "?");
        o.width = 1;
    }
    if (label != NULL && label->kind == HDX_CELL_ABSENT) {
        hdx_buffer_text(to, " (text is absent)");
        o.width += 17;
    }
    if (!has_label)
        return o;
    const char *quote = is_text_class(name) || !is_word(text) ? "\"" : "";
    if (text.len > 6 && memcmp(text.at, "(size ", 6) == 0 && !is_text_class(name))
        quote = ""; /* the size of a collection */
    hdx_buffer_format(to, " %s", quote);
    o.width += 1 + 2 * (uint32_t)strlen(quote) + shown_text(to, text, options);
    hdx_buffer_text(to, quote);
    return o;
}

hdx_render_object hdx_render_phrase_text(hdx_buffer *to, const hdx_cell *class_name, const hdx_cell *phrase,
                                         const hdx_render_options *options)
{
    const uint64_t    start = to->len;
    hdx_render_object o = { 0 };
    if (class_name->kind == HDX_CELL_TEXT)
        o.width = hdx_render_text(to, class_name->as.text.at, class_name->as.text.len, options->ascii);
    o.name_len = (uint32_t)(to->len - start);
    if (phrase->kind != HDX_CELL_TEXT)
        return o;
    if (o.name_len > 0) {
        hdx_buffer_text(to, " ");
        o.width++;
    }
    o.width += shown_text(to, phrase->as.text, options);
    return o;
}

uint32_t hdx_render_reference(hdx_buffer *to, const hdx_cell *name, const hdx_render_options *options)
{
    if (name == NULL || name->kind != HDX_CELL_TEXT || name->as.text.len == 0)
        return 0;
    const bool plain = *name->as.text.at == '[' || *name->as.text.at == '<';
    hdx_buffer_text(to, plain ? " " : " .");
    return (plain ? 1 : 2) + hdx_render_text(to, name->as.text.at, name->as.text.len, options->ascii);
}

#define LABEL_LEAST 12u /* least columns of a label that is cut */

uint32_t hdx_render_object_least(const char *at, size_t len, hdx_render_object o)
{
    const char  *name = at + o.name_at;
    const size_t simple = simple_name(name, o.name_len);
    uint32_t     least = hdx_render_columns(at, o.name_at), label;
    least += hdx_render_columns(name + simple, o.name_len - simple);
    for (size_t i = 0; i < simple; i++)
        least += name[i] == '.' ? 2 : 0;
    label = hdx_render_columns(name + o.name_len, len - o.name_at - o.name_len);
    return least + (label < LABEL_LEAST ? label : LABEL_LEAST);
}

/* Writes the label, cut to `room` columns but at least to LABEL_LEAST. */
static uint32_t put_label(hdx_buffer *to, const char *label, size_t len, uint32_t room, bool ascii)
{
    const uint32_t whole = hdx_render_columns(label, len), dots = ascii ? 3 : 1;
    const uint32_t allowed = room < LABEL_LEAST ? LABEL_LEAST : room;
    if (whole <= allowed) {
        hdx_buffer_put(to, label, len);
        return whole;
    }
    const bool   quoted = label[len - 1] == '"';
    const size_t n = hdx_render_bytes(label, len, allowed - dots - quoted, false);
    hdx_buffer_put(to, label, n);
    hdx_buffer_text(to, ascii ? "..." : "…");
    hdx_buffer_text(to, quoted ? "\"" : "");
    return hdx_render_columns(label, n) + dots + quoted;
}

uint32_t hdx_render_object_in(hdx_buffer *to, const char *at, size_t len, hdx_render_object o, uint32_t columns,
                              bool ascii)
{
    const char    *label = at + o.name_at + o.name_len;
    const size_t   label_len = len - o.name_at - o.name_len;
    const uint32_t prefix = hdx_render_columns(at, o.name_at), whole = hdx_render_columns(label, label_len);
    hdx_buffer_put(to, at, o.name_at);
    uint32_t width = prefix + hdx_render_class(to, at + o.name_at, o.name_len,
                                               columns > prefix + whole ? columns - prefix - whole : 0);
    return width + put_label(to, label, label_len, columns > width ? columns - width : 0, ascii);
}

uint32_t hdx_render_object_cut(hdx_buffer *to, const char *at, size_t len, hdx_render_object o, uint32_t columns,
                               bool ascii)
{
    if (hdx_render_object_least(at, len, o) <= columns)
        return hdx_render_object_in(to, at, len, o, columns, ascii);
    const char    *label = at + o.name_at + o.name_len;
    const size_t   label_len = len - o.name_at - o.name_len;
    const uint32_t whole = hdx_render_columns(label, label_len), allowed = whole < LABEL_LEAST ? whole : LABEL_LEAST;
    hdx_buffer     name = hdx_buffer_of(to->mem);
    uint32_t       blanks = 0; /* indentation of a tree; limited to half of the columns that the name has */
    while (blanks < o.name_at && at[blanks] == ' ')
        blanks++;
    const uint32_t before = hdx_render_columns(at + blanks, o.name_at - blanks) + allowed;
    const uint32_t room = columns > before + CUT_LEAST ? columns - before : CUT_LEAST;
    const uint32_t indent = blanks < room / 2 ? blanks : room / 2;
    hdx_buffer_format(to, "%*s", (int)indent, "");
    hdx_buffer_put(to, at + blanks, o.name_at - blanks);
    (void)hdx_render_class(&name, at + o.name_at, o.name_len, 0);
    uint32_t width = before - allowed + indent;
    if (name.len > 0)
        width += hdx_render_cut(to, name.at, name.len, room - indent, ascii);
    to->failed = to->failed || name.failed;
    hdx_buffer_free(&name);
    return width + put_label(to, label, label_len, allowed, ascii);
}
