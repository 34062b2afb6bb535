/*
 * regex.c - converts a regular expression of Java to one of PCRE2.
 *
 * Most constructs are equal: groups, look-around, lazy and possessive quantifiers, \d \w \s \b \Q..\E, flags i m s x.
 * These differ:
 *
 *     Java                              here
 *     [a-z&&[^aeiou]], [a[b-d]]         look-ahead: (?:(?=[a-z])(?=(?![aeiou])(?s:.))(?s:.))
 *     \p{Lower} \p{ASCII} ...           [[:lower:]] [[:ascii:]]: ASCII alone, as in Java
 *     \p{IsLatin} \p{IsAlphabetic}      \p{Latin} \p{Alphabetic}; \p{IsL} \p{gc=L} \p{general_category=L}: \p{L}
 *     \p{javaLowerCase} ...             \p{Ll} and similar ones; refused if Unicode has no such property
 *     \p{InGreek}                       refused: PCRE2 knows scripts, not blocks
 *     \u0041 \0101 \cA                  \x{41}; pairs of surrogates are one character
 *     \11 with one group                \g{1}1: Java takes as many digits as there are groups
 *     (?U) (?d)                         refused: PCRE2 gives U another meaning
 *     (?u)                              omitted: (?i) is Unicode's
 *     \K \g \C \N (*VERB) (?1) (?R)     refused: not in Java
 *
 * A dot also matches line feeds: MAT matches its own escaped form of the text, in which a line feed is \u000a, and a
 * dot matches that.
 */
#include "oql/oql.h"

#include <stdio.h>

#define CLASSES 32u /* maximum nesting */

typedef struct regex {
    oql        *o;
    uint32_t    at; /* offset in the query, for messages */
    const char *s;  /* current position */
    hdx_buffer  out;
    unsigned    groups;
} regex;

static bool no_java(regex *r, const char *hint, const char *what, const char *s, int len)
{
    hdx_oql_refuse(r->o, r->at, hint, "the regular expression has %s \"%.*s\"", what, len, s);
    return false;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_octal(char c) { return c >= '0' && c <= '7'; }

static void put_char(regex *r, uint32_t c) { hdx_buffer_format(&r->out, "\\x{%x}", c); }

/* Writes a character that stands for itself, inside a class and outside. */
static void put_itself(regex *r, char c)
{
    if ((c & 0x80) == 0 && !is_letter(c) && !is_digit(c) && c != '_' && (unsigned char)c > ' ')
        hdx_buffer_put(&r->out, "\\", 1);
    hdx_buffer_put(&r->out, &c, 1);
}

/* ---- properties ---- */

static const struct {
    const char *java, *posix, *unicode; /* one of the two */
} properties[] = {
    { "Lower", "lower", NULL },
    { "Upper", "upper", NULL },
    { "ASCII", "ascii", NULL },
    { "Alpha", "alpha", NULL },
    { "Digit", "digit", NULL },
    { "Alnum", "alnum", NULL },
    { "Punct", "punct", NULL },
    { "Graph", "graph", NULL },
    { "Print", "print", NULL },
    { "Blank", "blank", NULL },
    { "Cntrl", "cntrl", NULL },
    { "XDigit", "xdigit", NULL },
    { "Space", "space", NULL },
    { "javaLowerCase", NULL, "Lowercase" },
    { "javaUpperCase", NULL, "Uppercase" },
    { "javaLetter", NULL, "L" },
    { "javaDigit", NULL, "Nd" },
    { "javaTitleCase", NULL, "Lt" },
    { "javaAlphabetic", NULL, "Alphabetic" },
    { "javaIdeographic", NULL, "Ideographic" },
    { "javaSpaceChar", NULL, "Z" },
};

static bool is_category(const char *s, size_t len)
{
    static const char *const all = " C Cc Cf Cn Co Cs L Ll Lm Lo Lt Lu LC M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps "
                                   "S Sc Sk Sm So Z Zl Zp Zs ";
    char                     word[8];
    if (len < 1 || len > 2)
        return false;
    (void)snprintf(word, sizeof word, " %.*s ", (int)len, s);
    return strstr(all, word) != NULL;
}

static bool begins(const char **s, size_t *len, const char *with)
{
    const size_t n = strlen(with);
    if (*len <= n || strncmp(*s, with, n) != 0)
        return false;
    *s += n;
    *len -= n;
    return true;
}

/* Converts \p{...} and \pL; s is after the p. inside: in a class. */
static bool property(regex *r, bool inside)
{
    bool not = r->s[-1] == 'P';
    const char *s = r->s, *end = s + 1;
    size_t      len = 1;
    if (*s == '{') {
        end = strchr(++s, '}');
        if (end == NULL)
            return no_java(r, NULL, "an unclosed", s - 3, 4);
        len = (size_t)(end++ - s);
    } else if (*s == '\0')
        return no_java(r, NULL, "nothing after", s - 2, 2);
    r->s = end;
    const char *whole = s;
    const int   whole_len = (int)(len > 60 ? 60 : len);
    for (unsigned i = 0; i < sizeof properties / sizeof *properties; i++)
        if (strlen(properties[i].java) == len && strncmp(properties[i].java, s, len) == 0) {
            if (properties[i].unicode != NULL)
                hdx_buffer_format(&r->out, "\\%c{%s}", not ? 'P' : 'p', properties[i].unicode);
            else
                hdx_buffer_format(&r->out, "%s[:%s%s:]%s", inside ? "" : "[", not ? "^" : "", properties[i].posix,
                                  inside ? "" : "]");
            return true;
        }
    const bool category = begins(&s, &len, "gc=") || begins(&s, &len, "general_category=");
    const bool script = !category && (begins(&s, &len, "script=") || begins(&s, &len, "sc=") || begins(&s, &len, "Is"));
    if (is_category(s, len)) /* LC is L& in PCRE2 */
        hdx_buffer_format(&r->out, "\\%c{%.*s}", not ? 'P' : 'p', (int)len,
                          len == 2 && s[1] == 'C' && s[0] == 'L' ? "L&" : s);
    else if (script && len == 8 && strncmp(s, "Assigned", 8) == 0)
        hdx_buffer_format(&r->out, "\\%c{Cn}", not ? 'p' : 'P');
    else if (script && strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_") >= len)
        hdx_buffer_format(&r->out, "\\%c{%.*s}", not ? 'P' : 'p', (int)len, s);
    else
        return no_java(r, "scripts (\\p{IsGreek}) and categories (\\p{Lu}) are known", "an unknown property", whole,
                       whole_len);
    return true;
}

/* ---- escapes ---- */

static bool hex_digits(const char *s, unsigned n, uint32_t *out)
{
    *out = 0;
    for (unsigned i = 0; i < n; i++) {
        const char c = s[i];
        if (!is_digit(c) && !(is_letter(c) && (c | 0x20) <= 'f'))
            return false;
        *out = *out * 16 + (uint32_t)(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return true;
}

static bool unicode(regex *r)
{
    uint32_t c, low;
    if (!hex_digits(r->s, 4, &c))
        return no_java(r, NULL, "expected four hexadecimal digits after", r->s - 2, 2);
    r->s += 4;
    if (c >= 0xd800 && c < 0xdc00 && r->s[0] == '\\' && r->s[1] == 'u' && hex_digits(r->s + 2, 4, &low) &&
        low >= 0xdc00 && low < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        r->s += 6;
    } else if (c >= 0xd800 && c < 0xe000)
        return no_java(r, "a text cannot contain half of a surrogate pair", "half of a pair of surrogates", r->s - 6,
                       6);
    put_char(r, c);
    return true;
}

static bool octal(regex *r) /* \0n, \0nn, \0mnn with m <= 3 */
{
    uint32_t       c = 0;
    unsigned       n = 0;
    const unsigned most = *r->s <= '3' ? 3 : 2;
    for (; n < most && is_octal(*r->s); n++)
        c = c * 8 + (uint32_t)(*r->s++ - '0');
    if (n == 0)
        return no_java(r, NULL, "no octal digit after", "\\0", 2);
    put_char(r, c);
    return true;
}

static bool hexadecimal(regex *r)
{
    uint32_t    c;
    const char *end = r->s[0] == '{' ? strchr(r->s, '}') : r->s + 2;
    if (r->s[0] == '{' && end != NULL && end - r->s <= 9 && end - r->s > 1 &&
        hex_digits(r->s + 1, (unsigned)(end - r->s - 1), &c) && c <= 0x10ffff)
        r->s = end + 1;
    else if (r->s[0] != '{' && hex_digits(r->s, 2, &c))
        r->s += 2;
    else
        return no_java(r, NULL, "no hexadecimal number after", "\\x", 2);
    put_char(r, c);
    return true;
}

static bool back_reference(regex *r) /* as many digits as refer to a group that was opened before */
{
    unsigned n = (unsigned)(*r->s++ - '0');
    while (is_digit(*r->s) && n * 10 + (unsigned)(*r->s - '0') <= r->groups)
        n = n * 10 + (unsigned)(*r->s++ - '0');
    hdx_buffer_format(&r->out, "\\g{%u}", n);
    return true;
}

/* Converts what follows a backslash. A class has no anchors and no references. */
static bool escape(regex *r, bool inside)
{
    const char c = *r->s;
    if (c == '\0')
        return no_java(r, NULL, "no character after its last", "\\", 1);
    if (c == 'p' || c == 'P') {
        r->s++;
        return property(r, inside);
    }
    if (is_digit(c) && c != '0' && !inside)
        return back_reference(r);
    r->s++;
    switch (c) {
    case 'u': return unicode(r);
    case 'x': return hexadecimal(r);
    case '0': return octal(r);
    case 'c':
        if (*r->s == '\0' || (*r->s & 0x80) != 0)
            return no_java(r, NULL, "no character after", "\\c", 2);
        put_char(r, (uint32_t)(unsigned char)*r->s++ ^ 64u);
        return true;
    default: break;
    }
    if (is_letter(c) &&
        (strchr(inside ? "tnrfaedDhHsSvVwW" : "tnrfaedDhHsSvVwWbBAGZzRXk", c) == NULL || (c == 'b' && *r->s == '{')))
        return no_java(r, NULL, "an escape that Java does not have:", r->s - 2, 2);
    if (is_letter(c))
        hdx_buffer_format(&r->out, "\\%c", c);
    else
        put_itself(r, c);
    return true;
}

/* After \Q each character up to \E stands for itself. */
static void quoted(regex *r)
{
    while (*r->s != '\0' && !(r->s[0] == '\\' && r->s[1] == 'E'))
        put_itself(r, *r->s++);
    r->s += *r->s == '\0' ? 0 : 2;
}

/* ---- classes of characters ---- */

/* Returns whether the class that begins here has no && and no nested classes. */
static bool is_simple_class(const char *s)
{
    s += s[0] == '^';
    s += s[0] == ']';
    for (; *s != '\0' && *s != ']'; s++) {
        if (*s == '[' || (s[0] == '&' && s[1] == '&') || (s[0] == '\\' && s[1] == 'Q'))
            return false;
        if (*s == '\\' && s[1] != '\0')
            s++;
    }
    return true;
}

/* Converts one item with its escapes. */
static bool class_item(regex *r)
{
    if (*r->s == '\\') {
        r->s++;
        return escape(r, true);
    }
    if (*r->s == '-' && r->s[1] != ']')
        hdx_buffer_put(&r->out, "-", 1);
    else if (*r->s == '^' || *r->s == '-' || *r->s == '[' || *r->s == ']')
        put_itself(r, *r->s);
    else
        hdx_buffer_put(&r->out, r->s, 1);
    r->s++;
    return true;
}

static bool simple_class(regex *r)
{
    hdx_buffer_put(&r->out, "[", 1);
    if (*r->s == '^') {
        hdx_buffer_put(&r->out, "^", 1);
        r->s++;
    }
    for (bool first = true; *r->s != '\0' && (*r->s != ']' || first); first = false)
        if (!class_item(r))
            return false;
    if (*r->s != ']')
        return no_java(r, NULL, "an unclosed", "[", 1);
    r->s++;
    hdx_buffer_put(&r->out, "]", 1);
    return true;
}

/*
 * Converts a class with && or nested classes: each operand of && becomes a look-ahead for its alternatives, and any
 * character is matched last. For a class with ^ all of that becomes a look-ahead that must fail. r->s is after the
 * first [.
 *
 *     [a[bc]&&d]   (?: (?= [a] | [bc] ) (?= [d] ) (?s:.) )       [^...]   (?: (?! (?=...) (?=...) ) (?s:.) )
 */
static bool nested_class(regex *r)
{
    bool     negated[CLASSES] = { false };
    bool     operand = false, run = false; /* the operand has items; a run of plain items is open */
    unsigned depth = 0;
    negated[0] = *r->s == '^';
    r->s += negated[0];
    hdx_buffer_text(&r->out, negated[0] ? "(?:(?!(?=" : "(?:(?=");
    for (;;) {
        const char c = *r->s;
        if (c == '\0')
            return no_java(r, NULL, "an unclosed", "[", 1);
        const bool and_also = c == '&' && r->s[1] == '&';
        if (run && (c == '[' || c == ']' || and_also)) {
            hdx_buffer_text(&r->out, "]");
            run = false;
        }
        if (c == '[') {
            if (is_simple_class(++r->s) || ++depth == CLASSES) {
                if (depth == CLASSES)
                    return no_java(r, NULL, "more than 31 classes nested in each other, as in", "[[[", 3);
                hdx_buffer_text(&r->out, operand ? "|" : "");
                operand = true;
                if (!simple_class(r))
                    return false;
                continue;
            }
            negated[depth] = *r->s == '^';
            r->s += negated[depth];
            hdx_buffer_text(&r->out, operand ? "|" : "");
            hdx_buffer_text(&r->out, negated[depth] ? "(?:(?!(?=" : "(?:(?=");
            operand = false;
        } else if (c == ']' || and_also) {
            if (!operand)
                return no_java(r, NULL, "nothing before", r->s, and_also ? 2 : 1);
            hdx_buffer_text(&r->out, and_also ? ")(?=" : negated[depth] ? "))(?s:.))" : ")(?s:.))");
            r->s += and_also ? 2 : 1;
            operand = !and_also;
            if (c == ']' && depth-- == 0)
                return true;
        } else {
            if (!run)
                hdx_buffer_text(&r->out, operand ? "|[" : "[");
            run = operand = true;
            if (c == '\\' && r->s[1] == 'Q') {
                r->s += 2;
                quoted(r);
            } else if (c == '^') {
                put_itself(r, *r->s++);
            } else if (!class_item(r))
                return false;
        }
    }
}

/* ---- groups ---- */

/* Converts what follows "(": the construct after "?" must exist in Java. */
static bool group(regex *r)
{
    static const char *const known[] = { "?:", "?=", "?!", "?>", "?<=", "?<!" };
    hdx_buffer_put(&r->out, "(", 1);
    if (*r->s == '*')
        return no_java(r, NULL, "a construct that Java does not have:", "(*", 2);
    if (*r->s != '?') {
        r->groups++;
        return true;
    }
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(r->s, known[i], strlen(known[i])) == 0) {
            hdx_buffer_text(&r->out, known[i]);
            r->s += strlen(known[i]);
            return true;
        }
    if (r->s[1] == '<' && is_letter(r->s[2])) {
        r->groups++;
        hdx_buffer_put(&r->out, r->s, 2);
        r->s += 2;
        return true;
    }
    const size_t n = strspn(r->s + 1, "imsxu-");
    if (r->s[1 + n] != ')' && r->s[1 + n] != ':')
        return no_java(r, r->s[1 + n] == 'U' ? "use \\p{L} instead of \\w" : NULL,
                       "a group that Java does not have, or without equivalent:", r->s - 1, 3);
    hdx_buffer_put(&r->out, "?", 1);
    for (r->s++; *r->s != ')' && *r->s != ':'; r->s++)
        if (*r->s != 'u')
            hdx_buffer_put(&r->out, r->s, 1);
    hdx_buffer_put(&r->out, r->s, 1);
    r->s++;
    return true;
}

static bool whole(regex *r)
{
    while (*r->s != '\0') {
        const char c = *r->s++;
        bool       ok = true;
        if (c == '\\' && *r->s == 'Q') {
            r->s++;
            quoted(r);
        } else if (c == '\\')
            ok = escape(r, false);
        else if (c == '[')
            ok = is_simple_class(r->s) ? simple_class(r) : nested_class(r);
        else if (c == '(')
            ok = group(r);
        else
            hdx_buffer_put(&r->out, &c, 1);
        if (!ok)
            return false;
    }
    return true;
}

const char *hdx_oql_regex(oql *o, uint32_t at, const char *java)
{
    regex       r = { .o = o, .at = at, .s = java, .out = hdx_buffer_of(o->arena.mem) };
    const char *out = NULL;
    hdx_regex  *compiled;
    hdx_error   why;
    if (java == NULL)
        return NULL;
    hdx_buffer_text(&r.out, "");
    if (!whole(&r))
        goto out;
    if (r.out.failed) {
        hdx_oql_fail(o, hdx_no_memory(NULL, "", 0), at, NULL, "no memory for a regular expression");
        goto out;
    }
    /*
     * Errors are reported before the query runs: an unclosed group, or what PCRE2 cannot do (a look-behind of unknown
     * length).
     */
    if (hdx_regex_open(r.out.at, r.out.len, NULL, &compiled, &why) != HDX_OK)
        hdx_oql_fail(o, why.code, at, why.hint, "%s", why.message);
    else
        out = hdx_oql_format(o, "%s", r.out.at);
    hdx_regex_close(compiled);
out:
    hdx_buffer_free(&r.out);
    return out;
}
