/*
 * test_kinds.c - what is said of files that are no heap dump: one row per kind (HPROF 8.8), plain and packed by gzip.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "surveyed.h"

#define ZEROS16 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

static void expect_said(const void *bytes, size_t len, const char *message, const char *hint)
{
    surveyed *s = survey_bytes(bytes, len, (how){ 0 });
    cr_expect(eq(int, s->code, HDX_BAD_DUMP), "%s", message);
    cr_expect(eq(str, s->err.message, (char *)message));
    cr_expect(strstr(s->err.hint, hint) != NULL, "%s: \"%s\" does not say \"%s\"", message, s->err.hint, hint);
    surveyed_free(s);
}

/* As it is, and in a gzip file. */
static void expect_kind(const void *bytes, size_t len, const char *what, const char *hint)
{
    char message[256];
    (void)snprintf(message, sizeof message, "%s, not a heap dump", what);
    expect_said(bytes, len, message, hint);
    gm_bytes packed = { 0 };
    gm_member_put(&packed, bytes, len, &(gm_member){ 0 });
    expect_said(packed.at, packed.len, message, hint);
    gm_free(&packed);
}
#define EXPECT_KIND(bytes, what, hint) expect_kind(bytes, sizeof(bytes) - 1, what, hint)

Test(kinds, archives_are_named_with_the_command_that_unpacks_them)
{
    EXPECT_KIND("PK\3\4\24\0\0\0", "a zip archive", "unzip it");
    EXPECT_KIND("\x28\xb5\x2f\xfd\1", "a zstd file", "zstd -d FILE");
    EXPECT_KIND("\x04\x22\x4d\x18\x64\x40\xa7", "an lz4 file", "lz4 -d FILE");
    EXPECT_KIND("\x02\x21\x4c\x18\1\2", "an lz4 file (legacy format)", "lz4 -d FILE");
    EXPECT_KIND("\x50\x2a\x4d\x18\4\0\0\0", "a zstd or lz4 file", "lz4 -d FILE");
    EXPECT_KIND("\xfd"
                "7zXZ\0",
                "an xz file", "xz -d FILE");
    EXPECT_KIND("\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff", "an lzma file", "--format=lzma");
    EXPECT_KIND("LZIP\1\x0c", "an lzip file", "lzip -d");
    EXPECT_KIND("\x89LZO\0\r\n\x1a\n", "an lzop file", "lzop -d");
    EXPECT_KIND("BZh91AY&SY", "a bzip2 file", "bzip2 -d FILE");
    EXPECT_KIND("\xff\6\0\0sNaPpY", "a snappy file", "snzip -d");
    EXPECT_KIND("\x1f\x9d\x90\1", "a file packed by compress", "uncompress");
    EXPECT_KIND("7z\xbc\xaf\x27\x1c\0\4", "a 7z archive", "7z x FILE");
    EXPECT_KIND("Rar!\x1a\7\1\0", "a rar archive", "unrar x FILE");
    EXPECT_KIND("MSCF\0\0\0\0\1", "a cabinet file of Windows", "cabextract");
    EXPECT_KIND("!<arch>\ndebian", "an ar archive", "ar x FILE");
    EXPECT_KIND("070701000000", "a cpio archive", "cpio -i");
}

Test(kinds, a_tar_archive_is_known_by_its_mark_or_by_its_sum)
{
    uint8_t head[1024] = "heap.hprof";
    memcpy(head + 100, "0000644", 8);
    memcpy(head + 124, "00000001000", 11);
    memcpy(head + 257,
           "ustar\0"
           "00",
           8);
    expect_kind(head, sizeof head, "a tar archive", "tar xf FILE");
    memcpy(head + 257, "ustar  ", 8);
    expect_kind(head, sizeof head, "a tar archive", "tar xf FILE");
    memset(head + 257, 0, 8);
    memset(head + 148, ' ', 8);
    uint32_t sum = 0;
    for (unsigned k = 0; k < 512; k++)
        sum += head[k];
    (void)snprintf((char *)head + 148, 8, "%06o", sum);
    expect_kind(head, sizeof head, "a tar archive", "tar xf FILE");
    head[3] ^= 1; /* the sum is wrong, so nothing says that this is a tar archive */
    expect_said(head, sizeof head, "not a heap dump: no HPROF header", "JAVA PROFILE");
}

Test(kinds, encrypted_files_are_named_with_what_decrypts_them)
{
    EXPECT_KIND("Salted__\1\2\3\4\5\6\7\x08", "encrypted by openssl enc", "openssl enc -d");
    EXPECT_KIND("age-encryption.org/v1\n-> X25519 abc\n\1", "encrypted by age", "age -d");
    EXPECT_KIND("-----BEGIN PGP MESSAGE-----\n", "encrypted by PGP", "gpg -d");
}

Test(kinds, dumps_and_traces_of_other_tools)
{
    EXPECT_KIND("FLR\0\0\2\0\0", "a JDK flight recording", "GC.heap_dump");
    EXPECT_KIND("MDMP\x93\xa7\0\0", "a minidump of Windows", "jhsdb");
    EXPECT_KIND("PAGEDU64\xf\0\0\0", "a memory dump of Windows", "GC.heap_dump");
    EXPECT_KIND("Nettrace\x14\0\0\0!FastSerialization.1", "a trace of .NET (nettrace)", "dotnet-trace");
    EXPECT_KIND("\x14\0\0\0!FastSerialization.1", "a gcdump of .NET", "PerfView");
    EXPECT_KIND("go1.7 heap dump\n\6\0\1", "a heap dump of Go", "JVMs");
    EXPECT_KIND("\x7f"
                "ELF\2\1\1\0" ZEROS16 "\0",
                "an ELF core file", "jhsdb");
    EXPECT_KIND("\x7f"
                "ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\x3e\0",
                "an ELF core file", "jhsdb");
    EXPECT_KIND("\x7f"
                "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3e\0",
                "an ELF program or library", "GC.heap_dump");
    EXPECT_KIND("\xcf\xfa\xed\xfe\7\0\0\1", "a core file or program of macOS (Mach-O)", "jhsdb");
}

Test(kinds, profiles_of_pprof)
{
    static const uint8_t profile[] = { 0x0a, 4, 8, 1, 0x10, 2, 0x0a, 2, 0x10, 4, 0x12, 4, 0x0a, 2, 1, 2, 0x1a, 0 };
    uint8_t              changed[sizeof profile];
    expect_kind(profile, sizeof profile, "a profile of pprof", "go tool pprof");
    for (size_t at = 0; at < 11; at++) { /* the heads of fields; their values may be any */
        if (at == 3 || at == 5 || at == 9)
            continue;
        memcpy(changed, profile, sizeof changed);
        changed[at] ^= 0x40;
        surveyed *s = survey_bytes(changed, sizeof changed, (how){ 0 });
        cr_expect(strstr(s->err.message, "pprof") == NULL, "byte %zu: %s", at, s->err.message);
        surveyed_free(s);
    }
}

/* A trace of `count` packets; the first one is as long as is asked. */
static size_t make_trace(uint8_t *to, unsigned count, size_t first)
{
    size_t n = 0;
    to[n++] = 0x0a;
    to[n++] = (uint8_t)(first & 0x7f) | 0x80;
    to[n++] = (uint8_t)(first >> 7);
    to[n] = 0x50;
    n += first;
    for (unsigned k = 1; k < count; k++, n += 8)
        memcpy(to + n, "\x0a\x06\x50\x01\x58\x02\x68\x01", 8);
    return n;
}

Test(kinds, traces_of_perfetto)
{
    static uint8_t bytes[9000];
    static const struct {
        unsigned count;
        size_t   first, cut; /* bytes that are missing at the end */
        bool     is;
    } rows[] = { { 1, 5000, 0, true }, { 1, 5000, 1, false }, { 2, 5000, 0, true }, { 2, 5000, 1, false },
                 { 4, 5000, 3, true }, { 9, 5000, 0, true },  { 100, 30, 0, true } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memset(bytes, 0, sizeof bytes);
        const size_t len = make_trace(bytes, rows[i].count, rows[i].first) - rows[i].cut;
        if (rows[i].is)
            expect_kind(bytes, len, "a trace of Perfetto", "ui.perfetto.dev");
        else
            expect_said(bytes, len, "not a heap dump: no HPROF header", "JAVA PROFILE");
    }
    (void)make_trace(bytes, 20, 30);
    bytes[1]++; /* the first packet does not end where its length says */
    expect_kind(bytes, 200, "a trace of Perfetto", "ui.perfetto.dev");
    (void)make_trace(bytes, 8, 30); /* so few packets may be chance */
    bytes[1]++;
    expect_said(bytes, 33 + 7 * 8, "not a heap dump: no HPROF header", "JAVA PROFILE");
}

Test(kinds, programs_and_documents)
{
    EXPECT_KIND("\xca\xfe\xba\xbe\0\0\0\x41\0\x10", "a Java class file", "GC.heap_dump");
    EXPECT_KIND("PK\3\4\24\0\x08\x08\x08\0" ZEROS16 "\x14\0\0\0META-INF/MANIFEST.MF manifest",
                "a Java archive (jar), which is a zip archive", "GC.heap_dump");
    EXPECT_KIND("PK\3\4\24\0\x08\x08\x08\0" ZEROS16 "\x13\0\0\0AndroidManifest.xml manifest",
                "an Android app (apk), which is a zip archive", "am dumpheap");
    EXPECT_KIND("MZ" ZEROS16 ZEROS16 ZEROS16 "\0\0\0\0\0\0\0\0\0\0\x40\0\0\0PE\0\0", "a program of Windows",
                "GC.heap_dump");
    EXPECT_KIND("dex\n035\0", "code of an Android app (dex)", "am dumpheap");
    EXPECT_KIND("SQLite format 3\0\x10\0", "an SQLite database", "sqlite3");
    EXPECT_KIND("\xac\xed\0\5sr", "a file of serialized Java objects", "GC.heap_dump");
    EXPECT_KIND("%PDF-1.7\n", "a PDF document", "GC.heap_dump");
    EXPECT_KIND("\x89PNG\r\n\x1a\n\0", "a PNG picture", "GC.heap_dump");
    EXPECT_KIND("\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG picture", "GC.heap_dump");
    EXPECT_KIND("PAR1\x15\4", "a Parquet file", "made from");
    EXPECT_KIND("ARROW1\0\0\xff", "an Arrow file", "made from");
}

Test(kinds, text_is_named_by_how_it_begins)
{
    EXPECT_KIND("version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "a pointer of Git LFS to a file",
                "git lfs pull");
    EXPECT_KIND("SkFWQSBQUk9GSUxFIDEuMC4yAAAA\n", "a heap dump as base64 text", "base64 -d");
    EXPECT_KIND("H4sIAAAAAAAAA+3d\n", "a gzip file as base64 text", "base64 -d");
    EXPECT_KIND("{\"snapshot\":{\"meta\":{", "a heap snapshot of V8 (Node.js, Chrome)", "Chrome");
    EXPECT_KIND("{\"head\":{\"callFrame\":{", "a heap profile of V8 (Node.js, Chrome)", "Chrome");
    EXPECT_KIND("{\"nodes\":[{\"id\":1,", "a CPU profile of V8 (Node.js, Chrome)", "Chrome");
    EXPECT_KIND("{\"x\":1,\"traceEvents\":[", "a trace in JSON (Chrome, Perfetto)", "ui.perfetto.dev");
    EXPECT_KIND("========\n== dumpstate: 2026-05-01 10:00:00\n", "a bug report of Android", "am dumpheap");
    EXPECT_KIND("*** *** *** *** *** *** *** ***\nBuild fingerprint: x\n", "a tombstone of Android (a native crash)",
                "am dumpheap");
    EXPECT_KIND("--------- beginning of main\n", "a log of Android (logcat)", "am dumpheap");
    EXPECT_KIND("----- pid 123 at 2026-05-01 -----\n", "stack traces of Android (ANR)", "am dumpheap");
    EXPECT_KIND("Android Native Heap Dump v1.2\n", "a native heap dump of Android", "am dumpheap");
    EXPECT_KIND("2026-05-01 10:00:00\nFull thread dump OpenJDK\n", "a thread dump", "GC.heap_dump");
    EXPECT_KIND("#\n# A fatal error has been detected by the Java Runtime Environment:\n",
                "an error report of the JVM (hs_err)", "GC.heap_dump");
    EXPECT_KIND("#\n# There is insufficient memory for the Java Runtime Environment\n",
                "an error report of the JVM (hs_err)", "GC.heap_dump");
    EXPECT_KIND("\n num     #instances         #bytes  class name\n", "a class histogram", "GC.heap_dump");
    EXPECT_KIND("NULL           \n0SECTION       TITLE subcomponent dump routine\n",
                "a javacore of OpenJ9 (a thread dump)", "-Xdump:heap");
    EXPECT_KIND("// Version: J2RE 8.0 IBM\n", "a heap dump of IBM in its text format, not HPROF", "GC.heap_dump");
    EXPECT_KIND("heap_v2/524288\n", "a native heap profile of jemalloc", "jeprof");
    EXPECT_KIND("heap profile:  1: 2 [ 3: 4] @ heap/1\n", "a native heap profile of tcmalloc", "pprof");
    EXPECT_KIND("=erl_crash_dump:0.5\n", "a crash dump of Erlang", "JVMs");
    EXPECT_KIND("Error from server (NotFound): pods \"a\" not found\n", "a message of kubectl", "copy the dump again");
    EXPECT_KIND("error: unable to upgrade connection\n", "an error message", "copy the dump again");
    EXPECT_KIND("OCI runtime exec failed: exec failed\n", "a message of the container runtime", "copy the dump again");
    EXPECT_KIND("command terminated with exit code 1\n", "a message of kubectl", "copy the dump again");
    EXPECT_KIND("Defaulted container \"a\" out of: a, b\n", "a message of kubectl", "copy the dump again");
    EXPECT_KIND("tar: removing leading '/' from member names\n", "a message of tar", "copy the dump again");
    EXPECT_KIND("curl: (22) error: 404\n", "a message of curl", "copy the dump again");
    EXPECT_KIND("\xef\xbb\xbf\r\n<?xml version=\"1.0\"?>\n<Error>", "an XML document", "fetch the dump again");
    EXPECT_KIND(" \n<!DocType HTML>\n", "an HTML page", "fetch the dump again");
    EXPECT_KIND("<HTML><body>", "an HTML page", "fetch the dump again");
    EXPECT_KIND("{ \"message\": \"denied\" }", "a JSON document", "fetch the dump again");
    EXPECT_KIND("[\n{}]", "a JSON document", "fetch the dump again");
    EXPECT_KIND("{}", "a JSON document", "fetch the dump again");
    EXPECT_KIND("[0.012s][info][gc] Using G1\n", "a text file", "GC.heap_dump");
    EXPECT_KIND(" \n\t", "a text file", "GC.heap_dump");
}

Test(kinds, text_in_other_encodings_and_before_a_dump)
{
    EXPECT_KIND("\xff\xfeJ\0A\0V\0A\0", "UTF-16 text", "PowerShell");
    EXPECT_KIND("\xfe\xff\0J\0A\0V\0A", "UTF-16 text", "PowerShell");
    static const char text[] = "Defaulted container \"a\" out of: a, b\nJAVA PROFILE 1.0.2\0\0\0\0\x08";
    expect_said(text, sizeof text, "the HPROF header is not at the start of the file", "tail -c +38 FILE");
}

Test(kinds, a_piece_of_a_dump_of_jdk_22)
{
#define PIECE               "a segment of a dump of JDK 22 or later, not a whole dump"
#define EXPECT_PIECE(bytes) expect_said(bytes, sizeof(bytes) - 1, PIECE, "without .p and number in its name")
    EXPECT_PIECE("\x1c\0\0\0\0\0\0\1\0\x20\0\0");
    EXPECT_PIECE("\x1c\0\0\0\0\0\0\0\5\x21");
    EXPECT_PIECE("\x04\0\0\0\0\0\0\0\x28\0");
    static const char *const others[] = { "\x1c\0\0\0\1\0\0\1\0\x20\0\0", "\x1c\0\0\0\0\0\0\1\0\x77\0\0",
                                          "\x1c\0\0\0\0\0\0\0\0\x20\0\0", "\x04\0\0\0\0\0\0\0\x29\0\0\0",
                                          "\x1d\0\0\0\0\0\0\1\0\x20\0\0" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        expect_said(others[i], 12, "not a heap dump: no HPROF header", "JAVA PROFILE");
}
