/* How a call fails: exit codes, one line for people, a document for programs, nothing half left behind. */
#include "cli/tool.h"

#include <fcntl.h>
#include <sys/file.h>

static char *folder;
static void  enter(void) { folder = tool_enter(); }
static void  leave(void) { tool_leave(folder); }
TestSuite(errors, .init = enter, .fini = leave);

static void expect(const char *words, int code, const char *in_err)
{
    ran r = tool_sh("\"$H\" %s", words);
    cr_expect(eq(int, r.code, code), "%s: %s", words, r.err);
    cr_expect(strstr(r.err, in_err) != NULL, "%s: %s", words, r.err);
    cr_expect(strncmp(r.err, "heapdex: ", 9) == 0, "%s: %s", words, r.err);
    cr_expect(le(uint, lines_of(r.err), 2), "%s: %s", words, r.err);
    cr_expect_str_empty(r.out);
    ran_free(&r);
}

Test(errors, a_wrong_call_is_2)
{
    expect("", 2, "missing command");
    expect("histgram app.hprof", 2, "hint: did you mean 'histogram'?");
    expect("info app.hprof --fromat json", 2, "hint: did you mean '--format'?");
    expect("info", 2, "needs a heap dump");
    expect("export app.hprof --table objects --format table", 2, "is none of: csv tsv jsonl parquet sqlite");
    expect("export app.hprof --table objects,classes", 2, "several tables need an output folder");
    expect("export app.hprof --table objects,classes -o -", 2, "several tables need an output folder");
    expect("export app.hprof --table objects,clases -o out", 2, "clases");
    expect("export app.hprof --table objects,classes --format sqlite", 2, "--format sqlite needs an output file");
    expect("export app.hprof --table objects --format sqlite -o -", 2, "--format sqlite needs an output file");
    expect("histogram app.hprof --format sqlite -o a.db", 2, "is none of: table json jsonl csv tsv parquet");
    expect("histogram app.hprof --encoding plain", 2, "--encoding requires --format parquet");
    expect("export app.hprof --table objekts", 2, "hint: did you mean 'objects'?");
    expect("index app.hprof --memory much", 2, "expected a size");
}

/* Each of them would not end before the universe does. */
Test(errors, a_regular_expression_that_costs_too_much_is_2_wherever_it_stands)
{
    static const char *const calls[] = { "histogram app.hprof --class '/([a-z]+|.)+[!?]$/'",
                                         "histogram app.hprof --scan --class '/([a-z]+|.)+[!?]$/'",
                                         "histogram app.hprof --where 'class ~ ([a-z]+|.)+[!?]$'",
                                         "objects app.hprof --class '/([a-z]+|.)+[!?]$/'",
                                         "path app.hprof class:java.lang.String --exclude-field '/([a-z]+|.)+[!?]$/#x'",
                                         "retained app.hprof --class '/([a-z]+|.)+[!?]$/'",
                                         "dominators app.hprof 'class:/([a-z]+|.)+[!?]$/'",
                                         "leaks app.hprof --finder classes --class '/([a-z]+|.)+[!?]$/'",
                                         "export app.hprof --table classes --where 'name ~ ([a-z]+|.)+[!?]$'" };
    tool_copy_bookshop("app.hprof");
    ran r = tool_sh("\"$H\" index app.hprof");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        expect(calls[i], 2, "regular expression \"([a-z]+|.)+[!?]$\" is too costly");
    expect("histogram app.hprof --class '/a(/'", 2, "\"a(\": missing closing parenthesis at byte 2");
}

Test(errors, an_unusable_dump_is_3)
{
    cr_assert(mkdir("folder", 0755) == 0);
    tool_write("text.hprof", "this is no heap dump, only words\n", 33);
    tool_write("empty.hprof", "", 0);
    tool_write("archive.hprof", "PK\3\4\24\0\0\0\10\0 and so on, as a zip archive begins", 46);
    expect("info missing.hprof", 3, "missing.hprof");
    expect("info folder", 3, "folder");
    expect("info text.hprof", 3, "text.hprof");
    expect("info empty.hprof", 3, "empty.hprof");
    expect("info archive.hprof", 3, "archive.hprof");
    for (const char *const *left = (const char *const[]){ "missing.hprof.hdx", "text.hprof.hdx", "empty.hprof.hdx",
                                                          "archive.hprof.hdx", NULL };
         *left != NULL; left++)
        cr_expect(access(*left, F_OK) != 0, "%s is left", *left);
}

Test(errors, a_file_that_may_not_be_read_is_3)
{
    if (geteuid() == 0)
        tool_skip(folder, "root may read everything");
    tool_write("secret.hprof", "JAVA PROFILE 1.0.2", 19);
    cr_assert(chmod("secret.hprof", 0) == 0);
    expect("info secret.hprof", 3, "ermission");
}

Test(errors, no_build_and_no_index_is_3)
{
    tool_copy_bookshop("app.hprof");
    expect("info app.hprof --no-build", 3, "index");
    cr_expect(access("app.hprof.hdx", F_OK) != 0);
}

Test(errors, what_is_not_in_the_dump_is_4)
{
    tool_copy_bookshop("app.hprof");
    ran r = tool_sh("\"$H\" index app.hprof --quiet");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    expect("object app.hprof 0x1", 4, "0x1");
    expect("object app.hprof '#99999999'", 4, "99999999");
    expect("objects app.hprof --class bookshop.Bookshop\\$Sesion", 4, "hint:");
    expect("objects app.hprof --class 'bookshop.Nothing*'", 4, "no class matches bookshop.Nothing*");
    expect("histogram app.hprof --class bookshop", 4, "hint: it is a package; its classes are 'bookshop.*'");
    expect("path app.hprof thread:nobody", 4, "nobody");
    expect("remove other.hprof", 4, "other.hprof");
    expect("object app.hprof nonsense", 2, "nonsense");
    expect("histogram app.hprof --where 'shalow > 3'", 2, "shalow");
    expect("histogram app.hprof --sort shalow", 2, "shalow");
    expect("histogram app.hprof --columns clas", 2, "clas");
}

Test(errors, a_document_for_programs)
{
    ran r = tool_sh("\"$H\" info missing.hprof --format json");
    cr_expect(eq(int, r.code, 3));
    cr_expect(strncmp(r.out, "{\"error\":", 9) == 0, "%s", r.out);
    cr_expect(strstr(r.out, "\"code\": 3") != NULL || strstr(r.out, "\"code\":3") != NULL, "%s", r.out);
    cr_expect(strstr(r.out, "bad_dump") != NULL && strstr(r.out, "\"message\"") != NULL &&
                  strstr(r.out, "missing.hprof") != NULL,
              "%s", r.out);
    cr_expect(strstr(r.out, "\"offset\"") != NULL, "%s", r.out);
    ran_free(&r);
    r = tool_sh("\"$H\" --nonsense --format=json");
    cr_expect(eq(int, r.code, 2));
    cr_expect(strstr(r.out, "\"usage\"") != NULL, "%s", r.out);
    ran_free(&r);
}

Test(errors, a_damaged_index_is_5_and_says_how_to_rebuild)
{
    tool_copy_bookshop("app.hprof");
    ran r = tool_sh("\"$H\" index app.hprof --quiet && for f in app.hprof.hdx/*; do printf "
                    "'\\377\\377\\377\\377\\377\\377\\377\\377' | dd of=\"$f\" conv=notrunc status=none; done");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" histogram app.hprof");
    cr_expect(eq(int, r.code, 5), "%s", r.err);
    cr_expect(strstr(r.err, "\nhint: ") != NULL && strstr(r.err, "--force") != NULL, "%s", r.err);
    cr_expect_str_empty(r.out);
    ran_free(&r);
    r = tool_sh("\"$H\" index app.hprof --force --quiet && \"$H\" verify app.hprof --full");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
}

Test(errors, a_lost_file_of_an_index_is_5_whichever_it_is)
{
    tool_copy_bookshop("app.hprof");
    static const char *const files[] = { "catalog.mdb", "catalog.sum", "retained.hdx" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ran r = tool_sh("\"$H\" index app.hprof --force --quiet && rm app.hprof.hdx/%s && \"$H\" dominators app.hprof",
                        files[i]);
        cr_expect(eq(int, r.code, 5), "%s: %s", files[i], r.err);
        cr_expect(strstr(r.err, "\nhint: ") != NULL && strstr(r.err, "--force") != NULL, "%s: %s", files[i], r.err);
        ran_free(&r);
    }
}

Test(errors, an_index_stands_for_a_dump_only_where_that_can_be)
{
    tool_copy_bookshop("app.hprof");
    ran r = tool_sh(
        "\"$H\" index app.hprof --quiet && mv app.hprof.hdx away && : >file && mkdir strange && : >strange/thing");
    cr_assert(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    expect("index away --force", 2, "away: is an index; --force needs a dump\nhint: ");
    expect("histogram away --index-dir other", 2, "away: is an index; --index-dir needs a dump\nhint: ");
    expect("histogram away --dump-number 2", 2, "dump number 1, not 2");
    expect("histogram app.hprof --index-dir file", 2, "is a file; an index is a folder\nhint: ");
    expect("histogram app.hprof --index-dir strange", 2, "is a folder with other files in it\nhint: ");
    expect("histogram ''", 2, "the name of the heap dump is empty\nhint: ");
}

Test(errors, too_little_memory_is_6_and_names_the_option)
{
    tool_copy_bookshop("app.hprof");
    expect("index app.hprof --memory 64K", 6, "\nhint: ");
    expect("index app.hprof --memory 64K", 6, "--memory");
    cr_expect(access("app.hprof.hdx", F_OK) != 0 && access(".heapdex-part-app.hprof.hdx", F_OK) != 0 &&
              access(".heapdex-lock-app.hprof.hdx", F_OK) != 0);
}

Test(errors, a_question_keeps_to_the_memory_it_was_given)
{
    tool_copy_bookshop("app.hprof");
    ran r =
        tool_sh("\"$H\" index app.hprof --quiet && \"$H\" objects app.hprof --class '*' --sort shallow --memory 64M");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    expect("objects app.hprof --class '*' --sort shallow --memory 200K", 6,
           " more bytes exceed the limit of 204800 for queries\nhint: raise the limit with --memory\n");
}

Test(errors, too_little_memory_names_a_size_that_would_do)
{
    static const char *const sizes[] = { "1", "336", "2K", "100K", "190K", "500K", "1M", "3M", "20M", "40M" };
    tool_copy_bookshop("app.hprof.gz");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ran   r = tool_sh("\"$H\" index app.hprof.gz --memory %s", sizes[i]);
        char *hint = strstr(r.err, "\nhint: --memory ");
        cr_expect(r.code == 6 && hint != NULL && strstr(r.err, "(0 bytes)") == NULL, "%s: %d %s", sizes[i], r.code,
                  r.err);
        ran again = tool_sh("\"$H\" index app.hprof.gz --memory %.*s && rm -r app.hprof.gz.hdx",
                            hint != NULL ? (int)strspn(hint + 16, "0123456789MG") : 0, hint != NULL ? hint + 16 : "");
        cr_expect(eq(int, again.code, 0), "%s: %s", sizes[i], again.err);
        ran_free(&again);
        ran_free(&r);
    }
}

Test(errors, another_builder_is_76_and_named)
{
    tool_copy_bookshop("app.hprof");
    const int fd = open(".heapdex-lock-app.hprof.hdx", O_RDWR | O_CREAT, 0600);
    cr_assert(fd >= 0 && flock(fd, LOCK_EX) == 0);
    cr_assert(dprintf(fd, "heapdex 1 host=node7 boot=b space=1 pid=4711 start=1 since=1700000000 job=slurm:12\n") > 0);
    expect("index app.hprof --no-wait", 76, "process 4711 on node7 since 2023-11-14 22:13:20 UTC, job slurm:12");
    (void)close(fd);
}

Test(errors, inflating_past_the_stated_limit_is_6_and_leaves_nothing)
{
    tool_copy_bookshop("app.hprof.gz");
    expect("index app.hprof.gz --max-uncompressed 1M", 6, "exceeds 1048576 bytes");
    expect("index app.hprof.gz --max-uncompressed 1M", 6, "\nhint: raise or remove --max-uncompressed");
    cr_expect(access("app.hprof.gz.hdx", F_OK) != 0 && access(".heapdex-part-app.hprof.gz.hdx", F_OK) != 0);
    ran r = tool_sh("\"$H\" index app.hprof.gz --max-uncompressed 1G --format json");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
}

/* Of a file system of our own with these options, from the call; 77: none can be mounted here. */
static ran index_on(const char *options)
{
    return tool_sh("mkdir small && mount -t tmpfs -o %s tmpfs small || { rmdir small; exit 77; }; \"$H\" index "
                   "app.hprof --index-dir small/app.hdx; "
                   "code=$?; ls -A small; umount small; rmdir small; exit $code",
                   options);
}

Test(errors, a_disk_that_is_too_small_is_6_before_the_work)
{
    if (geteuid() != 0)
        tool_skip(folder, "only root may mount");
    tool_copy_bookshop("app.hprof");
    for (unsigned kib = 64; kib <= 512; kib *= 2) {
        char options[32];
        (void)snprintf(options, sizeof options, "size=%uk", kib);
        ran r = index_on(options);
        if (r.code == 77)
            tool_skip(folder, "no small file system can be mounted here");
        cr_expect(eq(int, r.code, 6), "%u KiB: %s", kib, r.err);
        cr_expect(strstr(r.err, "are free\nhint: free space") != NULL, "%u KiB: %s", kib, r.err);
        cr_expect_str_empty(r.out, "left behind: %s", r.out);
        ran_free(&r);
    }
}

/* Neither beside the dump nor in the cache is room for an index: nothing in the call is wrong but the place. */
Test(errors, a_place_that_cannot_be_written_is_7)
{
    tool_copy_bookshop("app.hprof");
    ran r = tool_sh("\"$H\" histogram app.hprof --index-dir /proc/nowhere/app.hdx");
    cr_expect(r.code == 7 && strstr(r.err, "cannot create the index folder") != NULL && lines_of(r.err) == 2, "%d %s",
              r.code, r.err);
    ran_free(&r);
    r = tool_sh("mkdir small && mount -t tmpfs tmpfs small || { rmdir small; exit 77; }; cp app.hprof small; "
                "mount -o remount,ro small; XDG_CACHE_HOME=/proc/nowhere \"$H\" histogram small/app.hprof -o out; "
                "code=$?; umount small; rmdir small; exit $code");
    cr_expect(r.code == 77 || (r.code == 7 && strstr(r.err, "cannot create the cache folder") != NULL), "%d %s", r.code,
              r.err);
    cr_expect(access("out", F_OK) != 0);
    ran_free(&r);
}

/* There is space as far as anybody can say beforehand, and no room for one more file. */
Test(errors, a_disk_that_became_full_is_7)
{
    unsigned failed = 0;
    if (geteuid() != 0)
        tool_skip(folder, "only root may mount");
    tool_copy_bookshop("app.hprof");
    for (unsigned files = 3; files <= 12; files += 3) {
        char options[48];
        (void)snprintf(options, sizeof options, "size=64m,nr_inodes=%u", files);
        ran r = index_on(options);
        if (r.code == 77)
            tool_skip(folder, "no small file system can be mounted here");
        if (r.code != 0) {
            failed++;
            cr_expect(eq(int, r.code, 7), "%u files: %s", files, r.err);
            cr_expect(strstr(r.err, "No space left on device\nhint: free space") != NULL, "%u files: %s", files, r.err);
            cr_expect_str_empty(r.out, "left behind: %s", r.out);
        }
        ran_free(&r);
    }
    cr_expect(gt(u32, failed, 0));
}

Test(errors, hostile_names_reach_no_terminal)
{
    ran r = tool_sh("\"$H\" info \"$(printf 'a\\033[2Jb\\nc.hprof')\"");
    cr_expect(eq(int, r.code, 3));
    cr_expect(strchr(r.err, '\033') == NULL, "%s", r.err);
    cr_expect(strstr(r.err, "a\\x1b[2Jb\\x0ac.hprof") != NULL, "%s", r.err);
    ran_free(&r);
}

Test(errors, output_that_cannot_be_written_is_7)
{
    ran r = tool_sh("\"$H\" --help >/dev/full");
    cr_expect(eq(int, r.code, 7));
    cr_expect(strstr(r.err, "standard output: cannot write: No space left") != NULL, "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" --help >&-");
    cr_expect(eq(int, r.code, 7), "%s", r.err);
    ran_free(&r);
    tool_copy_bookshop("app.hprof");
    r = tool_sh("\"$H\" histogram app.hprof --quiet --format csv >/dev/full");
    cr_expect(eq(int, r.code, 7), "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" info app.hprof -o no/such/folder/out.txt");
    cr_expect(eq(int, r.code, 7), "%s", r.err);
    ran_free(&r);
}
