/*
 * test_pipes.c - the output of one question is the input of the next, in every format, wherever the column `address`
 * stands and whatever the texts beside it say.
 */
#include "support/dump_maker.h"
#include "tool.h"

static const char *const texts[] = {
    "plain",        "a,b",
    "say \"0x77\"", "two\nlines,\n\"0x88\"",
    "a\ttab",       "address",
    "0x99",         "\x1b[2J",
    "a  0x66  b",   "{\"address\": \"0x55\"}",
    "=1+1",         "  \"rows\": [",
    "thread:x",     "class:a",
    "#12",          "",
};
#define TEXTS (sizeof texts / sizeof *texts)

/* Strings from 0x1000 on, 0x100 apart, all held by one array, 0x800, in which a thread's name is the first. */
static void make(const char *path)
{
    static uint64_t units[64], all[TEXTS];
    dump_maker     *m = dump_maker_new(8);
    const uint64_t  object = dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    const uint64_t  string = dump_maker_class_at(m, 0x120, "java.lang.String", object, "value:L hash:I");
    const uint64_t  thread = dump_maker_class_at(m, 0x140, "java.lang.Thread", object, "name:L");
    const uint64_t  list = dump_maker_class_at(m, 0x160, "[Ljava.lang.String;", object, "");
    for (size_t i = 0; i < TEXTS; i++) {
        const uint32_t len = (uint32_t)strlen(texts[i]);
        for (uint32_t k = 0; k < len; k++)
            units[k] = (unsigned char)texts[i][k];
        all[i] = 0x1000 + i * 0x100;
        dump_maker_primitives_at(m, all[i] + 0x80, 'C', units, len);
        dump_maker_instance_at(m, all[i], string, DUMP_VALUES(all[i] + 0x80, 0));
    }
    dump_maker_array_at(m, 0x800, list, all, TEXTS);
    dump_maker_instance_at(m, 0x900, thread, DUMP_VALUES(0x1500));
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, 0x900, 1, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, 0x800, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, 0x1300, 0, 0);
    dump_maker_save(m, path);
    dump_maker_free(m);
}

Test(pipes, give_the_same_objects_in_every_format, .timeout = 300)
{
    static const char *const asked[] = {
        "objects a.hprof --class java.lang.String",
        "objects a.hprof --class java.lang.String --columns label,address",
        "objects a.hprof --class 'char[]' --columns shallow,label,address,class",
        "dominators a.hprof",
        "dominators a.hprof 0x800 --columns retained,label,class,address",
        "dominators a.hprof --depth 3",
        "refs a.hprof 0x800 --out",
        "refs a.hprof 0x1300 --in --columns name,label,address",
        "path a.hprof 0x1500 0x1300 0x1000 --paths 2",
        "path a.hprof 0x1500 0x1380 --columns reference,label,address,path",
        "path a.hprof 0x1500 0x1380 --merge",
        "object a.hprof 0x1000 0x1300 0x800 0x900",
        "object a.hprof 0x1300 0x1580 --columns label,shallow,address,fields",
        "roots a.hprof",
        "roots a.hprof --columns type,label,address",
        "threads a.hprof",
        "threads a.hprof --stacks --locals",
        "threads a.hprof --columns name,address",
        "export a.hprof --table objects --columns class,class_address,dominator,address",
        "export a.hprof --table roots --columns type,thread,address",
        "export a.hprof --table threads --columns name,address",
    };
    static const char *const formats[] = { "table", "json", "csv", "tsv", "csv --raw" };
    char                    *folder = tool_enter();
    make("a.hprof");
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const bool rows_alone = strncmp(asked[i], "export", 6) == 0;
        ran        want = tool_sh("\"$H\" %s --limit 0 --format jsonl | "
                                         "\"$H\" object a.hprof - --format csv --columns address",
                                  asked[i]);
        cr_assert(want.code == 0 && lines_of(want.out) > 1, "%s: %s", asked[i], want.err);
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
            if (rows_alone && f < 2)
                continue;
            ran r = tool_sh("\"$H\" %s --limit 0 --format %s | \"$H\" object a.hprof - --format csv --columns address",
                            asked[i], formats[f]);
            cr_expect(r.code == 0 && strcmp(r.out, want.out) == 0, "%s --format %s: %d\n%s%swanted:\n%s", asked[i],
                      formats[f], r.code, r.out, r.err, want.out);
            ran_free(&r);
        }
        ran_free(&want);
    }
    tool_leave(folder);
}

Test(pipes, without_a_name_are_no_empty_answer)
{
    static const char *const in[] = { "", "nothing here\n", "address,class\n", "{\"class\": \"a\"}\n" };
    char                    *folder = tool_enter();
    make("a.hprof");
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
        tool_write("in", in[i], strlen(in[i]));
        ran r = tool_sh("\"$H\" object a.hprof - < in");
        cr_expect(r.code == 2 && strstr(r.err, "contains no object names") != NULL, "%s: %d %s", in[i], r.code, r.err);
        ran_free(&r);
    }
    tool_leave(folder);
}
