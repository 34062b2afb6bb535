/*
 * bench_sql.c - asks a finished index questions in SQL, in one process through the library, and prints what each took,
 * as CSV.
 *
 *     bench_sql INDEX [DUMP]
 *
 * One row a question: bench,dump,question,times,mean_us,cpu_us,rows. A question is asked once before it counts, so that
 * its tables are made and the pages of the index are in memory, and then as often as takes a fifth of a second, or
 * once. cpu_us is the mean processor time of a statement, from its text to its last row: on a busy machine the figure
 * to compare. `rows` is how many rows of tables it goes through, 0 where that says nothing.
 *
 * Questions on com.example.shop are asked of dumps that have it: the dump `shop` of bench/run. Those on fields, texts
 * and elements read DUMP. No judgement inside.
 */
#include <heapdex/heapdex.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ENOUGH_NS 200000000u
#define MOST      1000u
#define LIVE      "SELECT value FROM dump WHERE key = 'live_objects'"
#define OF(name)  "SELECT sum(live_instances) FROM classes WHERE name = '" name "'"
#define STRING    "java.lang.String"
#define SHOP      "com.example.shop.Model$"

/* "?": the object that retains most; "@": its address. rows NULL: none are counted. */
static const struct question {
    const char *name, *text, *rows;
} questions[] = {
    { "count", "SELECT count(*) FROM objects", LIVE },
    { "sum", "SELECT sum(shallow) FROM objects", LIVE },
    { "sum_retained", "SELECT sum(retained) FROM objects", LIVE },
    { "filter", "SELECT count(*) FROM objects WHERE shallow >= 1024", LIVE },
    { "filter_retained", "SELECT count(*) FROM objects WHERE retained > 1000000", LIVE },
    { "top", "SELECT id, addr(address), class, retained FROM objects ORDER BY retained DESC LIMIT 20", LIVE },
    { "group_by_class", "SELECT class, count(*), sum(shallow) FROM objects GROUP BY class", LIVE },
    { "group_by_class_sorted",
      "SELECT class, count(*), sum(shallow), sum(retained) FROM objects GROUP BY class ORDER BY 3 DESC", LIVE },
    { "group_of_big",
      "SELECT class, count(*), sum(shallow) FROM objects WHERE shallow >= 1024 GROUP BY class ORDER BY 3 DESC", LIVE },
    { "histogram", "SELECT name, live_instances, live_bytes FROM classes ORDER BY 3 DESC LIMIT 20", NULL },
    { "count_of_strings", "SELECT count(*) FROM objects WHERE class = '" STRING "'", NULL },
    { "class_by_name", "SELECT * FROM classes WHERE name = '" STRING "'", NULL },
    { "several_loaders", "SELECT name, count(*), sum(bytes) FROM classes GROUP BY name HAVING count(*) > 1", NULL },
    { "biggest_maps",
      "SELECT id, retained FROM objects WHERE \"instanceof\" = 'java.util.AbstractMap' ORDER BY retained DESC LIMIT 10",
      NULL },
    { "by_id", "SELECT * FROM objects WHERE id = ?", NULL },
    { "by_address", "SELECT * FROM objects WHERE address = @", NULL },
    { "who_refers", "SELECT o.id, o.class FROM refs r JOIN objects o ON o.id = r.src WHERE r.dst = ?", NULL },
    { "path", "SELECT step, class, name FROM path(?) p JOIN objects o ON o.id = p.id", NULL },
    { "holds_by_class", "SELECT class, count(*), sum(retained) FROM objects WHERE dominator = ? GROUP BY class", NULL },
    { "locals",
      "SELECT t.thread, count(*), sum(o.retained) FROM roots t JOIN objects o ON o.id = t.id WHERE t.thread "
      "IS NOT NULL GROUP BY 1",
      NULL },
    { "roots", "SELECT r.type, count(*), sum(o.retained) FROM roots r JOIN objects o ON o.id = r.id GROUP BY 1", NULL },
    { "arrays",
      "SELECT id, class, length FROM objects WHERE kind IN ('primitive_array', 'object_array') ORDER BY "
      "shallow DESC LIMIT 20",
      LIVE },
    { "garbage", "SELECT class, count(*), sum(shallow) FROM objects WHERE live = 0 GROUP BY class ORDER BY 3 DESC",
      NULL },
    { "empty_lists", "SELECT count(*), sum(\"@shallow\") FROM \"java.util.ArrayList\" WHERE size = 0",
      OF("java.util.ArrayList") },
    { "wasted_tables",
      "SELECT count(*), sum(t.length - m.size) FROM \"java.util.HashMap\" m JOIN objects t ON t.id = "
      "m.\"table\" WHERE m.size * 4 < t.length",
      OF("java.util.HashMap") },
    { "strings", "SELECT sum(length(string(id))) FROM objects WHERE class = '" STRING "'", OF(STRING) },
    { "strings_like", "SELECT id, string(id, 100) FROM objects WHERE class = '" STRING "' AND string(id) LIKE '%@x%'",
      OF(STRING) },
    { "duplicate_strings",
      "SELECT string(id, 200) s, count(*) n, sum(retained) FROM objects WHERE class = '" STRING "' GROUP BY 1 HAVING n "
      "> 1 ORDER BY 3 DESC LIMIT 10",
      OF(STRING) },
    { "who_holds_strings",
      "SELECT p.class, count(*) n FROM objects s JOIN refs r ON r.dst = s.id JOIN objects p ON p.id = r.src WHERE "
      "s.class = '" STRING "' GROUP BY p.class_id ORDER BY n DESC LIMIT 10",
      OF(STRING) },
    { "immediate_dominators",
      "SELECT d.class, count(*), sum(o.retained) FROM objects o LEFT JOIN objects d ON d.id = o.dominator WHERE "
      "o.class = '" STRING "' GROUP BY d.class_id",
      OF(STRING) },
    { "soft_alone",
      "SELECT count(*), sum(o.retained) FROM \"instanceof java.lang.ref.SoftReference\" r JOIN objects o ON o.id = "
      "r.referent WHERE o.dominator = r.this",
      NULL },
    { "reach", "SELECT count(*), sum(o.shallow) FROM reach(?) x JOIN objects o ON o.id = x.id", NULL },
    { "shop.paths",
      "SELECT o.class, count(*) FROM (SELECT id FROM objects WHERE class = '" SHOP
      "Customer' LIMIT 1000) t, path(t.id) p JOIN objects o ON o.id = p.id WHERE p.step = 3 GROUP BY 1",
      NULL },
    { "shop.class_table", "SELECT count(*), sum(cents) FROM \"" SHOP "Item\"", OF(SHOP "Item") },
    { "shop.by_field", "SELECT count(*) FROM \"" SHOP "Order\" WHERE placedMillis > 1700000000000", OF(SHOP "Order") },
    { "shop.domain_join",
      "SELECT string(s.name), count(*) FROM \"" SHOP "Order\" o JOIN \"" SHOP "State\" s ON s.this = o.state GROUP BY "
      "o.state",
      OF(SHOP "Order") },
    { "shop.join_on_field",
      "SELECT count(*), sum(o.placedMillis) FROM (SELECT this FROM \"" SHOP
      "Customer\" LIMIT 1000) c CROSS JOIN \"" SHOP "Order\" o ON o.customer = c.this",
      OF(SHOP "Order") },
    { "shop.keep_together", "SELECT retained_set_size(id) FROM objects WHERE class = '" SHOP "Customer'", NULL },
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Reads a statement to its end; the number in the first cell of its last row. */
static hdx_code ask(hdx_sql *sql, const char *text, unsigned long long *number, hdx_error *err)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *cells;
    hdx_code        code = hdx_sql_run(sql, text, NULL, &rows, err);
    while (code == HDX_OK && hdx_rows_next(rows, &cells))
        *number = cells[0].kind == HDX_CELL_TEXT ? strtoull(cells[0].as.text.at, NULL, 10)
                  : cells[0].kind == HDX_CELL_INT || cells[0].kind == HDX_CELL_UINT ? cells[0].as.natural
                                                                                    : 0;
    if (code == HDX_OK)
        code = hdx_rows_end(rows, err);
    hdx_rows_close(rows);
    return code;
}

static void fill_in(char *to, size_t size, const char *text, unsigned long long id, unsigned long long address)
{
    size_t at = 0;
    for (; *text != '\0' && at + 24 < size; text++)
        if (*text == '?' || (*text == '@' && text[1] == '\0'))
            at += (size_t)snprintf(to + at, size - at, "%llu", *text == '?' ? id : address);
        else
            to[at++] = *text;
    to[at] = '\0';
}

static hdx_code measure(hdx_sql *sql, const char *dump, const struct question *q, const char *text, hdx_error *err)
{
    unsigned long long rows = 0, ignored = 0, times = 0;
    hdx_code           code = q->rows == NULL ? HDX_OK : ask(sql, q->rows, &rows, err);
    if (code == HDX_OK)
        code = ask(sql, text, &ignored, err);
    const uint64_t begun = clock_ns(CLOCK_MONOTONIC), used = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t       took = 0;
    for (; code == HDX_OK && times < MOST && took < ENOUGH_NS; times++) {
        code = ask(sql, text, &ignored, err);
        took = clock_ns(CLOCK_MONOTONIC) - begun;
    }
    const uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - used;
    if (code == HDX_OK && times > 0)
        printf("sql,%s,%s,%llu,%.3f,%.3f,%llu\n", dump, q->name, times, (double)took / 1e3 / (double)times,
               (double)cpu / 1e3 / (double)times, rows);
    fflush(stdout);
    return code;
}

static hdx_code ask_all(hdx_sql *sql, const char *dump, hdx_error *err)
{
    char               text[2000];
    unsigned long long biggest = 0, address = 0, shop = 0;
    hdx_code           code = ask(sql, "SELECT id FROM objects ORDER BY retained DESC LIMIT 1", &biggest, err);
    fill_in(text, sizeof text, "SELECT +address FROM objects WHERE id = ?", biggest, 0);
    if (code == HDX_OK && (code = ask(sql, text, &address, err)) == HDX_OK)
        code = ask(sql, OF(SHOP "Order"), &shop, err);
    for (size_t i = 0; code == HDX_OK && i < sizeof questions / sizeof *questions; i++) {
        const struct question *q = &questions[i];
        if (shop == 0 && strncmp(q->name, "shop.", 5) == 0)
            continue;
        fill_in(text, sizeof text, q->text, biggest, address);
        code = measure(sql, dump, q, text, err);
    }
    return code;
}

int main(int argc, char **argv)
{
    hdx_error    err = { .where = "" };
    hdx_session *session = NULL;
    hdx_sql     *sql = NULL;
    if (argc < 2)
        return fprintf(stderr, "usage: bench_sql INDEX [DUMP]\n"), 2;
    const char *slash = strrchr(argv[1], '/'), *name = slash != NULL && slash[1] != '\0' ? slash + 1 : argv[1];
    const bool  has_dump = argc > 2 && argv[2][0] != '\0';
    const hdx_index_options options = { .dump = has_dump ? argv[2] : argv[1], .index_dir = has_dump ? argv[1] : NULL };
    printf("bench,dump,question,times,mean_us,cpu_us,rows\n");
    hdx_code code = hdx_session_open(&options, &session, &err);
    if (code == HDX_OK && (code = hdx_sql_open(session, NULL, &sql, &err)) == HDX_OK)
        code = ask_all(sql, name, &err);
    hdx_sql_close(sql);
    if (session != NULL)
        hdx_session_close(session);
    return code == HDX_OK ? 0 : (fprintf(stderr, "bench_sql: %s: %s\n", err.where, err.message), 1);
}
