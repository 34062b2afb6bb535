/*
 * arguments.c - checks the arguments of a caller against the parameters that an answer declares, and reads them by
 * name. A list of arguments is short, so every lookup is a linear search.
 */
#include "rows/arguments.h"
#include "base/nearest.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- values ---- */

int hdx_word_place(const char *words, const char *word, size_t len)
{
    int place = 0;
    for (const char *p = words; p != NULL && *p != '\0'; place++) {
        const size_t n = strcspn(p, " ");
        if (n == len && memcmp(p, word, n) == 0)
            return place;
        p += n;
        p += *p == ' ';
    }
    return -1;
}

static bool number_of(const char *text, uint64_t *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false; /* strtoull would accept signs and blanks */
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

/* ---- by name ---- */

static const hdx_parameter *declared(const hdx_parameter *at, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(at[i].name, name) == 0)
            return &at[i];
    return NULL;
}

static const hdx_argument *given(const hdx_arguments *a, const char *name)
{
    for (size_t i = a->count; i-- > 0;)
        if (strcmp(a->at[i].name, name) == 0)
            return &a->at[i];
    return NULL;
}

const char *hdx_argument_text(const hdx_arguments *a, const char *name)
{
    const hdx_parameter *p = declared(a->answer->parameters, a->answer->parameter_count, name);
    const hdx_argument  *g = given(a, name);
    if (g != NULL)
        return g->value != NULL ? g->value : "true";
    return p != NULL ? p->preset : NULL;
}

bool hdx_argument_declared(const hdx_arguments *a, const char *name)
{
    return declared(a->answer->parameters, a->answer->parameter_count, name) != NULL;
}

bool hdx_argument_flag(const hdx_arguments *a, const char *name)
{
    const char *text = hdx_argument_text(a, name);
    return text != NULL && strcmp(text, "true") == 0;
}

bool hdx_argument_plain(const hdx_arguments *a)
{
    const hdx_argument *g = given(a, "document");
    return g != NULL && g->value != NULL && strcmp(g->value, "false") == 0;
}

uint64_t hdx_argument_number(const hdx_arguments *a, const char *name)
{
    const char *text = hdx_argument_text(a, name);
    uint64_t    n = 0;
    return text != NULL && hdx_size_of(text, &n) ? n : 0;
}

hdx_code hdx_argument_share(const hdx_arguments *a, const char *name, uint64_t whole, uint64_t *out, hdx_error *err)
{
    const char  *text = hdx_argument_text(a, name);
    const size_t len = text != NULL ? strlen(text) : 0;
    char        *end = NULL;
    *out = 0;
    if (len == 0)
        return HDX_OK;
    const double part = strtod(text, &end);
    if (len > 1 && text[len - 1] == '%' && end == text + len - 1 && part >= 0 && part <= 100) {
        *out = (uint64_t)(part / 100 * (double)whole);
        return HDX_OK;
    }
    return hdx_size_of(text, out)
               ? HDX_OK
               : hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                          "%s '%.40s': expected a share such as 0.1%%, or a number such as 500 or 2M", name, text);
}

int hdx_argument_choice(const hdx_arguments *a, const char *name)
{
    const hdx_parameter *p = declared(a->answer->parameters, a->answer->parameter_count, name);
    const char          *text = hdx_argument_text(a, name);
    return p == NULL || text == NULL ? -1 : hdx_word_place(p->choices, text, strlen(text));
}

/* Reads the next word of a comma-separated list at *at and moves *at past it. */
static bool next_word(const char **at, const char **word, size_t *len)
{
    if (*at == NULL)
        return false;
    *word = *at;
    *len = strcspn(*at, ",");
    *at = (*at)[*len] == ',' ? *at + *len + 1 : NULL;
    return true;
}

unsigned hdx_argument_choices(const hdx_arguments *a, const char *name)
{
    const hdx_parameter *p = declared(a->answer->parameters, a->answer->parameter_count, name);
    unsigned             set = 0;
    for (size_t i = 0; p != NULL && i < a->count; i++) {
        const char *at = strcmp(a->at[i].name, name) == 0 ? a->at[i].value : NULL, *word;
        size_t      len;
        while (next_word(&at, &word, &len)) {
            const int place = hdx_word_place(p->choices, word, len);
            if (place >= 0)
                set |= 1u << place;
        }
    }
    return set;
}

hdx_code hdx_argument_texts(const hdx_arguments *a, const char *name, hdx_arena *arena, const char *const **at,
                            size_t *count, hdx_error *err)
{
    const char **texts = hdx_arena_get(arena, (a->count + 1) * sizeof *texts);
    *at = texts;
    *count = 0;
    if (texts == NULL)
        return hdx_no_memory(err, "arguments", a->count * sizeof *texts);
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->at[i].name, name) == 0)
            texts[(*count)++] = a->at[i].value;
    return HDX_OK;
}

/* ---- checking ---- */

static hdx_code none_of(const char *before, const char *name, const char *value, int len, const char *choices,
                        hdx_error *err)
{
    char        wanted[64], words[256], list[256];
    hdx_nearest nearest;
    size_t      n = 0;
    (void)snprintf(wanted, sizeof wanted, "%.*s", len, value);
    (void)snprintf(words, sizeof words, "%s", choices);
    (void)snprintf(list, sizeof list, "%s", choices);
    nearest = (hdx_nearest){ .wanted = wanted };
    for (char *word = words; *word != '\0'; word += n) { /* splits `words` in place */
        n = strcspn(word, " ");
        const bool last = word[n] == '\0';
        word[n] = '\0';
        hdx_nearest_offer(&nearest, word);
        n += !last;
    }
    hdx_code code = hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s%s '%s' is none of: %s", before, name, wanted, list);
    return nearest.best != NULL ? hdx_hint(err, code, "did you mean '%s'?", nearest.best) : code;
}

static hdx_code check_value(const hdx_parameter *p, const char *value, const char *before, hdx_error *err)
{
    const char *at = value, *word;
    size_t      len;
    uint64_t    n;
    if (p->kind == HDX_PARAMETER_FLAG) {
        if (value == NULL || strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
            return HDX_OK;
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s%s must be true or false, not '%.40s'", before, p->name,
                        value);
    }
    if (value == NULL)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s%s needs a value: %s", before, p->name, p->value);
    switch (p->kind) {
    case HDX_PARAMETER_NUMBER:
        if (number_of(value, &n) && n >= p->least && (p->most == 0 || n <= p->most))
            return HDX_OK;
        if (p->most == 0)
            return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s%s '%.60s': expected a whole number from %llu",
                            before, p->name, value, (unsigned long long)p->least);
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s%s '%.60s': expected a whole number from %llu to %llu",
                        before, p->name, value, (unsigned long long)p->least, (unsigned long long)p->most);
    case HDX_PARAMETER_SIZE:
        if (hdx_size_of(value, &n))
            return HDX_OK;
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s%s '%.60s': expected a size such as 768M, 4G or 1048576",
                        before, p->name, value);
    case HDX_PARAMETER_CHOICE:
        if (hdx_word_place(p->choices, value, strlen(value)) >= 0)
            return HDX_OK;
        return none_of(before, p->name, value, 40, p->choices, err);
    case HDX_PARAMETER_CHOICES:
        while (next_word(&at, &word, &len))
            if (hdx_word_place(p->choices, word, len) < 0)
                return none_of(before, p->name, word, (int)(len < 40 ? len : 40), p->choices, err);
        return HDX_OK;
    case HDX_PARAMETER_FIELD:
        if (strchr(value, '#') != NULL)
            return HDX_OK;
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                        "%s%s '%.60s': expected CLASS#FIELD, such as com.acme.Cache#entries", before, p->name, value);
    default: return HDX_OK;
    }
}

static hdx_code check_combination(const hdx_arguments *a, const hdx_parameter *p, const char *before, hdx_error *err)
{
    for (const char *word = p->excludes; word != NULL && *word != '\0';) {
        char   name[64];
        size_t len = strcspn(word, " ");
        (void)snprintf(name, sizeof name, "%.*s", (int)len, word);
        if (given(a, name) != NULL)
            return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s%s and %s%s cannot be used together", before, p->name,
                            before, name);
        word += len;
        word += *word == ' ';
    }
    if (p->needs != NULL && given(a, p->needs) == NULL)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s%s needs %s%s", before, p->name, before, p->needs);
    return HDX_OK;
}

/* A second pattern is refused, because the first would be ignored silently. Of two numbers the last one applies. */
static bool is_once(const hdx_parameter *p)
{
    return p->kind == HDX_PARAMETER_CLASSES && (p->flags & HDX_PARAMETER_REPEATED) == 0;
}

static bool is_false(const hdx_parameter *p, const hdx_argument *g)
{
    return p->kind == HDX_PARAMETER_FLAG && g->value != NULL && strcmp(g->value, "false") == 0;
}

static hdx_code unknown(const hdx_arguments *a, const char *name, const hdx_parameter *common, size_t common_count,
                        const char *before, hdx_error *err)
{
    hdx_nearest near = { .wanted = name };
    for (unsigned i = 0; i < a->answer->parameter_count; i++)
        hdx_nearest_offer(&near, a->answer->parameters[i].name);
    for (size_t i = 0; i < common_count; i++)
        hdx_nearest_offer(&near, common[i].name);
    hdx_code code = hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "'%s' takes no %s%.60s", a->answer->name, before, name);
    return near.best != NULL ? hdx_hint(err, code, "did you mean %s%s?", before, near.best) : code;
}

/* The name of a parameter in messages: "--class PATTERN", "OBJECT". */
static void put_name(const hdx_parameter *p, const char *before, char *to, size_t size)
{
    if (p->flags & HDX_PARAMETER_WORD)
        (void)snprintf(to, size, "%s", p->value);
    else
        (void)snprintf(to, size, "%s%s%s%s", before, p->name, p->value != NULL ? " " : "",
                       p->value != NULL ? p->value : "");
}

static hdx_code check_either(const hdx_arguments *a, const char *before, hdx_error *err)
{
    char     names[256] = "", name[64];
    unsigned of = 0, have = 0;
    for (unsigned i = 0; i < a->answer->parameter_count; i++) {
        const hdx_parameter *p = &a->answer->parameters[i];
        if ((p->flags & HDX_PARAMETER_EITHER) == 0)
            continue;
        put_name(p, before, name, sizeof name);
        (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", of++ > 0 ? " or " : "", name);
        have += given(a, p->name) != NULL;
    }
    if (of == 0 || have > 0)
        return HDX_OK;
    return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "'%s' takes %s, but got %s", a->answer->name, names,
                    of > 2 ? "none" : "neither");
}

hdx_code hdx_arguments_check(const hdx_arguments *a, const hdx_parameter *common, size_t common_count,
                             const char *before, hdx_error *err)
{
    hdx_code code;
    for (size_t i = 0; i < a->count; i++) {
        const hdx_argument  *g = &a->at[i];
        const hdx_parameter *p = declared(a->answer->parameters, a->answer->parameter_count, g->name);
        if (p == NULL)
            p = declared(common, common_count, g->name);
        if (p == NULL)
            return unknown(a, g->name, common, common_count, before, err);
        if (is_once(p) && given(a, p->name) != g)
            return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s%s is given twice", before, p->name);
        if ((code = check_value(p, g->value, before, err)) != HDX_OK ||
            (!is_false(p, g) && (code = check_combination(a, p, before, err)) != HDX_OK))
            return code;
    }
    for (unsigned i = 0; i < a->answer->parameter_count; i++) {
        const hdx_parameter *p = &a->answer->parameters[i];
        if ((p->flags & HDX_PARAMETER_REQUIRED) == 0 || given(a, p->name) != NULL)
            continue;
        char name[64];
        put_name(p, before, name, sizeof name);
        code = hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "'%s' needs %s", a->answer->name, name);
        return p->choices != NULL ? hdx_hint(err, code, "there are: %s", p->choices) : code;
    }
    return check_either(a, before, err);
}

const hdx_form *hdx_arguments_form(const hdx_arguments *a)
{
    const hdx_answer *answer = a->answer;
    assert(answer->form_count > 0);
    for (unsigned i = 0; i < answer->form_count; i++) {
        const hdx_form *form = &answer->forms[i];
        const char     *text = form->parameter != NULL ? hdx_argument_text(a, form->parameter) : NULL;
        if (form->parameter == NULL || (text != NULL && strcmp(text, form->is) == 0))
            return form;
    }
    return &answer->forms[0];
}
