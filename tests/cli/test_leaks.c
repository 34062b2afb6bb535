/* The command leaks as a person calls it: the page, exit codes, JUnit, several dumps, files of rules, what is kept. */
#include "cli/leaky.h"
#include "cli/terminal.h"
#include "hprof/hprof.h"
#include "support/dump_maker.h"

static char *folder;
#define TEXT(s) s, sizeof s - 1

static void enter(void)
{
    folder = tool_enter();
    leaky_make("a.hprof", true);
    leaky_make("b.hprof", false);
}
static void leave(void) { tool_leave(folder); }
TestSuite(leaks, .init = enter, .fini = leave);

static void expect(const char *words, int code, const char *out)
{
    ran r = tool_sh("\"$H\" leaks %s", words);
    cr_expect(eq(int, r.code, code), "%s: %d %s", words, r.code, r.err);
    cr_expect(strstr(r.out, out) != NULL || strstr(r.err, out) != NULL, "%s: '%s' not in\n%.4000s%s", words, out, r.out,
              r.err);
    ran_free(&r);
}

Test(leaks, are_drawn_from_root_to_object_with_suspects_underlined)
{
    expect("a.hprof", 0, "====================================\n2 APPLICATION LEAKS\n");
    expect("a.hprof", 0, "┬───\n│ GC root: system class (STICKY_CLASS)\n│\n├─ app.Holder class 0x");
    expect("a.hprof", 0,
           "│    leaking: no (class objects never leak)\n│    ↓ static Holder.first\n│                    ~~~~~\n├─ "
           "app.Node "
           "instance 0x");
    expect("a.hprof", 0,
           "│    leaking: unknown\n│    retains 9 B in 2 objects\n│    ↓ Node.next\n│           ~~~~\n╰→ "
           "app.Screen instance 0x");
    expect("a.hprof", 0,
           "     leaking: yes (it was watched and should be gone: it was closed)\n     retains 1 B in 1 object\n    "
           " key = key-1\n     watched for 20000 ms\n     retained for 5000 ms\n");
    expect("a.hprof", 0, "0 LIBRARY LEAKS\n");
    expect("a.hprof", 0, "1 UNREACHABLE OBJECT\n");
    expect("a.hprof", 0, "Watched objects: 4, 3 of them retained\n");
    expect("a.hprof --no-retained", 0, "leaking: unknown\n│    ↓ Node.next\n");
    expect("a.hprof --limit 1", 0, "\n1 more (--limit 0 shows all)\n");
}

/* On a terminal lines end where it does, and in a C locale the drawing is ASCII of the same shape. */
Test(leaks, are_drawn_for_the_terminal)
{
    static const char *const scripts[] = { "LC_ALL=C.UTF-8 HEAPDEX_PAGER=cat \"$H\" leaks a.hprof --limit 1",
                                           "LC_ALL=C HEAPDEX_PAGER=cat \"$H\" leaks a.hprof --limit 1" };
    static const char *const shown[][2] = {
        { "\n┬───\n│ GC root: ", "     leaking: yes (it was watched and should be gone: it was\n       closed)\n" },
        { "\n+---\n| GC root: ",
          "|    v static Holder.second\n|                    ~~~~~~\n`> app.Screen instance 0x" },
    };
    ran r = tool_sh("\"$H\" index a.hprof");
    ran_free(&r);
    for (int ascii = 0; ascii < 2; ascii++) {
        terminal *t = terminal_start(60, scripts[ascii]);
        cr_expect(eq(int, terminal_end(t), 0));
        terminal_drop_progress(t, 0);
        for (int i = 0; i < 2; i++)
            cr_expect(strstr(t->shown, shown[ascii][i]) != NULL, "%s not in %s", shown[ascii][i], t->shown);
        cr_expect(le(u32, longest_line(t->shown), 60));
        for (const char *c = t->shown; ascii && *c != '\0'; c++)
            cr_expect_gt(*c, 0, "%s", c);
        free(t);
    }
}

Test(leaks, say_what_else_to_ask_where_nothing_is_watched)
{
    static const char words[] = "No object was watched by LeakCanary.";
    tool_copy_bookshop("shop.hprof.gz");
    expect("shop.hprof.gz", 0, words);
    ran r = tool_sh("\"$H\" leaks shop.hprof.gz --finder filters; \"$H\" leaks a.hprof --key key-4");
    cr_expect(strstr(r.out, words) == NULL, "%s", r.out);
    ran_free(&r);
}

Test(leaks, come_as_rows_too)
{
    expect("a.hprof --format csv --columns kind,objects,class,root,suspects", 0,
           "kind,objects,class,root,suspects\napplication,1,app.Screen,STICKY_CLASS,Holder.second\napplication,1,app."
           "Screen,STICKY_CLASS,Holder.first Node.next\n"
           "unreachable,1,app.Screen,,\n");
}

Test(leaks, say_of_a_class_that_is_not_there_what_other_commands_say)
{
    ran r = tool_sh("head -c $(($(wc -c <a.hprof) - 20)) a.hprof >cut.hprof");
    ran_free(&r);
    for (int json = 0; json < 2; json++) {
        const char *format = json ? "json" : "table";
        ran         other = tool_sh("\"$H\" objects cut.hprof --class java.lang.Tread --format %s", format);
        ran leaks = tool_sh("\"$H\" leaks cut.hprof --finder classes --class java.lang.Tread --format %s", format);
        cr_expect(leaks.code == 4 && other.code == 4, "%d %d", leaks.code, other.code);
        cr_expect_str_eq(leaks.out, other.out);
        cr_expect_str_eq(leaks.err, other.err);
        cr_expect(strstr(leaks.err, "warning: the dump is damaged in ") != NULL, "%s", leaks.err);
        cr_expect(strstr(leaks.err, "no class is called java.lang.Tread\nhint: ") != NULL, "%s", leaks.err);
        ran_free(&leaks);
        ran_free(&other);
    }
}

Test(leaks, of_one_key_or_of_some_age_or_class)
{
    expect("a.hprof --key key-2", 0, "1 APPLICATION LEAK\n");
    expect("a.hprof --key nobody", 4, "no watched object has the key nobody");
    expect("a.hprof --min-watch 15", 0, "1 APPLICATION LEAK\n");
    expect("a.hprof --finder classes --class app.Node --class 'app.Sc*'", 0,
           "2 APPLICATION LEAKS\n"); /* the screen below the node is the node's */
    expect("a.hprof --finder classes --class Node", 0, "Node is interpreted as app.Node\n");
    expect("a.hprof --finder classes --class Node", 0, "1 APPLICATION LEAK\n");
    expect("a.hprof --finder classes --class app.Nobody", 4, "heapdex: no class is called app.Nobody\nhint: ");
    expect("a.hprof --finder classes --class '/(/'", 2, "regular expression \"(\": missing closing parenthesis");
    expect("a.hprof --finder classes", 2, "--finder classes and --class PATTERN must be used together");
    expect("a.hprof --class app.Node", 2, "--finder classes and --class PATTERN must be used together");
    expect("a.hprof --finder filters --key x", 2, "remove --finder");
}

Test(leaks, fail_a_build_when_asked_to)
{
    expect("a.hprof --fail-on application", 1, "APPLICATION");
    expect("a.hprof --fail-on library", 0, "APPLICATION");
    expect("a.hprof --fail-on any", 1, "APPLICATION");
    expect("a.hprof --key key-4 --fail-on any", 0, "0 APPLICATION LEAKS");
    expect("a.hprof --junit out.xml --fail-on application --format json", 1, "\"leaks\": [");
    char *xml = tool_read("out.xml");
    cr_assert(xml != NULL);
    cr_expect(strstr(xml, "name=\"a.hprof\" package=\"heapdex\" tests=\"3\" failures=\"2\" errors=\"0\"") != NULL, "%s",
              xml);
    cr_expect(strstr(xml, "<failure message=\"1 object leaked\" type=\"application\">a.hprof\n") != NULL, "%s", xml);
    cr_expect(strstr(xml, "classname=\"leaks.unreachable\" name=\"app.Screen\" time=\"0\"/>") != NULL, "%s", xml);
    free(xml);
    ran r = tool_sh("python3 -c \"import xml.dom.minidom; xml.dom.minidom.parse('out.xml')\" 2>&1 || test -z "
                    "\"$(command -v python3)\"");
    cr_expect(eq(int, r.code, 0), "%s", r.out);
    ran_free(&r);
}

/*
 *     Holder.held -> Node .next  -> class Other .screen -> Screen (listed)     the node leaks not: a class below does
 * not .other -> Screen (listed)                            the node may be the cause
 */
Test(leaks, show_what_an_object_retains_in_every_path_once_it_may_leak_in_one)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java/lang/Object", 0, "");
    uint64_t    screen = dump_maker_class(m, "app/Screen", object, "closed:Z");
    uint64_t    node = dump_maker_class(m, "app/Node", object, "next:L other:L");
    uint64_t    first = dump_maker_instance(m, screen, DUMP_VALUES(1)),
             second = dump_maker_instance(m, screen, DUMP_VALUES(1));
    dump_maker_static(m, "screen", 'L', first);
    uint64_t other = dump_maker_class(m, "app/Other", object, "");
    dump_maker_static(m, "held", 'L', dump_maker_instance(m, node, DUMP_VALUES(other, second)));
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "app/Holder", object, ""), 0, 0);
    dump_maker_save(m, "c.hprof");
    dump_maker_free(m);
    expect("c.hprof --finder classes --class app.Screen", 0,
           "leaking: unknown\n│    retains 105 B in 4 objects\n│    ↓ Node.other\n");
    expect("c.hprof --finder classes --class app.Screen", 0,
           "leaking: no (Other below is not leaking)\n│    retains 105 B in 4 objects\n│    ↓ Node.next\n");
    expect("c.hprof --finder classes --class app.Screen", 0,
           "leaking: no (class objects never leak)\n│    ↓ static Other.");
    expect("c.hprof --finder classes --class app.Screen --no-retained", 0,
           "leaking: no (Other below is not leaking)\n│    ↓ Node.next\n");
    expect("c.hprof --finder classes --class app.Screen --format csv --columns suspects,retained,retained_objects", 0,
           "Other.screen,1,1\n");
}

Test(leaks, of_several_dumps_are_merged_by_signature)
{
    expect("a.hprof b.hprof", 0, "2 APPLICATION LEAKS\n");
    expect("a.hprof b.hprof", 0, "\n  1 in a.hprof\n  1 in b.hprof\n");
    expect("a.hprof b.hprof --format csv --columns kind,objects,dumps", 0,
           "kind,objects,dumps\napplication,1,1\napplication,2,2\nunreachable,3,2\n");
    expect("a.hprof b.hprof --format json", 0, "\"watched\": {\"count\": 8, \"retained\": 6}");
    expect(
        "a.hprof b.hprof --format json", 0,
        "\"dumps\": [\n    {\"dump\": \"a.hprof\", \"metadata\": {}, \"watched\": {\"count\": 4, \"retained\": 3}},\n");
    expect("a.hprof nowhere.hprof", 3, "nowhere.hprof");
    expect("a.hprof b.hprof --index-dir x.hdx", 2, "--index-dir names a single index");
}

Test(leaks, heed_the_callers_matchers_and_rules)
{
    tool_write("m.txt", TEXT("ignored static-field app.Holder#second\nlibrary static-field app.Holder#first a note\n"));
    expect("a.hprof --matchers m.txt", 0, "0 APPLICATION LEAKS");
    expect("a.hprof --matchers m.txt", 0, "pattern: static field app.Holder#first\nnote: a note\n");
    expect("a.hprof --matchers m.txt --fail-on library", 1, "1 LIBRARY LEAK\n");
    tool_write("r.txt", TEXT("leaking app.Screen closed = true it says that it is closed\n"));
    expect("a.hprof --finder filters --filters r.txt", 0, "it says that it is closed");
    tool_write("bad.txt", TEXT("leaking\n"));
    expect("a.hprof --filters bad.txt", 2, "line 1: expected a class");
    expect("a.hprof --matchers nowhere.txt", 2, "nowhere.txt");
    tool_write("map.txt", TEXT("clear.Screen -> app.Screen:\n"));
    expect("a.hprof --mapping map.txt", 0, "╰→ clear.Screen instance");
}

Test(leaks, are_remembered_until_something_changes)
{
    expect("a.hprof --verbose", 0, "a.hprof: leaks searched");
    expect("a.hprof --verbose", 0, "a.hprof: leaks read from a stored answer");
    expect("a.hprof --verbose --no-retained", 0, "a.hprof: leaks searched");
    tool_write("m.txt", TEXT("ignored static-field app.Holder#second\n"));
    expect("a.hprof --verbose --matchers m.txt", 0, "a.hprof: leaks searched");
    ran r = tool_sh("\"$H\" verify a.hprof && \"$H\" remove a.hprof && test ! -e a.hprof.hdx && \"$H\" leaks a.hprof "
                    ">first && \"$H\" leaks a.hprof >second && cmp first second");
    cr_expect(eq(int, r.code, 0), "%s%s", r.out, r.err);
    ran_free(&r);
    leaky_make("a.hprof", false); /* another dump in its place */
    expect("a.hprof", 0, "1 APPLICATION LEAK\n");
}

Test(leaks, within_too_little_memory_are_refused_with_a_size_that_would_do)
{
    ran r = tool_sh("\"$H\" index a.hprof --quiet && \"$H\" leaks a.hprof --memory 2M");
    cr_expect(eq(int, r.code, 6), "%d %s", r.code, r.err);
    const char *named = strstr(r.err, "exceeds --memory; --memory ");
    cr_assert(named != NULL && strstr(r.err, "is enough") != NULL, "%s", r.err);
    ran again = tool_sh("\"$H\" leaks a.hprof --memory %dM", atoi(named + strlen("exceeds --memory; --memory ")));
    cr_expect(eq(int, again.code, 0), "%s", again.err);
    ran_free(&again);
    ran_free(&r);
}

Test(leaks, that_were_kept_are_counted_checked_and_removed)
{
    expect("a.hprof", 0, "APPLICATION");
    ran r = tool_sh("\"$H\" info a.hprof --format json | grep -c '\"name\": *\"leaks-' ; \"$H\" verify a.hprof | grep "
                    "-c leaks- ; \"$H\" verify a.hprof --full | grep -c leaks-");
    cr_expect(eq(str, r.out, "1\n1\n1\n"), "%s", r.out);
    ran_free(&r);
    r = tool_sh(
        "printf X | dd of=$(echo a.hprof.hdx/leaks-?) bs=1 seek=60 conv=notrunc 2>/dev/null; \"$H\" verify a.hprof");
    cr_expect(eq(int, r.code, 5));
    cr_expect(strstr(r.err, "leaks-") != NULL && strstr(r.err, "its checksum is wrong") != NULL &&
                  strstr(r.err, "safe to delete") != NULL,
              "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" remove a.hprof && test ! -e a.hprof.hdx");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
}

Test(leaks, that_were_kept_and_damaged_are_searched_anew)
{
    expect("a.hprof --verbose", 0, "a.hprof: leaks searched");
    static const char *const harm[] = { "printf XXXX | dd of=\"$f\" bs=1 seek=60 conv=notrunc",
                                        "printf XXXX | dd of=\"$f\" bs=1 seek=30 conv=notrunc",
                                        "truncate -s 100 \"$f\"",
                                        "truncate -s 10 \"$f\"",
                                        ": >\"$f\"",
                                        "printf X >>\"$f\"" };
    for (size_t i = 0; i < sizeof harm / sizeof *harm; i++) {
        ran r = tool_sh("for f in a.hprof.hdx/leaks-*; do %s; done", harm[i]);
        ran_free(&r);
        expect("a.hprof --verbose", 0, "a.hprof: leaks searched");
        expect("a.hprof --verbose", 0, "a.hprof: leaks read from a stored answer");
    }
    ran r = tool_sh("ls a.hprof.hdx/*.part");
    cr_expect(r.code != 0, "%s", r.out);
    ran_free(&r);
    if (getuid() != 0) { /* root writes anywhere */
        r = tool_sh("chmod a-w a.hprof.hdx && rm -f a.hprof.hdx/leaks-* ; \"$H\" leaks a.hprof --no-retained");
        cr_expect(eq(int, r.code, 0), "%s", r.err);
        ran_free(&r);
    }
}

Test(leaks, are_not_searched_without_the_dump)
{
    ran r = tool_sh("\"$H\" index a.hprof >/dev/null && mv a.hprof away && \"$H\" leaks a.hprof.hdx");
    cr_expect(eq(int, r.code, 3), "%d %s", r.code, r.err);
    ran_free(&r);
    r = tool_sh("mv away a.hprof && \"$H\" leaks a.hprof >/dev/null && mv a.hprof away && \"$H\" leaks a.hprof.hdx");
    cr_expect(eq(int, r.code, 0), "a remembered answer needs no dump: %s", r.err);
    ran_free(&r);
}

Test(leaks, name_the_frame_of_a_local_after_the_mapping)
{
    tool_copy_bookshop("shop.hprof.gz");
    expect("shop.hprof.gz --finder classes --class 'bookshop.Bookshop$Desk'", 0,
           "│    ↓ Thread.<Java Local> in bookshop.Bookshop.lambda$main$0(Bookshop.java:120)\n│             "
           "~~~~~~~~~~~~\n");
    tool_write("m.txt", TEXT("shop.Clear -> bookshop.Bookshop$Desk:\nshop.Top -> bookshop.Bookshop:\n    1:2:void "
                             "serve(int):3:3 -> lambda$main$0\n"));
    expect("shop.hprof.gz --finder classes --class shop.Clear --mapping m.txt", 0,
           "Thread.<Java Local> in shop.Top.serve(Bookshop.java:120)\n");
}
