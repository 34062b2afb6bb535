/*
 * sarif.c - the findings of check as SARIF 2.1.0, for tools that show results of analyses next to code.
 *
 * There is one run, with a SARIF rule for each name, or kind, of heapdex rules, and a result for each finding. If the
 * rule is in a file, its line is the location of the result, so that a pull request shows it there; otherwise the
 * location is the dump. The path from the GC root is a code flow with a location per step. Rules that are met have no
 * result, because readers show every result.
 *
 * The document is one cell, which render/json.c writes.
 */
#include "cli/report.h"

#include <unistd.h>

typedef struct sarif {
    hdx_arena arena;
    bool      failed;
} sarif;

/* ---- cells ---- */

static hdx_cell none(void) { return (hdx_cell){ .kind = HDX_CELL_NULL }; }
static hdx_cell number(uint64_t n) { return (hdx_cell){ .kind = HDX_CELL_UINT, .as.natural = n }; }
static hdx_cell real(double r) { return (hdx_cell){ .kind = HDX_CELL_REAL, .as.real = r }; }
static hdx_cell string(const char *text) /* borrowed */
{
    return (hdx_cell){ .kind = HDX_CELL_TEXT, .as.text = { text, (uint32_t)strlen(text) } };
}
static hdx_cell list(const hdx_cell *at, uint64_t count)
{
    return (hdx_cell){ .kind = HDX_CELL_LIST, .as.list = { at, count } };
}

#define MEMBERS_MOST 12u
typedef struct object { /* members are collected here, then copied to the arena */
    hdx_member at[MEMBERS_MOST];
    unsigned   count;
} object;

static void add(object *o, const char *key, hdx_cell value)
{
    assert(o->count < MEMBERS_MOST && "room for what is written here");
    o->at[o->count++] = (hdx_member){ key, value };
}

static hdx_cell done(sarif *s, const object *o)
{
    hdx_member *at = hdx_arena_get(&s->arena, o->count * sizeof *at);
    if (at == NULL) {
        s->failed = true;
        return none();
    }
    memcpy(at, o->at, o->count * sizeof *at);
    return (hdx_cell){ .kind = HDX_CELL_OBJECT, .as.object = { at, o->count } };
}

static hdx_cell one(sarif *s, const char *key, hdx_cell value)
{
    object o = { .count = 0 };
    add(&o, key, value);
    return done(s, &o);
}

static hdx_cell *list_of(sarif *s, uint64_t count)
{
    hdx_cell *at = hdx_arena_get(&s->arena, count * sizeof *at);
    s->failed |= at == NULL;
    return at;
}

static hdx_cell listed(sarif *s, hdx_cell value)
{
    hdx_cell *at = list_of(s, 1);
    if (at == NULL)
        return none();
    *at = value;
    return list(at, 1);
}

static hdx_cell text(sarif *s, hdx_buffer *b) /* copies the buffer and frees it */
{
    const char *copy = hdx_arena_copy(&s->arena, b->at != NULL ? b->at : "", b->len);
    s->failed |= b->failed || copy == NULL;
    hdx_buffer_free(b);
    return string(copy != NULL ? copy : "");
}

static hdx_cell plain(sarif *s, const char *from) /* without control characters */
{
    hdx_buffer b = hdx_buffer_of(NULL);
    cli_put_plain(&b, from, strlen(from));
    return text(s, &b);
}

/* ---- locations ---- */

/* Returns a URI reference (RFC 3986): a relative path as given, or file:///...; bytes that are not plain are escaped.
 */
static hdx_cell uri(sarif *s, const char *path)
{
    static const char usual[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    hdx_buffer        b = hdx_buffer_of(NULL);
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    hdx_buffer_text(&b, path[0] == '/' ? "file://" : "");
    for (; *path != '\0'; path++)
        if (strchr(usual, *path) != NULL)
            hdx_buffer_put(&b, path, 1);
        else
            hdx_buffer_format(&b, "%%%02X", (unsigned char)*path);
    return text(s, &b);
}

static hdx_cell physical(sarif *s, const char *path, uint64_t line)
{
    object o = { .count = 0 };
    add(&o, "artifactLocation", one(s, "uri", uri(s, path)));
    if (line > 0)
        add(&o, "region", one(s, "startLine", number(line)));
    return done(s, &o);
}

static hdx_cell logical(sarif *s, const char *name, const char *kind)
{
    object o = { .count = 0 };
    add(&o, "fullyQualifiedName", plain(s, name));
    add(&o, "kind", string(kind));
    return listed(s, done(s, &o));
}

static hdx_cell location_of(sarif *s, const hdx_check_result *r, const char *dump)
{
    object o = { .count = 0 };
    /* a dump has no lines, but readers only show a location with a line */
    add(&o, "physicalLocation", r->file != NULL ? physical(s, r->file, r->line) : physical(s, dump, 1));
    if (r->class_name != NULL)
        add(&o, "logicalLocations", logical(s, r->class_name, "type"));
    return done(s, &o);
}

/* ---- the path ---- */

static hdx_cell step_of(sarif *s, const hdx_check_result *r, uint64_t i, const char *dump)
{
    const hdx_check_step *k = &r->steps[i];
    const bool            class_object = k->label != NULL && strcmp(k->class_name, "java.lang.Class") == 0;
    hdx_buffer            b = hdx_buffer_of(NULL);
    object                o = { .count = 0 };
    if (i == 0 && r->root != NULL)
        hdx_buffer_format(&b, "GC root, %s: ", r->root);
    if (r->left_out > 0 && i == r->left_at)
        hdx_buffer_format(&b, "%llu more steps, then ", (unsigned long long)r->left_out);
    const char *name = class_object ? k->label : k->class_name[0] != '\0' ? k->class_name : "(no class)";
    cli_put_plain(&b, name, strlen(name));
    if (k->reference != NULL) {
        hdx_buffer_text(&b, k->reference[0] == '[' || k->reference[0] == '<' ? " " : " .");
        cli_put_plain(&b, k->reference, strlen(k->reference));
    }
    hdx_buffer_format(&b, " (0x%llx)", (unsigned long long)k->address);
    add(&o, "physicalLocation", physical(s, dump, 0));
    add(&o, "logicalLocations", logical(s, name, "object"));
    add(&o, "message", one(s, "text", text(s, &b)));
    return one(s, "location", done(s, &o));
}

static hdx_cell flows_of(sarif *s, const hdx_check_result *r, const char *dump)
{
    hdx_cell *steps = list_of(s, r->step_count);
    for (uint64_t i = 0; steps != NULL && i < r->step_count; i++)
        steps[i] = step_of(s, r, i, dump);
    const hdx_cell flow = one(s, "locations", list(steps, steps != NULL ? r->step_count : 0));
    return listed(s, one(s, "threadFlows", listed(s, flow)));
}

/* ---- rules and results ---- */

static const char *id_of(const hdx_check_result *r) { return r->name != NULL ? r->name : r->kind; }

/* Returns the index of the first result with the same id. */
static uint64_t first_with(const hdx_check *check, uint64_t at)
{
    for (uint64_t i = 0; i < at; i++)
        if (strcmp(id_of(&check->results[i]), id_of(&check->results[at])) == 0)
            return i;
    return at;
}

/* Readers of SARIF accept descriptions of at most this many characters. */
#define DESCRIPTION_MOST 1024u

/* Writes a text without control characters, cut at the end of a character. */
static void put_cut(hdx_buffer *b, const char *from)
{
    const uint64_t before = b->len;
    cli_put_plain(b, from, strlen(from));
    if (b->len - before <= DESCRIPTION_MOST / 2)
        return;
    b->len = before + DESCRIPTION_MOST / 2;
    while (b->len > before && (b->at[b->len] & 0xc0) == 0x80)
        b->len--;
    hdx_buffer_text(b, "...");
}

/* Writes what a violation of a rule of this kind means: "The heap has more live bytes than the rule allows." */
static void put_meaning(hdx_buffer *b, const char *kind)
{
    static const struct {
        const char *measure, *noun;
    } nouns[] = {
        { "objects", "instances of these classes" },
        { "shallow", "bytes in instances of these classes" },
        { "retained", "bytes that instances of these classes keep alive" },
        { "live", "live bytes" },
        { "unreachable", "unreachable bytes" },
        { "classes", "live classes" },
        { "loaders", "live class loaders" },
        { "threads", "threads" },
        { "duplicate-classes", "class names that several class loaders define" },
        { "open-files", "open files, sockets and streams" },
        { "direct-buffers", "bytes in direct buffers" },
        { "waste", "wasted bytes" },
    };
    const char *dash = strchr(kind, '-'), *noun = "items that the rule measures";
    for (size_t i = 0; dash != NULL && i < sizeof nouns / sizeof *nouns; i++)
        if (strncmp(dash + 1, nouns[i].measure, strlen(nouns[i].measure)) == 0)
            noun = nouns[i].noun;
    if (strcmp(kind, "no-leaks") == 0)
        hdx_buffer_text(b, "Objects that should have been collected are still reachable.");
    else if (strcmp(kind, "no-suspects") == 0)
        hdx_buffer_text(
            b, "One object, or objects of one class, keep a larger part of the heap alive than the rule allows.");
    else if (strcmp(kind, "no-damage") == 0)
        hdx_buffer_text(b, "The heap dump is damaged, so that answers about it are incomplete.");
    else if (strncmp(kind, "growth-", 7) == 0)
        hdx_buffer_format(b, "There are more %s than in the baseline, by more than the rule allows.", noun);
    else
        hdx_buffer_format(b, "There are %s %s than the rule allows.", strncmp(kind, "min-", 4) == 0 ? "fewer" : "more",
                          noun);
}

/* Returns advice for a result. */
static const char *help_of(const char *kind)
{
    if (strcmp(kind, "no-damage") == 0)
        return "Take the heap dump again, and check it only after it is completely written. `heapdex info --verbose` "
               "lists what is missing.";
    if (strncmp(kind, "min-", 4) == 0)
        return "Inspect the heap with `heapdex histogram`. If the lower value is correct, change the limit in the "
               "rule.";
    return "Follow the path of the result from the GC root to the object: the first reference of your own code is the "
           "one to clear. `heapdex path` shows why an object is alive, `heapdex dominators` what it keeps alive. If "
           "the growth is intended, change the limit in the rule.";
}

static hdx_cell help_cell(sarif *s, const char *kind)
{
    object o = { .count = 0 };
    add(&o, "text", string(help_of(kind)));
    add(&o, "markdown", string(help_of(kind)));
    return done(s, &o);
}

/* A rule without a name shares its entry with others of its kind, so the entry only describes the kind. */
static hdx_cell rule_of(sarif *s, const hdx_check_result *r)
{
    object     o = { .count = 0 };
    hdx_buffer brief = hdx_buffer_of(NULL), full = hdx_buffer_of(NULL);
    put_cut(&brief, r->name != NULL ? r->rule : r->kind);
    put_meaning(&full, r->kind);
    if (r->reason != NULL && r->name != NULL) {
        hdx_buffer_text(&full, " Because ");
        put_cut(&full, r->reason);
    }
    add(&o, "id", plain(s, id_of(r)));
    add(&o, "shortDescription", one(s, "text", text(s, &brief)));
    add(&o, "fullDescription", one(s, "text", text(s, &full)));
    add(&o, "help", help_cell(s, r->kind));
    add(&o, "defaultConfiguration", one(s, "level", string("error")));
    return done(s, &o);
}

static hdx_cell message_of(sarif *s, const hdx_check_result *r)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    cli_put_plain(&b, r->rule, strlen(r->rule));
    hdx_buffer_text(&b, ": ");
    cli_put_plain(&b, r->message, strlen(r->message));
    if (r->path != NULL) {
        hdx_buffer_text(&b, "; held by ");
        cli_put_plain(&b, r->path, strlen(r->path));
    }
    if (r->reason != NULL) {
        hdx_buffer_text(&b, " (because ");
        cli_put_plain(&b, r->reason, strlen(r->reason));
        hdx_buffer_text(&b, ")");
    }
    return one(s, "text", text(s, &b));
}

static hdx_cell properties_of(sarif *s, const hdx_check_result *r)
{
    static const char *const units[] = { "count", "bytes", "percent" };
    object                   o = { .count = 0 };
    add(&o, "measured", real(r->measured));
    add(&o, "limit", real(r->limit));
    add(&o, "unit", string(units[r->unit]));
    if (r->address != 0) {
        add(&o, "address", (hdx_cell){ .kind = HDX_CELL_ADDRESS, .as.address = r->address });
        add(&o, "retained", number(r->retained));
    }
    return done(s, &o);
}

static hdx_cell fingerprint_of(sarif *s, const hdx_check_result *r, uint64_t alike)
{
    const char *from = r->signature != NULL ? r->signature : r->rule;
    hdx_buffer  b = hdx_buffer_of(NULL);
    cli_put_plain(&b, from, strlen(from));
    if (alike > 0)
        hdx_buffer_format(&b, ":%llu", (unsigned long long)alike + 1);
    return one(s, "heapdexFinding/v1", text(s, &b));
}

static hdx_cell result_of(sarif *s, const hdx_check *check, uint64_t at, uint64_t rule, const char *dump)
{
    const hdx_check_result *r = &check->results[at];
    object                  o = { .count = 0 };
    add(&o, "ruleId", plain(s, id_of(r)));
    add(&o, "ruleIndex", number(rule));
    add(&o, "level", string("error"));
    add(&o, "message", message_of(s, r));
    add(&o, "locations", listed(s, location_of(s, r, dump)));
    add(&o, "partialFingerprints", fingerprint_of(s, r, cli_check_alike(check, at)));
    if (r->step_count > 0)
        add(&o, "codeFlows", flows_of(s, r, dump));
    add(&o, "properties", properties_of(s, r));
    return done(s, &o);
}

static hdx_cell run_of(sarif *s, const hdx_check *check, const char *dump)
{
    hdx_cell *rules = list_of(s, check->result_count), *results = list_of(s, check->result_count);
    uint64_t *places = hdx_arena_get(&s->arena, check->result_count * sizeof *places);
    uint64_t  rule_count = 0, result_count = 0;
    object    driver = { .count = 0 }, run = { .count = 0 };
    s->failed |= places == NULL;
    for (uint64_t i = 0; !s->failed && i < check->result_count; i++) {
        const uint64_t first = first_with(check, i);
        places[i] = first < i ? places[first] : rule_count;
        if (first == i)
            rules[rule_count++] = rule_of(s, &check->results[i]);
        if (check->results[i].state == HDX_CHECK_BROKEN)
            results[result_count++] = result_of(s, check, i, places[i], dump);
    }
    add(&driver, "name", string("heapdex"));
    add(&driver, "version", string(HEAPDEX_VERSION));
    add(&driver, "rules", list(rules, rule_count));
    add(&run, "tool", one(s, "driver", done(s, &driver)));
    add(&run, "invocations",
        listed(s, one(s, "executionSuccessful", (hdx_cell){ .kind = HDX_CELL_BOOL, .as.boolean = true })));
    add(&run, "artifacts", listed(s, one(s, "location", one(s, "uri", uri(s, dump)))));
    add(&run, "results", list(results, result_count));
    return done(s, &run);
}

hdx_code cli_check_sarif(hdx_buffer *out, const hdx_check *check, const char *dump, hdx_error *err)
{
    sarif  s = { .arena = hdx_arena_of(NULL) };
    object o = { .count = 0 };
    add(&o, "$schema", string("https://json.schemastore.org/sarif-2.1.0.json"));
    add(&o, "version", string("2.1.0"));
    add(&o, "runs", listed(&s, run_of(&s, check, dump)));
    const hdx_cell whole = done(&s, &o);
    if (!s.failed) {
        hdx_render_json_cell(out, &whole);
        hdx_buffer_text(out, "\n");
    }
    const bool failed = s.failed || out->failed;
    hdx_arena_free(&s.arena);
    return failed ? hdx_no_memory(err, "the SARIF file", out->len) : HDX_OK;
}
