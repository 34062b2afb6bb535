/*
 * parse.c - makes a tree from tokens.
 *
 *     select     SELECT [DISTINCT | AS RETAINED SET] [OBJECTS] (* | item, ...) FROM source [alias] [WHERE condition]
 *                [GROUP BY value, ...] [HAVING condition] [ORDER BY value [ASC | DESC], ...] [LIMIT n] [OFFSET n]
 *                [UNION [ALL] ( select )] ...
 *     item       value [[AS] name]
 *     source     [OBJECTS] [INSTANCEOF] (class | "pattern" | 0xaddress, ... | ( select ) | path)
 *     condition  with OR, AND, NOT, = != < <= > >=, [NOT] LIKE "pattern", [NOT] IN, IMPLEMENTS; || && ! == as well
 *     value      sums and products of literals, calls and paths: s.field.@attribute.method(...)[3]
 *
 * Descends by recursion, one level of nesting a call, HDX_OQL_DEPTH levels at most; chains (a.b.c, a + b + c) are read
 * by loops, and the depth of the resulting tree has the same limit (INVARIANT 2 of oql.h).
 */
#include "oql/oql.h"

#include <strings.h>

typedef struct parser {
    oql      *o;
    uint32_t  at; /* index of the current token */
    unsigned  depth;
    oql_node *made;
} parser;

static oql_node   *condition(parser *p);
static oql_node   *value_of(parser *p);
static oql_select *select_of(parser *p);

/* ---- tokens ---- */

static const oql_token *token(const parser *p, uint32_t ahead)
{
    const uint32_t last = p->o->token_count - 1;
    return &p->o->tokens[p->at + ahead > last ? last : p->at + ahead];
}

static bool token_is(const parser *p, const oql_token *t, const char *text)
{
    return (t->kind == OQL_NAME || t->kind == OQL_SIGN) && t->len == strlen(text) &&
           strncasecmp(p->o->text + t->at, text, t->len) == 0;
}

static bool is(const parser *p, const char *text) { return token_is(p, token(p, 0), text); }
static bool is_then(const parser *p, const char *text, const char *then)
{
    return is(p, text) && token_is(p, token(p, 1), then);
}

static bool take(parser *p, const char *text)
{
    if (!is(p, text))
        return false;
    p->at++;
    return true;
}

static bool failed(const parser *p) { return p->o->code != HDX_OK; }

/* Hints at JavaScript syntax, which begins with one of these and which OQL does not support. */
static const char *hint_here(const parser *p)
{
    static const char *const script[] = { "{",      "?",   "=>",     "function", "var", "let",
                                          "return", "new", "filter", "/",        "map", "heap" };
    for (unsigned i = 0; i < sizeof script / sizeof *script; i++)
        if (is(p, script[i]))
            return "VisualVM's JavaScript is not supported; list the values: SELECT s.name, s.@length FROM ... s";
    if (is(p, "join") || is(p, "cross") || is(p, "left") || is(p, "inner") || is(p, "outer"))
        return "for joins use heapdex sql, where each class is a table";
    if (is(p, ";"))
        return "only one query is allowed";
    return NULL;
}

static void *expected(parser *p, const char *what)
{
    const oql_token *t = token(p, 0);
    if (t->kind == OQL_END)
        return hdx_oql_refuse(p->o, t->at, hint_here(p), "%s is missing at the end", what);
    return hdx_oql_refuse(p->o, t->at, hint_here(p), "%s is missing before \"%.*s\"", what,
                          t->len > 40 ? 40 : (int)t->len, p->o->text + t->at);
}

static bool need(parser *p, const char *text)
{
    if (take(p, text))
        return true;
    char upper[16] = "";
    for (unsigned i = 0; text[i] != '\0' && i + 1 < sizeof upper; i++)
        upper[i] = (char)(text[i] >= 'a' && text[i] <= 'z' ? text[i] - 'a' + 'A' : text[i]);
    expected(p, upper);
    return false;
}

static const char *token_text(parser *p, const oql_token *t)
{
    return hdx_oql_format(p->o, "%.*s", (int)t->len, p->o->text + t->at);
}

/* ---- nodes ---- */

static bool enter(parser *p)
{
    if (++p->depth <= HDX_OQL_DEPTH)
        return true;
    hdx_oql_fail(p->o, HDX_LIMIT, token(p, 0)->at, "use fewer parentheses", "nested more than %u levels deep",
                 HDX_OQL_DEPTH);
    return false;
}

static oql_node *make(parser *p, oql_kind kind, uint32_t at)
{
    oql_node *n = hdx_oql_get(p->o, sizeof *n);
    if (n == NULL)
        return NULL;
    n->kind = kind;
    n->at = at;
    n->end = p->at == 0 ? at : p->o->tokens[p->at - 1].at + p->o->tokens[p->at - 1].len;
    n->depth = 1;
    n->made = p->made;
    p->made = n;
    return n;
}

/* Adds the depth of a child (NULL after a failure) to its parent's. */
static oql_node *add_depth(parser *p, oql_node *n, const oql_node *child)
{
    if (n == NULL || child == NULL)
        return NULL;
    if (child->depth >= n->depth)
        n->depth = child->depth + 1;
    if (n->depth <= HDX_OQL_DEPTH)
        return n;
    return hdx_oql_fail(p->o, HDX_LIMIT, n->at,
                        "use shorter chains, or put parentheses around halves of the expression",
                        "a chain has more than %u operators or dots", HDX_OQL_DEPTH);
}

static oql_node *pair(parser *p, oql_kind kind, oql_node *a, oql_node *b)
{
    oql_node *n = a == NULL || b == NULL ? NULL : make(p, kind, a->at);
    if (n == NULL)
        return NULL;
    n->a = a;
    n->b = b;
    return add_depth(p, add_depth(p, n, a), b);
}

static oql_node *selected(parser *p, uint32_t at)
{
    oql_select *s = select_of(p);
    oql_node   *n = s == NULL ? NULL : make(p, OQL_IS_SELECT, at);
    if (n == NULL)
        return NULL;
    n->select = s;
    for (const oql_node *m = p->made->made; m != NULL && m->at >= at; m = m->made) /* all nodes made inside */
        if (add_depth(p, n, m) == NULL)
            return NULL;
    return n;
}

/* Parses "value, ..." up to the closing sign, as a list of n. */
static oql_node *arguments(parser *p, oql_node *n, const char *closing)
{
    oql_node **last;
    if (n == NULL)
        return NULL;
    last = &n->list;
    if (take(p, closing))
        return n;
    do {
        const bool distinct = is(p, "distinct") && !token_is(p, token(p, 1), ",") && !token_is(p, token(p, 1), ")");
        p->at += distinct;
        oql_node *child = is(p, "*") ? make(p, OQL_IS_STAR, token(p, 0)->at) : condition(p);
        if (child != NULL && child->kind == OQL_IS_STAR)
            p->at++;
        if (add_depth(p, n, child) == NULL)
            return NULL;
        n->distinct |= distinct;
        n->number++;
        *last = child;
        last = &child->next;
    } while (take(p, ","));
    return need(p, closing) ? n : NULL;
}

/* ---- values ---- */

static oql_node *number(parser *p)
{
    const oql_token *t = token(p, 0);
    const char      *s = p->o->text + t->at;
    uint32_t         len = t->len;
    p->at++;
    oql_node  *n = make(p, OQL_IS_NUMBER, t->at);
    const bool hex = len > 1 && (s[1] == 'x' || s[1] == 'X');
    while (len > 1 && strchr(hex ? "lL" : "lLfFdD", s[len - 1]) != NULL)
        len--;
    if (n == NULL)
        return NULL;
    if (hex && (len < 3 || len > 18))
        return hdx_oql_refuse(p->o, t->at, NULL, "\"%.*s\" needs 1 to 16 digits", (int)len, s);
    n->text = hdx_oql_format(p->o, "%.*s", (int)len, s);
    return n;
}

static oql_node *text(parser *p)
{
    const oql_token *t = token(p, 0);
    p->at++;
    oql_node *n = make(p, t->kind == OQL_STRING ? OQL_IS_STRING : OQL_IS_CHAR, t->at);
    if (n != NULL && (n->text = hdx_oql_unquote(p->o, t)) == NULL)
        return NULL;
    return n;
}

static oql_node *snapshot(parser *p)
{
    const uint32_t at = token(p, 0)->at;
    p->at++;
    if (!is(p, "snapshot"))
        return expected(p, "snapshot");
    p->at++;
    return need(p, "}") ? make(p, OQL_IS_SNAPSHOT, at) : NULL;
}

/* Parses ( ... ): a condition, a SELECT, or, after IN, a list. */
static oql_node *parenthesis(parser *p, bool list)
{
    const uint32_t at = token(p, 0)->at;
    oql_node      *n;
    p->at++;
    if (!enter(p))
        return NULL;
    if (is(p, "select"))
        n = selected(p, at);
    else if (list) {
        n = arguments(p, make(p, OQL_IS_LIST, at), ")");
        p->depth--;
        return n;
    } else
        n = condition(p);
    p->depth--;
    if (n == NULL || !need(p, ")"))
        return NULL;
    if (n->kind == OQL_IS_SELECT)
        n->end = p->o->tokens[p->at - 1].at + 1;
    return n;
}

static oql_node *named(parser *p)
{
    const oql_token *t = token(p, 0);
    const bool       call = token_is(p, token(p, 1), "(");
    oql_node        *n;
    if (!call && (is(p, "true") || is(p, "false"))) {
        if ((n = make(p, OQL_IS_BOOL, t->at)) != NULL)
            n->number = take(p, "true");
        p->at += n != NULL && n->number == 0;
        return n;
    }
    if (!call && take(p, "null"))
        return make(p, OQL_IS_NULL, t->at);
    p->at++;
    n = make(p, call ? OQL_IS_CALL : OQL_IS_NAME, t->at);
    if (n == NULL || (n->text = token_text(p, t)) == NULL || !call)
        return n;
    p->at++;
    if (!enter(p))
        return NULL;
    n = arguments(p, n, ")");
    p->depth--;
    return n;
}

/* Parses .name  .@name  .name(...), and @name after a value without a dot. */
static oql_node *dotted(parser *p, oql_node *of)
{
    const bool       attribute = take(p, "@");
    const oql_token *t = token(p, 0);
    if (t->kind != OQL_NAME)
        return expected(p, attribute ? "the name of an attribute" : "a name");
    p->at++;
    const bool method = is(p, "(");
    oql_node  *n = of == NULL ? NULL
                              : make(p,
                                    method      ? OQL_IS_METHOD
                                     : attribute ? OQL_IS_ATTRIBUTE
                                                 : OQL_IS_MEMBER,
                                     of->at);
    if (n == NULL || (n->text = token_text(p, t)) == NULL)
        return NULL;
    n->a = of;
    n->b = NULL;
    n->number = 0;
    if (!method)
        return add_depth(p, n, of);
    p->at++;
    if (!enter(p))
        return NULL;
    n = arguments(p, n, ")");
    p->depth--;
    return add_depth(p, n, of);
}

static oql_node *indexed(parser *p, oql_node *of)
{
    oql_node *from, *to = NULL;
    if (!enter(p))
        return NULL;
    p->at++;
    from = value_of(p);
    if (from != NULL && take(p, ":"))
        to = value_of(p);
    p->depth--;
    if (failed(p) || !need(p, "]"))
        return NULL;
    oql_node *n = pair(p, to == NULL ? OQL_IS_INDEX : OQL_IS_RANGE, of, from);
    if (n != NULL)
        n->c = to;
    return to == NULL ? n : add_depth(p, n, to);
}

static oql_node *primary(parser *p)
{
    const oql_token *t = token(p, 0);
    oql_node        *n;
    if (t->kind == OQL_NUMBER)
        return number(p);
    if (t->kind == OQL_NAME)
        n = named(p);
    else if (t->kind == OQL_STRING || t->kind == OQL_QUOTED)
        n = text(p);
    else if (is(p, "("))
        n = parenthesis(p, false);
    else if (is(p, "${"))
        n = snapshot(p);
    else if (is(p, "@")) {
        n = dotted(p, make(p, OQL_IS_ROW, t->at));
    } else
        return expected(p, "a value");
    while (n != NULL && (is(p, ".") || is(p, "["))) {
        if (take(p, "."))
            n = dotted(p, n);
        else
            n = indexed(p, n);
    }
    if (n != NULL && n->kind != OQL_IS_SELECT)
        n->end = p->o->tokens[p->at - 1].at + p->o->tokens[p->at - 1].len;
    return n;
}

static oql_node *unary(parser *p)
{
    const uint32_t at = token(p, 0)->at;
    if (take(p, "+"))
        return expected(p, "a value before +");
    if (!take(p, "-"))
        return primary(p);
    if (!enter(p))
        return NULL;
    oql_node *a = unary(p);
    p->depth--;
    oql_node *n = make(p, OQL_IS_MINUS, at);
    if (n != NULL)
        n->a = a;
    return add_depth(p, n, a);
}

/* Returns which of these signs, separated by spaces, is the current token; NULL: none. */
static const char *one_of(const parser *p, const char *const *signs)
{
    for (; *signs != NULL; signs++)
        if (is(p, *signs))
            return *signs;
    return NULL;
}

static oql_node *chain(parser *p, const char *const *signs, oql_node *(*part)(parser *))
{
    const char *sign;
    oql_node   *n = part(p);
    while (n != NULL && (sign = one_of(p, signs)) != NULL) {
        p->at++;
        if ((n = pair(p, OQL_IS_BINARY, n, part(p))) != NULL)
            memcpy(n->op, sign, strlen(sign) + 1);
    }
    return n;
}

static oql_node *product(parser *p)
{
    static const char *const signs[] = { "*", "/", "%", NULL };
    return chain(p, signs, unary);
}

static oql_node *value_of(parser *p)
{
    static const char *const signs[] = { "+", "-", NULL };
    return chain(p, signs, product);
}

/* ---- conditions ---- */

static oql_node *like(parser *p, oql_node *a, bool negated)
{
    const oql_token *t = token(p, 0);
    oql_node        *n = a == NULL ? NULL : make(p, OQL_IS_LIKE, a->at);
    if (n == NULL)
        return NULL;
    if (t->kind != OQL_STRING && t->kind != OQL_QUOTED)
        return expected(p, "a pattern in quotes after LIKE");
    p->at++;
    n->a = a;
    n->negated = negated;
    n->number = t->kind == OQL_QUOTED;
    n->b = make(p, OQL_IS_STRING, t->at);
    if (n->b == NULL || (n->text = hdx_oql_unquote_pattern(p->o, t)) == NULL)
        return NULL;
    n->b->text = n->text;
    return add_depth(p, n, a);
}

static oql_node *in(parser *p, oql_node *a, bool negated)
{
    oql_node *n = pair(p, OQL_IS_IN, a, is(p, "(") ? parenthesis(p, true) : value_of(p));
    if (n != NULL)
        n->negated = negated;
    return n;
}

/* Parses a class: names and dots, [] after them; or a name of the JVM, [C. */
static const char *class_name(parser *p)
{
    static const char        letters[] = "ZCFDBSIJ";
    static const char *const types[] = { "boolean", "char", "float", "double", "byte", "short", "int", "long" };
    const char              *name = NULL, *found;
    unsigned                 arrays = 0;
    while (take(p, "["))
        arrays++;
    if (token(p, 0)->kind != OQL_NAME)
        return expected(p, "the name of a class");
    const oql_token *t = token(p, 0);
    if (arrays > 0 && t->len == 1 && (found = strchr(letters, p->o->text[t->at])) != NULL) {
        name = types[found - letters];
        p->at++;
    } else {
        const uint32_t from = t->at + (arrays > 0 && p->o->text[t->at] == 'L');
        uint32_t       end = t->at + t->len;
        p->at++;
        while (is(p, ".") && token(p, 1)->kind == OQL_NAME) {
            end = token(p, 1)->at + token(p, 1)->len;
            p->at += 2;
        }
        char *joined = hdx_oql_get(p->o, end - from + 1); /* without spaces and comments between */
        if (joined == NULL)
            return NULL;
        uint32_t len = 0;
        for (const oql_token *k = t; k < token(p, 0); k++) {
            const uint32_t skip = k == t ? from - t->at : 0;
            memcpy(joined + len, p->o->text + k->at + skip, k->len - skip);
            len += k->len - skip;
        }
        name = joined;
        if (arrays > 0)
            (void)take(p, ";");
    }
    while (is_then(p, "[", "]")) {
        arrays++;
        p->at += 2;
    }
    char *whole = hdx_oql_get(p->o, strlen(name) + 2 * (uint64_t)arrays + 1);
    if (whole == NULL)
        return NULL;
    (void)memcpy(whole, name, strlen(name));
    for (size_t n = strlen(name); arrays > 0; arrays--, n += 2)
        (void)memcpy(whole + n, "[]", 2);
    return whole;
}

static oql_node *implements(parser *p, oql_node *a)
{
    oql_node *n = a == NULL ? NULL : make(p, OQL_IS_IMPLEMENTS, a->at);
    if (n == NULL)
        return NULL;
    n->a = a;
    const oql_token *t = token(p, 0);
    if (t->kind == OQL_STRING) {
        p->at++;
        n->text = hdx_oql_unquote(p->o, t);
    } else
        n->text = class_name(p);
    return n->text == NULL ? NULL : add_depth(p, n, a);
}

static oql_node *relation(parser *p)
{
    static const char *const signs[] = { "<=", ">=", "<", ">", NULL };
    oql_node                *n = value_of(p);
    const char              *sign;
    while (n != NULL) {
        const bool negated = is_then(p, "not", "like") || is_then(p, "not", "in");
        if ((sign = one_of(p, signs)) != NULL) {
            p->at++;
            if ((n = pair(p, OQL_IS_BINARY, n, value_of(p))) != NULL)
                memcpy(n->op, sign, strlen(sign) + 1);
        } else if (negated || is(p, "like") || is(p, "in")) {
            p->at += negated;
            n = take(p, "like") ? like(p, n, negated) : (p->at++, in(p, n, negated));
        } else if (take(p, "implements"))
            n = implements(p, n);
        else if (is(p, "is")) { /* SQL's IS [NOT] NULL */
            p->at++;
            const bool not = take(p, "not");
            const uint32_t at = token(p, 0)->at;
            if (!take(p, "null"))
                return expected(p, "null");
            if ((n = pair(p, OQL_IS_BINARY, n, make(p, OQL_IS_NULL, at))) != NULL)
                memcpy(n->op, not ? "!=" : "=", not ? 3 : 2);
        } else
            break;
    }
    return n;
}

static oql_node *equality(parser *p)
{
    static const char *const signs[] = { "=", "==", "===", "!=", "<>", "!==", NULL };
    const char              *sign;
    oql_node                *n = relation(p);
    while (n != NULL && (sign = one_of(p, signs)) != NULL) {
        p->at++;
        const bool equal = sign[0] == '=';
        if ((n = pair(p, OQL_IS_BINARY, n, relation(p))) != NULL)
            memcpy(n->op, equal ? "=" : "!=", equal ? 2 : 3);
    }
    return n;
}

static oql_node *negation(parser *p)
{
    const uint32_t at = token(p, 0)->at;
    if (!take(p, "not") && !take(p, "!"))
        return equality(p);
    if (!enter(p))
        return NULL;
    oql_node *a = negation(p);
    p->depth--;
    oql_node *n = make(p, OQL_IS_NOT, at);
    if (n != NULL)
        n->a = a;
    return add_depth(p, n, a);
}

/* Parses conditions with the same word between them as one list, so that their number does not add depth. */
static oql_node *joined(parser *p, oql_kind kind, const char *word, const char *sign, oql_node *(*part)(parser *))
{
    oql_node *n = part(p);
    if (n == NULL || (!is(p, word) && !is(p, sign)))
        return n;
    oql_node *all = make(p, kind, n->at), **last;
    if (add_depth(p, all, n) == NULL)
        return NULL;
    all->list = n;
    last = &n->next;
    while (take(p, word) || take(p, sign)) {
        n = part(p);
        if (add_depth(p, all, n) == NULL)
            return NULL;
        *last = n;
        last = &n->next;
    }
    all->end = p->o->tokens[p->at - 1].at + p->o->tokens[p->at - 1].len;
    return all;
}

static oql_node *conjunction(parser *p) { return joined(p, OQL_IS_AND, "and", "&&", negation); }
static oql_node *condition(parser *p) { return joined(p, OQL_IS_OR, "or", "||", conjunction); }

/* ---- SELECT ---- */

/* Words that cannot be an alias without AS or quotes. */
static bool ends_item(const parser *p)
{
    static const char *const words[] = { "from", "where", "group", "having", "order", "limit", "offset", "union",
                                         "join", "left",  "inner", "outer",  "cross", "full",  "natural" };
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (is(p, words[i]))
            return true;
    return false;
}

/* Parses [AS] name, or "name". *name NULL: no alias here. */
static bool alias(parser *p, const char **name)
{
    const bool       as = take(p, "as");
    const oql_token *t = token(p, 0);
    *name = NULL;
    if (t->kind == OQL_STRING || (as && t->kind == OQL_QUOTED)) {
        p->at++;
        return (*name = hdx_oql_unquote(p->o, t)) != NULL;
    }
    if (t->kind == OQL_NAME && (as || !ends_item(p))) {
        p->at++;
        return (*name = token_text(p, t)) != NULL;
    }
    if (as)
        expected(p, "a name after AS");
    return !as;
}

static bool items(parser *p, oql_select *s)
{
    oql_item **last = &s->items;
    if (is(p, "*")) {
        p->at++;
        s->star = true;
        return true;
    }
    do {
        oql_item *item = hdx_oql_get(p->o, sizeof *item);
        if (is(p, "from") && !token_is(p, token(p, 1), "."))
            return expected(p, "a value") != NULL;
        if (item == NULL || (item->value = condition(p)) == NULL || !alias(p, &item->name))
            return false;
        *last = item;
        last = &item->next;
    } while (take(p, ","));
    return true;
}

/* Parses 0x1, 0x2 ...; MAT's object ids differ from those of the index. */
static bool addresses(parser *p, oql_select *s)
{
    oql_node **last = &s->from;
    s->source = OQL_OF_ADDRESS;
    do {
        const oql_token *t = token(p, 0);
        if (t->kind != OQL_NUMBER)
            return expected(p, "an address") != NULL;
        oql_node *n = number(p);
        if (n == NULL)
            return false;
        if (t->len < 3 || (p->o->text[t->at + 1] | 0x20) != 'x')
            return hdx_oql_refuse(p->o, t->at, "name the object by its address: FROM OBJECTS 0x7f3a10",
                                  "object ids are specific to MAT and to each index") != NULL;
        *last = n;
        last = &n->next;
    } while (take(p, ","));
    return true;
}

static bool source(parser *p, oql_select *s)
{
    const oql_token *t = token(p, 0);
    s->from_at = t->at;
    if (t->kind == OQL_NUMBER)
        return addresses(p, s);
    if (t->kind == OQL_STRING) {
        p->at++;
        s->source = OQL_OF_PATTERN;
        return (s->name = hdx_oql_unquote_pattern(p->o, t)) != NULL;
    }
    if (is(p, "(")) {
        if (token_is(p, token(p, 1), "select")) {
            p->at++;
            if (!enter(p))
                return false;
            s->source = OQL_OF_SELECT;
            s->inner = select_of(p);
            p->depth--;
            return s->inner != NULL && need(p, ")");
        }
        s->source = OQL_OF_PATH;
        return (s->from = primary(p)) != NULL;
    }
    if (is(p, "${") || (t->kind == OQL_NAME && token_is(p, token(p, 1), "("))) {
        s->source = OQL_OF_PATH;
        return (s->from = primary(p)) != NULL;
    }
    s->source = OQL_OF_CLASS;
    return (s->name = class_name(p)) != NULL;
}

/* Parses FROM [OBJECTS] [INSTANCEOF] ... [alias]; also "instanceof"."C" and instanceof.C, as in mat-calcite. */
static bool from(parser *p, oql_select *s)
{
    const oql_token *t;
    if (token(p, 0)->kind == OQL_END)
        return hdx_oql_refuse(p->o, token(p, 0)->at,
                              "VisualVM's JavaScript (no FROM) is not supported; write SELECT ... FROM class s",
                              "FROM is missing at the end") != NULL;
    if (!is(p, "from"))
        return expected(p, "FROM") != NULL;
    p->at++;
    s->of_objects = is(p, "objects") && !token_is(p, token(p, 1), ".") && take(p, "objects");
    t = token(p, 0);
    if (t->kind == OQL_STRING && t->len == 12 && strncasecmp(p->o->text + t->at, "\"instanceof\"", 12) == 0 &&
        token_is(p, token(p, 1), ".")) {
        s->of_heirs = true;
        p->at += 2;
    } else if (take(p, "instanceof")) {
        s->of_heirs = true;
        (void)take(p, ".");
    }
    if (!source(p, s) || !alias(p, &s->alias))
        return false;
    if (is(p, ","))
        return hdx_oql_refuse(p->o, token(p, 0)->at, "for joins use heapdex sql, where each class is a table",
                              "FROM allows one source") != NULL;
    return true;
}

static bool list_of_values(parser *p, oql_node **out, bool order)
{
    do {
        oql_node *n = condition(p);
        if (n == NULL)
            return false;
        if (order && !take(p, "asc"))
            n->descending = take(p, "desc");
        *out = n;
        out = &n->next;
    } while (take(p, ","));
    return true;
}

static bool count(parser *p, oql_node **out)
{
    if (token(p, 0)->kind != OQL_NUMBER)
        return expected(p, "a number") != NULL;
    return (*out = number(p)) != NULL;
}

static bool tail(parser *p, oql_select *s)
{
    if (take(p, "where") && (s->where = condition(p)) == NULL)
        return false;
    if (is_then(p, "group", "by")) {
        p->at += 2;
        if (!list_of_values(p, &s->group, false))
            return false;
    }
    if (take(p, "having") && (s->having = condition(p)) == NULL)
        return false;
    if (is_then(p, "order", "by")) {
        p->at += 2;
        if (!list_of_values(p, &s->order, true))
            return false;
    }
    if (take(p, "limit") && !count(p, &s->limit))
        return false;
    return !take(p, "offset") || count(p, &s->offset);
}

static bool first_words(parser *p, oql_select *s)
{
    s->at = token(p, 0)->at;
    if (!need(p, "select"))
        return false;
    if (is_then(p, "as", "retained") && token_is(p, token(p, 2), "set")) {
        p->at += 3;
        s->retained = true;
    } else
        s->distinct = take(p, "distinct");
    /* "SELECT objects.x FROM ... objects" has an alias of that name */
    s->objects = is(p, "objects") && !token_is(p, token(p, 1), ".") && !token_is(p, token(p, 1), ",") &&
                 !token_is(p, token(p, 1), "from") && take(p, "objects");
    return true;
}

static bool simple_select(parser *p, oql_select *s)
{
    s->made_before = p->made;
    if (!first_words(p, s) || !items(p, s) || !from(p, s) || !tail(p, s))
        return false;
    s->made_last = p->made;
    return true;
}

static oql_select *select_of(parser *p)
{
    oql_select *s = hdx_oql_get(p->o, sizeof *s), *last = s;
    if (s == NULL || !simple_select(p, s))
        return NULL;
    while (take(p, "union")) {
        (void)take(p, "all");
        oql_select *more;
        if (take(p, "(")) {
            if (!enter(p))
                return NULL;
            more = select_of(p);
            p->depth--;
            if (more == NULL || !need(p, ")"))
                return NULL;
        } else if ((more = hdx_oql_get(p->o, sizeof *more)) == NULL || !simple_select(p, more))
            return NULL;
        last->more = more;
        while (last->more != NULL)
            last = last->more;
    }
    return s;
}

oql_select *hdx_oql_parse(oql *o)
{
    parser      p = { .o = o };
    oql_select *s = select_of(&p);
    if (s == NULL)
        return NULL;
    (void)take(&p, ";");
    return token(&p, 0)->kind == OQL_END ? s : expected(&p, "the end");
}
