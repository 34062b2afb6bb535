/*
 * test_declared.c - what every answer and every table declares: names, flags, sentences, columns, parameters.
 * declared.txt has the checksums (support/checksums.h).
 */
#include "answer/asks.h"
#include "support/checksums.h"

static const char *word(const char *text) { return text != NULL ? text : "-"; }

static void put_columns(hdx_buffer *b, const hdx_column *columns, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const hdx_column *c = &columns[i];
        hdx_buffer_format(b, "  column %s %s %s %u %u: %s\n", word(c->name), hdx_column_type_name(c->type),
                          hdx_column_unit_name(c->unit), c->flags, c->member_count, word(c->sentence));
        for (unsigned k = 0; k < c->member_count; k++) /* those below them are in the schemas */
            hdx_buffer_format(b, "    %s %s %s %u: %s\n", word(c->members[k].name),
                              hdx_column_type_name(c->members[k].type), hdx_column_unit_name(c->members[k].unit),
                              c->members[k].flags, word(c->members[k].sentence));
    }
}

static void put_parameters(hdx_buffer *b, const hdx_parameter *parameters, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const hdx_parameter *p = &parameters[i];
        hdx_buffer_format(b, "  parameter %s %u %u %s [%s] %s %s %s %llu %llu: %s\n", p->name, (unsigned)p->kind,
                          p->flags, word(p->value), word(p->choices), word(p->preset), word(p->excludes),
                          word(p->needs), (unsigned long long)p->least, (unsigned long long)p->most, p->sentence);
    }
}

static uint64_t put_answer(hdx_buffer *b, const hdx_answer *a)
{
    hdx_buffer_format(b, "%s %u %s\n%s\n%s\n%s\n", a->name, a->flags, a->sentence, a->more, word(a->examples[0]),
                      word(a->examples[1]));
    for (unsigned i = 0; i < a->form_count; i++) {
        hdx_buffer_format(b, " form %s=%s\n", word(a->forms[i].parameter), word(a->forms[i].is));
        put_columns(b, a->forms[i].columns, a->forms[i].column_count);
    }
    put_columns(b, a->document, a->document_count);
    put_parameters(b, a->parameters, a->parameter_count);
    return b->len;
}

/* "answer index", "table objects", "common", "names". */
static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    size_t count;
    (void)context;
    const char *name = strchr(ask, ' ');
    if (strncmp(ask, "answer ", 7) == 0) {
        cr_assert(hdx_answer_named(name + 1) != NULL, "%s", ask);
        return put_answer(b, hdx_answer_named(name + 1));
    }
    if (strcmp(ask, "common") == 0) {
        const hdx_parameter *common = hdx_answer_common(&count);
        put_parameters(b, common, count);
        return count;
    }
    const hdx_answer *const *tables = hdx_tables(&count);
    if (strcmp(ask, "names") == 0) {
        size_t                   answers;
        const hdx_answer *const *all = hdx_answers(&answers);
        for (size_t i = 0; i < answers; i++)
            hdx_buffer_format(b, "%s ", all[i]->name);
        for (size_t i = 0; i < count; i++)
            hdx_buffer_format(b, "%s ", tables[i]->name);
        return answers + count;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(tables[i]->name, name + 1) == 0)
            return put_answer(b, tables[i]);
    cr_assert(false, "%s", ask);
    return 0;
}

Test(declared, is_what_it_was) { checksums_check(HDX_TREE "/tests/answer/declared.txt", text_of, NULL); }
