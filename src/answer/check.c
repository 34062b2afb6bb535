/*
 * check.c - the answer `check`: does the heap satisfy the given rules? Arguments and files become rules
 * (check/check.h), each rule is measured, and the session stores the results for reports.
 *
 * All rules are read before the dump is opened, so that a mistake in one is reported before an index is built.
 */
#include "answer/checking.h"
#include "base/textfile.h"

#include <stdio.h>

#define FILE_MOST (16u << 20) /* far more than a file of rules needs */

enum {
    RULE,
    NAME,
    STATE,
    MEASURED,
    LIMIT,
    UNIT,
    MESSAGE,
    CLASS,
    ADDRESS,
    RETAINED,
    PATH,
    NOTE,
    REASON,
    KIND,
    FILE_NAME,
    LINE,
    COLUMNS
};

static const hdx_column columns[COLUMNS] = {
    [RULE] = HDX_COLUMN("rule", TEXT, NONE, 0, "rule, without its name and reason"),
    [NAME] = HDX_COLUMN("name", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "name of the rule"),
    [STATE] = HDX_COLUMN("state", TEXT, NONE, 0, "holds or broken; a broken rule has a row for each finding"),
    [MEASURED] = HDX_COLUMN("measured", REAL, NONE, 0, "measured value, in the unit of the row"),
    [LIMIT] = HDX_COLUMN("limit", REAL, NONE, 0, "limit of the rule, in the same unit; 0 for rules that allow none"),
    [UNIT] = HDX_COLUMN("unit", TEXT, NONE, 0, "count, bytes or percent"),
    [MESSAGE] =
        HDX_COLUMN("message", TEXT, NONE, 0, "measured value and limit as text for people; the wording may change"),
    [CLASS] =
        HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class that the finding is about"),
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_NULLABLE,
                           "object with the largest retained size among those found"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
                            "retained size of the object; for leaks the total of its signature"),
    [PATH] = HDX_COLUMN("path", TEXT, NONE, HDX_COLUMN_NULLABLE,
                        "path that keeps the object alive: kind of the GC root, then class and reference of each step"),
    [NOTE] = HDX_COLUMN("note", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                        "remark on the rule, such as an unknown class name"),
    [REASON] = HDX_COLUMN("reason", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "reason for the rule"),
    [KIND] = HDX_COLUMN("kind", TEXT, NONE, HDX_COLUMN_SPARE,
                        "verb and measure: max-retained, growth-objects, no-leaks and so on"),
    [FILE_NAME] = HDX_COLUMN("file", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "file of the rule"),
    [LINE] = HDX_COLUMN("line", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "its line"),
};
static const hdx_form form = { NULL, NULL, columns, COLUMNS };

static const hdx_column check_members[] = {
    HDX_COLUMN("rules", UNSIGNED, COUNT, 0, "rules that were checked"),
    HDX_COLUMN("broken", UNSIGNED, COUNT, 0, "rules that the heap breaks"),
    HDX_COLUMN("findings", UNSIGNED, COUNT, 0, "rows of broken rules, before --where and --limit"),
    HDX_COLUMN("holds", BOOL, NONE, 0, "true if no rule is broken"),
};
static const hdx_column document[] = { HDX_NESTED("check", OBJECT, 0, "result of all rules", check_members) };

static const hdx_parameter parameters[] = {
    { .name = "max",
      .kind = HDX_PARAMETER_TEXT,
      .flags = HDX_PARAMETER_REPEATED,
      .value = "'MEASURE PATTERN VALUE'",
      .sentence = "set a maximum: 'retained com.acme.* 50M', 'objects com.acme.Session 10k', 'threads 200'" },
    { .name = "min",
      .kind = HDX_PARAMETER_TEXT,
      .flags = HDX_PARAMETER_REPEATED,
      .value = "'MEASURE PATTERN VALUE'",
      .sentence = "set a minimum: 'objects com.acme.Plugin 1'" },
    { .name = "growth",
      .kind = HDX_PARAMETER_TEXT,
      .flags = HDX_PARAMETER_REPEATED,
      .value = "'PATTERN VALUE'",
      .needs = "baseline",
      .sentence =
          "limit the growth of each class since --baseline: 10%, 'com.acme.* 10%', 'objects com.acme.Session 500'" },
    { .name = "baseline",
      .kind = HDX_PARAMETER_FILE,
      .value = "DUMP",
      .sentence = "dump or index to measure growth against; classes are matched by name" },
    { .name = "no-leaks",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KIND",
      .choices = "application library all",
      .sentence = "allow no leak of this kind, as the command leaks finds them" },
    { .name = "no-suspects",
      .kind = HDX_PARAMETER_TEXT,
      .value = "PERCENT",
      .sentence = "allow no suspect that retains more of the live bytes, as the command suspects finds them" },
    { .name = "no-damage",
      .kind = HDX_PARAMETER_FLAG,
      .sentence = "allow no damage in the dump; by default damage is a warning" },
    { .name = "rule",
      .kind = HDX_PARAMETER_TEXT,
      .flags = HDX_PARAMETER_REPEATED,
      .value = "RULE",
      .sentence = "a rule as in a file of rules: 'sessions: max objects com.acme.Session 10k because ...'" },
    { .name = "rules",
      .kind = HDX_PARAMETER_FILE,
      .flags = HDX_PARAMETER_REPEATED,
      .value = "FILE",
      .sentence = "file of rules, one per line" },
};

const hdx_answer hdx_answer_check_rules = {
    .name = "check",
    .flags = HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
    .sentence = "check a heap against rules, as a gate in builds",
    .more = "The exit code is 1 if a rule is broken; each finding has a row with the largest object and the path that "
            "keeps it alive. Measures: objects, shallow, retained of classes (PATTERN+ includes subclasses); live, "
            "unreachable, classes, loaders, threads, duplicate-classes, open-files, direct-buffers; waste of strings, "
            "collections or arrays. Values: 10k (objects), 50M (bytes), 20%. heapdex help rules and the man page "
            "describe the whole language.",
    .examples = { "heapdex check app.hprof --max 'retained com.acme.* 50M' --no-damage",
                  "heapdex check app.hprof --max 'threads 200' --no-leaks all --junit heap.xml" },
    .forms = &form,
    .form_count = 1,
    .document = document,
    .document_count = HDX_COUNT(document),
    .parameters = parameters,
    .parameter_count = HDX_COUNT(parameters),
};

/* ---- rules ---- */

static hdx_code read_file(const char *path, const hdx_progress *progress, hdx_arena *arena, hdx_rules *rules,
                          hdx_error *err)
{
    hdx_text       text;
    const hdx_code code = hdx_text_file(path, FILE_MOST, progress, arena, &text, err);
    const char    *name = hdx_arena_copy(arena, path, strlen(path));
    if (code != HDX_OK)
        return code;
    return name == NULL ? hdx_no_memory(err, "a file of rules", 0) : hdx_rules_read_file(rules, name, text, arena, err);
}

static hdx_code read_one(const char *verb, const char *text, hdx_arena *arena, hdx_rules *rules, hdx_error *err)
{
    hdx_rule rule;
    hdx_code code = hdx_rule_read(&(hdx_rule_source){ .verb = verb }, (hdx_text){ text, (uint32_t)strlen(text) }, arena,
                                  &rule, err);
    return code == HDX_OK ? hdx_rules_add(rules, &rule, arena, err) : code;
}

/* Adds the rule, or the rules of a file, that an argument names. */
static hdx_code read_argument(const hdx_argument *a, const hdx_progress *progress, hdx_arena *arena, hdx_rules *rules,
                              hdx_error *err)
{
    char        text[64];
    const char *name = a->name, *value = a->value != NULL ? a->value : "true";
    if (strcmp(name, "max") == 0 || strcmp(name, "min") == 0 || strcmp(name, "growth") == 0)
        return read_one(name, value, arena, rules, err);
    if (strcmp(name, "rule") == 0)
        return read_one(NULL, value, arena, rules, err);
    if (strcmp(name, "rules") == 0)
        return read_file(value, progress, arena, rules, err);
    if (strcmp(name, "no-damage") == 0)
        return strcmp(value, "true") == 0 ? read_one("no", "damage", arena, rules, err) : HDX_OK;
    if (strcmp(name, "no-leaks") != 0 && strcmp(name, "no-suspects") != 0)
        return HDX_OK;
    (void)snprintf(text, sizeof text, "%s %.40s", name + 3, value);
    return read_one("no", text, arena, rules, err);
}

static hdx_code read_rules(const hdx_arguments *a, const hdx_progress *progress, hdx_arena *arena, hdx_rules *rules,
                           hdx_error *err)
{
    hdx_code code = HDX_OK;
    bool     files = false;
    for (size_t i = 0; code == HDX_OK && i < a->count; i++) {
        code = read_argument(&a->at[i], progress, arena, rules, err);
        files = files || strcmp(a->at[i].name, "rules") == 0;
    }
    if (code == HDX_OK && rules->count == 0)
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                                 files ? "the files of rules contain no rule" : "check needs a rule"),
                        "--max 'retained com.acme.* 50M', --no-leaks application, --rules FILE");
    bool grows = false;
    for (uint64_t i = 0; code == HDX_OK && i < rules->count; i++) {
        const hdx_rule *r = &rules->at[i];
        if (r->verb != HDX_VERB_GROWTH)
            continue;
        grows = true;
        if (hdx_argument_text(a, "baseline") == NULL)
            return hdx_hint(err,
                            hdx_fail(err, HDX_USAGE, r->file, HDX_NOWHERE, "rule '%.80s' needs a baseline", r->text),
                            "name a dump or index to compare with: --baseline DUMP");
        if (hdx_answer_last(a, "view") != NULL)
            return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                            "rule '%.80s': a view cannot be compared with another dump; remove --view", r->text);
    }
    if (code == HDX_OK && !grows && hdx_argument_text(a, "baseline") != NULL)
        return hdx_hint(err, hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "no rule uses the baseline"),
                        "add a rule such as --growth 10%%, or remove --baseline");
    return code;
}

/* ---- checking ---- */

/* Adds the line of the rule to an error that appears only while the rule is measured, as an expensive regex does. */
static hdx_code name_line(const hdx_rule *rule, hdx_code code, hdx_error *err)
{
    if (code != HDX_USAGE || rule->file == NULL || err == NULL)
        return code;
    const hdx_error was = *err;
    (void)hdx_fail(err, code, rule->file, HDX_NOWHERE, "line %llu: %.220s", (unsigned long long)rule->line,
                   was.message);
    return hdx_hint(err, code, "%s", was.hint);
}

static hdx_code check_rule(hdx_checking *c, const hdx_rule *rule, hdx_error *err)
{
    const uint64_t before = c->count;
    hdx_code       code;
    if (rule->verb == HDX_VERB_GROWTH)
        code = hdx_checking_growth(c, rule, err);
    else if (rule->verb != HDX_VERB_NO)
        code = hdx_checking_measure(c, rule, err);
    else
        code = (rule->measure == HDX_MEASURE_LEAKS      ? hdx_checking_leaks
                : rule->measure == HDX_MEASURE_SUSPECTS ? hdx_checking_suspects
                                                        : hdx_checking_damage)(c, rule, err);
    c->rules++;
    c->broken += code == HDX_OK && c->count > before && c->results[before].state == HDX_CHECK_BROKEN;
    return name_line(rule, code, err);
}

/* ---- rows ---- */

static const char *const states[] = { "holds", "broken" };
static const char *const units[] = { "count", "bytes", "percent" };

static hdx_code add_row(hdx_table *t, const hdx_check_result *r, hdx_error *err)
{
    hdx_arena     *own = hdx_table_arena(t); /* rows may outlive the next call */
    const hdx_cell cells[COLUMNS] = {
        [RULE] = hdx_cell_copy(own, r->rule),
        [NAME] = hdx_cell_copy(own, r->name),
        [STATE] = hdx_cell_string(states[r->state]),
        [MEASURED] = hdx_cell_real(r->measured),
        [LIMIT] = hdx_cell_real(r->limit),
        [UNIT] = hdx_cell_string(units[r->unit]),
        [MESSAGE] = hdx_cell_copy(own, r->message),
        [CLASS] = hdx_cell_copy(own, r->class_name),
        [ADDRESS] = r->address != 0 ? hdx_cell_address(r->address) : hdx_cell_null(),
        [RETAINED] = r->address != 0 ? hdx_cell_uint(r->retained) : hdx_cell_null(),
        [PATH] = hdx_cell_copy(own, r->path),
        [NOTE] = hdx_cell_copy(own, r->note),
        [REASON] = hdx_cell_copy(own, r->reason),
        [KIND] = hdx_cell_copy(own, r->kind),
        [FILE_NAME] = hdx_cell_copy(own, r->file),
        [LINE] = r->file != NULL ? hdx_cell_uint(r->line) : hdx_cell_null(),
    };
    return own->refused ? hdx_no_memory(err, "a row", sizeof cells) : hdx_table_add(t, cells, err);
}

static hdx_code rows_of(const hdx_check *check, hdx_rows **out, hdx_error *err)
{
    hdx_table *t;
    uint64_t   findings = 0;
    hdx_code   code = hdx_table_new(columns, COLUMNS, &t, err);
    if (code != HDX_OK)
        return code;
    for (uint64_t i = 0; code == HDX_OK && i < check->result_count; i++) {
        findings += check->results[i].state == HDX_CHECK_BROKEN;
        code = add_row(t, &check->results[i], err);
    }
    hdx_member *m = code == HDX_OK ? hdx_arena_get(hdx_table_arena(t), HDX_COUNT(check_members) * sizeof *m) : NULL;
    if (code == HDX_OK && m == NULL)
        code = hdx_no_memory(err, "a document", 0);
    if ((code = hdx_answer_of_table(t, code, out, err)) != HDX_OK)
        return code;
    m[0] = (hdx_member){ "rules", hdx_cell_uint(check->rule_count) };
    m[1] = (hdx_member){ "broken", hdx_cell_uint(check->broken) };
    m[2] = (hdx_member){ "findings", hdx_cell_uint(findings) };
    m[3] = (hdx_member){ "holds", hdx_cell_bool(check->broken == 0) };
    return hdx_answer_or_close(out,
                               hdx_rows_add_extra(*out, "check", hdx_cell_object(m, HDX_COUNT(check_members)), err));
}

/* ---- asking ---- */

hdx_code hdx_answer_run_check(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_rules    rules = { .at = NULL };
    hdx_checking c = { .s = s,
                       .view = hdx_answer_last(a, "view"),
                       .baseline = hdx_argument_text(a, "baseline"),
                       .arena = &s->check_arena };
    hdx_arena_free(&s->check_arena);
    s->checked = false;
    hdx_code code = read_rules(a, &s->progress, c.arena, &rules, err);
    if (code == HDX_OK)
        code = hdx_answer_graph(s, a, &c.g, err);
    if (code != HDX_OK)
        return code;
    c.q = hdx_answer_query(s, a, c.g);
    c.q.notice = NULL; /* notices about a rule go into its note */
    hdx_ask ask;
    if ((code = hdx_ask_begin(&c.q, &ask, err)) !=
        HDX_OK) /* refuse a partial index: rules would hold only because data is missing */
        return code;
    c.sum = hdx_graph_summary_of(c.g);
    for (uint64_t i = 0; code == HDX_OK && i < rules.count; i++)
        code = check_rule(&c, &rules.at[i], err);
    if (code != HDX_OK)
        return code;
    s->check = (hdx_check){ c.results, c.count, c.rules, c.broken };
    s->checked = true;
    return rows_of(&s->check, out, err);
}

const hdx_check *hdx_session_check(const hdx_session *s) { return s->checked ? &s->check : NULL; }
