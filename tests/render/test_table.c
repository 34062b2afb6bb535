/* test_table.c - tables on terminals of any width, to the byte. */
#include "rendered.h"

/* Two names that differ must not look alike. */
Test(table, shows_characters_that_cannot_be_seen)
{
    static const char *const texts[][2] = { { "a\xe2\x80\x8b"
                                              "b",
                                              "a\\xe2\\x80\\x8bb" },
                                            { "a\xe2\x80\xa8"
                                              "b",
                                              "a\\xe2\\x80\\xa8b" },
                                            { "a\xef\xbb\xbf", "a\\xef\\xbb\\xbf" },
                                            { "a\xc2\xad", "a\\xc2\\xad" },
                                            { "a\xe2\x81\xa0", "a\\xe2\\x81\\xa0" },
                                            { "a\xe2\x80\x8d", "a\\xe2\\x80\\x8d" },
                                            { "\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81" },
                                            { "\xe6\xbc\xa2", "\xe6\xbc\xa2" } };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        hdx_buffer b = hdx_buffer_of(NULL);
        (void)hdx_render_full_text(&b, texts[i][0], strlen(texts[i][0]), false);
        hdx_buffer_put(&b, "", 1);
        cr_expect_str_eq(b.at, texts[i][1]);
        hdx_buffer_free(&b);
    }
}

Test(table, aligns_and_leaves_wide_columns_out)
{
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .human_sizes = true };
    hdx_rows          *rows = sample();
    cr_assert(eq(int, hdx_rows_set_title(rows, "Sizes", NULL), HDX_OK));
    expect_text(rows, &options,
                "Sizes\n"
                "\n"
                "  size  share  class       at\n"
                "1.5 KB  12.5%  com.acme.A  0x7f3a10\n"
                "  -7 B      -  a,\"b\"\\x0a\\  true\n");
}

Test(table, shows_plain_bytes_when_asked_and_colors_its_head)
{
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .color = true };
    hdx_cell           cells[2] = { hdx_cell_string("A"), hdx_cell_uint(15360) };
    expect_text(rows_of(cells, 1, 2), &options, " \x1b[1msize\x1b[0m  \x1b[1mclass\x1b[0m\n15360  A\n");
}

/* ---- tables as they are declared ---- */

static const hdx_column heap[] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "where it is"),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "its class"),
    HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL, "what it says"),
    HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE, "its size"),
    HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "what it keeps"),
    HDX_COLUMN("percent", REAL, PERCENT, HDX_COLUMN_SHARE, "of all"),
    HDX_COLUMN("children", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "below it"),
    HDX_COLUMN("heap", TEXT, NONE, HDX_COLUMN_NULLABLE, "of Android"),
};

typedef struct thing {
    const char *class_name, *label;
    uint64_t    retained;
    double      percent;
} thing;

static hdx_rows *things(const thing *at, unsigned count)
{
    hdx_table *t;
    hdx_rows  *rows;
    cr_assert(eq(int, hdx_table_new(heap, 8, &t, NULL), HDX_OK));
    for (unsigned i = 0; i < count; i++) {
        const hdx_cell cells[8] = { hdx_cell_address(0xdcb926b8 + 8 * i),
                                    hdx_cell_string(at[i].class_name),
                                    hdx_cell_string(at[i].label),
                                    hdx_cell_uint(16),
                                    hdx_cell_uint(at[i].retained),
                                    hdx_cell_real(at[i].percent),
                                    hdx_cell_uint(99998),
                                    hdx_cell_null() };
        cr_assert(eq(int, hdx_table_add(t, cells, NULL), HDX_OK));
    }
    cr_assert(eq(int, hdx_table_rows(t, &rows, NULL), HDX_OK));
    return rows;
}

static const thing heap_of_web[] = {
    { "java.lang.Class", "class acme.web.P1", 63438848, 68.3 },
    { "java.lang.Thread", "http-worker-0", 3040870, 3.2 },
    { "java.util.concurrent.ThreadPoolExecutor$Worker", NULL, 5300, 0.04 },
    { "java.lang.String",
      "gr\xc3\xb6\xc3\x9f"
      "e \xe6\x97\xa5\xe6\x9c\xac",
      48, 0 },
    { "acme.Color", "RED", 24, 0 },
    { "java.lang.Class", "int", 8, 0 },
    { NULL, NULL, 8, 0 },
};

Test(table, shows_class_and_label_as_one_object_and_the_address_last)
{
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .human_sizes = true };
    expect_text(things(heap_of_web, 7), &options,
                "shallow  retained      %  children  object                                          address\n"
                "   16 B   60.5 MB  68.3%    99,998  class acme.web.P1                               0xdcb926b8\n"
                "   16 B    2.9 MB   3.2%    99,998  Thread \"http-worker-0\"                          0xdcb926c0\n"
                "   16 B    5.2 KB  <0.1%    99,998  java.util.concurrent.ThreadPoolExecutor$Worker  0xdcb926c8\n"
                "   16 B      48 B   0.0%    99,998  String \"gr\xc3\xb6\xc3\x9f"
                "e \xe6\x97\xa5\xe6\x9c\xac\"                             0xdcb926d0\n"
                "   16 B      24 B   0.0%    99,998  acme.Color RED                                  0xdcb926d8\n"
                "   16 B       8 B   0.0%    99,998  class int                                       0xdcb926e0\n"
                "   16 B       8 B   0.0%    99,998  ?                                               0xdcb926e8\n");
}

Test(table, loses_spare_columns_then_packages_where_the_terminal_is_narrow_and_says_so)
{
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .human_sizes = true, .width = 70 };
    expect_text(things(heap_of_web, 3), &options,
                "shallow  retained      %  object                            address\n"
                "   16 B   60.5 MB  68.3%  class acme.web.P1                 0xdcb926b8\n"
                "   16 B    2.9 MB   3.2%  Thread \"http-worker-0\"            0xdcb926c0\n"
                "   16 B    5.2 KB  <0.1%  j.u.c.ThreadPoolExecutor$Worker   0xdcb926c8\n"
                "(no room for children)\n");
    options.width = 57;
    expect_text(things(heap_of_web, 3), &options,
                "retained  object                               address\n"
                " 60.5 MB  class acme.web.P1                    0xdcb926b8\n"
                "  2.9 MB  Thread \"http-worker-0\"               0xdcb926c0\n"
                "  5.2 KB  j.u.c.ThreadPoolExecutor$Worker      0xdcb926c8\n"
                "(no room for children, shallow, percent)\n");
    options.width = 43; /* the name is cut rather than the address */
    expect_text(things(heap_of_web + 2, 1), &options,
                "retained  object                 address\n"
                "  5.2 KB  j.u.c.Thre\xe2\x80\xa6tor$Worker  0xdcb926b8\n"
                "(no room for children, shallow, percent)\n");
    options.width = 30; /* too narrow for the address in any case: the name is whole */
    expect_text(things(heap_of_web + 2, 1), &options,
                "retained  object                           address\n"
                "  5.2 KB  j.u.c.ThreadPoolExecutor$Worker  0xdcb926b8\n"
                "(no room for children,\n"
                "shallow, percent)\n");
}

Test(table, omits_the_percent_last_and_cuts_names_of_classes_before_another_number_goes)
{
    static const hdx_column classes[] = {
        HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_CLASS_NAME, "its name"),
        HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "its instances"),
        HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "their size"),
        HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "what they keep"),
        HDX_COLUMN("percent", REAL, PERCENT, HDX_COLUMN_SPARE | HDX_COLUMN_SHARE, "of all"),
    };
    static const struct {
        unsigned    width;
        const char *text;
    } screens[] = {
        { 71, "objects  shallow  retained      %  class\n"
              "  1,234   4.0 KB    5.0 MB  40.0%  a.i.TheLongNameTh\xe2\x80\xa6utOfAClass$AndMore\n" },
        { 63, "shallow  retained      %  class\n"
              " 4.0 KB    5.0 MB  40.0%  a.i.TheLongNameTha\xe2\x80\xa6utOfAClass$AndMore\n"
              "(no room for objects)\n" },
        { 56, "retained      %  class\n"
              "  5.0 MB  40.0%  a.i.TheLongNameThat\xe2\x80\xa6"
              "CutOfAClass$AndMore\n"
              "(no room for objects, shallow)\n" },
        { 48, "retained  class\n"
              "  5.0 MB  a.i.TheLongNameTha\xe2\x80\xa6"
              "CutOfAClass$AndMore\n"
              "(no room for objects, shallow, percent)\n" },
    };
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .human_sizes = true };
    const hdx_cell     row[5] = { hdx_cell_string("acme.internal.TheLongNameThatNobodyLikesToCutOfAClass$AndMore"),
                                  hdx_cell_uint(1234), hdx_cell_uint(4096), hdx_cell_uint(5 << 20), hdx_cell_real(40) };
    for (unsigned i = 0; i < 4; i++) {
        hdx_table *t;
        hdx_rows  *rows;
        cr_assert(eq(int, hdx_table_new(classes, 5, &t, NULL), HDX_OK));
        cr_assert(eq(int, hdx_table_add(t, row, NULL), HDX_OK));
        cr_assert(eq(int, hdx_table_rows(t, &rows, NULL), HDX_OK));
        options.width = screens[i].width;
        expect_text(rows, &options, screens[i].text);
    }
}

Test(table, shows_a_class_that_is_null_as_any_other_null)
{
    static const hdx_column waits[] = {
        HDX_COLUMN("name", TEXT, NONE, 0, "of the thread"),
        HDX_COLUMN("waits_for", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class of the lock"),
    };
    const hdx_cell     cells[2][2] = { { hdx_cell_string("main"), hdx_cell_null() },
                                       { hdx_cell_string("other"), hdx_cell_string("acme.Lock") } };
    hdx_render_options options = { .format = HDX_FORMAT_TABLE };
    hdx_table         *t;
    hdx_rows          *rows;
    cr_assert(eq(int, hdx_table_new(waits, 2, &t, NULL), HDX_OK));
    for (unsigned i = 0; i < 2; i++)
        cr_assert(eq(int, hdx_table_add(t, cells[i], NULL), HDX_OK));
    cr_assert(eq(int, hdx_table_rows(t, &rows, NULL), HDX_OK));
    expect_text(rows, &options,
                "name   waits_for\n"
                "main   -\n"
                "other  acme.Lock\n");
}

/* ---- rows that stand for several objects ---- */

Test(table, says_behind_a_row_what_others_it_stands_for_and_counts_them)
{
    static const hdx_column folded[] = {
        HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_SUM, "where it is"),
        HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_SUM, "what it keeps"),
        HDX_COLUMN("percent", REAL, PERCENT, HDX_COLUMN_SHARE, "its part"),
        HDX_COLUMN("similar", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE | HDX_COLUMN_SIMILAR, "others"),
        HDX_COLUMN("similar_retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_SIMILAR, "what they keep"),
        HDX_COLUMN("similar_percent", REAL, PERCENT, HDX_COLUMN_NULLABLE | HDX_COLUMN_SIMILAR | HDX_COLUMN_SHARE,
                   "their part"),
    };
    const hdx_cell none = hdx_cell_null();
    const hdx_cell cells[2][6] = { { hdx_cell_address(0x10), hdx_cell_uint(4096), hdx_cell_real(40),
                                     hdx_cell_uint(1200), hdx_cell_uint(5 << 20), hdx_cell_real(25) },
                                   { hdx_cell_address(0x20), hdx_cell_uint(9), hdx_cell_real(5), none, none, none } };
    static const struct {
        unsigned    width;
        const char *text;
    } screens[] = {
        { 0, "retained      %  address\n"
             "  4.0 KB  40.0%  0x10     (and 1,200 similar: 5.0 MB)\n"
             "     9 B   5.0%  0x20\n" },
        { 100, "retained      %  address\n"
               "  4.0 KB  40.0%  0x10     (and 1,200 similar: 5.0 MB)\n"
               "     9 B   5.0%  0x20\n" },
        { 99, "retained      %  address\n"
              "  4.0 KB  40.0%  0x10     (+ 1,200: 5.0 MB)\n"
              "     9 B   5.0%  0x20\n" },
        { 40, "retained      %  address\n"
              "  4.0 KB  40.0%  0x10\n"
              "     9 B   5.0%  0x20\n"
              "(no room for similar)\n" },
        { 20, "retained  address\n"
              "  4.0 KB  0x10\n"
              "     9 B  0x20\n"
              "(no room for\n"
              "similar, percent)\n" },
    };
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .human_sizes = true };
    for (unsigned i = 0; i < 5; i++) {
        hdx_table *t;
        hdx_rows  *rows;
        cr_assert(eq(int, hdx_table_new(folded, 6, &t, NULL), HDX_OK));
        for (unsigned k = 0; k < 2; k++)
            cr_assert(eq(int, hdx_table_add(t, cells[k], NULL), HDX_OK));
        cr_assert(eq(int, hdx_table_rows(t, &rows, NULL), HDX_OK));
        options.width = screens[i].width;
        expect_text(rows, &options, screens[i].text);
    }
    for (unsigned limit = 1; limit <= 2; limit++) { /* behind the page, objects are counted, not rows */
        hdx_table *t;
        hdx_rows  *rows;
        hdx_cell   first[6];
        memcpy(first, cells[0], sizeof first);
        first[3] = hdx_cell_uint(limit == 1 ? 2 : 3);
        cr_assert(eq(int, hdx_table_new(folded, 6, &t, NULL), HDX_OK));
        for (unsigned k = 0; k < 5; k++)
            cr_assert(eq(int, hdx_table_add(t, k == 0 ? first : cells[1], NULL), HDX_OK));
        cr_assert(eq(int, hdx_table_rows(t, &rows, NULL), HDX_OK));
        cr_assert(eq(int, hdx_rows_limit(&rows, limit, NULL), HDX_OK));
        options.width = 0;
        expect_text(rows, &options,
                    limit == 1 ? "retained      %  address\n"
                                 "  4.0 KB  40.0%  0x10     (and 2 similar: 5.0 MB)\n"
                                 "\xe2\x80\xa6 4 more objects (those shown: 65.0%)\n"
                               : "retained      %  address\n"
                                 "  4.0 KB  40.0%  0x10     (and 3 similar: 5.0 MB)\n"
                                 "     9 B   5.0%  0x20\n"
                                 "\xe2\x80\xa6 3 more objects (those shown: 70.0%)\n");
    }
}

/* ---- a tree ---- */

static const hdx_column tree[] = {
    HDX_COLUMN("depth", UNSIGNED, NONE, HDX_COLUMN_DEPTH, "lines above it"),
    HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "where it is"),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_CLASS_NAME, "its class"),
    HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL, "what it says"),
    HDX_COLUMN("reference", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_REFERENCE, "leads on"),
    HDX_COLUMN("instances", UNSIGNED, COUNT, HDX_COLUMN_TIMES, "how many"),
    HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "what they keep"),
};

static hdx_rows *tree_of(uint64_t deepest)
{
    hdx_table     *t;
    hdx_rows      *rows;
    const hdx_cell cells[3][7] = {
        { hdx_cell_uint(0), hdx_cell_address(0x10), hdx_cell_string("java.lang.Class"), hdx_cell_string("class a.P2"),
          hdx_cell_string("HOOKS"), hdx_cell_uint(1), hdx_cell_uint(7) },
        { hdx_cell_uint(1), hdx_cell_address(0x20), hdx_cell_string("java.util.ArrayList"), hdx_cell_null(),
          hdx_cell_string("[]"), hdx_cell_uint(1), hdx_cell_uint(6) },
        { hdx_cell_uint(deepest), hdx_cell_null(), hdx_cell_string("a.Plugin"), hdx_cell_null(), hdx_cell_null(),
          hdx_cell_uint(99998), hdx_cell_uint(5) },
    };
    cr_assert(eq(int, hdx_table_new(tree, 7, &t, NULL), HDX_OK));
    for (unsigned i = 0; i < 3; i++)
        cr_assert(eq(int, hdx_table_add(t, cells[i], NULL), HDX_OK));
    cr_assert(eq(int, hdx_table_rows(t, &rows, NULL), HDX_OK));
    return rows;
}

Test(table, draws_a_tree_in_the_column_of_objects)
{
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .human_sizes = true };
    expect_text(tree_of(2), &options,
                "retained  object                         address\n"
                "     7 B  class a.P2 .HOOKS              0x10\n"
                "     6 B  \xe2\x94\x94 java.util.ArrayList []       0x20\n"
                "     5 B    \xe2\x94\x94 a.Plugin (99,998 objects)  -\n");
    options.ascii = true;
    options.width = 40;
    expect_text(tree_of(2), &options,
                "retained  object                 address\n"
                "     7 B  class a.P2 .HOOKS      0x10\n"
                "     6 B  - j.util.ArrayList []  0x20\n"
                "     5 B    - a...n (99,998 ...  -\n");
    hdx_rows *rows = tree_of(UINT64_MAX); /* lines that are very deep stand below each other */
    kept      k = { .text = hdx_buffer_of(NULL) };
    hdx_sink  sink = { keep, &k };
    cr_assert(eq(int, hdx_render(rows, &options, &sink, NULL), HDX_OK));
    cr_expect(strlen(k.text.at) < 1000, "%s", k.text.at);
    hdx_rows_close(rows);
    hdx_buffer_free(&k.text);
}

Test(table, leaves_a_spare_column_out_before_it_cuts_a_text)
{
    static const hdx_column thread[] = {
        HDX_COLUMN("name", TEXT, NONE, 0, "its name"),
        HDX_COLUMN("daemon", BOOL, NONE, HDX_COLUMN_SPARE, "or not"),
        HDX_COLUMN("seconds", REAL, SECONDS, 0, "time"),
    };
    const hdx_cell     cells[2][3] = { { hdx_cell_string("Notification Thread"), hdx_cell_bool(true),
                                         hdx_cell_real(0.0994) },
                                       { hdx_cell_string("main"), hdx_cell_bool(false), hdx_cell_real(12.345) } };
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .human_sizes = true, .width = 34 };
    hdx_table         *t;
    hdx_rows          *rows;
    cr_assert(eq(int, hdx_table_new(thread, 3, &t, NULL), HDX_OK));
    for (unsigned i = 0; i < 2; i++)
        cr_assert(eq(int, hdx_table_add(t, cells[i], NULL), HDX_OK));
    cr_assert(eq(int, hdx_table_rows(t, &rows, NULL), HDX_OK));
    expect_text(rows, &options,
                "seconds  name\n"
                "0.099 s  Notification Thread\n"
                "12.35 s  main\n"
                "(no room for daemon)\n");
}

Test(table, cuts_the_label_of_an_object_and_not_its_class)
{
    const thing        long_text[] = { { "java.lang.String", "a text that goes on and on and on", 1, 0 },
                                       { "com.acme.Holder", "a text that goes on and on and on", 1, 0 } };
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .width = 50 };
    expect_text(things(long_text, 2), &options,
                "retained  object                        address\n"
                "       1  String \"a text that goes o\xe2\x80\xa6\"  0xdcb926b8\n"
                "       1  c.a.Holder \"a text that go\xe2\x80\xa6\"  0xdcb926c0\n"
                "(no room for children, shallow, percent)\n");
}

Test(table, shows_columns_that_were_chosen_as_they_were_chosen)
{
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .human_sizes = true, .width = 30 };
    hdx_rows          *rows = things(heap_of_web, 2);
    cr_assert(eq(int, hdx_rows_select(&rows, "address,label,heap,percent", NULL), HDX_OK));
    expect_text(rows, &options,
                "address     label             heap  percent\n"
                "0xdcb926b8  class a\xe2\x80\xa6"
                "e.web.P1  -       68.3%\n"
                "0xdcb926c0  http-worker-0     -        3.2%\n");
}

Test(table, says_how_much_of_the_whole_it_shows)
{
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .human_sizes = true, .rest = "--limit 0 shows all" };
    hdx_rows          *rows = things(heap_of_web, 4);
    cr_assert(eq(int, hdx_rows_limit(&rows, 2, NULL), HDX_OK));
    expect_text(rows, &options,
                "shallow  retained      %  children  object                  address\n"
                "   16 B   60.5 MB  68.3%    99,998  class acme.web.P1       0xdcb926b8\n"
                "   16 B    2.9 MB   3.2%    99,998  Thread \"http-worker-0\"  0xdcb926c0\n"
                "\xe2\x80\xa6 2 more rows (those shown: 71.5%; --limit 0 shows all)\n");
}

Test(table, has_the_sums_of_all_rows_below_unless_a_condition_left_some_out)
{
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .human_sizes = true };
    for (unsigned filtered = 0; filtered < 2; filtered++) {
        hdx_rows        *rows = things(heap_of_web, 3);
        const hdx_member sums[] = { { "retained", hdx_cell_uint(66485018) } };
        cr_assert(eq(int, hdx_rows_add_extra(rows, "total", hdx_cell_object(sums, 1), NULL), HDX_OK));
        if (filtered)
            cr_assert(eq(int, hdx_rows_where(&rows, "retained > 0", NULL), HDX_OK));
        cr_assert(eq(int, hdx_rows_limit(&rows, 1, NULL), HDX_OK));
        expect_text(rows, &options,
                    filtered ? "shallow  retained      %  children  object             address\n"
                               "   16 B   60.5 MB  68.3%    99,998  class acme.web.P1  0xdcb926b8\n"
                               "\xe2\x80\xa6 2 more rows (those shown: 68.3%)\n"
                             : "shallow  retained      %  children  object             address\n"
                               "   16 B   60.5 MB  68.3%    99,998  class acme.web.P1  0xdcb926b8\n"
                               "          63.4 MB                   total, 3 objects (1 shown)\n");
    }
}

Test(table, makes_large_shares_stand_out_and_addresses_step_back)
{
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .human_sizes = true, .color = true, .width = 60 };
    kept               k = { .text = hdx_buffer_of(NULL) };
    hdx_sink           sink = { keep, &k };
    hdx_rows          *rows = things(heap_of_web, 2);
    cr_assert(eq(int, hdx_render(rows, &options, &sink, NULL), HDX_OK));
    cr_expect(strstr(k.text.at, " \x1b[1;33m60.5 MB\x1b[0m  \x1b[1;33m68.3%\x1b[0m  class acme.web.P1") != NULL, "%s",
              k.text.at);
    cr_expect(strstr(k.text.at, "  2.9 MB   3.2%  Thread") != NULL, "%s", k.text.at);
    cr_expect(strstr(k.text.at, "\x1b[2m0xdcb926b8\x1b[0m\n") != NULL, "%s", k.text.at);
    hdx_buffer_free(&k.text);
    hdx_rows_close(rows);
}

/* Marks that stand on a letter take no column, letters of East Asia two. */
Test(table, counts_the_columns_of_a_terminal_and_shows_ascii_alone_where_there_is_nothing_else)
{
    const thing        texts[] = { { "java.lang.String", "e\xcc\x81 \xf0\x9f\x98\x80 \xe3\x81\x82", 1, 0 },
                                   { "a.B", NULL, 1, 0 } };
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .width = 43 };
    expect_text(things(texts, 2), &options,
                "retained  object            address\n"
                "       1  String \"e\xcc\x81 \xf0\x9f\x98\x80 \xe3\x81\x82\"  0xdcb926b8\n"
                "       1  a.B               0xdcb926c0\n"
                "(no room for children, shallow, percent)\n");
    options.ascii = true;
    options.width = 0;
    expect_text(things(texts, 1), &options,
                "shallow  retained     %  children  object                              address\n"
                "     16         1  0.0%     99998  String \"e\\u0301 \\U0001f600 \\u3042\"  0xdcb926b8\n");
}

Test(table, cuts_long_texts_in_the_middle_to_the_width_of_the_terminal)
{
    hdx_render_options options = { .format = HDX_FORMAT_TABLE, .width = 30 };
    hdx_cell           cells[4] = { hdx_cell_string("com.acme.internal.very.long.CacheEntry"), hdx_cell_uint(123456),
                                    hdx_cell_string("ä"), hdx_cell_uint(1) };
    expect_text(rows_of(cells, 2, 2), &options,
                "  size  class\n"
                "123456  com.acme.i….CacheEntry\n"
                "     1  ä\n");
}

Test(table, never_is_wider_than_eighty_columns_where_texts_can_be_cut)
{
    static const hdx_column wide[] = { ANY("address", NONE),  ANY("class", NONE),     ANY("label", NONE),
                                       ANY("shallow", BYTES), ANY("retained", BYTES), ANY("percent", PERCENT) };
    hdx_render_options      options = { .format = HDX_FORMAT_TABLE, .width = 80, .human_sizes = true };
    char                    text[300];
    hdx_table              *t;
    hdx_rows               *rows;
    kept                    k = { .text = hdx_buffer_of(NULL) };
    hdx_sink                sink = { keep, &k };
    memset(text, 'c', sizeof text);
    cr_assert(eq(int, hdx_table_new(wide, 6, &t, NULL), HDX_OK));
    for (uint32_t i = 0; i < 3000; i++) { /* beyond the rows that decide the widths, too */
        hdx_cell cells[6] = { hdx_cell_address(0x7f3a10000000 + i),
                              hdx_cell_text((hdx_text){ text, i % 300 }),
                              hdx_cell_text((hdx_text){ text, 299 - i % 300 }),
                              hdx_cell_uint(1023),
                              hdx_cell_uint(1ull << 40),
                              hdx_cell_real(99.9) };
        cr_assert(eq(int, hdx_table_add(t, cells, NULL), HDX_OK));
    }
    cr_assert(eq(int, hdx_table_rows(t, &rows, NULL), HDX_OK));
    cr_assert(eq(int, hdx_render(rows, &options, &sink, NULL), HDX_OK));
    unsigned lines = 0;
    for (char *line = strtok(k.text.at, "\n"); line != NULL; line = strtok(NULL, "\n"), lines++) {
        unsigned width = 0;
        for (const char *c = line; *c != '\0'; c++)
            width += ((unsigned char)*c & 0xc0) != 0x80;
        cr_assert(le(u32, width, 80), "%s", line);
    }
    cr_expect(eq(u32, lines, 3001));
    hdx_rows_close(rows);
    hdx_buffer_free(&k.text);
}

Test(table, lets_no_name_drive_the_terminal)
{
    hdx_render_options options = { .format = HDX_FORMAT_TABLE };
    hdx_cell           cells[3] = { hdx_cell_string("\x1b[2J\x07\x7f"),
                                    hdx_cell_string("\xc2\x9b"
                                                              "2J\xff\xe2\x80\xae"),
                                    hdx_cell_string("日本\xed\xa0\x80") };
    expect_text(rows_of(cells, 3, 1), &options,
                "class\n\\x1b[2J\\x07\\x7f\n\\xc2\\x9b2J\\xff\\xe2\\x80\\xae\n日本\\xed\\xa0\\x80\n");
}

Test(table, says_how_many_rows_were_left_out)
{
    hdx_render_options options = { .format = HDX_FORMAT_TABLE };
    hdx_cell           cells[3] = { hdx_cell_string("a"), hdx_cell_string("b"), hdx_cell_string("c") };
    hdx_rows          *rows = rows_of(cells, 3, 1);
    cr_assert(eq(int, hdx_rows_limit(&rows, 1, NULL), HDX_OK));
    expect_text(rows, &options, "class\na\n… 2 more rows\n");
    expect_text(rows_of(cells, 0, 1), &options, "class\n(no rows)\n");
}
