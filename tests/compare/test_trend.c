/*
 * test_trend.c - trend: what grows over several heaps and where, the dumps of a folder in their order, and which of
 * many stands out.
 */
#include "compare/pair.h"
#include "support/golden.h"

static pair p;
static void enter(void)
{
    pair_open(&p);
    cache_save("1.hprof", &(cache){ .entries = 3, .nodes = 9, .lambdas = 1, .run = 0, .time_ms = 3000 });
    cache_save("2.hprof", &(cache){ .entries = 5, .nodes = 20, .lambdas = 1, .run = 1, .time_ms = 2000 });
    cache_save("3.hprof", &(cache){ .entries = 8, .nodes = 12, .lambdas = 1, .run = 2, .time_ms = 1000 });
}
static void leave(void) { pair_close(&p); }
TestSuite(trend, .init = enter, .fini = leave);

#define ALL   "1.hprof 2.hprof 3.hprof"
#define SHORT "columns=key,steady,rises,objects_grown,retained_first,retained_last,retained_grown,retained"

Test(trend, has_what_rose_in_every_step_before_all_else)
{
    expect_answer(ALL, "trend " SHORT,
                  "java.lang.Object[],true,2,0,216,536,320,[216 344 536]\n"
                  "app.Entry,true,2,5,168,448,280,[168 280 448]\n"
                  "app.Name,true,2,5,72,192,120,[72 120 192]\n"
                  "app.Cache,false,1,0,448,840,392,[448 840 840]\n"
                  "java.lang.Class,false,1,0,464,856,392,[464 856 856]\n"
                  "app.Node,false,1,3,216,288,72,[216 480 288]\n");
    expect_answer(ALL, "trend by=dominator depth=2 " SHORT,
                  "class app.Cache > java.lang.Object[],true,2,0,216,536,320,[216 344 536]\n"
                  "class app.Cache,false,1,0,448,840,392,[448 840 840]\n"
                  "class app.Cache > app.Node,false,1,0,216,288,72,[216 480 288]\n");
    expect_answer("3.hprof 2.hprof 1.hprof", "trend " SHORT, "");
    expect_answer(ALL, "trend where=key+~+app.E columns=key,slope,percent,objects,shallow,retained",
                  "app.Entry,140.00,166.67,[3 5 8],[96 160 256],[168 280 448]\n");
}

Test(trend, of_objects_or_shallow_sizes_asks_for_no_retained_ones)
{
    expect_answer(ALL, "trend of=objects columns=key,rises,objects,retained,retained_grown",
                  "app.Entry,2,[3 5 8],-,-\n"
                  "app.Name,2,[3 5 8],-,-\n"
                  "app.Node,1,[9 20 12],-,-\n");
    expect_answer(ALL, "trend of=shallow where=key+=+app.Node columns=key,rises,shallow,slope,percent",
                  "app.Node,1,[216 480 288],36.00,33.33\n");
}

/* Nodes of the list rise and fall; entries of the array come in every step: told is the path to the array. */
Test(trend, by_path_is_where_things_are_added_in_every_step)
{
    expect_answer(ALL, "trend by=path columns=key,objects,retained,below",
                  "GcRoot(StickyClass) > STATIC_FIELD Cache.held -> array of java.lang.Object[],[3 5 8],[96 160 "
                  "256],[{name=ARRAY_ENTRY Object[].[x] -> instance of app.Entry objects=[3 5 8]}]\n");
    expect_answer(ALL, "trend by=path loops=2 columns=key,objects",
                  "GcRoot(StickyClass) > STATIC_FIELD Cache.held -> array of java.lang.Object[],[3 5 8]\n");
    expect_answer(ALL, "trend by=path loops=3 columns=key,objects", "");
    expect_answer("1.hprof 2.hprof", "trend by=path columns=key,objects,below",
                  "GcRoot(StickyClass) > STATIC_FIELD Cache.list -> instance of app.Node,[8 19],[{name=INSTANCE_FIELD "
                  "Node.next -> instance of app.Node objects=[8 19]}]\n"
                  "GcRoot(StickyClass) > STATIC_FIELD Cache.held -> array of java.lang.Object[],[3 "
                  "5],[{name=ARRAY_ENTRY Object[].[x] -> instance of app.Entry objects=[3 5]}]\n");
    expect_answer(ALL, "trend by=path all where=key+~+next columns=key,rises,objects,below",
                  "GcRoot(StickyClass) > STATIC_FIELD Cache.list -> instance of app.Node > INSTANCE_FIELD Node.next -> "
                  "instance of app.Node,1,[8 19 11],[]\n");
}

Test(trend, of_a_folder_is_of_its_dumps_by_the_time_in_their_heads)
{
    cr_assert(mkdir("all", 0700) == 0 && rename("1.hprof", "all/z.hprof") == 0 &&
              rename("2.hprof", "all/y.hprof") == 0 && rename("3.hprof", "all/.hidden") == 0);
    cache_save("all/x.hprof", &(cache){ .entries = 1, .lambdas = 1, .time_ms = 2000 });
    cache_save("all/w.hprof.part", &(cache){ .entries = 1 });
    FILE *f = fopen("all/notes.txt", "w");
    cr_assert(f != NULL && fputs("JAVA", f) >= 0 && fclose(f) == 0);
    expect_answer("all", "trend all where=key+=+app.Entry columns=key,objects", "app.Entry,[1 5 3]\n");
    expect_answer("all all", "trend all where=key+=+app.Entry columns=key,objects", "app.Entry,[1 5 3 1 5 3]\n");
    /* indexes that travel alone, too, by the time of their dumps */
    cr_assert(mkdir("alone", 0700) == 0 && rename("all/z.hprof.hdx", "alone/a.hdx") == 0 &&
              rename("all/y.hprof.hdx", "alone/b.hdx") == 0);
    expect_answer_and("alone", "trend all where=key+=+app.Entry columns=key,objects", "", "app.Entry,[5 3]\n");
    cr_assert(mkdir("none", 0700) == 0);
    expect_answer("none", "trend", "no file of this folder is a heap dump");
    expect_answer("all/z.hprof", "trend", "trend needs at least 2 dumps, but there is 1");
}

Test(trend, outliers_are_far_from_the_median)
{
    static const unsigned entries[] = { 10, 11, 10, 12, 40, 10, 11 };
    char                  names[256] = "";
    for (unsigned i = 0; i < HDX_COUNT(entries); i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "o%u.hprof", i);
        cache_save(name, &(cache){ .entries = entries[i], .lambdas = i == 6 ? 2 : 1, .run = i });
        (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%s ", name);
    }
    expect_answer(names, "trend outliers of=objects",
                  "o4.hprof,19.56,91,33,-\n"
                  "o4.hprof,19.56,40,11,app.Name\n"
                  "o4.hprof,19.56,40,11,app.Entry\n"
                  "o6.hprof,5.59,9,8,java.lang.Class\n"
                  "o6.hprof,5.59,2,1,app.Shop$$Lambda*\n");
    expect_answer(names, "trend outliers of=shallow where=key+=+null", "o4.hprof,19.56,2640,784,-\n");
    expect_answer(names, "trend outliers of=objects deviations=100", "");
    expect_answer("o1.hprof o2.hprof o3.hprof o4.hprof", "trend outliers",
                  "--outliers needs at least 5 dumps, but there are 4");
}

/* Of the program Grow at three moments Shark tells one path, and these two steps below it. */
Test(trend, by_path_tells_what_shark_tells)
{
    for (char i = '1'; i <= '3'; i++) {
        char path[512];
        (void)snprintf(path, sizeof path, GOLDEN_DUMPS "/grow-jdk11-%c.hprof.gz", i);
        if (access(path, R_OK) != 0)
            cr_skip_test("the reference collection is not beside this tree");
        cr_assert(symlink(path, (char[]){ 'g', i, '\0' }) == 0);
    }
    expect_answer("g1 g2 g3", "trend by=path columns=key,below",
                  "GcRoot(StickyClass) > STATIC_FIELD LauncherHelper.appClass -> class Grow > STATIC_FIELD "
                  "Grow.sessions -> instance of java.util.HashMap,[{name=ARRAY_ENTRY HashMap.[x] -> instance of "
                  "Grow$Session objects=[100 200 300]} {name=ARRAY_ENTRY HashMap.[x] -> instance of java.lang.Integer "
                  "objects=[96 196 296]}]\n");
}
