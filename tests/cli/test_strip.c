/*
 * test_strip.c - detect, strip and restore as a person calls them, on the dump of examples/; what stripped dumps look
 * like in answers.
 */
#include "cli/tool.h"

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("app.hprof");
}
static void leave(void) { tool_leave(folder); }
TestSuite(stripping, .init = enter, .fini = leave);

Test(stripping, an_ordinary_dump_is_not_called_stripped)
{
    ran r = tool_sh(
        "\"$H\" detect app.hprof --format json && \"$H\" info app.hprof --format json && test ! -e app.hprof.part");
    cr_expect(eq(int, r.code, 0));
    cr_expect(strstr(r.out, "\"policy\": \"none\"") != NULL && strstr(r.out, "\"compression\": \"gzip\"") != NULL &&
                  strstr(r.out, "\"stripping\": null") != NULL,
              "%s", r.out);
    cr_expect_str_empty(r.err);
    ran_free(&r);
    r = tool_sh(
        "\"$H\" restore app.hprof -o back.hprof --format json || { code=$?; test ! -e back.hprof && exit $code; }");
    cr_expect(eq(int, r.code, 3));
    cr_expect(strstr(r.out, "nothing to restore") != NULL, "%s", r.out);
    ran_free(&r);
}

Test(stripping, koom_and_back)
{
    ran r = tool_sh("\"$H\" strip app.hprof --policy koom -o small.hprof --format json && \"$H\" detect small.hprof && "
                    "\"$H\" restore small.hprof -o whole.hprof");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.out, "\"bytes_out\":") != NULL && strstr(r.out, "policy       koom") != NULL &&
                  strstr(r.out, "Restored: ") != NULL,
              "%s", r.out);
    ran_free(&r);
    r = tool_sh("\"$H\" histogram app.hprof --format csv --columns class,objects,shallow >1 && \"$H\" histogram "
                "small.hprof --format csv --columns class,objects,shallow >2 && cmp 1 2");
    cr_expect(eq(int, r.code, 0), "no Android heap was dropped, and sizes follow from lengths: %s%s", r.out, r.err);
    cr_expect(strstr(r.err, "warning: stripped by KOOM") != NULL, "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" object small.hprof \"$(\"$H\" objects small.hprof --class 'byte[]' --sort shallow --limit 1 "
                "--format csv --columns address --quiet | tail -n 1)\" "
                "--elements 2 --format json --quiet");
    cr_expect(strstr(r.out, "\"elements\": [{\"absent\": true}, {\"absent\": true}]") != NULL, "%s%s", r.out, r.err);
    ran_free(&r);
    r = tool_sh(
        "\"$H\" objects small.hprof --class java.lang.String --limit 3 --quiet && \"$H\" info small.hprof --quiet");
    cr_expect(strstr(r.out, "absent") != NULL && strstr(r.out, "\nstripped by  koom; since ") != NULL &&
                  strstr(r.out, "affects") != NULL,
              "%s", r.out);
    ran_free(&r);
}

Test(stripping, redaction_says_that_the_graph_is_as_it_was_and_the_exports_agree)
{
    ran r = tool_sh("\"$H\" strip app.hprof --policy redact -o safe.hprof && for d in app safe; do \"$H\" export "
                    "$d.hprof --table references --format csv --quiet >$d.refs && "
                    "\"$H\" export $d.hprof --table objects --format csv --quiet --columns "
                    "address,class,shallow,retained,dominator >$d.objects || exit 9; done; "
                    "cmp app.refs safe.refs && cmp app.objects safe.objects");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect(strstr(r.out, "; ids, classes, references and sizes are unchanged") != NULL, "%s", r.out);
    ran_free(&r);
}

Test(stripping, a_wrong_call_is_told_what_is_missing)
{
    static const char *const calls[][2] = {
        { "strip app.hprof -o x", "needs --policy POLICY" },
        { "strip app.hprof --policy koom", "needs --output FILE" },
        { "restore app.hprof -o -", "needs --output FILE" },
        { "strip app.hprof --policy kom -o x", "did you mean 'koom'?" },
        { "strip app.hprof --policy koom -o app.hprof", "is an input of this call" },
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        ran r = tool_sh("\"$H\" %s", calls[i][0]);
        cr_expect(eq(int, r.code, 2), "%s", calls[i][0]);
        cr_expect(strstr(r.err, calls[i][1]) != NULL, "%s: %s", calls[i][0], r.err);
        ran_free(&r);
    }
}

/* Of a file system of our own of 1 MiB; 77: none can be mounted here. */
static ran on_a_small_disk(const char *call)
{
    return tool_sh("mkdir small && mount -t tmpfs -o size=1m tmpfs small || { rmdir small; exit 77; }; \"$H\" %s; "
                   "code=$?; ls -A small; umount small; rmdir small; exit $code",
                   call);
}

Test(stripping, what_the_disk_cannot_hold_is_6_before_the_work_and_what_may_fit_is_tried)
{
    static const struct {
        const char *call;
        int         code;
        const char *out;
    } each[] = {
        { "strip app --policy redact -o small/safe.hprof", 6, "" },
        { "strip app --policy shark -o small/safe.hprof", 6, "" },
        { "strip app --policy shark -o small/safe.hprof.gz", 0, "safe.hprof.gz" },
        { "restore koom -o small/whole.hprof", 6, "" },
        { "restore koom -o small/whole.hprof.gz", 0, "whole.hprof.gz" },
    };
    if (geteuid() != 0)
        tool_skip(folder, "only root may mount");
    ran r = tool_sh("gzip -dc <app.hprof >app && \"$H\" strip app --policy koom -o koom --quiet");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        r = on_a_small_disk(each[i].call);
        if (r.code == 77)
            tool_skip(folder, "no small file system can be mounted here");
        cr_expect(eq(int, r.code, each[i].code), "%s: %s", each[i].call, r.err);
        const bool reported = strstr(r.err, " needs 4.3 MB on disk; only 1.0 MB are free\nhint: free space") != NULL;
        cr_expect(eq(int, reported, each[i].code == 6), "%s: %s", each[i].call, r.err);
        cr_expect(strstr(r.out, each[i].out) != NULL && (each[i].code == 0 || r.out[0] == '\0'), "%s: %s", each[i].call,
                  r.out);
        ran_free(&r);
    }
}
