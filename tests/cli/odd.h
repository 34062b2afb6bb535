/* odd.h - a small dump whose names, texts and paths are as long, as wide and as strange as those of users can be. */
#ifndef TESTS_CLI_ODD_H
#define TESTS_CLI_ODD_H

#include "hprof/hprof.h"
#include "support/dump_maker.h"

#include <math.h>

#define ODD_CHAIN  90
#define ODD_FRAMES 14

/* Bits of a double, as the file has them. */
static inline uint64_t odd_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline uint64_t odd_thread(dump_maker *m, uint64_t class, uint64_t name, uint32_t serial, uint32_t code_class)
{
    static const char *const methods[] = { "run", "lambda$main$0", "<init>", "größeBerechnen",
                                           "aMethodWithANameThatIsLongerThanMostScreensAreWideAndGoesOnForAWhile" };
    uint64_t                 frames[ODD_FRAMES];
    uint64_t                 thread = dump_maker_instance(m, class, DUMP_VALUES(name, serial % 2, 5));
    for (int i = 0; i < ODD_FRAMES; i++)
        frames[i] = dump_maker_frame(m, methods[i % 5], code_class, i % 7 == 0 ? 10 * i : i % 7 - 4);
    dump_maker_trace(m, serial, serial, frames, ODD_FRAMES);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, thread, serial, (int32_t)serial);
    return thread;
}

/*
 *     Holder.chain -> Link -> ... 90 of them -> Leaf            Holder.table -> Object[40] of Wide, some twice
 *     Holder has a static field of each type                    two threads with 14 frames and locals
 *     heap "zygote" has the classes and the chain, heap "app" the rest; 5 Links nobody refers to
 */
static inline void odd_make(const char *path)
{
    dump_maker *m = dump_maker_new(4);
    dump_maker_heap_info(m, 1, "zygote");
    uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    uint64_t string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    uint64_t thread = dump_maker_class(m, "java.lang.Thread", object, "name:L daemon:Z priority:I");
    uint64_t link = dump_maker_class(m, "app.Link", object, "next:L what:L");
    uint64_t wide =
        dump_maker_class(m, "app.漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字", object, "größe:J ref:L");
    uint64_t tabs = dump_maker_class(m, "app.Tab\tand\nnewline\x1b[31m", object, "field\twith\x7f:L");
    uint64_t tall = dump_maker_class(
        m, "com.company.department.team.product.module.component.Outer$Inner$ThatHasAVeryLongNameOfItsOwn$1", object,
        "aFieldWithALongNameThatFillsALineOfTheScreenAlmostAlone:L b:Z c:C f:F d:D s:S i:I j:J y:B");
    uint64_t array = dump_maker_class(m, "java.lang.Object[]", object, "");
    uint64_t text = dump_maker_string(m, string, "a text with \"quotes\", a tab\t, a line\nand \\ a backslash");
    uint64_t leaf = dump_maker_instance(m, tall,
                                        DUMP_VALUES(text, 1, 0x20ac, 0x7fc00000, odd_double(-1.0 / 3), (uint16_t)-2,
                                                    (uint32_t)-2000000000, (uint64_t)-9000000000000000000ll, 0x80));
    uint64_t next = leaf;
    for (int i = 0; i < ODD_CHAIN; i++)
        next = dump_maker_instance(m, link, DUMP_VALUES(next, i % 10 == 0 ? text : 0));
    dump_maker_heap_info(m, 2, "app");
    uint64_t of_table[40];
    for (unsigned i = 0; i < 40; i++)
        of_table[i] = i % 4 == 3 ? of_table[i - 1] : dump_maker_instance(m, wide, DUMP_VALUES(i * 1000003u, text));
    uint64_t table = dump_maker_array(m, array, of_table, 40);
    for (unsigned i = 0; i < 5; i++)
        (void)dump_maker_instance(m, link, DUMP_VALUES(0, table));
    uint64_t strange = dump_maker_instance(m, tabs, DUMP_VALUES(table));
    char     words[900];
    for (unsigned i = 0; i < sizeof words - 1; i++)
        words[i] = (char)("words and more words, "[i % 22]);
    words[sizeof words - 1] = '\0';
    uint64_t long_text = dump_maker_string(m, string, words);
    dump_maker_static(m, "chain", 'L', next);
    dump_maker_static(m, "table", 'L', table);
    dump_maker_static(m, "strange", 'L', strange);
    dump_maker_static(m, "text", 'L', long_text);
    dump_maker_static(m, "yes", 'Z', 1);
    dump_maker_static(m, "letter", 'C', 'x');
    dump_maker_static(m, "half", 'F', 0x3f000000);
    dump_maker_static(m, "third", 'D', odd_double(INFINITY));
    dump_maker_static(m, "small", 'B', 0xff);
    dump_maker_static(m, "short", 'S', 0x8000);
    dump_maker_static(m, "int", 'I', 0xffffffff);
    dump_maker_static(m, "long", 'J', 1ull << 63);
    uint64_t holder = dump_maker_class(m, "app.Holder", object, "");
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, holder, 0, 0);
    uint32_t code = dump_maker_load(m, holder, "app.Holder");
    uint64_t first = dump_maker_string(m, string, "worker-1");
    uint64_t second = dump_maker_string(m, string, "漢字 of a thread whose name fills more than one line of a screen");
    (void)odd_thread(m, thread, first, 1, code);
    (void)odd_thread(m, thread, second, 2, code);
    dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, of_table[0], 1, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, of_table[1], 1, 2);
    dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, strange, 2, 13);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_LOCAL, of_table[4], 2, 3);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, strange, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_MONITOR_USED, table, 0, 0);
    dump_maker_save(m, path);
    dump_maker_free(m);
}

#endif
