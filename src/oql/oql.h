/*
 * oql.h - OQL to SQL: what the room's files share.
 *
 *   tokens.c    text to tokens
 *   parse.c     tokens to a tree
 *   select.c    a SELECT of the tree to SQL: where its rows come from, what they show
 *   express.c   its expressions: names, operators, paths
 *   members.c   objects as SQL; what follows a dot: fields and attributes (members.h)
 *   methods.c   methods, places in arrays
 *   functions.c functions and aggregates
 *   names.c     quoting; classes and fields of the dump
 *   regex.c     Java's regular expressions to those of PCRE2
 *
 * Invariants
 *   1. Text of the query goes into SQL as a quoted literal or a quoted name only (names.c), or digit by digit.
 *   2. Functions call themselves as deep as the query is nested, and that is HDX_OQL_DEPTH at most: the parser refuses
 *      what is deeper, chains of operators and dots included.
 *   3. Pieces of SQL are at most SQL_MOST long, and all of them ARENA_MOST: a query that doubles its text at each level
 *      ends with HDX_LIMIT.
 *   4. A column of a row is always named together with its table, so that it can be used inside of any sub-select.
 */
#ifndef HDX_OQL_OQL_H
#define HDX_OQL_OQL_H

#include "base/base.h"
#include <heapdex/oql.h>

#define SQL_MOST   (1u << 20)
#define ARENA_MOST (16u << 20)

typedef struct oql_select oql_select;

/* ---- one translation ---- */
typedef struct oql {
    hdx_graph        *g; /* may be NULL */
    const char       *text;
    uint32_t          len;
    hdx_arena         arena;
    hdx_error        *err;
    hdx_code          code;   /* of the first failure; everything after it does nothing */
    unsigned          tables; /* names of tables given out */
    struct oql_token *tokens;
    uint32_t          token_count;
    struct known     *known; /* fields that were looked up */
} oql;

/* Fails once: what is wrong at this byte, and what to do instead ("" or NULL: nothing is known). Returns NULL. */
void *hdx_oql_refuse(oql *o, uint32_t at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void *hdx_oql_fail(oql *o, hdx_code code, uint32_t at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void *hdx_oql_get(oql *o, uint64_t bytes);
/* Text that lives as long as the translation; NULL once it has failed. */
const char *hdx_oql_say(oql *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- tokens ---- */
typedef enum oql_token_kind { OQL_END, OQL_NAME, OQL_NUMBER, OQL_STRING, OQL_QUOTED, OQL_SIGN } oql_token_kind;
typedef struct oql_token {
    oql_token_kind kind;
    uint32_t       at, len; /* of a string with its quotes */
} oql_token;
bool hdx_oql_tokens(oql *o);
/* What a string in quotes stands for, escapes of Java resolved; NULL: one is none. */
const char *hdx_oql_unquote(oql *o, const oql_token *t);
/* The same of a pattern, where a backslash belongs to the pattern. */
const char *hdx_oql_unquote_pattern(oql *o, const oql_token *t);

/* ---- the tree ---- */
typedef enum oql_kind {
    OQL_IS_NUMBER, /* text: digits as SQL has them */
    OQL_IS_STRING,
    OQL_IS_CHAR, /* in single quotes */
    OQL_IS_NULL,
    OQL_IS_BOOL, /* number */
    OQL_IS_NAME,
    OQL_IS_ROW, /* the object itself, where only "@length" is written */
    OQL_IS_SNAPSHOT,
    OQL_IS_STAR,      /* count(*) */
    OQL_IS_MEMBER,    /* a.text */
    OQL_IS_ATTRIBUTE, /* a.@text */
    OQL_IS_METHOD,    /* a.text(list) */
    OQL_IS_CALL,      /* text(list) */
    OQL_IS_INDEX,     /* a[b] */
    OQL_IS_RANGE,     /* a[b:c] */
    OQL_IS_SELECT,
    OQL_IS_LIST, /* (list) after IN */
    OQL_IS_NOT,
    OQL_IS_MINUS,
    OQL_IS_AND, /* list */
    OQL_IS_OR,  /* list */
    OQL_IS_BINARY,
    OQL_IS_LIKE, /* a LIKE text; number: SQL's pattern */
    OQL_IS_IN,
    OQL_IS_IMPLEMENTS
} oql_kind;
typedef struct oql_node oql_node;
struct oql_node {
    oql_kind    kind;
    bool        negated;  /* NOT LIKE, NOT IN */
    bool        distinct; /* count(DISTINCT x) */
    bool        descending;
    uint32_t    at, end; /* bytes of the query */
    unsigned    depth, number;
    char        op[3];
    const char *text;
    oql_node   *a, *b, *c;
    oql_node   *list, *next; /* first of the list; the one after this one in the list it is in */
    oql_node   *made;        /* the one made before: all of a query are a list */
    oql_select *select;
};
typedef struct oql_item oql_item;
struct oql_item {
    oql_node   *value;
    const char *name; /* AS; NULL */
    oql_item   *next;
    int         shown; /* the kind of value that was shown, set when the SELECT was put into SQL (item_shown) */
};
/* What a column of a sub-select has, for those who ask something of it. */
typedef enum item_shown {
    SHOWN_ANY,   /* a number or an id */
    SHOWN_TEXT,  /* a text, a name of a class, what makes an object a GC root */
    SHOWN_IDS,   /* a list of ids and numbers, as a text with commas */
    SHOWN_VALUES /* a list of values that may have commas of their own */
} item_shown;
typedef enum oql_source { OQL_OF_CLASS, OQL_OF_PATTERN, OQL_OF_ADDRESS, OQL_OF_SELECT, OQL_OF_PATH } oql_source;
struct oql_select {
    uint32_t    at, from_at;
    bool        distinct, retained, objects, star;
    oql_item   *items;
    bool        of_objects, of_heirs; /* OBJECTS, INSTANCEOF */
    oql_source  source;
    const char *name;  /* class or pattern */
    oql_node   *from;  /* addresses: a list; path */
    oql_select *inner; /* the SELECT in FROM */
    const char *alias; /* NULL: none */
    oql_node   *where, *group, *having, *order, *limit, *offset;
    oql_select *more;                    /* UNION */
    oql_node   *made_last, *made_before; /* its nodes: the last one made, back to the one that was made before it */
};
oql_select *hdx_oql_parse(oql *o);

/* ---- names ---- */
const char *hdx_oql_literal(oql *o, const char *text);    /* 'it''s' */
const char *hdx_oql_identifier(oql *o, const char *text); /* plain, or "in quotes" */
bool        hdx_oql_reserved(const char *text);           /* a table of ours */
bool        hdx_oql_same(const char *a, const char *b);   /* case ignored */
bool        hdx_oql_class_there(oql *o, const char *name);
void       *hdx_oql_no_class(oql *o, uint32_t at, const char *name); /* refuses, naming the nearest */
/* Is it an interface? Nobody is an instance of one here: dumps do not say who implements it. */
bool  hdx_oql_is_interface(oql *o, const char *name);
void *hdx_oql_no_heirs(oql *o, uint32_t at, const char *name); /* refuses, naming a class that implements it */
/* Does a table of this name hold the instances of this class, and of no other? */
bool        hdx_oql_class_has_table(oql *o, const char *name);
const char *hdx_oql_class_table(oql *o, const char *name, bool heirs); /* its name, as an identifier */
/*
 * Is this a column of the class's table, by this name, and what MAT would take for the field? *type: as in hdx_field.
 */
bool hdx_oql_class_has_column(oql *o, const char *name, const char *field, uint8_t *type);
/* The types that fields of this name have in the dump: of the class and its heirs; name NULL: anywhere. */
enum { OQL_NO_FIELD, OQL_REFERENCES, OQL_NUMBERS, OQL_BOTH };
int hdx_oql_field_types(oql *o, const char *name, const char *field);

/* ---- regular expressions ---- */
const char *hdx_oql_regex(oql *o, uint32_t at, const char *java);

/* ---- values ---- */
typedef enum value_kind {
    VALUE_NULL,
    VALUE_NUMBER,
    VALUE_BOOL,
    VALUE_TEXT,
    VALUE_CHAR,
    VALUE_OBJECT, /* id of an object */
    VALUE_ARRAY,  /* the same, of what was asked for as an array */
    VALUE_CLASS,  /* class of an object */
    VALUE_LIST,   /* many ids, or rows of a SELECT */
    VALUE_ROOTS,  /* what makes it a GC root */
    VALUE_ANY,    /* a number or an id: only the dump knows */
    VALUE_SNAPSHOT
} value_kind;
/* How tightly an expression of SQL binds. */
typedef enum binding {
    BINDS_OR = 1,
    BINDS_AND,
    BINDS_NOT,
    BINDS_EQUAL,
    BINDS_LESS,
    BINDS_PLUS,
    BINDS_TIMES,
    BINDS_JOIN,
    BINDS_ALL
} binding;
typedef enum list_kind {
    LIST_OTHER,
    LIST_DOMINATED,
    LIST_INBOUND,
    LIST_OUTBOUND,
    LIST_ELEMENTS,
    LIST_SELECT
} list_kind;
typedef struct oql_scope oql_scope;
typedef struct value {
    value_kind  kind;
    binding     binds;
    const char *sql;      /* NULL: of a list that is no column of a sub-select; and after a failure */
    bool        nullable; /* may be NULL where MAT has a null that equals nothing */
    bool        plain;    /* a column by its name: SQLite's heading says enough */
    oql_scope  *row;      /* the object of a row; NULL: another */
    const char *text;     /* of an object: who it is the `value` of */
    const char *name;     /* of a class: its name, its number */
    const char *number;
    list_kind   list;
    const char *of;                    /* of a list: whose */
    const char *column, *from, *where; /* where NULL: all */
    const char *ref;                   /* the column that has ids alone, where `column` may have other values; NULL */
    const char *select;                /* LIST_SELECT: the statement */
    const char *exists;                /* of the number of a list: is it more than 0? */
    bool        objects, classes;      /* of a list: from has the columns of objects; it is of class objects */
    bool        joined;                /* a text that a sub-select made of many values: nothing can be asked of it */
} value;

typedef enum scope_table { SCOPE_OBJECTS, SCOPE_CLASS, SCOPE_DERIVED } scope_table;
struct oql_scope {
    oql_scope        *outer;
    const oql_select *select;
    scope_table       table;
    const char       *alias;      /* in SQL */
    const char       *class_name; /* all rows are of it; heirs: or of heirs; NULL: not known */
    bool              heirs;
    bool              classes; /* rows are class objects: fields are statics */
    bool              grouped;
    bool              named;        /* names of select items may be used: after WHERE */
    bool              aggregated;   /* a sum or a count of it was asked for */
    const char       *from, *where; /* where NULL: all */
};
typedef enum oql_want { WANT_ROWS, WANT_IDS, WANT_VALUE, WANT_TABLE } oql_want;
/* A whole SELECT with its UNIONs; NULL on failure. */
const char *hdx_oql_statement(oql *o, const oql_select *s, oql_scope *outer, oql_want want);
/* What a sub-select gives: objects, rather than a table of values? */
bool hdx_oql_gives_objects(const oql_select *s);

value       hdx_oql_value(oql *o, const oql_node *n, oql_scope *s);
value       hdx_oql_asked(oql *o, const oql_node *n, oql_scope *s); /* the same, of which something is asked */
const char *hdx_oql_condition(oql *o, const oql_node *n, oql_scope *s,
                              binding least); /* in parentheses if it binds less */
const char *hdx_oql_scalar(oql *o, const oql_node *n, oql_scope *s, binding least);
const char *hdx_oql_scalar_of(oql *o, uint32_t at, value v, binding least);
const char *hdx_oql_text_of(oql *o, uint32_t at, value v);   /* as text: of objects the string, else the label */
const char *hdx_oql_object_of(oql *o, uint32_t at, value v); /* an id */
const char *hdx_oql_list_where(oql *o, value list, const char *and_also); /* " WHERE ..." or "" */
const char *hdx_oql_in_list(oql *o, const char *id, value list);          /* a condition on one id */
const char *hdx_oql_ids_in_list(oql *o, const char *id, value list);      /* the same, to find ids by */
value       hdx_oql_count(oql *o, value list);

const char *hdx_oql_table_name(oql *o); /* o, o2 ... that is none of the query's */

#endif
