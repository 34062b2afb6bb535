/*
 * leaks_page.c - leaks as a page in the format of LeakCanary: groups by signature, each with a path from its GC root to
 * the leaking object, with suspect references underlined.
 *
 *     ┬───
 *     │ GC root: class of the system (STICKY_CLASS)
 *     │
 *     ├─ com.example.Holder class
 *     │    leaking: no (class objects never leak)
 *     │    ↓ static Holder.sActivity
 *     │                    ~~~~~~~~~
 *     ╰→ com.example.MainActivity instance
 *          leaking: yes (Activity.mDestroyed is true)
 *          retains 41 bytes in 1 object
 */
#include "cli/cli.h"

#include <stdio.h>

#define RULE "====================================\n"

static void put(hdx_buffer *out, const char *text) { cli_put_plain(out, text, strlen(text)); }

static size_t columns_of(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static const char *simple(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

static void put_size(hdx_buffer *out, uint64_t bytes, bool human)
{
    char text[16];
    if (human) {
        hdx_human_size(bytes, text);
        hdx_buffer_text(out, text);
    } else
        hdx_buffer_format(out, "%llu bytes", (unsigned long long)bytes);
}

static void put_reference(hdx_buffer *out, const hdx_leak_step *s)
{
    hdx_buffer  front = hdx_buffer_of(NULL), name = hdx_buffer_of(NULL);
    const char *owner = simple(s->ref_owner);
    hdx_buffer_text(&front, "↓ ");
    switch (s->ref_kind) {
    case HDX_LEAK_REF_STATIC_FIELD:
        hdx_buffer_text(&front, "static ");
        put(&front, owner);
        hdx_buffer_text(&front, ".");
        put(&name, s->ref_name != NULL ? s->ref_name : "");
        break;
    case HDX_LEAK_REF_INSTANCE_FIELD:
        put(&front, owner);
        hdx_buffer_text(&front, ".");
        put(&name, s->ref_name != NULL ? s->ref_name : "");
        break;
    case HDX_LEAK_REF_ARRAY_ENTRY:
        put(&front, owner);
        if (s->ref_name != NULL) {
            hdx_buffer_text(&name, "[");
            put(&name, s->ref_name);
            hdx_buffer_text(&name, "]");
        } else
            hdx_buffer_format(&name, "[0x%llx]", (unsigned long long)s->ref_key);
        break;
    case HDX_LEAK_REF_LOCAL:
        put(&front, owner);
        hdx_buffer_text(&front, ".");
        hdx_buffer_text(&name, "<Java Local>");
        break;
    }
    const char *before = front.at != NULL ? front.at : "", *word = name.at != NULL ? name.at : "";
    hdx_buffer_format(out, "│    %s%s", before, word);
    if (s->ref_frame != NULL) {
        hdx_buffer_text(out, " in ");
        put(out, s->ref_frame);
    }
    hdx_buffer_text(out, "\n");
    if (s->suspect) {
        hdx_buffer_format(out, "│    %*s", (int)columns_of(before), "");
        for (size_t i = columns_of(word); i > 0; i--)
            hdx_buffer_text(out, "~");
        hdx_buffer_text(out, "\n");
    }
    out->failed |= front.failed || name.failed;
    hdx_buffer_free(&front);
    hdx_buffer_free(&name);
}

static void put_status(hdx_buffer *out, const hdx_leak_step *s)
{
    bool any = false;
    hdx_buffer_format(out, "leaking: %s",
                      s->status == HDX_LEAK_LEAKING       ? "yes"
                      : s->status == HDX_LEAK_NOT_LEAKING ? "no"
                                                          : "unknown");
    if (s->inherited != NULL) {
        hdx_buffer_text(out, " (");
        put(out, s->inherited);
        any = true;
    }
    for (uint32_t i = 0; i < s->reason_count; i++) {
        if (s->reasons[i].means != s->status)
            continue;
        hdx_buffer_text(out, any ? "; " : " (");
        put(out, s->reasons[i].text);
        any = true;
    }
    if (s->conflict != NULL) {
        hdx_buffer_text(out, any ? "; " : " (");
        put(out, s->conflict);
        any = true;
    }
    hdx_buffer_text(out, any ? ")\n" : "\n");
}

static void put_step(hdx_buffer *out, const hdx_leak_step *s, bool human)
{
    const char *edge = s->last ? "     " : "│    ";
    hdx_buffer_text(out, s->last ? "╰→ " : "├─ ");
    put(out, s->class_name);
    hdx_buffer_format(out, " %s 0x%llx\n%s", hdx_leak_what_name(s->what), (unsigned long long)s->address, edge);
    put_status(out, s);
    if (s->sized) {
        hdx_buffer_format(out, "%sretains ", edge);
        put_size(out, s->retained_bytes, human);
        hdx_buffer_format(out, " in %llu object%s\n", (unsigned long long)s->retained_objects,
                          s->retained_objects == 1 ? "" : "s");
    }
    for (uint32_t i = 0; i < s->label_count; i++) {
        hdx_buffer_text(out, edge);
        put(out, s->labels[i].text);
        hdx_buffer_text(out, "\n");
    }
    if (!s->last)
        put_reference(out, s);
}

void cli_put_trace(hdx_buffer *out, const hdx_leaks *leaks, const hdx_leak_trace *t, bool human)
{
    hdx_leak_steps steps = { .count = 0 };
    hdx_error      err;
    const char    *words = t->root_type != NULL ? hdx_root_type_words(t->root_type, strlen(t->root_type)) : NULL;
    if (t->root_type != NULL)
        hdx_buffer_format(out, "┬───\n│ GC root: %s (%s)\n│\n", words != NULL ? words : "unknown kind", t->root_type);
    if (hdx_leak_steps_read(leaks, t, &steps, &err) != HDX_OK)
        out->failed = true; /* the checksum of the file was already verified, so memory is missing */
    for (uint64_t i = 0; i < steps.count; i++)
        put_step(out, &steps.at[i], human);
    hdx_leak_steps_free(&steps);
}

static const hdx_leaks *leaks_of(const cli_run *run, size_t dump) { return hdx_session_leaks(run->session, dump); }

static size_t dumps_of(const cli_run *run) { return run->call->word_count + 1; }

static void put_leak(hdx_buffer *out, const cli_run *run, size_t dump, const hdx_leak *k)
{
    const bool  human = !run->call->bytes;
    const char *limit = cli_given(run->call, "limit");
    hdx_buffer_text(out, "\n");
    if (k->pattern != NULL) {
        hdx_buffer_text(out, "pattern: ");
        put(out, k->pattern);
        hdx_buffer_text(out, "\n");
        if (k->note != NULL && *k->note != '\0') {
            hdx_buffer_text(out, "note: ");
            put(out, k->note);
            hdx_buffer_text(out, "\n");
        }
    }
    if (k->sized) {
        put_size(out, k->retained_bytes, human);
        hdx_buffer_text(out, " retained by leaking objects\n");
    }
    const bool     every = run->call->verbose || (limit != NULL && strcmp(limit, "0") == 0);
    const uint64_t most = every ? k->trace_count : k->kind == HDX_LEAK_UNREACHABLE ? CLI_TABLE_ROWS : 1;
    if (k->trace_count > most)
        hdx_buffer_format(out, "%llu leaking objects; %s shown (--verbose shows all)\n",
                          (unsigned long long)k->trace_count, most == 1 ? "the first is" : "some are");
    if (k->signature[0] != '\0')
        hdx_buffer_format(out, "signature: %s\n", k->signature);
    for (size_t d = dump; dumps_of(run) > 1 && d < dumps_of(run); d++)
        for (uint64_t i = 0; i < leaks_of(run, d)->leak_count; i++) {
            const hdx_leak *l = &leaks_of(run, d)->leaks[i];
            if (l->kind != k->kind || strcmp(l->signature, k->signature) != 0)
                continue;
            hdx_buffer_format(out, "  %llu in ", (unsigned long long)l->trace_count);
            put(out, hdx_session_dump(run->session, d));
            hdx_buffer_text(out, "\n");
        }
    for (uint64_t i = 0; i < k->trace_count && i < most; i++)
        cli_put_trace(out, leaks_of(run, dump), &k->traces[i], human);
}

/* Returns whether the leak was already shown with an earlier dump. */
static bool shown_before(const cli_run *run, size_t dump, const hdx_leak *k)
{
    for (size_t d = 0; d < dump && k->kind != HDX_LEAK_UNREACHABLE; d++)
        for (uint64_t i = 0; i < leaks_of(run, d)->leak_count; i++)
            if (leaks_of(run, d)->leaks[i].kind == k->kind &&
                strcmp(leaks_of(run, d)->leaks[i].signature, k->signature) == 0)
                return true;
    return false;
}

static uint64_t count_of(const cli_run *run, hdx_leak_kind kind)
{
    uint64_t n = 0;
    for (size_t d = 0; d < dumps_of(run); d++)
        for (uint64_t i = 0; i < leaks_of(run, d)->leak_count; i++) {
            const hdx_leak *k = &leaks_of(run, d)->leaks[i];
            if (k->kind == kind)
                n += kind == HDX_LEAK_UNREACHABLE ? k->trace_count : (uint64_t)!shown_before(run, d, k);
        }
    return n;
}

/* Explains why there are no leaks, if another command may find some. */
static void put_unwatched(hdx_buffer *out, const cli_run *run)
{
    const char *finder = cli_given(run->call, "finder");
    for (size_t d = 0; d < dumps_of(run); d++)
        if (leaks_of(run, d)->watched > 0 || leaks_of(run, d)->leak_count > 0)
            return;
    if (finder != NULL && strcmp(finder, "watched") != 0)
        return;
    hdx_buffer_text(out, "\nNo object was watched by LeakCanary. Other ways to find what leaks:\n"
                         "  --finder filters               objects whose state shows a leak\n"
                         "  --finder classes --class NAME  all instances of a class\n"
                         "  heapdex suspects               what retains most, in any heap\n");
}

static void put_kind(hdx_buffer *out, const cli_run *run, hdx_leak_kind kind)
{
    static const struct {
        const char *one, *many, *about;
    } words[] = {
        { "APPLICATION LEAK", "APPLICATION LEAKS", "One of the underlined references should have been cleared." },
        { "LIBRARY LEAK", "LIBRARY LEAKS", "Known leaks of the platform or of a library: the pattern says where." },
        { "UNREACHABLE OBJECT", "UNREACHABLE OBJECTS",
          "They should be gone, and no GC root in the search reaches them: the next collection frees them." },
    };
    const uint64_t n = count_of(run, kind);
    hdx_buffer_format(out, RULE "%llu %s\n", (unsigned long long)n, n == 1 ? words[kind].one : words[kind].many);
    if (n > 0)
        hdx_buffer_format(out, "\n%s\n", words[kind].about);
    else if (kind == HDX_LEAK_APPLICATION)
        put_unwatched(out, run);
    const char *limit = cli_given(run->call, "limit");
    uint64_t    left = CLI_TABLE_ROWS, more = 0;
    if (limit != NULL && (!hdx_size_of(limit, &left) || left == 0))
        left = UINT64_MAX;
    for (size_t d = 0; d < dumps_of(run); d++)
        for (uint64_t i = 0; i < leaks_of(run, d)->leak_count; i++) {
            if (leaks_of(run, d)->leaks[i].kind != kind || shown_before(run, d, &leaks_of(run, d)->leaks[i]))
                continue;
            if (left > 0)
                put_leak(out, run, d, &leaks_of(run, d)->leaks[i]);
            more += left == 0;
            left -= left > 0;
        }
    if (more > 0)
        hdx_buffer_format(out, "\n%llu more (--limit 0 shows all)\n", (unsigned long long)more);
}

/* ---- the page on a terminal ---- */

/* Converts a line to ASCII: drawing characters become similar ones of the same width, other characters are escaped. */
static void put_ascii(hdx_buffer *to, const char *at, size_t len)
{
    static const struct {
        const char *drawn, *instead;
    } signs[] = { { "┬", "+" }, { "─", "-" }, { "│", "|" }, { "├", "+" }, { "╰", "`" }, { "→", ">" }, { "↓", "v" } };
    for (size_t i = 0; i < len;) {
        const char *instead = NULL;
        for (size_t n = 0; n < sizeof signs / sizeof *signs && instead == NULL; n++)
            if (len - i >= 3 && memcmp(at + i, signs[n].drawn, 3) == 0)
                instead = signs[n].instead;
        size_t step = 3;
        if (instead != NULL)
            hdx_buffer_text(to, instead);
        else {
            for (step = 1; i + step < len && ((unsigned char)at[i + step] & 0xc0) == 0x80; step++)
                ;
            (void)hdx_render_full_text(to, at + i, step, true);
        }
        i += step;
    }
}

/* Returns the number of bytes in the first `columns` columns. */
static size_t bytes_of(const char *at, size_t len, size_t columns)
{
    size_t i = 0;
    for (; i < len; i++)
        if (((unsigned char)at[i] & 0xc0) != 0x80 && columns-- == 0)
            break;
    return i;
}

/* Returns the start of continuation lines: the edge of the path and an indentation. */
static const char *edge_of(const char *at, size_t len)
{
    static const struct {
        const char *begins, *continues;
    } edges[] = { { "│ ", "│      " }, { "├─", "│      " },  { "| ", "|      " },   { "+- ", "|      " },
                  { "╰→", "       " }, { "`> ", "       " }, { "     ", "       " } };
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        if (len >= strlen(edges[i].begins) && memcmp(at, edges[i].begins, strlen(edges[i].begins)) == 0)
            return edges[i].continues;
    return "";
}

/* Wraps a line at spaces. A reference is not wrapped, because the line below underlines its suspects. */
static void put_line(hdx_buffer *to, const char *at, size_t len, unsigned width)
{
    const char  *edge = edge_of(at, len);
    const size_t inner = columns_of(edge);
    const bool   whole = memmem(at, len, "↓ ", 4) != NULL || memmem(at, len, "|    v ", 7) != NULL;
    size_t       room = width;
    while (!whole && room > inner && bytes_of(at, len, room) < len) {
        size_t cut = bytes_of(at, len, room);
        while (cut > 0 && at[cut] != ' ')
            cut--;
        if (bytes_of(at, len, inner) >= cut)
            break; /* a single long word */
        hdx_buffer_put(to, at, cut);
        hdx_buffer_format(to, "\n%s", edge);
        at += cut + 1;
        len -= cut + 1;
        room = width - inner;
    }
    hdx_buffer_put(to, at, len);
    hdx_buffer_text(to, "\n");
}

static void put_fitted(hdx_buffer *to, const char *page, const hdx_render_options *options)
{
    hdx_buffer line = hdx_buffer_of(NULL);
    for (; *page != '\0'; page += *page == '\n') {
        const size_t len = strcspn(page, "\n");
        hdx_buffer_clear(&line);
        if (options->ascii)
            put_ascii(&line, page, len);
        else
            hdx_buffer_put(&line, page, len);
        put_line(to, line.at != NULL ? line.at : "", (size_t)line.len, options->width);
        page += len;
    }
    to->failed |= line.failed;
    hdx_buffer_free(&line);
}

hdx_code cli_leaks_page(const cli_run *run, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err)
{
    hdx_buffer out = hdx_buffer_of(NULL), fitted = hdx_buffer_of(NULL);
    hdx_code   code = HDX_OK;
    for (unsigned kind = 0; kind <= HDX_LEAK_UNREACHABLE; kind++)
        put_kind(&out, run, (hdx_leak_kind)kind);
    for (size_t d = 0; d < dumps_of(run); d++) {
        const hdx_leaks *l = leaks_of(run, d);
        hdx_buffer_text(&out, RULE "METADATA\n\n");
        for (uint64_t i = 0; i < l->metadata_count; i++) {
            put(&out, l->metadata[i].name);
            hdx_buffer_text(&out, ": ");
            put(&out, l->metadata[i].text);
            hdx_buffer_text(&out, "\n");
        }
        hdx_buffer_format(&out,
                          "Watched objects: %llu, %llu of them retained\nHeap dump: ", (unsigned long long)l->watched,
                          (unsigned long long)l->watched_retained);
        put(&out, hdx_session_dump(run->session, d));
        hdx_buffer_text(&out, "\n");
    }
    hdx_buffer_text(&out, RULE);
    if (!out.failed)
        put_fitted(&fitted, out.at, options);
    if (out.failed || fitted.failed)
        code = hdx_no_memory(err, "the page", out.len);
    else if (!sink->write(sink->context, fitted.at, (size_t)fitted.len))
        code = hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
    hdx_buffer_free(&fitted);
    hdx_buffer_free(&out);
    return code;
}
