/* test_diff.c - diff: what two heaps have differently by every key, what of three stayed, what fails, what is refused.
 */
#include "compare/pair.h"

static pair p;
static void enter(void)
{
    pair_open(&p);
    cache_save("a.hprof", &(cache){ .entries = 3, .lambdas = 2, .nodes = 5, .run = 0 });
    cache_save("b.hprof", &(cache){ .entries = 10, .lambdas = 3, .nodes = 5, .run = 1 });
    cache_save("c.hprof", &(cache){ .entries = 5, .lambdas = 3, .nodes = 2, .run = 2 });
}
static void leave(void) { pair_close(&p); }
TestSuite(diff, .init = enter, .fini = leave);

#define SHORT "columns=key,objects_a,objects_b,objects_delta,retained_a,retained_b,retained_delta,percent"

Test(diff, has_classes_that_differ_the_largest_difference_first)
{
    expect_answer("a.hprof b.hprof", "diff",
                  "app.Cache,0,0,0,0,0,0,352,800,448,127.27\n"
                  "java.lang.Class,10,11,1,16,16,0,368,816,448,121.74\n"
                  "java.lang.Object[],1,1,0,48,104,56,216,664,448,207.41\n"
                  "app.Entry,3,10,7,96,320,224,168,560,392,233.33\n"
                  "app.Name,3,10,7,72,240,168,72,240,168,233.33\n"
                  "app.Shop$$Lambda*,2,3,1,48,72,24,48,72,24,50.00\n");
    expect_answer("b.hprof a.hprof", "diff where=key+=+app.Entry",
                  "app.Entry,10,3,-7,320,96,-224,560,168,-392,-70.00\n");
    expect_answer("a.hprof b.hprof", "diff where=key+=+app.Node", "");
    expect_answer("a.hprof b.hprof", "diff all where=key+=+app.Node", "app.Node,5,5,0,120,120,0,120,120,0,0.00\n");
    expect_answer_and("a.hprof a.hprof", "diff", "equal", "equal 9\n");
}

/* Lambdas are one thing whatever the run calls them, and what only one heap has is nothing in the other. */
Test(diff, puts_things_together_by_name)
{
    cache_save("x.hprof", &(cache){ .entries = 3, .lambdas = 2, .nodes = 5, .run = 7, .more = "app.New" });
    expect_answer("a.hprof x.hprof", "diff where=key+!=+java.lang.Class", "app.New,0,1,1,0,24,24,0,24,24,-\n");
    expect_answer("x.hprof a.hprof", "diff where=key+!=+java.lang.Class", "app.New,1,0,-1,24,0,-24,24,0,-24,-100.00\n");
}

Test(diff, goes_by_package_dominator_and_path)
{
    expect_answer("a.hprof b.hprof", "diff by=package " SHORT,
                  "app,13,28,15,416,888,472,113.46\n"
                  "java.lang,12,13,1,368,816,448,121.74\n");
    expect_answer("a.hprof b.hprof", "diff by=dominator " SHORT,
                  "class app.Cache,1,1,0,352,800,448,127.27\n"
                  "class app.Cache > java.lang.Object[],1,1,0,216,664,448,207.41\n"
                  "class app.Cache > java.lang.Object[] > app.Entry,3,10,7,168,560,392,233.33\n"
                  "app.Shop$$Lambda*,2,3,1,48,72,24,50.00\n");
    expect_answer("a.hprof b.hprof", "diff by=dominator depth=1 all " SHORT,
                  "class app.Cache,1,1,0,352,800,448,127.27\n"
                  "app.Shop$$Lambda*,2,3,1,48,72,24,50.00\n"
                  "class java.lang.Class,1,1,0,0,0,0,-\n"
                  "class java.lang.Object,1,1,0,0,0,0,-\n"
                  "java.lang.ClassLoader,1,1,0,16,16,0,0.00\n");
    expect_answer("a.hprof b.hprof", "diff by=path " SHORT,
                  "GcRoot(StickyClass),1,1,0,240,464,224,93.33\n"
                  "GcRoot(StickyClass) > STATIC_FIELD Cache.held -> array of java.lang.Object[],1,1,0,96,320,224,"
                  "233.33\n"
                  "GcRoot(StickyClass) > STATIC_FIELD Cache.held -> array of java.lang.Object[] > ARRAY_ENTRY "
                  "Object[].[x] -> instance of app.Entry,3,10,7,72,240,168,233.33\n"
                  "GcRoot(StickyClass) > STATIC_FIELD Cache.held -> array of java.lang.Object[] > ARRAY_ENTRY "
                  "Object[].[x] -> instance of app.Entry > INSTANCE_FIELD Entry.name -> instance of app.Name,3,10,7,24,"
                  "80,56,233.33\n"
                  "GcRoot(JniGlobal),2,3,1,16,24,8,50.00\n");
}

/* Loaders are called by their class and name; those of one class that have no name are one. */
static void loaders_save(const char *path, unsigned nameless, unsigned run)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t loader = dump_maker_class(m, "java.lang.ClassLoader", object, "name:L");
    const uint64_t plugins = dump_maker_class(m, "app.Loader", loader, "");
    const uint64_t string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    m->next_id += 0x1000u * run;
    const uint64_t named = dump_maker_instance(m, plugins, DUMP_VALUES(dump_maker_string(m, string, "core")));
    for (unsigned i = 0; i <= nameless; i++) {
        m->loader = i == 0 ? named : dump_maker_instance(m, plugins, DUMP_VALUES(0));
        const uint64_t task = dump_maker_class(m, "app.Task", object, "a:J");
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, task, NULL), 0, 0);
    }
    dump_maker_save(m, path);
    dump_maker_free(m);
}

Test(diff, goes_by_loader)
{
    loaders_save("l1.hprof", 1, 0);
    loaders_save("l2.hprof", 3, 1);
    expect_answer("l1.hprof l2.hprof", "diff by=loader all " SHORT,
                  "app.Loader,1,3,2,48,144,96,200.00\n"
                  "boot loader,13,17,4,136,184,48,35.29\n"
                  "app.Loader \"core\",1,1,0,112,112,0,0.00\n");
    expect_answer("l1.hprof l2.hprof", "diff where=key+~+^app " SHORT,
                  "app.Task,2,4,2,160,256,96,60.00\n"
                  "app.Loader,2,4,2,112,160,48,42.86\n");
}

/* a before, b after, c later: of 7 entries that came 2 stayed; nodes that went are none that came. */
Test(diff, of_three_says_what_stayed_of_what_came)
{
    expect_answer_and(
        "a.hprof b.hprof c.hprof", "diff", "total equal",
        "java.lang.Object[],1,1,0,48,104,56,216,664,448,207.41,1,64,344,0,16,128,28.57\n"
        "app.Entry,3,10,7,96,320,224,168,560,392,233.33,5,160,280,2,64,112,28.57\n"
        "app.Cache,0,0,0,0,0,0,352,800,448,127.27,0,0,408,0,0,56,12.50\n"
        "java.lang.Class,10,11,1,16,16,0,368,816,448,121.74,11,16,424,1,0,56,12.50\n"
        "app.Name,3,10,7,72,240,168,72,240,168,233.33,5,120,120,2,48,48,28.57\n"
        "app.Shop$$Lambda*,2,3,1,48,72,24,48,72,24,50.00,3,72,72,1,24,24,100.00\n"
        "app.Node,5,5,0,120,120,0,120,120,0,0.00,2,48,48,0,0,0,-\n"
        "total {objects_a=25 objects_b=41 objects_delta=16 shallow_a=416 shallow_b=888 shallow_delta=472 "
        "retained_a=416 retained_b=888 retained_delta=472 percent=113.46 objects_c=28 shallow_c=496 retained_c=496 "
        "objects_stayed=3 shallow_stayed=80 retained_stayed=80 percent_stayed=16.95}\n"
        "equal 2\n");
    expect_answer("a.hprof b.hprof c.hprof", "diff by=dominator depth=1",
                  "class app.Cache,1,1,0,16,16,0,352,800,448,127.27,1,16,408,0,0,56,12.50\n"
                  "app.Shop$$Lambda*,2,3,1,48,72,24,48,72,24,50.00,3,72,72,1,24,24,100.00\n");
}

Test(diff, fails_on_a_row_that_where_keeps_or_on_the_whole)
{
    expect_answer_and("a.hprof b.hprof",
                      "diff fail-on=retained_delta+>+230% fail-on=total.objects_delta+>=+16 limit=1 "
                      "columns=key",
                      "failed failures",
                      "app.Cache\n"
                      "failed 3\n"
                      "failures [{condition=total.objects_delta >= 16 key=- objects_delta=16 retained_a=416 "
                      "retained_b=888 retained_delta=472} {condition=retained_delta > 230% key=app.Entry "
                      "objects_delta=7 retained_a=168 retained_b=560 retained_delta=392} {condition=retained_delta > "
                      "230% key=app.Name objects_delta=7 retained_a=72 retained_b=240 retained_delta=168}]\n");
    expect_answer_and("a.hprof b.hprof", "diff fail-on=retained_delta+>+230% where=key+~+Name limit=1 columns=key",
                      "failed", "app.Name\nfailed 1\n");
    expect_answer_and("a.hprof b.hprof", "diff fail-on=retained_delta+>+100M limit=1 columns=key", "failed",
                      "app.Cache\nfailed 0\n");
    /* from nothing to something */
    cache_save("x.hprof", &(cache){ .entries = 3, .lambdas = 2, .nodes = 5, .more = "app.New" });
    expect_answer_and("a.hprof x.hprof", "diff fail-on=retained_delta+>+1000000% columns=key,percent", "failed",
                      "app.New,-\njava.lang.Class,0.00\nfailed 1\n");
}

Test(diff, refuses_what_cannot_be_asked)
{
    static const char *const asks[][2] = {
        { "diff fail-on=size+>+1", "--fail-on \"size > 1\": the rows have no such column of numbers" },
        { "diff fail-on=key+>+1", "--fail-on \"key > 1\": the rows have no such column of numbers" },
        { "diff fail-on=retained_c+>+1", "--fail-on \"retained_c > 1\": the rows have no such column of numbers" },
        { "diff fail-on=retained_b+>+10%",
          "--fail-on \"retained_b > 10%\": a percentage is only valid for a difference such as retained_delta" },
        { "diff fail-on=retained_b+>+much", "--fail-on \"retained_b > much\": the value is not a number" },
        { "diff fail-on=retained_b", "condition \"retained_b\" is not COLUMN OPERATOR VALUE" },
        { "diff by=path view=x", "--view does not apply: leaks and paths use their own roots and references" },
    };
    for (size_t i = 0; i < HDX_COUNT(asks); i++)
        expect_answer("a.hprof b.hprof", asks[i][0], asks[i][1]);
    expect_answer("a.hprof", "diff", "diff needs two or three dumps, not 1");
    expect_answer("a.hprof b.hprof c.hprof a.hprof", "diff", "diff needs two or three dumps, not 4");
}

/* Wherever memory is refused the question ends with that, gives back what it holds, and can be put again. */
Test(diff, within_any_bound_is_answered_or_refused)
{
    static const char *const asks[] = { "diff by=class", "diff by=loader",           "diff by=dominator",
                                        "diff by=path",  "diff fail-on=percent+>+1", "trend by=path" };
    for (size_t i = 0; i < HDX_COUNT(asks); i++) {
        hdx_session *s = session_of("a.hprof b.hprof");
        hdx_rows    *rows;
        hdx_error    err;
        unsigned     refused = 0;
        for (uint64_t limit = 256;; limit += limit / 4) {
            hdx_session_limit(s, limit);
            const hdx_code code = ask_session(s, asks[i], &rows, &err);
            hdx_rows_close(rows);
            cr_assert(code == HDX_OK || code == HDX_LIMIT, "%s in %llu: %s", asks[i], (unsigned long long)limit,
                      err.message);
            cr_expect(eq(u64, s->mem.used, 0), "%s in %llu", asks[i], (unsigned long long)limit);
            if (code == HDX_OK)
                break;
            refused++;
        }
        cr_expect(refused > 5, "%s: %u", asks[i], refused);
        hdx_session_close(s);
    }
}
