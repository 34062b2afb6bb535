/*
 * fuzz_check_rules.c - rules of the gate: a line behind a verb (first byte 0 to 3), a line, or a file of them. What is
 * read has what its measure needs, and its text with its name and reason reads the same. What is refused names the file
 * and the line.
 */
#include "check/check.h"
#include "fuzz/told.h"

static bool same(const char *a, const char *b) { return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0; }

/* "NAME: RULE because REASON" */
static void look_whole(const hdx_rule *r, hdx_arena *arena)
{
    hdx_rule        again;
    hdx_error       err;
    hdx_rule_source source = { NULL, "again", 7 };
    hdx_buffer      b = hdx_buffer_of(NULL);
    hdx_buffer_format(&b, "%s%s%s%s%s", r->name == NULL ? "" : r->name, r->name == NULL ? "" : ": ", r->text,
                      r->reason == NULL ? "" : " because ", r->reason == NULL ? "" : r->reason);
    if (b.failed || hdx_rule_read(&source, (hdx_text){ b.at, (uint32_t)b.len }, arena, &again, &err) != HDX_OK ||
        !same(again.name, r->name) || !same(again.reason, r->reason) || !same(again.text, r->text) ||
        again.file != source.file || again.line != source.line)
        abort();
    hdx_buffer_free(&b);
}

static void look(const hdx_rule *r, hdx_arena *arena)
{
    hdx_rule        again;
    hdx_error       err;
    hdx_rule_source source = { NULL, NULL, 0 };
    if (r->measure >= HDX_MEASURES || r->verb > HDX_VERB_NO || r->text == NULL || r->text[0] == '\0')
        abort();
    if (r->measure <= HDX_MEASURE_RETAINED && r->verb != HDX_VERB_GROWTH && r->pattern == NULL) /* is of classes */
        abort();
    if (r->percent && !(r->share >= 0))
        abort();
    if (hdx_rule_read(&source, (hdx_text){ r->text, (uint32_t)strlen(r->text) }, arena, &again, &err) != HDX_OK)
        abort();
    if (again.verb != r->verb || again.measure != r->measure || again.limit != r->limit ||
        again.percent != r->percent || again.share != r->share || again.floor != r->floor ||
        again.subclasses != r->subclasses || again.leaks != r->leaks || again.filters != r->filters ||
        again.waste != r->waste || !same(again.pattern, r->pattern) || !same(again.text, r->text))
        abort();
    look_whole(r, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const verbs[] = { "max", "min", "growth", "no", NULL };
    hdx_arena                arena = hdx_arena_of(NULL);
    hdx_rules                rules = { .at = NULL };
    hdx_rule                 rule;
    hdx_error                err = { .code = HDX_OK };
    if (size == 0)
        return 0;
    const hdx_text text = { (const char *)data + 1, (uint32_t)size - 1 };
    const unsigned how = data[0] % 8u;
    hdx_code       code;
    if (how < 5) {
        const hdx_rule_source source = { verbs[how], NULL, 0 };
        if ((code = hdx_rule_read(&source, text, &arena, &rule, &err)) == HDX_OK)
            look(&rule, &arena);
        else
            told_of_file(code, &err, "");
    } else {
        code = hdx_rules_read_file(&rules, "rules", text, &arena, &err);
        for (uint64_t i = 0; code == HDX_OK && i < rules.count; i++)
            look(&rules.at[i], &arena);
        if (code != HDX_OK)
            told_of_line(code, &err, "rules", text.at, text.len);
    }
    hdx_arena_free(&arena);
    return 0;
}
