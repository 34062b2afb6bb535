/* test_content.c - `object --text`: a text, the bytes of an array, the picture of a bitmap, and nothing beside them. */
#include "support/dump_maker.h"
#include "support/golden.h"
#include "terminal.h"

/*
 * 0x100 String of 0x110, "gr\u00f6\u00dfe \U0001f600", half a pair, NUL, ESC; 0x120 String without value; 0x130 String
 * of 0x140, "hidden", whose content was stripped from the dump; 0x200 byte[] 00 ff 41; 0x210 int[] 1, -2;
 * 0x220 char[] of 4,097 units, a pair across 4,096; 0x300 bitmap 2 x 1 of 0x310; 0x320 bitmap 1 x 2 of two bytes each,
 * 0x330; 0x340 bitmap without pixels; 0x350 bitmap of 3 x 3 and 10 bytes.
 */
static void make(const char *path)
{
    static uint64_t many[4097];
    dump_maker     *m = dump_maker_new(8);
    const uint64_t  object = dump_maker_class_at(m, 0x1000, "java.lang.Object", 0, "");
    const uint64_t  string = dump_maker_class_at(m, 0x1020, "java.lang.String", object, "value:L hash:I");
    const uint64_t  bitmap =
        dump_maker_class_at(m, 0x1040, "android.graphics.Bitmap", object, "mBuffer:L mWidth:I mHeight:I");
    for (unsigned i = 0; i < 4095; i++)
        many[i] = 'a';
    many[4095] = 0xd83d;
    many[4096] = 0xde00;
    dump_maker_primitives_at(m, 0x110, 'C',
                             DUMP_VALUES('g', 'r', 0xf6, 0xdf, 'e', ' ', 0xd83d, 0xde00, 0xd83d, 0, 0x1b), 11);
    dump_maker_instance_at(m, 0x100, string, DUMP_VALUES(0x110, 0));
    dump_maker_instance_at(m, 0x120, string, DUMP_VALUES(0, 0));
    dump_maker_primitives_at(m, 0x200, 'B', DUMP_VALUES(0, 0xff, 0x41), 3);
    dump_maker_primitives_at(m, 0x210, 'I', DUMP_VALUES(1, 0xfffffffe), 2);
    dump_maker_primitives_at(m, 0x220, 'C', many, 4097);
    dump_maker_primitives_at(m, 0x310, 'B', DUMP_VALUES(0x40, 0x80, 0, 0x80, 1, 2, 3, 0xff), 8);
    dump_maker_instance_at(m, 0x300, bitmap, DUMP_VALUES(0x310, 2, 1));
    dump_maker_primitives_at(m, 0x330, 'B', DUMP_VALUES(0x00, 0xf8, 0xe0, 0x07), 4);
    dump_maker_instance_at(m, 0x320, bitmap, DUMP_VALUES(0x330, 1, 2));
    dump_maker_instance_at(m, 0x340, bitmap, DUMP_VALUES(0, 2, 1));
    dump_maker_primitives_at(m, 0x360, 'B', NULL, 10);
    dump_maker_instance_at(m, 0x350, bitmap, DUMP_VALUES(0x360, 3, 3));
    dump_maker_save(m, path);
    dump_maker_free(m);
}

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    make("a.hprof");
}
static void leave(void) { tool_leave(folder); }
TestSuite(content, .init = enter, .fini = leave);

static void expect_bytes(const char *words, const void *bytes, size_t len)
{
    ran         r = tool_sh("\"$H\" object a.hprof %s", words);
    struct stat st;
    cr_assert(stat(".out", &st) == 0);
    cr_expect(r.code == 0 && (size_t)st.st_size == len && memcmp(r.out, bytes, len) == 0, "%s: %d, %zu bytes %s", words,
              r.code, (size_t)st.st_size, r.err);
    ran_free(&r);
}

Test(content, of_a_text_is_utf8_and_nothing_else)
{
    static const char text[] = "gr\xc3\xb6\xc3\x9f"
                               "e \xf0\x9f\x98\x80\xef\xbf\xbd\0\x1b";
    expect_bytes("0x100 --text", text, sizeof text - 1);
    expect_bytes("0x110 --text", text, sizeof text - 1);
}

Test(content, has_a_pair_that_lies_across_two_pieces)
{
    char text[4099];
    memset(text, 'a', 4095);
    memcpy(text + 4095, "\xf0\x9f\x98\x80", 4);
    expect_bytes("0x220 --text", text, sizeof text);
}

Test(content, of_an_array_is_its_bytes_as_the_dump_has_them)
{
    expect_bytes("0x200 --text", "\0\xff\x41", 3);
    expect_bytes("0x210 --text", "\0\0\0\1\xff\xff\xff\xfe", 8);
}

/* Pixels of a stored PNG stand in it as they are: filter 0, then red, green, blue and alpha, which is divided out. */
Test(content, of_a_bitmap_is_a_picture)
{
    ran r = tool_sh("\"$H\" object a.hprof 0x300 --text -o p.png && \"$H\" object a.hprof 0x320 --text -o q.png");
    struct stat st;
    char       *png = tool_read("p.png"), *rgb = tool_read("q.png");
    cr_assert(r.code == 0 && png != NULL && rgb != NULL, "%d %s", r.code, r.err);
    cr_assert(stat("p.png", &st) == 0);
    cr_expect(memcmp(png, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\2\0\0\0\1\10\6\0\0\0", 29) == 0);
    cr_expect(memmem(png, (size_t)st.st_size, "\0\x80\xff\0\x80\1\2\3\xff", 9) != NULL);
    cr_expect(memcmp(png + st.st_size - 12, "\0\0\0\0IEND\xae\x42\x60\x82", 12) == 0);
    cr_assert(stat("q.png", &st) == 0);
    cr_expect(memcmp(rgb + 16, "\0\0\0\1\0\0\0\2\10\2", 10) == 0);
    cr_expect(memmem(rgb, (size_t)st.st_size, "\0\xff\0\0", 4) != NULL);
    cr_expect(memmem(rgb, (size_t)st.st_size, "\0\0\xff\0", 4) != NULL);
    ran_free(&r);
    /* zlib, and its sums, as another program sees them */
    r = tool_sh("command -v python3 >/dev/null || exit 77; python3 -c 'import struct,zlib,sys\n"
                "d=open(\"p.png\",\"rb\").read(); at=8; z=b\"\"\n"
                "while at<len(d):\n"
                "  n,=struct.unpack(\">I\",d[at:at+4]); t=d[at+4:at+8]; b=d[at+8:at+8+n]\n"
                "  assert struct.unpack(\">I\",d[at+8+n:at+12+n])[0]==zlib.crc32(t+b)\n"
                "  z+=b if t==b\"IDAT\" else b\"\"; at+=12+n\n"
                "assert len(zlib.decompress(z))==9'");
    cr_expect(r.code == 0 || r.code == 77, "%s", r.err);
    ran_free(&r);
    free(png);
    free(rgb);
}

Test(content, that_is_not_there_is_an_error_and_no_file)
{
    static const struct {
        const char *object, *says;
        int         code;
    } cases[] = {
        { "0x120", "is neither a text", 4 },
        { "0x340", "native memory", 4 },
        { "0x350", "layout", 4 },
        { "class:java.lang.String", "is neither a text", 4 },
        { "0x777", "0x777", 4 },
        { "0x100 0x110", "2 are named", 2 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ran r = tool_sh("\"$H\" object a.hprof %s --text -o out.bin", cases[i].object);
        cr_expect(r.code == cases[i].code && strstr(r.err, cases[i].says) != NULL, "%s: %d %s", cases[i].object, r.code,
                  r.err);
        cr_expect(access("out.bin", F_OK) != 0, "%s", cases[i].object);
        ran_free(&r);
    }
    ran r = tool_sh("\"$H\" index a.hprof && mv a.hprof b.hprof && \"$H\" object a.hprof.hdx 0x100 --text -o out.bin");
    cr_expect(r.code == 3 && access("out.bin", F_OK) != 0, "%d %s", r.code, r.err);
    ran_free(&r);
}

Test(content, that_was_stripped_is_absent_and_no_file)
{
    ran r = tool_sh("\"$H\" strip a.hprof --policy tailor -o small.hprof --quiet && "
                    "\"$H\" object small.hprof 0x100 --text -o out.bin --quiet");
    if (r.code != 4) { /* tailor has no room for ids of eight bytes */
        ran_free(&r);
        r = tool_sh("\"$H\" strip a.hprof --policy shark -o small.hprof --quiet && "
                    "\"$H\" object small.hprof 0x100 --text -o out.bin --quiet");
    }
    cr_expect(r.code == 4 && strstr(r.err, "stripped") != NULL, "%d %s", r.code, r.err);
    cr_expect(access("out.bin", F_OK) != 0);
    ran_free(&r);
}

/* A part of a text would pass for the whole. */
Test(content, that_a_damaged_dump_cuts_off_is_no_file)
{
    ran        r = tool_sh("head -c %s a.hprof > cut.hprof && \"$H\" object cut.hprof 0x360 --text -o out.bin --quiet",
                           "$(($(wc -c < a.hprof) - 60))");
    const bool refused = r.code == 3 || r.code == 4;
    cr_expect(refused && access("out.bin", F_OK) != 0, "%d %s", r.code, r.err);
    ran_free(&r);
}

Test(content, on_a_terminal_drives_nothing)
{
    terminal *t = terminal_start(80, "\"$H\" object a.hprof 0x100 --text --no-pager");
    cr_expect_eq(terminal_end(t), 0);
    cr_expect(strstr(t->shown, "gr\xc3\xb6\xc3\x9f"
                               "e \xf0\x9f\x98\x80\xef\xbf\xbd\\x00\\x1b\n") != NULL,
              "%s", t->shown);
    free(t);
    t = terminal_start(80, "\"$H\" object a.hprof 0x200 --text --no-pager");
    cr_expect_eq(terminal_end(t), 2);
    cr_expect(strstr(t->shown, "cannot be written to a terminal") != NULL, "%s", t->shown);
    free(t);
}

Test(content, goes_with_no_option_of_rows)
{
    static const char *const others[] = { "--format json",  "--format table", "--columns address", "--limit 1",
                                          "--sort address", "--elements 3",   "--units bytes",     "--full-text",
                                          "--where id=1",   "--raw",          "--schema",          "--reachable live" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ran r = tool_sh("\"$H\" object a.hprof 0x100 --text %s", others[i]);
        cr_expect(r.code == 2 && strstr(r.err, "cannot be used together") != NULL, "%s: %d %s", others[i], r.code,
                  r.err);
        ran_free(&r);
    }
}

Test(content, comes_of_an_object_that_standard_input_names)
{
    tool_write("names", "address\n0x200\n", 14);
    expect_bytes("- --text < names", "\0\xff\x41", 3);
}
