/*
 * test_object_parts.c - counts of references in the answer `object`, and the parts that --with adds: each equals the
 * answer that has the same rows.
 */
#include "support/questions.h"
#include "heap.h"
#include "query/questions.h"
#include "rows/arguments.h"

#include <unistd.h>

#define LONG_LIST 60u /* nodes between the root and the last one */
#define USERS     25u /* objects that refer to the target */
#define TARGET    0x9000

static uint64_t user_at(uint64_t i) { return 0x5000 + 0x40 * i; }
static uint64_t node_at(uint64_t i) { return 0x2000 + 0x40 * i; }

/*
 *     Users.users: Object[] -> 25 app.User, each with two references to the target -> two byte[] and an app.Own
 *     Users.first: a list of 60 app.Node; the last one is far from the root
 * An app.User that nothing holds refers to the target, too.
 */
static void crowd(heap *h)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    users[USERS];
    (void)dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, 0x200, "byte[]", 0x100, "");
    (void)dump_maker_class_at(m, 0x300, "java.lang.Object[]", 0x100, "");
    dump_maker_static(m, "users", 'L', 0x4000);
    dump_maker_static(m, "first", 'L', node_at(0));
    (void)dump_maker_class_at(m, 0x400, "app.Users", 0x100, "");
    (void)dump_maker_class_at(m, 0x500, "app.User", 0x100, "left:L right:L");
    (void)dump_maker_class_at(m, 0x600, "app.Node", 0x100, "next:L");
    (void)dump_maker_class_at(m, 0x700, "app.Own", 0x100, "");
    (void)dump_maker_class_at(m, 0x800, "app.Target", 0x100, "one:L two:L own:L");
    for (uint64_t c = 0x100; c <= 0x800; c += 0x100)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, c, 0, 0);
    for (uint64_t i = 0; i < USERS; i++)
        users[i] = dump_maker_instance_at(m, user_at(i), 0x500, DUMP_VALUES(TARGET, TARGET));
    (void)dump_maker_instance_at(m, user_at(USERS), 0x500, DUMP_VALUES(TARGET, 0));
    dump_maker_array_at(m, 0x4000, 0x300, users, USERS);
    for (uint64_t i = 0; i < LONG_LIST; i++)
        (void)dump_maker_instance_at(m, node_at(i), 0x600, DUMP_VALUES(i + 1 < LONG_LIST ? node_at(i + 1) : 0));
    dump_maker_primitives_at(m, 0x9100, 'B', NULL, 100);
    dump_maker_primitives_at(m, 0x9200, 'B', NULL, 200);
    (void)dump_maker_instance_at(m, 0x9300, 0x700, NULL);
    (void)dump_maker_instance_at(m, TARGET, 0x800, DUMP_VALUES(0x9100, 0x9200, 0x9300));
    heap_open(h, m);
}

static hdx_rows *object(heap *h, const char *name, const char *with, const char *limit)
{
    const hdx_argument  at[] = { { "object", name }, { "with", with }, { "limit", limit } };
    const hdx_arguments a = { &hdx_question_object.declared, at, with == NULL ? 1u : limit == NULL ? 2u : 3u };
    hdx_rows           *rows = NULL;
    cr_assert(eq(int, hdx_question_open(&hdx_question_object, &h->q, &a, &rows, &h->err), HDX_OK), "%s",
              h->err.message);
    return rows;
}

static hdx_cell member(const hdx_cell *of, const char *key)
{
    for (uint64_t i = 0; of->kind == HDX_CELL_OBJECT && i < of->as.object.count; i++)
        if (strcmp(of->as.object.at[i].key, key) == 0)
            return of->as.object.at[i].value;
    return (hdx_cell){ .kind = HDX_CELL_NULL };
}

/* Returns a cell of the first row; null if there is no such column. Valid until the rows are closed. */
static hdx_cell first_cell(hdx_rows *rows, const char *name)
{
    unsigned          n;
    const hdx_column *columns = hdx_rows_columns(rows, &n);
    const hdx_cell   *row;
    cr_assert(hdx_rows_next(rows, &row));
    for (unsigned i = 0; i < n; i++)
        if (strcmp(columns[i].name, name) == 0)
            return row[i];
    return (hdx_cell){ .kind = HDX_CELL_NULL };
}

static void expect_number(heap *h, const char *name, const char *column, uint64_t want)
{
    hdx_rows      *rows = object(h, name, NULL, NULL);
    const hdx_cell c = first_cell(rows, column);
    cr_expect(c.kind == HDX_CELL_UINT && c.as.natural == want, "%s of %s: %llu", column, name,
              (unsigned long long)c.as.natural);
    hdx_rows_close(rows);
}

Test(object, counts_its_distinct_live_referrers_and_references)
{
    heap h;
    crowd(&h);
    expect_number(&h, "0x9000", "inbound", USERS);
    expect_number(&h, "0x9000", "outbound", 4); /* its class, two arrays, its own object */
    expect_number(&h, "0x5000", "inbound", 1);
    expect_number(&h, "0x5000", "outbound", 2); /* its class and the target, once */
    expect_number(&h, "0x9100", "outbound", 1);
    heap_close(&h);
}

/* Expects the part to have the first rows of `rows`, as members with the names of the columns. */
static void expect_part(const hdx_cell *part, hdx_rows *rows, uint64_t most, uint64_t rest)
{
    unsigned          n;
    const hdx_column *columns = hdx_rows_columns(rows, &n);
    const hdx_cell   *row, list = member(part, "rows"), more = member(part, "rest");
    uint64_t          count = 0;
    cr_assert(list.kind == HDX_CELL_LIST);
    for (; count < most && hdx_rows_next(rows, &row); count++)
        for (unsigned i = 0; count < list.as.list.count && i < n; i++) {
            hdx_buffer have = hdx_buffer_of(NULL), want = hdx_buffer_of(NULL);
            cr_assert(list.as.list.at[count].as.object.count == n);
            cr_expect(eq(str, (char *)list.as.list.at[count].as.object.at[i].key, (char *)columns[i].name));
            put_cell(&have, &list.as.list.at[count].as.object.at[i].value);
            put_cell(&want, &row[i]);
            cr_expect(eq(str, have.at, want.at), "%s of row %llu", columns[i].name, (unsigned long long)count);
            hdx_buffer_free(&have);
            hdx_buffer_free(&want);
        }
    cr_expect(eq(u64, list.as.list.count, count));
    cr_expect(more.kind == HDX_CELL_UINT && more.as.natural == rest, "%llu", (unsigned long long)more.as.natural);
    hdx_rows_close(rows);
}

static hdx_rows *refs_of(heap *h, bool inbound)
{
    hdx_rows *rows = NULL;
    cr_assert(eq(int, hdx_query_refs(&h->q, id_at(h, TARGET), inbound, HDX_BY_NONE, &rows, &h->err), HDX_OK));
    return rows;
}

static hdx_rows *kept_of(heap *h)
{
    const hdx_id id = id_at(h, TARGET);
    hdx_rows    *rows = NULL;
    cr_assert(eq(int, hdx_query_dominators(&h->q, HDX_BY_CLASS, &id, 1, &rows, &h->err), HDX_OK));
    return rows;
}

Test(object, parts_are_the_first_rows_of_the_answers_with_these_names)
{
    heap h;
    crowd(&h);
    hdx_rows *rows = object(&h, "0x9000", "keeps,in", NULL);
    hdx_cell  in = first_cell(rows, "in");
    expect_part(&in, refs_of(&h, true), 20, 2 * USERS - 20); /* each refers to it twice */
    hdx_rows_close(rows);
    rows = object(&h, "0x9000", "out", NULL);
    hdx_cell out = first_cell(rows, "out");
    expect_part(&out, refs_of(&h, false), 20, 0);
    hdx_rows_close(rows);
    rows = object(&h, "0x9000", "keeps", NULL);
    hdx_cell keeps = first_cell(rows, "keeps");
    expect_part(&keeps, kept_of(&h), 20, 0);
    cr_expect(eq(u64, member(&keeps, "rows").as.list.count, 2)); /* byte[], app.Own */
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(object, limit_bounds_each_part_and_0_shows_all)
{
    heap h;
    crowd(&h);
    hdx_rows *rows = object(&h, "0x9000", "keeps,out,in,path", "1");
    hdx_cell  keeps = first_cell(rows, "keeps");
    expect_part(&keeps, kept_of(&h), 1, 1);
    hdx_rows_close(rows);
    rows = object(&h, "0x9000", "keeps,out,in,path", "1");
    hdx_cell out = first_cell(rows, "out");
    expect_part(&out, refs_of(&h, false), 1, 3);
    hdx_rows_close(rows);
    rows = object(&h, "0x9000", "in", "0");
    hdx_cell in = first_cell(rows, "in");
    expect_part(&in, refs_of(&h, true), 2 * USERS, 0);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(object, has_only_the_parts_that_are_requested)
{
    static const char *const names[] = { "path", "in", "out", "keeps" };
    heap                     h;
    crowd(&h);
    for (unsigned with = 0; with <= 4; with++)
        for (unsigned i = 0; i < 4; i++) {
            hdx_rows  *rows = object(&h, "0x9000", with < 4 ? names[with] : NULL, NULL);
            const bool has = first_cell(rows, names[i]).kind == HDX_CELL_OBJECT;
            cr_expect(eq(int, has, with == i), "%s of --with %s", names[i], with < 4 ? names[with] : "nothing");
            hdx_rows_close(rows);
        }
    heap_close(&h);
}

/* Returns the addresses of the steps, and "..." where steps are missing, as text. */
static hdx_buffer steps_text(const hdx_cell *path)
{
    hdx_buffer     b = hdx_buffer_of(NULL);
    const hdx_cell steps = member(path, "steps");
    for (uint64_t i = 0; i < steps.as.list.count; i++) {
        const hdx_cell address = member(&steps.as.list.at[i], "address");
        hdx_buffer_format(&b, "%s%llx", i == 0 ? "" : " ", (unsigned long long)address.as.address);
    }
    return b;
}

Test(object, path_has_both_of_its_ends_and_the_number_of_omitted_steps)
{
    heap h;
    crowd(&h);
    hdx_rows  *rows = object(&h, "0x2080", "path", "4"); /* the third node: class app.Users, three nodes */
    hdx_cell   path = first_cell(rows, "path");
    hdx_buffer text = steps_text(&path);
    cr_expect(eq(str, text.at, (char *)"400 2000 2040 2080"));
    cr_expect(member(&path, "steps_cut").kind == HDX_CELL_NULL);
    cr_expect(eq(u64, member(&path, "length").as.natural, 3));
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    rows = object(&h, "0x2ec0", "path", "3"); /* the last node */
    path = first_cell(rows, "path");
    text = steps_text(&path);
    cr_expect(eq(str, text.at, (char *)"400 2e80 2ec0"));
    cr_expect(eq(u64, member(&path, "steps_cut").as.natural, LONG_LIST + 1 - 3));
    cr_expect(eq(u64, member(&path, "length").as.natural, LONG_LIST));
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    rows = object(&h, "0x2ec0", "path", NULL);
    path = first_cell(rows, "path");
    cr_expect(eq(u64, member(&path, "steps").as.list.count, 20));
    cr_expect(eq(u64, member(&path, "steps_cut").as.natural, LONG_LIST + 1 - 20));
    hdx_rows_close(rows);
    rows = object(&h, "0x5640", "path,keeps,in", NULL); /* the app.User that nothing holds */
    path = first_cell(rows, "path");
    cr_expect(member(&path, "reachable").kind == HDX_CELL_BOOL && !member(&path, "reachable").as.boolean);
    cr_expect(eq(u64, member(&path, "steps").as.list.count, 0));
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(object, parts_of_several_objects_are_of_each)
{
    heap                h;
    const hdx_argument  at[] = { { "object", "0x9000" }, { "object", "0x2ec0" }, { "with", "path,keeps" } };
    const hdx_arguments a = { &hdx_question_object.declared, at, 3 };
    hdx_rows           *rows = NULL;
    crowd(&h);
    ok(hdx_question_open(&hdx_question_object, &h.q, &a, &rows, &h.err));
    hdx_buffer  text = rows_text(rows);
    const char *second = strstr(text.at, "{target=0x2ec0 "), *first = strstr(text.at, "{target=0x9000 ");
    cr_expect(first != NULL && second != NULL && first < second, "%s", text.at);
    cr_expect(strstr(text.at, "{rows=[{class=byte[] objects=2 ") != NULL, "%s", text.at);
    cr_expect(strstr(text.at, "{rows=[] rest=0}\n") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(object, parts_are_those_of_the_index_without_its_dump)
{
    heap h;
    crowd(&h);
    hdx_graph_close(h.g);
    cr_assert(eq(int, unlink(h.dump), 0));
    ok(hdx_graph_open(h.index, NULL, &h.g, &h.err));
    h.q.graph = h.g;
    hdx_rows *rows = object(&h, "0x9000", "path,in,out,keeps", NULL);
    hdx_cell  in = first_cell(rows, "in");
    expect_part(&in, refs_of(&h, true), 20, USERS - 20); /* without names, a row for each referrer */
    hdx_rows_close(rows);
    rows = object(&h, "0x9000", "path,in,out,keeps", NULL);
    hdx_cell   path = first_cell(rows, "path");
    hdx_buffer text = steps_text(&path);
    cr_expect(eq(str, text.at, (char *)"400 4000 5000 9000"));
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}
