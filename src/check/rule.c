/*
 * rule.c - parses a rule from a line of text.
 *
 * In:  untrusted text: a command line, a file of a repository.
 * Out: a rule whose words fit together (invariant 1), or an error of one line that names the wrong word and valid
 *      alternatives.
 */
#include "check/check.h"
#include "base/nearest.h"

#include <stdarg.h>
#include <stdio.h>

#define FLOOR_BYTES   (1ull << 20) /* growth of any class below this is not reported */
#define FLOOR_OBJECTS 1000ull
#define WORDS_MOST    16u    /* of a rule, without its reason */
#define RULES_MOST    10000u /* of a file, because each is checked for all classes */

/* ---- measures ---- */

/* what may follow the measure before its value */
typedef enum expects { NOTHING, CLASSES, MAYBE_A_NAME, A_WASTE, NEVER } expects;
typedef enum share_of { NO_SHARE, OF_BYTES, OF_OBJECTS } share_of; /* what a percentage refers to */

static const struct measure {
    const char *name;
    expects     expects;
    share_of    whole;
    bool        bytes;
    const char *example; /* words after the name */
} measures[HDX_MEASURES] = {
    [HDX_MEASURE_OBJECTS] = { "objects", CLASSES, OF_OBJECTS, false, "com.acme.Session 10k" },
    [HDX_MEASURE_SHALLOW] = { "shallow", CLASSES, OF_BYTES, true, "byte[] 200M" },
    [HDX_MEASURE_RETAINED] = { "retained", CLASSES, OF_BYTES, true, "com.acme.* 50M" },
    [HDX_MEASURE_LIVE] = { "live", NOTHING, NO_SHARE, true, "512M" },
    [HDX_MEASURE_UNREACHABLE] = { "unreachable", NOTHING, OF_BYTES, true, "20%" },
    [HDX_MEASURE_CLASSES] = { "classes", NOTHING, NO_SHARE, false, "20k" },
    [HDX_MEASURE_LOADERS] = { "loaders", NOTHING, NO_SHARE, false, "100" },
    [HDX_MEASURE_THREADS] = { "threads", MAYBE_A_NAME, NO_SHARE, false, "200" },
    [HDX_MEASURE_DUPLICATE_CLASSES] = { "duplicate-classes", MAYBE_A_NAME, NO_SHARE, false, "0" },
    [HDX_MEASURE_OPEN_FILES] = { "open-files", MAYBE_A_NAME, NO_SHARE, false, "file 500" },
    [HDX_MEASURE_DIRECT_BUFFERS] = { "direct-buffers", MAYBE_A_NAME, NO_SHARE, true, "256M" },
    [HDX_MEASURE_WASTE] = { "waste", A_WASTE, OF_BYTES, true, "strings 10M" },
    [HDX_MEASURE_LEAKS] = { "leaks", NEVER, NO_SHARE, false, "application" },
    [HDX_MEASURE_SUSPECTS] = { "suspects", NEVER, NO_SHARE, false, "30%" },
    [HDX_MEASURE_DAMAGE] = { "damage", NEVER, NO_SHARE, false, "" },
};
static const char *const verbs[] = { "max", "min", "growth", "no" };
static const char *const wastes[] = { "strings", "collections", "arrays" };

const char *hdx_measure_name(hdx_measure measure) { return measures[measure].name; }
bool        hdx_measure_is_bytes(hdx_measure measure) { return measures[measure].bytes; }

/* ---- words ---- */

typedef struct word {
    hdx_text text;
    bool     quoted;
} word;

typedef struct reader {
    const hdx_rule_source *source;
    hdx_text               text; /* the complete rule */
    hdx_arena             *arena;
    word                   words[WORDS_MOST];
    unsigned               count, next;
    hdx_error             *err;
} reader;

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static hdx_text stripped(hdx_text t)
{
    while (t.len > 0 && is_blank(t.at[0])) {
        t.at++;
        t.len--;
    }
    while (t.len > 0 && is_blank(t.at[t.len - 1]))
        t.len--;
    return t;
}

/*
 * Makes an error such as "line 3: max objects com.acme.Session: a number is missing"; the words so far precede the
 * error.
 */
static hdx_code refuse(const reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static hdx_code refuse(const reader *r, const char *format, ...)
{
    char           why[160], line[32] = "";
    va_list        list;
    const hdx_text given = stripped(r->text);
    const char    *verb = r->source->verb;
    const int      most = given.len > 70 ? 67 : (int)given.len;
    va_start(list, format);
    (void)vsnprintf(why, sizeof why, format, list);
    va_end(list);
    if (r->source->file != NULL)
        (void)snprintf(line, sizeof line, "line %llu: ", (unsigned long long)r->source->line);
    return hdx_fail(r->err, HDX_USAGE, r->source->file, HDX_NOWHERE, "%srule '%s%s%.*s%s': %s", line,
                    verb == NULL ? "" : verb, verb == NULL || given.len == 0 ? "" : " ", most, given.at,
                    given.len > 70 ? "..." : "", why);
}

static hdx_code hint_example(const reader *r, const char *verb, hdx_measure m, hdx_code code)
{
    return hdx_hint(r->err, code, "for example %s %s %s", verb, measures[m].name, measures[m].example);
}

/* Splits words up to a comment or `because`; *rest is the text after `because`, at NULL if there is none. */
static hdx_code split(reader *r, hdx_text *rest)
{
    const char *p = r->text.at, *end = p + r->text.len;
    *rest = (hdx_text){ .at = NULL };
    if (memchr(r->text.at, '\0', r->text.len) != NULL)
        return refuse(r, "the rule contains a NUL byte");
    for (;;) {
        while (p < end && is_blank(*p))
            p++;
        if (p == end || *p == '#')
            return HDX_OK;
        if (r->count == WORDS_MOST)
            return hdx_hint(r->err, refuse(r, "too many words"), "put the word because before a reason");
        word *w = &r->words[r->count++];
        if (*p == '\'' || *p == '"') {
            const char *closing = memchr(p + 1, *p, (size_t)(end - p - 1));
            if (closing == NULL)
                return refuse(r, "%c is never closed", *p);
            *w = (word){ { p + 1, (uint32_t)(closing - p - 1) }, true };
            p = closing + 1;
            if (p < end && *p == '+') { /* of subclasses: the quotes belong to the pattern */
                char *with = hdx_arena_get(r->arena, (uint64_t)w->text.len + 1);
                if (with == NULL)
                    return hdx_no_memory(r->err, "a rule", w->text.len);
                memcpy(with, w->text.at, w->text.len);
                with[w->text.len] = '+';
                w->text = (hdx_text){ with, w->text.len + 1 };
                p++;
            }
            if (p < end && !is_blank(*p))
                return refuse(r, "a blank is missing after a closing quote");
            continue;
        }
        const char *from = p;
        while (p < end && !is_blank(*p))
            p++;
        *w = (word){ { from, (uint32_t)(p - from) }, false };
        if ((r->count > 1 || r->source->verb != NULL) && hdx_text_is(w->text, "because")) {
            r->count--;
            *rest = stripped((hdx_text){ p, (uint32_t)(end - p) });
            return HDX_OK;
        }
    }
}

static const word *peek(const reader *r) { return r->next < r->count ? &r->words[r->next] : NULL; }
static bool        is(const word *w, const char *text) { return w != NULL && !w->quoted && hdx_text_is(w->text, text); }

static int place_in(const char *const *names, unsigned count, const word *w)
{
    for (unsigned i = 0; i < count; i++)
        if (is(w, names[i]))
            return (int)i;
    return -1;
}

/* Returns whether the word is a name before the rule: "sessions:". */
static bool is_name(const word *w)
{
    if (w == NULL || w->quoted || w->text.len < 2 || w->text.at[w->text.len - 1] != ':')
        return false;
    for (uint32_t i = 0; i + 1 < w->text.len; i++) {
        const char c = w->text.at[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
              c == '.'))
            return false;
    }
    return true;
}

/* ---- values ---- */

typedef struct value {
    bool     percent, sized; /* sized: with a letter, M or 10k */
    uint64_t number;         /* of bytes, or of objects */
    double   share;
} value;

/* Reads "10k", "1.5G", "512MB", "20%". Letters are powers of 1024 for bytes, of 1000 for counts. */
static bool value_of(hdx_text t, bool bytes, value *out)
{
    static const char letters[] = "kmgt";
    uint64_t          whole = 0, part = 0, scale = 1, unit = 1;
    uint32_t          i = 0;
    *out = (value){ .percent = false };
    for (; i < t.len && t.at[i] >= '0' && t.at[i] <= '9'; i++)
        if (!hdx_mul(whole, 10, &whole) || !hdx_add(whole, (uint64_t)(t.at[i] - '0'), &whole))
            return false;
    if (i == 0)
        return false;
    if (i < t.len && t.at[i] == '.') {
        const uint32_t point = i++;
        /* digits after the sixth are ignored */
        for (; i < t.len && t.at[i] >= '0' && t.at[i] <= '9'; i++)
            if (scale < 1000000) {
                part = part * 10 + (uint64_t)(t.at[i] - '0');
                scale *= 10;
            }
        if (i - point == 1)
            return false;
    }
    if (i + 1 == t.len && t.at[i] == '%') {
        out->percent = true;
        out->share = (double)whole + (double)part / (double)scale;
        return true;
    }
    if (i < t.len) {
        const char  low = (char)(t.at[i] | 0x20);
        const char *letter = strchr(letters, low);
        for (const char *l = letters; letter != NULL && l <= letter; l++)
            unit *= bytes ? 1024 : 1000;
        i += letter != NULL;
        out->sized = letter != NULL;
        i += bytes && letter != NULL && i < t.len && t.at[i] == 'i';
        i += bytes && i < t.len && (t.at[i] | 0x20) == 'b';
    }
    if (i != t.len || (scale > 1 && unit == 1) || !hdx_mul(whole, unit, &whole))
        return false;
    return hdx_add(whole, part * unit / scale, &out->number); /* part < 10^6, unit <= 2^40: no overflow */
}

/* Reads a word as a value of this measure. */
static hdx_code read_value(const reader *r, const word *w, hdx_measure m, hdx_rule *out)
{
    value v;
    if (!value_of(w->text, measures[m].bytes, &v)) {
        const hdx_code code = refuse(r, "'%.*s' is no %s", (int)(w->text.len > 40 ? 40 : w->text.len), w->text.at,
                                     measures[m].bytes ? "size" : "number");
        return hdx_hint(r->err, code, "%s%s",
                        measures[m].bytes ? "a size is 1048576, 50M or 1.5G (powers of 1024)"
                                          : "a number is 200 or 10k",
                        measures[m].whole == NO_SHARE ? "" : ", a share of the heap 20%");
    }
    out->percent = v.percent;
    out->limit = v.number;
    out->share = v.share;
    return HDX_OK;
}

static hdx_code copied(const reader *r, hdx_text t, const char **out)
{
    *out = hdx_arena_copy(r->arena, t.at, t.len);
    return *out == NULL ? hdx_no_memory(r->err, "a rule", t.len) : HDX_OK;
}

/* Invalid expressions are refused here, where file and line are known. */
static hdx_code try_regex(const reader *r, hdx_text t)
{
    hdx_regex     *regex;
    hdx_error      why;
    const hdx_code code = hdx_regex_open(t.at + 1, t.len - 2, NULL, &regex, &why);
    hdx_regex_close(regex);
    if (code == HDX_LIMIT)
        return hdx_no_memory(r->err, "a regular expression", t.len);
    return code == HDX_OK ? HDX_OK : refuse(r, "%s", why.message);
}

/* Reads a class pattern, with + at its end for subclasses. */
static hdx_code read_pattern(const reader *r, const word *w, bool classes, hdx_rule *out)
{
    hdx_text t = w->text;
    if (classes && t.len > 1 && t.at[t.len - 1] == '+') {
        out->subclasses = true;
        t.len--;
    }
    if (t.len == 0)
        return refuse(r, "an empty pattern");
    if (t.at[0] == '/' && (t.len == 1 || t.at[t.len - 1] != '/'))
        return hdx_hint(r->err, refuse(r, "write a regular expression as /.../"),
                        "put a pattern with blanks in quotes");
    if (t.at[0] == '/' && t.len > 2) {
        const hdx_code code = try_regex(r, t);
        if (code != HDX_OK)
            return code;
    }
    return copied(r, t, &out->pattern);
}

/* ---- verbs ---- */

static hdx_code unknown(const reader *r, const char *what, const word *w, hdx_nearest *near, const char *list)
{
    const hdx_code code = refuse(r, "unknown %s '%.*s'", what, (int)(w->text.len > 40 ? 40 : w->text.len), w->text.at);
    return near->best != NULL ? hdx_hint(r->err, code, "did you mean '%s'?", near->best)
                              : hdx_hint(r->err, code, "%s", list);
}

/* Finds the measure that the word names among those of the verb; -1 and an error: none. */
static hdx_code read_measure(const reader *r, hdx_verb verb, const word *w, hdx_measure *out)
{
    char        text[48];
    hdx_nearest near = { .wanted = text };
    (void)snprintf(text, sizeof text, "%.*s", (int)(w->text.len > 40 ? 40 : w->text.len), w->text.at);
    for (unsigned m = 0; m < HDX_MEASURES; m++) {
        if ((measures[m].expects == NEVER) != (verb == HDX_VERB_NO))
            continue;
        if (is(w, measures[m].name)) {
            *out = (hdx_measure)m;
            return HDX_OK;
        }
        hdx_nearest_offer(&near, measures[m].name);
    }
    if (verb == HDX_VERB_NO)
        return unknown(r, "rule after no", w, &near, "no leaks, no suspects, no damage");
    if (is(w, "leaks") || is(w, "suspects") || is(w, "damage"))
        return hdx_hint(r->err, refuse(r, "'%s' needs a number", text), "no %s", text);
    return unknown(r, "measure", w, &near,
                   "measures: objects, shallow, retained PATTERN; live, unreachable, classes, loaders, threads, "
                   "duplicate-classes, open-files, direct-buffers; waste strings|collections|arrays");
}

/* max, min: MEASURE [PATTERN] VALUE */
static hdx_code read_bound(reader *r, hdx_rule *out)
{
    const word *w = peek(r);
    const char *verb = verbs[out->verb];
    hdx_code    code;
    if (w == NULL)
        return hint_example(r, verb, HDX_MEASURE_RETAINED, refuse(r, "a measure is missing"));
    if ((code = read_measure(r, out->verb, w, &out->measure)) != HDX_OK)
        return code;
    r->next++;
    const struct measure *m = &measures[out->measure];
    const unsigned        left = r->count - r->next;
    const bool            named = m->expects == CLASSES || m->expects == A_WASTE;
    value                 v;
    if (named && left < 2) {
        const bool size = left == 1 && value_of(peek(r)->text, m->bytes, &v);
        code = left == 0 || !size
                   ? refuse(r, left == 0 ? "a measure and a value are missing" : "a value is missing")
                   : refuse(r, m->expects == CLASSES ? "a class is missing" : "the kind of waste is missing");
        return hint_example(r, verb, out->measure, code);
    }
    if (left == 0)
        return hint_example(r, verb, out->measure, refuse(r, "a value is missing"));
    if (m->expects == A_WASTE) {
        const int waste = place_in(wastes, HDX_WASTE_ARRAYS + 1, peek(r));
        if (waste < 0)
            return hdx_hint(r->err, refuse(r, "unknown kind of waste"), "expected strings, collections or arrays");
        out->waste = (hdx_waste)waste;
        r->next++;
    } else if (m->expects == CLASSES || (m->expects == MAYBE_A_NAME && left >= 2)) {
        if ((code = read_pattern(r, peek(r), m->expects == CLASSES, out)) != HDX_OK)
            return code;
        r->next++;
    }
    if ((code = read_value(r, peek(r), out->measure, out)) != HDX_OK)
        return code;
    r->next++;
    if (out->percent && m->whole == NO_SHARE)
        return hint_example(r, verb, out->measure, refuse(r, "'%s' cannot be a percentage", m->name));
    if (out->percent && out->share > 100)
        return refuse(r, "a percentage cannot exceed 100%%");
    return HDX_OK;
}

/* growth: [objects|shallow|retained] [PATTERN] VALUE [above FLOOR] */
static hdx_code read_growth(reader *r, hdx_rule *out)
{
    static const char *const of[] = { "objects", "shallow", "retained" }; /* hdx_measure in its order */
    const unsigned           end = r->count;
    hdx_code                 code;
    int                      m = r->count - r->next > 1 ? place_in(of, 3, peek(r)) : -1;
    out->measure = m < 0 ? HDX_MEASURE_RETAINED : (hdx_measure)m;
    r->next += m >= 0;
    const bool floored = end - r->next >= 2 && is(&r->words[end - 2], "above");
    unsigned   left = end - r->next - (floored ? 2 : 0);
    if (left == 0)
        return hdx_hint(r->err, refuse(r, "a value is missing"), "for example growth com.acme.* 10%%, growth 10%%");
    if (left >= 2) {
        if ((code = read_pattern(r, peek(r), false, out)) != HDX_OK)
            return code;
        r->next++;
    }
    if ((code = read_value(r, peek(r), out->measure, out)) != HDX_OK)
        return code;
    r->next++;
    const bool many = out->pattern == NULL || out->pattern[0] == '/' || strpbrk(out->pattern, "*?") != NULL;
    out->floor = !many ? 0 : measures[out->measure].bytes ? FLOOR_BYTES : FLOOR_OBJECTS;
    if (floored && is(peek(r), "above")) {
        value v;
        if (!value_of(r->words[r->next + 1].text, measures[out->measure].bytes, &v) || v.percent)
            return hdx_hint(
                r->err,
                refuse(r, "the value after above is not a %s", measures[out->measure].bytes ? "size" : "number"),
                "for example growth 10%% above 1M");
        out->floor = v.number;
        out->floored = true;
        r->next += 2;
    }
    return HDX_OK;
}

static hdx_code read_no(reader *r, hdx_rule *out)
{
    static const char *const kinds[] = { "application", "library", "all" };
    static const unsigned    bits[] = { HDX_RULE_APPLICATION, HDX_RULE_LIBRARY,
                                        HDX_RULE_APPLICATION | HDX_RULE_LIBRARY | HDX_RULE_UNREACHABLE };
    const word              *w = peek(r);
    hdx_code                 code;
    if (w == NULL)
        return hdx_hint(r->err, refuse(r, "no what?"), "use no leaks application, no suspects 30%% or no damage");
    if ((code = read_measure(r, HDX_VERB_NO, w, &out->measure)) != HDX_OK)
        return code;
    r->next++;
    w = peek(r);
    if (out->measure == HDX_MEASURE_LEAKS) {
        const int kind = w == NULL ? -1 : place_in(kinds, 3, w);
        if (kind < 0)
            return hdx_hint(r->err, refuse(r, w == NULL ? "which leaks?" : "unknown kind of leaks"),
                            "use no leaks application, no leaks library or no leaks all");
        out->leaks = bits[kind];
        r->next++;
        out->filters = is(peek(r), "filters");
        r->next += out->filters || is(peek(r), "watched");
    } else if (out->measure == HDX_MEASURE_SUSPECTS) {
        value v = { .percent = true, .share = 10 }; /* the default of the answer `suspects` */
        if (w != NULL && (!value_of(w->text, false, &v) || (!v.percent && v.sized)))
            return hdx_hint(r->err, refuse(r, "invalid percentage"), "no suspects 30%%");
        out->share = v.percent ? v.share : (double)v.number;
        out->percent = true;
        if (out->share < 1 || out->share > 100)
            return refuse(r, "use 1%% to 100%% of the heap");
        r->next += w != NULL;
    }
    return HDX_OK;
}

static hdx_code read_verb(reader *r, hdx_rule *out)
{
    char        text[48];
    hdx_nearest near = { .wanted = text };
    const char *verb_given = r->source->verb;
    const word  given = { { verb_given, verb_given == NULL ? 0 : (uint32_t)strlen(verb_given) }, false };
    const word *w = verb_given != NULL ? &given : peek(r);
    if (w == NULL)
        return hdx_hint(r->err, refuse(r, "the rule is empty"), "for example max retained com.acme.* 50M");
    r->next += verb_given == NULL;
    const int verb = place_in(verbs, 4, w);
    if (verb >= 0) {
        out->verb = (hdx_verb)verb;
        return HDX_OK;
    }
    (void)snprintf(text, sizeof text, "%.*s", (int)(w->text.len > 40 ? 40 : w->text.len), w->text.at);
    for (unsigned i = 0; i < 4; i++)
        hdx_nearest_offer(&near, verbs[i]);
    for (unsigned m = 0; m < HDX_MEASURES; m++)
        if (is(w, measures[m].name))
            return hdx_hint(r->err, refuse(r, "expected max, min, growth or no"), "%s %s %s",
                            measures[m].expects == NEVER ? "no" : "max", measures[m].name, measures[m].example);
    return unknown(r, "rule", w, &near, "start a rule with max, min, growth or no, or with a name and a colon");
}

/* Matches "MB" after "50 ". */
static bool is_unit(hdx_text t)
{
    uint32_t i = t.len > 0 && strchr("kKmMgGtT", t.at[0]) != NULL;
    i += i < t.len && t.at[i] == 'i';
    i += i < t.len && (t.at[i] | 0x20) == 'b';
    return t.len > 0 && (i == t.len || hdx_text_is(t, "%"));
}

/* Joins the words read so far to a text that can be parsed again, without reason and comment. */
static hdx_code join_words(reader *r, unsigned from, hdx_rule *out)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    if (r->source->verb != NULL)
        hdx_buffer_text(&b, r->source->verb);
    for (unsigned i = from; i < r->count; i++) {
        const word *w = &r->words[i];
        const char *quote = !w->quoted ? "" : memchr(w->text.at, '\'', w->text.len) != NULL ? "\"" : "'";
        hdx_buffer_format(&b, "%s%s", b.len != 0 ? " " : "", quote);
        hdx_buffer_put(&b, w->text.at, w->text.len);
        hdx_buffer_text(&b, quote);
    }
    hdx_code code = b.failed ? hdx_no_memory(r->err, "a rule", b.len)
                             : copied(r, (hdx_text){ b.at != NULL ? b.at : "", (uint32_t)b.len }, &out->text);
    hdx_buffer_free(&b);
    return code;
}

hdx_code hdx_rule_read(const hdx_rule_source *source, hdx_text text, hdx_arena *arena, hdx_rule *out, hdx_error *err)
{
    reader   r = { .source = source, .text = text, .arena = arena, .err = err };
    hdx_text reason;
    *out = (hdx_rule){ .file = source->file, .line = source->line };
    hdx_code code = split(&r, &reason);
    if (code != HDX_OK)
        return code;
    if (is_name(peek(&r))) {
        const hdx_text name = { r.words[0].text.at, r.words[0].text.len - 1 };
        if ((code = copied(&r, name, &out->name)) != HDX_OK)
            return code;
        r.next++;
    }
    const unsigned from = r.next;
    if (reason.at != NULL && (code = copied(&r, reason, &out->reason)) != HDX_OK)
        return code;
    if ((code = read_verb(&r, out)) != HDX_OK)
        return code;
    code = out->verb == HDX_VERB_NO       ? read_no(&r, out)
           : out->verb == HDX_VERB_GROWTH ? read_growth(&r, out)
                                          : read_bound(&r, out);
    if (code != HDX_OK)
        return code;
    if (r.next < r.count) {
        const hdx_text more = r.words[r.next].text;
        if (is_unit(more))
            return hdx_hint(err, refuse(&r, "unexpected word '%.*s'", (int)more.len, more.at),
                            "write a value as one word, such as 50MB");
        return hdx_hint(err, refuse(&r, "unexpected '%.*s'", (int)(more.len > 40 ? 40 : more.len), more.at),
                        "put a pattern with blanks in quotes, and the word because before a reason");
    }
    return join_words(&r, from, out);
}

/* ---- files ---- */

hdx_code hdx_rules_add(hdx_rules *rules, const hdx_rule *rule, hdx_arena *arena, hdx_error *err)
{
    if (rules->count == rules->capacity) {
        const uint64_t more = rules->capacity == 0 ? 16 : 2 * rules->capacity;
        hdx_rule      *at = hdx_arena_get(arena, more * sizeof *at);
        if (at == NULL)
            return hdx_no_memory(err, "rules", more * sizeof *at);
        if (rules->count != 0)
            memcpy(at, rules->at, rules->count * sizeof *at);
        rules->at = at;
        rules->capacity = more;
    }
    rules->at[rules->count++] = *rule;
    return HDX_OK;
}

hdx_code hdx_rules_read_file(hdx_rules *rules, const char *name, hdx_text content, hdx_arena *arena, hdx_error *err)
{
    hdx_rule_source source = { .file = name };
    const char     *p = content.at, *end = p + content.len;
    const uint64_t  before = rules->count;
    if (content.len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) /* a byte order mark, which some editors write */
        p += 3;
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        hdx_text    line = stripped((hdx_text){ p, (uint32_t)((stop == NULL ? end : stop) - p) });
        hdx_rule    rule;
        hdx_code    code;
        source.line++;
        p = stop == NULL ? end : stop + 1;
        if (line.len == 0 || line.at[0] == '#')
            continue;
        if (rules->count - before == RULES_MOST)
            return hdx_fail(err, HDX_USAGE, name, HDX_NOWHERE, "line %llu: more than %u rules",
                            (unsigned long long)source.line, RULES_MOST);
        if ((code = hdx_rule_read(&source, line, arena, &rule, err)) != HDX_OK ||
            (code = hdx_rules_add(rules, &rule, arena, err)) != HDX_OK)
            return code;
    }
    return HDX_OK;
}
