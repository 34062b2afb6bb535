/*
 * test_oql.c - queries of OQL and the SQL that they become, or the words with which they are refused: all of
 * queries.txt, over a small heap that has the names which make trouble.
 *
 * HDX_WRITE_OQL=FILE writes that table anew, to be read before it replaces the old one.
 */
#include "query/heap.h"
#include "support/checksums.h"
#include "support/sql_text.h"
#include <heapdex/oql.h>
#include <heapdex/sql.h>

#define QUERIES HDX_TREE "/tests/oql/queries.txt"

/* Classes: what queries of people name, and names that clash with tables, with each other, or with SQL. */
static void make_heap(heap *h)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class_at(m, 0x1000, "java.lang.Object", 0, "");
    const uint64_t lowest = dump_maker_class_at(m, 0x0fe0, "app.First", object, "p:I q:L");
    const uint64_t class = dump_maker_class_at(m, 0x1020, "java.lang.Class", object, "");
    const uint64_t string = dump_maker_class_at(m, 0x1040, "java.lang.String", object, "value:L count:I hash:I");
    const uint64_t map = dump_maker_class_at(m, 0x1060, "java.util.AbstractMap", object, "keySet:L");
    const uint64_t hash =
        dump_maker_class_at(m, 0x1080, "java.util.HashMap", map, "table:L size:I threshold:I loadFactor:F");
    const uint64_t entry = dump_maker_class_at(m, 0x10a0, "java.util.HashMap$Entry", object, "key:L value:L next:L");
    const uint64_t number = dump_maker_class_at(m, 0x10c0, "java.lang.Number", object, "");
    const uint64_t integer = dump_maker_class_at(m, 0x10e0, "java.lang.Integer", number, "value:I");
    dump_maker_static(m, "MAX_VALUE", 'I', 0x7fffffff);
    const uint64_t thread = dump_maker_class_at(m, 0x1100, "java.lang.Thread", object, "name:L daemon:Z grade:C");
    const uint64_t list = dump_maker_class_at(m, 0x1120, "java.util.ArrayList", object, "elementData:L size:I");
    const uint64_t soft = dump_maker_class_at(m, 0x1140, "java.lang.ref.SoftReference", object, "referent:L clock:J");
    (void)dump_maker_class_at(m, 0x1160, "java.util.Map", 0, "");
    /* The table of Base has a column f, that of Heir has two, and MAT takes the upper one. */
    const uint64_t base = dump_maker_class_at(m, 0x1180, "app.Base", object, "f:I kind:L");
    const uint64_t heir = dump_maker_class_at(m, 0x11a0, "app.Heir", base, "f:L g:J");
    const uint64_t cases = dump_maker_class_at(m, 0x11c0, "app.Cases", object, "size:I Size:J this:I class:L select:I");
    const uint64_t one = dump_maker_class_at(m, 0x11e0, "app.Same", object, "x:I");
    const uint64_t other = dump_maker_class_at(m, 0x1200, "app.SAME", object, "x:I");
    const uint64_t first = dump_maker_class_at(m, 0x1220, "app.Twice", object, "a:I b:L");
    const uint64_t second = dump_maker_class_at(m, 0x1240, "app.Twice", object, "a:I c:J");
    const uint64_t classes = dump_maker_class_at(m, 0x1260, "Classes", object, "n:I");
    const uint64_t hostile = dump_maker_class_at(m, 0x1280, "x\"; DROP TABLE objects; --'", object, "n:I");
    const uint64_t strings = dump_maker_class_at(m, 0x12a0, "[Ljava.lang.String;", object, "");
    (void)dump_maker_class_at(m, 0x12c0, "[I", object, "");
    /* Nothing above it, as of an interface, and yet it has an object; two of a name whose fields are of other types. */
    const uint64_t odd = dump_maker_class_at(m, 0x12e0, "app.Odd", 0, "");
    const uint64_t left = dump_maker_class_at(m, 0x1300, "app.Mixed", object, "v:I w:J");
    const uint64_t right = dump_maker_class_at(m, 0x1320, "app.Mixed", object, "v:L w:J");
    const uint64_t all[] = { object, string, hash,  entry,  integer, thread,  list,   soft, base, heir, cases,
                             one,    other,  first, second, classes, hostile, lowest, odd,  left, right };
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, all[i], 0, 0);
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_instance_at(m, 0x2000 + 0x20 * i, all[i], NULL), 0, 0);
    }
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_array_at(m, 0x3000, strings, NULL, 3), 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_primitives_at(m, 0x3040, 'I', NULL, 3), 0, 0);
    (void)class;
    heap_open(h, m);
}

/* "sql: ..." or "no: usage at 7, ..." with a line "try: ..." after it, where there is a hint. */
static char *answer(hdx_graph *g, const char *oql)
{
    char     *sql = NULL, *out = NULL;
    hdx_error err = { .code = HDX_OK };
    hdx_code  code = hdx_oql_translate(g, oql, &sql, &err);
    if (code == HDX_OK) {
        (void)asprintf(&out, "sql: %s\n", sql);
        cr_expect(sql_is_one_statement(sql), "%s", sql);
    } else
        (void)asprintf(&out, "no: %s at %lld, %s\n%s%s%s", hdx_code_name(code), (long long)err.offset, err.message,
                       err.hint[0] == '\0' ? "" : "try: ", err.hint, err.hint[0] == '\0' ? "" : "\n");
    cr_expect(eq(int, code, err.code));
    cr_expect(eq(int, code == HDX_OK, sql != NULL));
    hdx_text_free(sql);
    return out;
}

static char *content_of(const char *path)
{
    FILE  *f = fopen(path, "r");
    char  *text = NULL;
    size_t size = 0;
    cr_assert(ne(ptr, f, NULL), "%s", path);
    if (getdelim(&text, &size, '\0', f) < 0)
        cr_assert(false, "%s is empty", path);
    (void)fclose(f);
    return text;
}

Test(oql, queries_become_the_sql_that_is_written_down_or_are_refused_so)
{
    heap        h;
    char       *table = content_of(QUERIES), *at = table, *line;
    const char *path = getenv("HDX_WRITE_OQL");
    FILE       *out = path == NULL ? NULL : fopen(path, "w");
    unsigned    count = 0;
    make_heap(&h);
    while ((line = strsep(&at, "\n")) != NULL) {
        if (strncmp(line, "oql: ", 5) != 0) {
            if (out != NULL && (line[0] == '#' || line[0] == '\0') && at != NULL)
                fprintf(out, "%s\n", line);
            continue;
        }
        char *has = answer(h.g, line + 5), *want = at;
        while (at != NULL && at[0] != '\0' && at[0] != '\n' && strncmp(at, "oql: ", 5) != 0)
            (void)strsep(&at, "\n");
        for (char *p = want; at != NULL && p < at; p++) /* what strsep cut is one text again */
            if (*p == '\0')
                *p = '\n';
        const size_t len = at == NULL ? strlen(want) : (size_t)(at - want);
        if (out != NULL)
            fprintf(out, "%s\n%s", line, has);
        else
            cr_expect(strlen(has) == len && memcmp(has, want, len) == 0, "%s\nwant %.*shas  %s", line, (int)len, want,
                      has);
        free(has);
        count++;
    }
    cr_expect(gt(u32, count, 150));
    if (out != NULL)
        (void)fclose(out);
    free(table);
    heap_close(&h);
}

/* Where the next word, number, text in quotes or sign ends. */
static size_t end_of_piece(const char *s, size_t at)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    while (s[at] == ' ')
        at++;
    if (s[at] == '"' || s[at] == '\'') {
        const char *closing = strchr(s + at + 1, s[at]);
        return closing != NULL ? (size_t)(closing - s) + 1 : strlen(s);
    }
    const size_t word = strspn(s + at, letters);
    return at + (word > 0 ? word : s[at] != '\0');
}

/* The query without each of its pieces, with each twice, with each pair in the other order, and its beginnings. */
static uint64_t changed(void *context, const char *oql, hdx_buffer *b)
{
    uint64_t count = 0;
    heap    *h = context;
    for (size_t from = 0, to, next; oql[from] != '\0'; from = to) {
        char text[4][2048];
        to = end_of_piece(oql, from);
        next = end_of_piece(oql, to);
        (void)snprintf(text[0], sizeof text[0], "%.*s", (int)from, oql);
        (void)snprintf(text[1], sizeof text[1], "%.*s%s", (int)from, oql, oql + to);
        (void)snprintf(text[2], sizeof text[2], "%.*s %s", (int)to, oql, oql + from);
        (void)snprintf(text[3], sizeof text[3], "%.*s %.*s %.*s%s", (int)from, oql, (int)(next - to), oql + to,
                       (int)(to - from), oql + from, oql + next);
        for (unsigned i = 0; i < 4; i++, count++) {
            char *has = answer(h->g, text[i]);
            hdx_buffer_format(b, "oql: %s\n%s", text[i], has);
            free(has);
        }
    }
    return count;
}

/* changed.txt has the checksums (support/checksums.h) of what becomes of each query of queries.txt when it is changed.
 */
Test(oql, queries_that_are_cut_or_mixed_up_become_other_sql_or_are_refused, .timeout = 120)
{
    heap h;
    make_heap(&h);
    checksums_check(HDX_TREE "/tests/oql/changed.txt", changed, &h);
    heap_close(&h);
}

/* All rows; HDX_USAGE where heapdex was built without SQLite. */
static hdx_code run(hdx_sql *db, const char *sql, hdx_error *err)
{
    const hdx_cell *cells;
    hdx_rows       *rows = NULL;
    hdx_code        code = hdx_sql_run(db, sql, NULL, &rows, err);
    if (code == HDX_OK) {
        while (hdx_rows_next(rows, &cells))
            ;
        code = hdx_rows_end(rows, err);
    }
    hdx_rows_close(rows);
    return code;
}

Test(oql, sql_that_comes_of_it_runs)
{
    heap         h;
    char        *table = content_of(QUERIES), *at = table, *line, *sql;
    hdx_session *session;
    hdx_sql     *db;
    unsigned     count = 0;
    make_heap(&h);
    const hdx_index_options options = { .dump = h.dump, .index_dir = h.index };
    ok(hdx_session_open(&options, &session, &h.err));
    if (hdx_sql_open(session, NULL, &db, &h.err) != HDX_OK) {
        hdx_session_close(session);
        heap_close(&h);
        cr_skip("%s", h.err.message);
    }
    while ((line = strsep(&at, "\n")) != NULL)
        if (strncmp(line, "oql: ", 5) == 0 && hdx_oql_translate(h.g, line + 5, &sql, &h.err) == HDX_OK) {
            cr_expect(eq(int, run(db, sql, &h.err), HDX_OK), "%s\n%s\n%s", line, sql, h.err.message);
            hdx_text_free(sql);
            count++;
        }
    cr_expect(gt(u32, count, 150));
    hdx_sql_close(db);
    hdx_session_close(session);
    free(table);
    heap_close(&h);
}

/* Without a heap no class is known, and every field is looked up by its name. */
Test(oql, needs_no_heap)
{
    char     *sql;
    hdx_error err;
    cr_assert(eq(int, hdx_oql_translate(NULL, "SELECT s.f FROM no.Such s WHERE s.g > 3", &sql, &err), HDX_OK));
    cr_expect(eq(str, sql,
                 (char *)"SELECT field(s.id,'f') AS \"s.f\" FROM objects s WHERE s.class='no.Such' AND "
                         "field(s.id,'g')>3"));
    hdx_text_free(sql);
}

static hdx_code translated(const char *before, const char *again, unsigned times, const char *after)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    hdx_error  err;
    char      *sql = NULL;
    hdx_buffer_text(&b, before);
    for (unsigned i = 0; i < times; i++)
        hdx_buffer_text(&b, again);
    hdx_buffer_text(&b, after);
    hdx_code code = hdx_oql_translate(NULL, b.at, &sql, &err);
    hdx_text_free(sql);
    hdx_buffer_free(&b);
    return code;
}

/* Whatever is nested or chained, by whatever sign, ends with words and not with the stack. */
Test(oql, refuses_what_is_nested_too_deep)
{
    static const struct {
        const char *before, *again, *after;
        unsigned    most; /* what goes; 0: any number */
    } forms[] = {
        { "SELECT * FROM C s WHERE s.a = ", "(", "1", 0 }, /* never closed: refused at any number */
        { "SELECT * FROM C s WHERE ", "NOT ", "s.a", 90 },
        { "SELECT * FROM C s WHERE s.a = ", "-", "1", 90 },
        { "SELECT s", ".a", " FROM C s", 90 },
        { "SELECT s", "[0]", " FROM C s", 90 },
        { "SELECT 1", " + 1", " FROM C s", 90 },
        { "SELECT 1", " = 1", " FROM C s", 90 },
        { "SELECT * FROM C s WHERE 1", " AND 1", "", 5000 },
        { "SELECT * FROM C s WHERE 1", " OR 1", "", 5000 },
        { "SELECT * FROM C", " UNION (SELECT * FROM C)", "", 1000 },
        /* after each other, not in each other */
        { "SELECT * FROM C s WHERE 1", " AND (s.a = 1)", "", 1000 },
        { "SELECT * FROM C s WHERE 1", " AND NOT s.a = 1", "", 1000 },
        { "SELECT * FROM C s WHERE 1", " OR s.a IN (1, 2)", "", 1000 },
        { "SELECT * FROM C s WHERE 1", " OR toString(s.a) = 'x'", "", 1000 },
        { "SELECT * FROM C s WHERE 1", " OR s.@displayName.startsWith(\"x\")", "", 1000 },
        { "SELECT * FROM C s WHERE 1", " OR s.a[0] = 1", "", 1000 },
        { "SELECT * FROM C s WHERE 1", " OR -s.a = 1", "", 1000 },
        { "SELECT * FROM C s WHERE 1", " OR s IN (SELECT * FROM D)", "", 1000 },
        { "SELECT * FROM C s WHERE 1", " OR s IMPLEMENTS IClass", "", 1000 },
        { "SELECT * FROM C s WHERE 1", " OR toString(s) LIKE \"[a[b]]\"", "", 1000 },
        { "SELECT ", "toString(", "s", 0 },
        { "SELECT * FROM OBJECTS (", "SELECT * FROM OBJECTS (", "SELECT * FROM C", 0 },
    };
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (forms[i].most > 0)
            cr_expect(eq(int, translated(forms[i].before, forms[i].again, forms[i].most, forms[i].after), HDX_OK), "%s",
                      forms[i].again);
        if (forms[i].most < 5000 && forms[i].most != 1000)
            cr_expect(eq(int, translated(forms[i].before, forms[i].again, 5000, forms[i].after), HDX_LIMIT), "%s",
                      forms[i].again);
    }
    cr_expect(
        eq(int, translated("SELECT * FROM C s WHERE ", "1 = 1 AND ", 7000, "1"), HDX_LIMIT)); /* too long a text */
}

/* A place counted from the end of an array says twice which array: 3 times the text for each pair of brackets. */
Test(oql, refuses_sql_that_grows_without_end)
{
    cr_expect(eq(int, translated("SELECT s", "[-2:-1][0]", 3, " FROM C s"), HDX_OK));
    cr_expect(eq(int, translated("SELECT s", "[-2:-1][0]", 40, " FROM C s"), HDX_LIMIT));
}

/* Text with quotes, backslashes and comments, wherever a query may have text: it stays in its quotes in the SQL. */
Test(oql, text_never_leaves_its_quotes)
{
    static const char *const pieces[] = { "'",   "\\\"",    "\\\\",    ";", "--", "/*", "*/",      "x", " ", "\\n",
                                          "\\t", "\\u0027", "\\u0022", "(", ")",  "[",  "\\u005c", "é", "$", "''" };
    static const char *const places[] = {
        "SELECT s.a AS \"%s\" FROM C s",
        "SELECT \"%s\" FROM C s",
        "SELECT s FROM C s WHERE toString(s) = \"%s\"",
        "SELECT s FROM C \"%s\"",
        "SELECT s.getField(\"%s\") FROM C s",
        "SELECT s[\"%s\"] FROM C s",
        "SELECT s FROM C s WHERE s.@displayName.startsWith(\"%s\")",
        "SELECT s FROM C s WHERE toString(s).contains(\"%s\")",
        "SELECT s FROM C s WHERE toString(s) LIKE \"\\Q%s\\E\"",
        "SELECT s FROM C s WHERE s.@clazz.doesExtend(\"%s\")",
        "SELECT s FROM ${snapshot}.getClassesByName(\"%s\", true) s",
        "SELECT x.a FROM (SELECT s.a AS \"%s\", s.a FROM C s) x ORDER BY x.a",
    };
    uint64_t seed = 42;
    unsigned taken = 0;
    for (unsigned round = 0; round < 3000; round++) {
        char      text[128] = "", query[256];
        char     *sql = NULL;
        hdx_error err;
        for (unsigned i = 0; i < 1 + round % 7; i++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            strcat(text, pieces[(seed >> 33) % (sizeof pieces / sizeof *pieces)]);
        }
        (void)snprintf(query, sizeof query, places[round % (sizeof places / sizeof *places)], text);
        if (hdx_oql_translate(NULL, query, &sql, &err) == HDX_OK) {
            cr_expect(sql_is_one_statement(sql), "%s\n%s", query, sql);
            taken++;
        }
        hdx_text_free(sql);
    }
    cr_expect(gt(u32, taken, 2000), "%u", taken);
}
