/*
 * test_folded.c - rows of dominators that stand for several objects, against folding all rows by hand.
 */
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

typedef struct folded {
    hdx_addr address;
    uint64_t others, bytes;
} folded;

/* What a reader would do by hand with all rows: the largest that is left, and what is left of its class and size. */
static uint64_t fold_slowly(hdx_rows *rows, folded *out)
{
    static struct {
        hdx_addr address;
        uint64_t retained;
        char class[32];
        bool gone, joined;
    } all[8000];
    uint64_t        n = 0, made = 0;
    const hdx_cell *c;
    for (; hdx_rows_next(rows, &c); n++) {
        cr_assert(n < 8000);
        all[n].address = c[0].as.address;
        all[n].retained = c[4].as.natural;
        all[n].gone = all[n].joined = false;
        (void)snprintf(all[n].class, 32, "%.*s", (int)c[1].as.text.len, c[1].as.text.at);
    }
    hdx_rows_close(rows);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t   others = 0, bytes = 0;
        const bool leads = !all[i].joined && strcmp(all[i].class, "java.lang.Class") != 0;
        for (unsigned pass = 0; leads && pass < 2; pass++)
            for (uint64_t k = i + 1; k < n; k++)
                if (!all[k].joined && strcmp(all[k].class, all[i].class) == 0 &&
                    all[k].retained >= all[i].retained - all[i].retained / 10) {
                    others += pass == 0;
                    bytes += pass == 0 ? all[k].retained : 0;
                    all[k].joined = pass == 1;
                    all[k].gone = pass == 1 && others >= 3;
                }
        if (!all[i].gone)
            out[made++] = (folded){ all[i].address, others >= 3 ? others : 0, others >= 3 ? bytes : 0 };
    }
    return made;
}

static hdx_rows *ask_for(hdx_session *s, const char *fold)
{
    const hdx_argument arguments[] = { { "fold", fold }, { "document", "false" }, { "limit", "0" } };
    hdx_rows          *rows;
    hdx_error          err;
    cr_assert(hdx_answer_run(s, "dominators", arguments, 3, &rows, &err) == HDX_OK, "%s", err.message);
    return rows;
}

Test(dominators, that_resemble_each_other_share_the_row_of_the_largest_as_if_folded_by_hand)
{
    static folded expected[8000];
    char          folder[TEST_FOLDER], dump[64];
    dump_maker   *m = dump_maker_new(8);
    test_folder_make(folder, "folded");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
    (void)dump_maker_class(m, "java/lang/Class", object, "");
    (void)dump_maker_class(m, "java/lang/ClassLoader", object, "");
    for (unsigned i = 0; i < 6; i++) { /* classes of like size, which hold different things */
        char name[8];
        (void)snprintf(name, sizeof name, "a/C%u", i);
        (void)dump_maker_class(m, name, object, "");
    }
    for (unsigned i = 0; i < 4; i++)
        (void)dump_maker_class(m, (const char *[]){ "[B", "[I", "[J", "[C" }[i], object, "");
    for (uint32_t i = 0; i < 600; i++) /* many of some sizes, few of others */
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL,
                        dump_maker_primitives(m, "BIJC"[i % 4], NULL, i * i * 7919u % 613u * (1 + i % 5)), 0, 0);
    for (uint32_t i = 0; i < 9; i++) /* far above the rest: three with two others, then one less than nine tenths */
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL,
                        dump_maker_primitives(m, "BIJ"[i / 3], NULL, i % 3 == 2 ? 80000 : 90000), 0, 0);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    hdx_index_options options = { .dump = dump };
    hdx_session      *s;
    hdx_error         err;
    const hdx_cell   *c;
    uint64_t          at = 0, groups = 0;
    cr_assert(hdx_session_open(&options, &s, &err) == HDX_OK, "%s", err.message);
    const uint64_t count = fold_slowly(ask_for(s, "none"), expected);
    hdx_rows      *rows = ask_for(s, "similar");
    while (hdx_rows_next(rows, &c)) {
        cr_assert(at < count);
        const uint64_t others = c[7].kind == HDX_CELL_UINT ? c[7].as.natural : 0;
        const uint64_t bytes = c[8].kind == HDX_CELL_UINT ? c[8].as.natural : 0;
        cr_expect(c[0].as.address == expected[at].address && others == expected[at].others &&
                      bytes == expected[at].bytes,
                  "row %llu: %llx and %llu of %llu bytes, not %llx and %llu of %llu", (unsigned long long)at,
                  (unsigned long long)c[0].as.address, (unsigned long long)others, (unsigned long long)bytes,
                  (unsigned long long)expected[at].address, (unsigned long long)expected[at].others,
                  (unsigned long long)expected[at].bytes);
        groups += others > 0;
        at++;
    }
    cr_expect(hdx_rows_end(rows, &err) == HDX_OK && at == count && groups > 20, "%llu rows of %llu, %llu groups",
              (unsigned long long)at, (unsigned long long)count, (unsigned long long)groups);
    hdx_rows_close(rows);
    hdx_session_close(s);
    test_folder_remove(folder);
}
