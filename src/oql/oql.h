/*
 * oql.h - translates OQL to SQL: shared by the files of this room.
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
 *   1. Text of the query appears in SQL only as a quoted literal or a quoted name (names.c), or digit by digit.
 *   2. The recursion of functions is as deep as the nesting of the query, at most HDX_OQL_DEPTH: the parser refuses
 *      deeper queries, including chains of operators and dots.
 *   3. Pieces of SQL have at most SQL_MOST bytes, and all of them ARENA_MOST: a query that doubles its text at each
 *      level ends with HDX_LIMIT.
 *   4. A column of a row is always written with its table, so that it can be used inside of any sub-select.
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
    hdx_code          code;   /* of the first failure; calls after it have no effect */
    unsigned          tables; /* number of table names in use */
    struct oql_token *tokens;
    uint32_t          token_count;
    struct known     *known; /* fields that were looked up */
} oql;

/* Fails once, with the problem at a byte of the query, and a remedy as hint ("" or NULL: none). Returns NULL. */
void *hdx_oql_refuse(oql *o, uint32_t at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void *hdx_oql_fail(oql *o, hdx_code code, uint32_t at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void *hdx_oql_get(oql *o, uint64_t bytes);
/* Formats a text that is valid as long as the translation; NULL after a failure. */
const char *hdx_oql_format(oql *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- tokens ---- */
typedef enum oql_token_kind { OQL_END, OQL_NAME, OQL_NUMBER, OQL_STRING, OQL_QUOTED, OQL_SIGN } oql_token_kind;
typedef struct oql_token {
    oql_token_kind kind;
    uint32_t       at, len; /* of a string including its quotes */
} oql_token;
bool hdx_oql_tokens(oql *o);
/* Returns the value of a quoted string, with Java's escapes resolved; NULL: an escape is invalid. */
const char *hdx_oql_unquote(oql *o, const oql_token *t);
/* Same for a pattern, in which a backslash belongs to the pattern. */
const char *hdx_oql_unquote_pattern(oql *o, const oql_token *t);

/* ---- the tree ---- */
typedef enum oql_kind {
    OQL_IS_NUMBER, /* text: digits as in SQL */
    OQL_IS_STRING,
    OQL_IS_CHAR, /* in single quotes */
    OQL_IS_NULL,
    OQL_IS_BOOL, /* number */
    OQL_IS_NAME,
    OQL_IS_ROW, /* the object itself, if only "@length" is written */
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
    uint32_t    at, end; /* range in the query, in bytes */
    unsigned    depth, number;
    char        op[3];
    const char *text;
    oql_node   *a, *b, *c;
    oql_node   *list, *next; /* list: first element; next: the following element of the list that contains this node */
    oql_node   *made;        /* the node created before: all nodes of a query form a list */
    oql_select *select;
};
typedef struct oql_item oql_item;
struct oql_item {
    oql_node   *value;
    const char *name; /* after AS; NULL: none */
    oql_item   *next;
    int         shown; /* item_shown, set when the SELECT was translated */
};
/* Content of a column of a sub-select, for expressions that use it. */
typedef enum item_shown {
    SHOWN_ANY,   /* a number or an id */
    SHOWN_TEXT,  /* a text, a name of a class, the root types of an object */
    SHOWN_IDS,   /* a list of ids and numbers, as a text with commas */
    SHOWN_VALUES /* a list of values that may contain commas */
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
    oql_select *more; /* the SELECT after UNION */
    /* its nodes: the last one that was created, and the one created before the first */
    oql_node *made_last, *made_before;
};
oql_select *hdx_oql_parse(oql *o);

/* ---- names ---- */
const char *hdx_oql_literal(oql *o, const char *text);    /* 'it''s' */
const char *hdx_oql_identifier(oql *o, const char *text); /* plain, or "in quotes" */
bool        hdx_oql_reserved(const char *text);           /* the name of one of our tables */
bool        hdx_oql_same(const char *a, const char *b);   /* ignoring case */
bool        hdx_oql_class_there(oql *o, const char *name);
void       *hdx_oql_no_class(oql *o, uint32_t at, const char *name); /* fails, with the nearest name as hint */
/*
 * Returns whether a class is an interface. Interfaces have no instances here, because dumps do not say which classes
 * implement them.
 */
bool  hdx_oql_is_interface(oql *o, const char *name);
void *hdx_oql_no_heirs(oql *o, uint32_t at, const char *name); /* fails, with an implementing class as hint */
/* Returns whether a table of this name has exactly the instances of this class. */
bool        hdx_oql_class_has_table(oql *o, const char *name);
const char *hdx_oql_class_table(oql *o, const char *name, bool heirs); /* its name, as an identifier */
/*
 * Returns whether this is a column of the class's table, with this name and MAT's meaning of the field. *type: as in
 * hdx_field.
 */
bool hdx_oql_class_has_column(oql *o, const char *name, const char *field, uint8_t *type);
/* Returns the types of fields of this name in the dump: in the class and its subclasses; name NULL: in all classes. */
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
    VALUE_ARRAY,  /* the same, requested as an array */
    VALUE_CLASS,  /* class of an object */
    VALUE_LIST,   /* many ids, or rows of a SELECT */
    VALUE_ROOTS,  /* the root types of an object */
    VALUE_ANY,    /* a number or an id, which depends on the dump */
    VALUE_SNAPSHOT
} value_kind;
/* Precedence of an SQL expression. */
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
    const char *sql;      /* NULL for a list that is not a column of a sub-select, and after a failure */
    bool        nullable; /* may be NULL where MAT has a null that equals nothing */
    bool        plain;    /* a column by its name: SQLite's heading suffices */
    oql_scope  *row;      /* the object of a row; NULL: another one */
    const char *text;     /* of an object: the object whose `value` it is */
    const char *name;     /* of a class: its name and number */
    const char *number;
    list_kind   list;
    const char *of;                    /* of a list: the object to which it belongs */
    const char *column, *from, *where; /* where NULL: no condition */
    const char *ref;                   /* the column with ids only, if `column` may have other values; NULL */
    const char *select;                /* LIST_SELECT: the statement */
    const char *exists;                /* of the number of a list: SQL for "more than 0" */
    bool        objects, classes;      /* of a list: `from` has the columns of objects; it contains class objects */
    bool        joined;                /* a text that a sub-select joined from many values: it has no members */
} value;

typedef enum scope_table { SCOPE_OBJECTS, SCOPE_CLASS, SCOPE_DERIVED } scope_table;
struct oql_scope {
    oql_scope        *outer;
    const oql_select *select;
    scope_table       table;
    const char       *alias;      /* in SQL */
    const char       *class_name; /* class of all rows; heirs: or of subclasses; NULL: unknown */
    bool              heirs;
    bool              classes; /* rows are class objects: fields are statics */
    bool              grouped;
    bool              named;        /* names of select items may be used: after WHERE */
    bool              aggregated;   /* an aggregate of it was used */
    const char       *from, *where; /* where NULL: no condition */
};
typedef enum oql_want { WANT_ROWS, WANT_IDS, WANT_VALUE, WANT_TABLE } oql_want;
/* Translates a whole SELECT with its UNIONs; NULL on failure. */
const char *hdx_oql_statement(oql *o, const oql_select *s, oql_scope *outer, oql_want want);
/* Returns whether a sub-select gives objects rather than a table of values. */
bool hdx_oql_gives_objects(const oql_select *s);

value       hdx_oql_value(oql *o, const oql_node *n, oql_scope *s);
value       hdx_oql_asked(oql *o, const oql_node *n, oql_scope *s); /* the same for a value that has members */
const char *hdx_oql_condition(oql *o, const oql_node *n, oql_scope *s,
                              binding least); /* in parentheses if its precedence is lower */
const char *hdx_oql_scalar(oql *o, const oql_node *n, oql_scope *s, binding least);
const char *hdx_oql_scalar_of(oql *o, uint32_t at, value v, binding least);
/* Returns a value as text: of Strings their text, of other objects the label. */
const char *hdx_oql_text_of(oql *o, uint32_t at, value v);
const char *hdx_oql_object_of(oql *o, uint32_t at, value v);              /* an id */
const char *hdx_oql_list_where(oql *o, value list, const char *and_also); /* " WHERE ..." or "" */
const char *hdx_oql_in_list(oql *o, const char *id, value list);          /* a condition on one id */
const char *hdx_oql_ids_in_list(oql *o, const char *id, value list);      /* the same, for searching ids */
value       hdx_oql_count(oql *o, value list);

const char *hdx_oql_table_name(oql *o); /* o, o2 ..., different from names in the query */

#endif
