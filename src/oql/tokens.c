/*
 * tokens.c - splits the text of a query into tokens.
 *
 * Names are Java's: letters, digits, _, $ and everything that is not ASCII. Keywords are names, and the parser decides
 * where they are keywords: a package may be called "objects". Comments are those of Java.
 */
#include "oql/oql.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80) != 0;
}

/* Skips spaces and comments; false: a comment is not closed. */
static bool skip(oql *o, uint32_t *at)
{
    const char *s = o->text;
    for (;;) {
        while (s[*at] == ' ' || s[*at] == '\t' || s[*at] == '\n' || s[*at] == '\r' || s[*at] == '\f')
            ++*at;
        if (s[*at] != '/' || (s[*at + 1] != '/' && s[*at + 1] != '*'))
            return true;
        const bool  line = s[*at + 1] == '/';
        const char *end = strstr(s + *at + 2, line ? "\n" : "*/");
        if (end == NULL && !line) {
            hdx_oql_refuse(o, *at, NULL, "the comment is not closed");
            return false;
        }
        *at = end == NULL ? o->len : (uint32_t)(end - s) + (line ? 1 : 2);
    }
}

static uint32_t number_end(const char *s, uint32_t at)
{
    if (s[at] == '0' && (s[at + 1] == 'x' || s[at + 1] == 'X')) {
        for (at += 2; is_hex(s[at]);)
            at++;
    } else {
        while (is_digit(s[at]))
            at++;
        if (s[at] == '.' && is_digit(s[at + 1]))
            for (at++; is_digit(s[at]);)
                at++;
        const uint32_t sign = s[at] != '\0' && (s[at + 1] == '-' || s[at + 1] == '+');
        if ((s[at] == 'e' || s[at] == 'E') && is_digit(s[at + 1 + sign]))
            for (at += 2 + sign; is_digit(s[at]);)
                at++;
        if (s[at] != '\0' && strchr("fFdD", s[at]) != NULL)
            at++;
    }
    return s[at] == 'L' || s[at] == 'l' ? at + 1 : at;
}

/* Returns the end of a string; 0: it is not closed. In single quotes two quotes mean one, as in SQL. */
static uint32_t string_end(const char *s, uint32_t at)
{
    const char quote = s[at];
    for (at++; s[at] != '\0'; at++) {
        if (s[at] == '\\' && s[at + 1] != '\0')
            at++;
        else if (s[at] == quote && quote == '\'' && s[at + 1] == quote)
            at++;
        else if (s[at] == quote)
            return at + 1;
    }
    return 0;
}

static uint32_t sign_length(const char *s)
{
    static const char *const longer[] = { "===", "!==", "==", "!=", "<>", "<=", ">=", "=>", "&&", "||", "${" };
    for (unsigned i = 0; i < sizeof longer / sizeof *longer; i++)
        if (strncmp(s, longer[i], strlen(longer[i])) == 0)
            return (uint32_t)strlen(longer[i]);
    return strchr("()[]{}.,:@=<>+-*/!?%;", s[0]) != NULL ? 1 : 0;
}

static bool one_token(oql *o, oql_token *t)
{
    const char *s = o->text;
    uint32_t    at = t->at;
    if (s[at] == '\0')
        t->kind = OQL_END;
    else if (begins_name(s[at]) && !(s[at] == '$' && s[at + 1] == '{')) {
        t->kind = OQL_NAME;
        while (begins_name(s[at]) || is_digit(s[at]))
            at++;
    } else if (is_digit(s[at])) {
        t->kind = OQL_NUMBER;
        at = number_end(s, at);
        if (begins_name(s[at])) {
            hdx_oql_refuse(o, t->at, NULL, "\"%.*s\" is not a number", (int)(at - t->at + 1), s + t->at);
            return false;
        }
    } else if (s[at] == '"' || s[at] == '\'') {
        t->kind = s[at] == '"' ? OQL_STRING : OQL_QUOTED;
        if ((at = string_end(s, at)) == 0) {
            hdx_oql_refuse(o, t->at, NULL, "the quoted text is not closed");
            return false;
        }
    } else {
        t->kind = OQL_SIGN;
        const uint32_t n = sign_length(s + at);
        if (n == 0) {
            hdx_oql_refuse(o, at, s[at] == '`' ? "write quoted names as \"...\"" : NULL, "unexpected character %.*s",
                           (unsigned char)s[at] < ' ' ? 0 : 1, s + at);
            return false;
        }
        at += n;
    }
    t->len = at - t->at;
    return true;
}

bool hdx_oql_tokens(oql *o)
{
    uint32_t at = 0;
    /* At most one token per byte, and the end. */
    if ((o->tokens = hdx_oql_get(o, ((uint64_t)o->len + 1) * sizeof *o->tokens)) == NULL)
        return false;
    for (;;) {
        if (!skip(o, &at))
            return false;
        oql_token *t = &o->tokens[o->token_count];
        t->at = at;
        if (!one_token(o, t))
            return false;
        o->token_count++;
        if (t->kind == OQL_END)
            return true;
        at += t->len;
    }
}

/* ---- quoted texts ---- */

static uint32_t hex_value(const char *s, unsigned n)
{
    uint32_t v = 0;
    for (unsigned i = 0; i < n; i++) {
        if (!is_hex(s[i]))
            return UINT32_MAX;
        v = v * 16 + (uint32_t)(is_digit(s[i]) ? s[i] - '0' : (s[i] | 0x20) - 'a' + 10);
    }
    return v;
}

/* An unpaired surrogate is three bytes, as in the texts of the index. */
static char *put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
        return out;
    }
    if (c >= 0x10000) {
        *out++ = (char)(0xf0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3f));
    } else if (c >= 0x800)
        *out++ = (char)(0xe0 | c >> 12);
    else {
        *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3f));
        return out;
    }
    *out++ = (char)(0x80 | (c >> 6 & 0x3f));
    *out++ = (char)(0x80 | (c & 0x3f));
    return out;
}

/*
 * Reads \u and four hexadecimal digits at s; a pair of surrogates is one character. Returns the number of bytes used;
 * 0: invalid.
 */
static uint32_t unicode_escape(const char *s, const char *end, uint32_t *c)
{
    if (end - s < 6 || (*c = hex_value(s + 2, 4)) == UINT32_MAX || *c == 0)
        return 0;
    if (*c >= 0xd800 && *c < 0xdc00 && end - s >= 12 && s[6] == '\\' && s[7] == 'u') {
        const uint32_t low = hex_value(s + 8, 4);
        if (low >= 0xdc00 && low < 0xe000) {
            *c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
            return 12;
        }
    }
    return 6;
}

const char *hdx_oql_unquote(oql *o, const oql_token *t)
{
    static const char names[] = "ntbrf", means[] = "\n\t\b\r\f";
    const char       *s = o->text + t->at + 1, *end = o->text + t->at + t->len - 1, *found;
    char             *out = hdx_oql_get(o, t->len), *at = out;
    uint32_t          c, used;
    if (out == NULL)
        return NULL;
    while (s < end) {
        if (*s == '\'' && t->kind == OQL_QUOTED) { /* two quotes mean one */
            *at++ = '\'';
            s += 2;
        } else if (*s != '\\')
            *at++ = *s++;
        else if ((found = strchr(names, s[1])) != NULL) {
            *at++ = means[found - names];
            s += 2;
        } else if (s[1] == 'u') {
            if ((used = unicode_escape(s, end, &c)) == 0)
                return hdx_oql_refuse(o, (uint32_t)(s - o->text), NULL, "\\u needs four hexadecimal digits, not 0000");
            at = put_utf8(at, c);
            s += used;
        } else { /* quotes, backslashes; in an escape that Java does not have both characters stay */
            if (strchr("\\\"'", s[1]) == NULL)
                *at++ = '\\';
            *at++ = s[1];
            s += 2;
        }
    }
    *at = '\0';
    return out;
}

const char *hdx_oql_unquote_pattern(oql *o, const oql_token *t)
{
    const char *s = o->text + t->at + 1, *end = o->text + t->at + t->len - 1;
    char       *out = hdx_oql_get(o, t->len), *at = out;
    if (out == NULL)
        return NULL;
    while (s < end) {
        if ((*s == '\'' && t->kind == OQL_QUOTED) || (*s == '\\' && s[1] == '"'))
            s++;
        else if (*s == '\\')
            *at++ = *s++;
        *at++ = *s++;
    }
    *at = '\0';
    return out;
}
