/* Text in and out: names on standard input, the progress line, names out of a dump on a terminal. */
#include "cli/cli.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

Test(names, the_first_column_of_any_output)
{
    static const struct {
        const char *line, *name;
    } cases[] = {
        { "0x7f3a10", "0x7f3a10" },
        { "  0x7f3a10  com.acme.Cache  12", "0x7f3a10" },
        { "0x7f3a10,com.acme.Cache,12\r", "0x7f3a10" },
        { "0x7f3a10\tcom.acme.Cache", "0x7f3a10" },
        { "#1234", "#1234" },
        { "com.acme.Cache@0x10,5", "com.acme.Cache@0x10" },
        { "class:java.lang.String", "class:java.lang.String" },
        { "thread:pool 1 worker", "thread:pool 1 worker" },
        { "\"thread:a, \"\"b\"\"\",5", "thread:a, \"b\"" },
        { "{\"address\": \"0x10\", \"class\": \"X\"}", "0x10" },
        { "address,class,shallow", NULL },
        { "address  class", NULL },
        { "-------", NULL },
        { "… 5 more rows", NULL },
        { "(--limit 0 shows all)", NULL },
        { "(no rows)", NULL },
        { "", NULL },
        { "{\"class\": \"X\"}", NULL },
        { "@0x10", NULL },
        { "\"", NULL },
        { "#", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[128], *name = NULL;
        (void)snprintf(line, sizeof line, "%s", cases[i].line);
        cli_columns columns = { 0 };
        bool        found = cli_name_in_line(&columns, line, &name);
        cr_expect(eq(int, found, cases[i].name != NULL), "%s", cases[i].line);
        if (found && cases[i].name != NULL)
            cr_expect_str_eq(name, cases[i].name);
    }
}

Test(names, are_found_by_the_name_of_their_column)
{
    static const struct {
        const char *lines[6]; /* NULL: the end */
        const char *names[6]; /* of each line; NULL: none */
    } cases[] = {
        { { "path,step,address,class", "1,0,0x10,a.B", "1,1,0x20,\"a,B\"", "1,2,,c" }, { NULL, "0x10", "0x20", NULL } },
        { { "class,\"label\",address", "\"x, \"\"y\"\"\",\"0x99\",0x10", "b,,0x20", "short" },
          { NULL, "0x10", "0x20", NULL } },
        { { "class\taddress", "a\t0x10", "b\t0x20" }, { NULL, "0x10", "0x20" } },
        { { "Paths", "", "path  step  address  class", "   1     0  0x10     a.B", "   1     1  0x2000   a.C",
            "… 5 more rows" },
          { NULL, NULL, NULL, "0x10", "0x2000", NULL } },
        { { " retained  object             address", "   1.0 KB  a.B \"x\"            0x10",
            " 1,000 KB  a.B \"日本\"         0x2000", "     12 B  String \"a 0x77\"    0x20",
            "                total, 3 objects (3 shown)" },
          { NULL, "0x10", "0x2000", "0x20", NULL } },
        { { "Thread \"a  0x5  #6\"  0x10  #353", "  shallow 8 B; dominated by 0x66", "    a  String  0x77   8 B", "",
            "class a.B  0x20  #1" },
          { "0x10", NULL, NULL, NULL, "0x20" } },
        { { "\"a, b\" prio=5   retained 8 B   0x10", "    at a.B.c(Native Method)", "         local a.B  8 B  0x77",
            "\"b\" daemon   0x20" },
          { "0x10", NULL, NULL, "0x20" } },
        { { "24 B  208 B  String \"a\"  0x10", " 8 B    8 B  a.B         0x20" }, { "0x10", "0x20" } },
        { { "address,label", "0x10,address", "0x20,\"address,b\"", "label,address", "b,0x30" },
          { NULL, "0x10", "0x20", NULL, "0x30" } },
        { { "label\taddress", "address\t0x10", "b\t0x20" }, { NULL, "0x10", "0x20" } },
        { { "address  label", "0x10     a  address  b", "0x20     c" }, { NULL, "0x10", "0x20" } },
        { { "{\"heapdex\":\"1\",\"rows\":[{\"address\":\"0x10\"},{\"address\":\"0x20\"}]}" }, { NULL } },
        { { "0x10  ", "0x20\r", "  0x30 \r ", "", " ", "\r" }, { "0x10", "0x20", "0x30", NULL, NULL, NULL } },
        { { "label            address", "日本語    0x10", "0x77 is a label  0x20" }, { NULL, "0x10", "0x20" } },
        { { "{\"class\":\"0x1\",\"fields\":[{\"address\":\"0x2\"}],\"address\":\"0x10\"}",
            "{\"label\":\"\\\"address\\\":\\\"0x5\\\"\",\"address\":\"0x20\"}", "{\"address\":null}" },
          { "0x10", "0x20", NULL } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_columns columns = { 0 };
        for (size_t k = 0; k < 6 && cases[i].lines[k] != NULL; k++) {
            char line[160], *name = NULL;
            (void)snprintf(line, sizeof line, "%s", cases[i].lines[k]);
            const bool found = cli_name_in_line(&columns, line, &name);
            cr_expect(eq(int, found, cases[i].names[k] != NULL), "%s", cases[i].lines[k]);
            if (found && cases[i].names[k] != NULL)
                cr_expect_str_eq(name, cases[i].names[k], "%s: %s", cases[i].lines[k], name);
        }
    }
}

/* Rows may be cut anywhere: nothing behind the end is read. */
Test(names, of_rows_that_are_cut_are_none)
{
    static const char row[] = "{\"label\":\"a\\\"b\\\\\",\"address\":\"0x10\"}";
    for (size_t len = 0; len < sizeof row; len++) {
        cli_columns columns = { 0 };
        char       *line = strndup(row, len), *name = NULL; /* as long as it is, for the sanitizers */
        cr_assert(line != NULL);
        const bool found = cli_name_in_line(&columns, line, &name);
        cr_expect(found == false || len > sizeof row - 6, "%zu bytes", len);
        cr_expect(len < sizeof row - 1 || (found && strncmp(name, "0x10", 4) == 0));
        free(line);
    }
}

static void expect_plain(const char *bytes, size_t len, const char *shown)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    cli_put_plain(&b, bytes, len);
    hdx_buffer_text(&b, "");
    cr_expect_str_eq(b.at, shown);
    hdx_buffer_free(&b);
}

Test(plain, a_name_cannot_drive_the_terminal)
{
    expect_plain("com.acme.Cache", 14, "com.acme.Cache");
    expect_plain("\x1b[2J", 4, "\\x1b[2J");
    expect_plain("a\nb\r\t\x7f", 6, "a\\x0ab\\x0d\\x09\\x7f");
    expect_plain("B\xc3\xbc"
                 "cher \xe2\x82\xac \xf0\x9f\x93\x9a",
                 16,
                 "B\xc3\xbc"
                 "cher \xe2\x82\xac \xf0\x9f\x93\x9a");
    expect_plain("\xc2\x9b"
                 "2J",
                 4, "\\xc2\\x9b2J"); /* C1 control: CSI */
    expect_plain("\xe2\x80\xae"
                 "x",
                 4, "\\xe2\\x80\\xaex"); /* right-to-left override */
    expect_plain("\xc0\xaf\xed\xa0\x80\xff\xe2\x82", 8, "\\xc0\\xaf\\xed\\xa0\\x80\\xff\\xe2\\x82");
    expect_plain("a\0b", 3, "a\\x00b");
    /* the first and the last of each length, and their neighbours that are none */
    expect_plain("\xc2\xa0\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 18,
                 "\xc2\xa0\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
    expect_plain("\xc2\x9f", 2, "\\xc2\\x9f");
    expect_plain("\x1f\x20\x7e\x7f", 4, "\\x1f\x20\x7e\\x7f");
    /* halves of pairs between their neighbours, and what turns the direction of text */
    expect_plain("\xed\x9f\xbf\xed\xa0\x80\xed\xbf\xbf\xee\x80\x80", 12,
                 "\xed\x9f\xbf\\xed\\xa0\\x80\\xed\\xbf\\xbf\xee\x80\x80");
    expect_plain("\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf", 12,
                 "\xe2\x80\xa7\\xe2\\x80\\xa8\\xe2\\x80\\xae\xe2\x80\xaf");
    expect_plain("\xe2\x81\x9f\xe2\x81\xa0\xe2\x81\xaf\xe2\x81\xb0", 12,
                 "\xe2\x81\x9f\\xe2\\x81\\xa0\\xe2\\x81\\xaf\xe2\x81\xb0");
    expect_plain("\xc1\xbf", 2, "\\xc1\\xbf");
    expect_plain("\xe0\x9f\xbf", 3, "\\xe0\\x9f\\xbf");
    expect_plain("\xf0\x8f\xbf\xbf", 4, "\\xf0\\x8f\\xbf\\xbf");
    expect_plain("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80");
    expect_plain("\xf5\x80\x80\x80", 4, "\\xf5\\x80\\x80\\x80");
}

Test(progress, says_step_part_rate_and_time_left)
{
    char                line[256];
    hdx_progress_report r = {
        .step = "scan", .number = 2, .steps = 9, .done = 50u << 20, .total = 200u << 20, .unit = "bytes"
    };
    cli_progress_line(line, sizeof line, 80, &r, 500000000);
    cr_expect(strstr(line, "2/9 scan") == line, "%s", line);
    cr_expect(strstr(line, " 25 %") != NULL, "%s", line);
    cr_expect(strstr(line, "/s") != NULL, "%s", line);
    cr_expect(strstr(line, "0:01 left") != NULL, "%s", line);
    r = (hdx_progress_report){
        .step = "sort", .number = 3, .steps = 9, .done = 3000000, .total = 0, .unit = "objects"
    };
    cli_progress_line(line, sizeof line, 80, &r, 1000000000);
    cr_expect_str_eq(line, "3/9 sort  3.0 M objects/s");
    for (unsigned width = 5; width < 40; width++) {
        cli_progress_line(line, sizeof line, width, &r, 1000000000);
        cr_expect(lt(sz, strlen(line), (size_t)width));
    }
    r.done = r.total = UINT64_MAX;
    cli_progress_line(line, sizeof line, 80, &r, 1);
    cr_expect(strstr(line, "100 %") != NULL, "%s", line);
}
