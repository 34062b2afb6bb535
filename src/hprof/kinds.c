/*
 * kinds.c - recognizes files without an HPROF header, and gives a hint for each kind (HPROF 8.8).
 *
 * In:  the first bytes of a file, unpacked; for protobuf files the heads of a few later fields.
 * Out: an error of one line, and a hint.
 * A rule needs several fixed bytes or a matching structure, so that a dump with damaged first bytes is not misnamed.
 */
#include "hprof/inside.h"

#include "base/io.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BLOCK        512u       /* bytes of the head of a file in a tar archive */
#define PACKETS      8u         /* packets of a trace of Perfetto that are compared */
#define PACKETS_SURE 3u         /* number of whole packets that suffices if the trace is cut inside of one */
#define PACKETS_FAR  (8u << 20) /* bytes in which they are searched */

#define TRACE_FIELDS 3000u /* field numbers of a packet are below this */

#define GET_DUMP   "take a heap dump with jcmd PID GC.heap_dump FILE"
#define GET_HPROF  "on Android, take a heap dump with am dumpheap PROCESS FILE"
#define GET_AGAIN  "probably a server's error message: read the text, then fetch the dump again"
#define COPY_AGAIN "the copy failed: read the text, and copy the dump again"
#define UNPACK     "; heapdex reads plain, gzip and zlib dumps"
#define NAME_IT    " and name the dump in it"

typedef struct known {
    uint16_t    at; /* position of the bytes; ANYWHERE: somewhere in the bytes that are read */
    uint8_t     len;
    const char *bytes, *what, *hint;
} known;
#define ANYWHERE UINT16_MAX
#define AT(at, bytes, what, hint)                                                                                      \
    {                                                                                                                  \
        at, sizeof(bytes) - 1, bytes, what, hint                                                                       \
    }

/* Kinds with fixed bytes. The first row that fits counts. */
static const known binaries[] = {
    AT(0, "PK\3\4", "a zip archive", "unzip it" NAME_IT),
    AT(0, "PK\5\6", "a zip archive", "unzip it" NAME_IT),
    AT(257, "ustar\0", "a tar archive", "tar xf FILE unpacks it; name the dump in it"),
    AT(257, "ustar  \0", "a tar archive", "tar xf FILE unpacks it; name the dump in it"),
    AT(0, "\x28\xb5\x2f\xfd", "a zstd file", "zstd -d FILE unpacks it" UNPACK),
    AT(0, "\x04\x22\x4d\x18", "an lz4 file", "lz4 -d FILE unpacks it" UNPACK),
    AT(0, "\x02\x21\x4c\x18", "an lz4 file (legacy format)", "lz4 -d FILE unpacks it" UNPACK),
    AT(0, "\x50\x2a\x4d\x18", "a zstd or lz4 file", "zstd -d FILE or lz4 -d FILE unpacks it" UNPACK),
    AT(0,
       "\xfd"
       "7zXZ",
       "an xz file", "xz -d FILE unpacks it" UNPACK),
    AT(0, "\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff", "an lzma file",
       "xz -d --format=lzma FILE unpacks it" UNPACK),
    AT(0, "LZIP\1", "an lzip file", "lzip -d FILE unpacks it" UNPACK),
    AT(0, "\x89LZO\0\r\n\x1a\n", "an lzop file", "lzop -d FILE unpacks it" UNPACK),
    AT(0, "BZh", "a bzip2 file", "bzip2 -d FILE unpacks it" UNPACK),
    AT(0, "\xff\6\0\0sNaPpY", "a snappy file", "snzip -d FILE unpacks it" UNPACK),
    AT(0, "\x1f\x9d\x90", "a file packed by compress", "uncompress FILE unpacks it" UNPACK),
    AT(0, "7z\xbc\xaf\x27\x1c", "a 7z archive", "7z x FILE unpacks it; name the dump in it"),
    AT(0, "Rar!\x1a\7", "a rar archive", "unrar x FILE unpacks it; name the dump in it"),
    AT(0, "MSCF\0\0\0\0", "a cabinet file of Windows", "cabextract FILE unpacks it; name the dump in it"),
    AT(0, "!<arch>\n", "an ar archive", "ar x FILE unpacks it; name the dump in it"),
    AT(0, "070701", "a cpio archive", "cpio -i unpacks it; name the dump in it"),
    AT(0, "070702", "a cpio archive", "cpio -i unpacks it; name the dump in it"),
    AT(0, "070707", "a cpio archive", "cpio -i unpacks it; name the dump in it"),
    AT(0, "Salted__", "encrypted by openssl enc",
       "decrypt it with openssl enc -d, and the cipher and key it was made with"),
    AT(0, "age-encryption.org/v1", "encrypted by age", "decrypt it with age -d"),
    AT(0, "FLR\0", "a JDK flight recording", GET_DUMP),
    AT(0, "MDMP\x93\xa7", "a minidump of Windows",
       "of a JVM: jhsdb jmap --binaryheap --core FILE --exe JAVA makes a heap dump of it; of .NET: dotnet-dump"),
    AT(0, "PAGEDU64", "a memory dump of Windows", GET_DUMP),
    AT(0, "PAGEDUMP", "a memory dump of Windows", GET_DUMP),
    AT(0, "Nettrace\x14\0\0\0", "a trace of .NET (nettrace)",
       "dotnet-trace and PerfView read it; heapdex reads dumps of JVMs and Android"),
    AT(0, "\x14\0\0\0!FastSerialization.1", "a gcdump of .NET",
       "PerfView and Visual Studio read it; heapdex reads dumps of JVMs and Android"),
    AT(0, "SQLite format 3\0", "an SQLite database", "sqlite3 FILE opens it; " GET_DUMP),
    AT(0, "\xac\xed\0\5", "a file of serialized Java objects", GET_DUMP),
    AT(0, "dex\n03", "code of an Android app (dex)", GET_HPROF),
    AT(0, "dex\n04", "code of an Android app (dex)", GET_HPROF),
    AT(0, "\xcf\xfa\xed\xfe", "a core file or program of macOS (Mach-O)",
       "of a JVM: jhsdb jmap --binaryheap --core FILE --exe JAVA makes a heap dump of it"),
    AT(0, "%PDF-", "a PDF document", GET_DUMP),
    AT(0, "\x89PNG\r\n\x1a\n", "a PNG picture", GET_DUMP),
    AT(0, "\xff\xd8\xff", "a JPEG picture", GET_DUMP),
    AT(0, "PAR1", "a Parquet file", "name the dump that it was made from"),
    AT(0, "ARROW1\0\0", "an Arrow file", "name the dump that it was made from"),
    AT(5, " heap dump\n", "a heap dump of Go", "heapdex reads dumps of JVMs and Android"),
};

/* Kinds of text, of files that begin with nothing but text. White space and a byte order mark before it are skipped. */
static const known texts[] = {
    AT(0, "version https://git-lfs.github.com/spec/", "a pointer of Git LFS to a file",
       "git lfs pull fetches the file itself"),
    AT(0, "-----BEGIN PGP MESSAGE", "encrypted by PGP", "decrypt it with gpg -d"),
    AT(0, "-----BEGIN AGE ENCRYPTED FILE", "encrypted by age", "decrypt it with age -d"),
    AT(0, "SkFWQSBQUk9GSUxF", "a heap dump as base64 text", "base64 -d FILE > app.hprof decodes it"),
    AT(0, "H4sIA", "a gzip file as base64 text", "base64 -d FILE > app.hprof.gz decodes it"),
    AT(0, "{\"snapshot\":{", "a heap snapshot of V8 (Node.js, Chrome)",
       "the developer tools of Chrome open it; heapdex reads dumps of JVMs and Android"),
    AT(0, "{\"head\":{\"callFrame\"", "a heap profile of V8 (Node.js, Chrome)",
       "the developer tools of Chrome open it; heapdex reads dumps of JVMs and Android"),
    AT(0, "{\"nodes\":[{\"id\"", "a CPU profile of V8 (Node.js, Chrome)",
       "the developer tools of Chrome open it; heapdex reads dumps of JVMs and Android"),
    AT(ANYWHERE, "\"traceEvents\":", "a trace in JSON (Chrome, Perfetto)", "ui.perfetto.dev opens it; " GET_DUMP),
    AT(ANYWHERE, "== dumpstate: ", "a bug report of Android", GET_HPROF),
    AT(0, "*** *** *** *** ***", "a tombstone of Android (a native crash)", GET_HPROF),
    AT(0, "--------- beginning of ", "a log of Android (logcat)", GET_HPROF),
    AT(0, "----- pid ", "stack traces of Android (ANR)", GET_HPROF),
    AT(0, "Android Native Heap Dump v", "a native heap dump of Android", GET_HPROF),
    AT(ANYWHERE, "Full thread dump ", "a thread dump", GET_DUMP),
    AT(ANYWHERE, "A fatal error has been detected by the Java", "an error report of the JVM (hs_err)", GET_DUMP),
    AT(ANYWHERE, "# There is insufficient memory for the Java", "an error report of the JVM (hs_err)", GET_DUMP),
    AT(ANYWHERE, "#instances         #bytes", "a class histogram", GET_DUMP),
    AT(ANYWHERE, "0SECTION       TITLE", "a javacore of OpenJ9 (a thread dump)",
       "OpenJ9 writes HPROF where Java is started with -Xdump:heap, and PHD is exported as HPROF with Eclipse MAT"),
    AT(0, "// Version: ", "a heap dump of IBM in its text format, not HPROF", GET_DUMP),
    AT(0, "heap_v2/", "a native heap profile of jemalloc", "jeprof reads it; " GET_DUMP),
    AT(0, "heap profile: ", "a native heap profile of tcmalloc", "pprof reads it; " GET_DUMP),
    AT(0, "=erl_crash_dump:", "a crash dump of Erlang", "heapdex reads dumps of JVMs and Android"),
    AT(0, "Error from server", "a message of kubectl", COPY_AGAIN),
    AT(0, "Unable to connect to the server", "a message of kubectl", COPY_AGAIN),
    AT(0, "error: ", "an error message", COPY_AGAIN),
    AT(0, "Error: ", "an error message", COPY_AGAIN),
    AT(0, "OCI runtime exec failed", "a message of the container runtime", COPY_AGAIN),
    AT(0, "command terminated with ", "a message of kubectl", COPY_AGAIN),
    AT(0, "Defaulted container ", "a message of kubectl", COPY_AGAIN),
    AT(0, "tar: ", "a message of tar", COPY_AGAIN),
    AT(0, "curl: (", "a message of curl", COPY_AGAIN),
    AT(0, "<?xml", "an XML document", GET_AGAIN),
};

static bool begins(const uint8_t *bytes, size_t len, const char *with, size_t n)
{
    return len >= n && memcmp(bytes, with, n) == 0;
}
#define BEGINS(with) begins(p, len, with, sizeof(with) - 1)

static bool is_text(const uint8_t *p, size_t len)
{
    for (size_t k = 0; k < len; k++)
        if ((p[k] < 0x20 && p[k] != '\n' && p[k] != '\r' && p[k] != '\t') || p[k] == 0x7f)
            return false;
    return true;
}

static bool is_zero(const uint8_t *p, size_t len)
{
    for (size_t k = 0; k < len; k++)
        if (p[k] != 0)
            return false;
    return true;
}

static const known *find(const known *rows, size_t count, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < count; i++) {
        const known *k = &rows[i];
        if (k->at == ANYWHERE ? memmem(p, len, k->bytes, k->len) != NULL
                              : len >= k->at && begins(p + k->at, len - k->at, k->bytes, k->len))
            return k;
    }
    return NULL;
}

/* Recognizes text by its syntax. `p` begins with neither white space nor a byte order mark. */
static const known *find_text(const uint8_t *p, size_t len)
{
    static const known html = { .what = "an HTML page", .hint = GET_AGAIN },
                       json = { .what = "a JSON document", .hint = GET_AGAIN };
    const known *k = find(texts, sizeof texts / sizeof *texts, p, len);
    size_t       n = 1;
    if (k != NULL || len == 0)
        return k;
    if ((len >= 14 && strncasecmp((const char *)p, "<!doctype html", 14) == 0) ||
        (len >= 5 && strncasecmp((const char *)p, "<html", 5) == 0))
        return &html;
    while (n < len && (p[n] == ' ' || p[n] == '\n' || p[n] == '\r' || p[n] == '\t'))
        n++;
    if (n < len && ((p[0] == '{' && (p[n] == '"' || p[n] == '}')) || (p[0] == '[' && (p[n] == '{' || p[n] == '"'))))
        return &json;
    return NULL;
}

/* Checks the checksum in a tar header, which identifies archives that lack "ustar". */
static bool is_old_tar(const uint8_t *p, size_t len)
{
    uint32_t sum = 0, stored = 0;
    if (len < BLOCK || p[0] == 0 || p[148] == 0)
        return false;
    for (size_t k = 0; k < BLOCK; k++)
        sum += k >= 148 && k < 156 ? ' ' : p[k];
    for (size_t k = 148; k < 156 && p[k] != 0; k++)
        if (p[k] >= '0' && p[k] <= '7')
            stored = stored * 8 + p[k] - '0';
        else if (p[k] != ' ')
            return false;
    return stored == sum;
}

/* ---- protobuf ---- */

static bool take_number(const uint8_t *p, size_t len, size_t *at, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; *at < len && shift < 63; shift += 7) {
        const uint8_t byte = p[(*at)++];
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* The type of values of a profile of pprof: two numbers, of which either may be missing. */
static bool is_value_type(const uint8_t *p, size_t len)
{
    uint64_t number;
    size_t   at = 0;
    for (uint8_t tag = 0x08; at < len; tag = 0x10) {
        if (p[at] != tag && p[at] != 0x10)
            return false;
        at++;
        if (!take_number(p, len, &at, &number))
            return false;
    }
    return at > 0;
}

/* A profile of pprof: types of values (field 1), then samples (field 2) that begin with places in the code. */
static bool is_pprof(const uint8_t *p, size_t len)
{
    uint64_t n;
    size_t   at = 0, types = 0;
    for (; at < len && p[at] == 0x0a; at += (size_t)n, types++) {
        at++;
        if (!take_number(p, len, &at, &n) || n > 22 || n > len - at || !is_value_type(p + at, (size_t)n))
            return false;
    }
    if (types == 0 || at >= len || p[at++] != 0x12 || !take_number(p, len, &at, &n) || n < 2 || at >= len)
        return false;
    return p[at] == 0x0a || p[at] == 0x08;
}

/*
 * Returns the size of a packet of Perfetto (field 1) with its head, from its head and that of its first field; 0: not a
 * packet.
 */
static uint64_t packet_size(const uint8_t *p, size_t len)
{
    uint64_t n, tag;
    size_t   at = 1;
    if (len == 0 || p[0] != 0x0a || !take_number(p, len, &at, &n) || n < 2 || n > PACKETS_FAR)
        return 0;
    const uint64_t size = at + n;
    if (!take_number(p, len, &at, &tag) || tag >> 3 == 0 || tag >> 3 > TRACE_FIELDS ||
        ((tag & 7) > 2 && (tag & 7) != 5))
        return 0;
    return size;
}

/*
 * Returns whether packets follow each other without gaps from the beginning of the file; of a large one only the head
 * is compared.
 */
static bool has_packets(hdx_source *source)
{
    hdx_pos  pos = 0;
    unsigned whole = 0;
    while (whole < PACKETS && pos < PACKETS_FAR) {
        const size_t before = pos > 0 ? 1 : 0; /* one more byte shows a packet that ends where the file ends */
        uint8_t      bytes[24];
        size_t       got = 0;
        hdx_error    unseen;
        if (hdx_source_read_at(source, pos - before, bytes, sizeof bytes, &got, &unseen) != HDX_OK)
            return false;
        if (got <= before)
            return whole >= PACKETS_SURE || (whole > 0 && got == before);
        const uint64_t size = packet_size(bytes + before, got - before);
        if (size == 0)
            return false;
        pos += size;
        whole++;
    }
    return whole >= PACKETS_SURE;
}

/* A trace that was damaged or edited: its first packet does not end where its length says, but others follow. */
static bool has_packets_later(const uint8_t *p, size_t len)
{
    for (size_t from = packet_size(p, len) > 0 ? 1 : len; from < len; from++) {
        unsigned whole = 0;
        for (size_t at = from; whole < PACKETS && at < len; whole++) {
            const uint64_t size = packet_size(p + at, len - at);
            if (size == 0 || size > len - at)
                break;
            at += (size_t)size;
        }
        if (whole == PACKETS)
            return true;
    }
    return false;
}

/* ---- one piece of a dump ---- */

/*
 * JDK 22 and later write a dump in several files before they are merged: all but the first have records and no header.
 * HotSpot writes 0 as the time of a record. A piece begins with a heap record, or with frames of virtual threads.
 */
static bool is_piece(const uint8_t *p, size_t len)
{
    if (len < 10 || hdx_be32(p + 1) != 0)
        return false;
    const uint32_t n = hdx_be32(p + 5);
    if (p[0] == HDX_TOP_FRAME)
        return n == 24 || n == 40;
    return p[0] == HDX_TOP_HEAP_DUMP_SEGMENT && n > 4 && hdx_sub_name(p[9]) != NULL;
}

/* "app.hprof.p12" is a piece of app.hprof, which has the header and the names. */
static hdx_code refuse_piece(const char *where, hdx_error *err)
{
    const char *name = strrchr(where, '/'), *dot = strrchr(name == NULL ? where : name, '.');
    const bool  numbered =
        dot != NULL && dot[1] == 'p' && dot[2] != 0 && strspn(dot + 2, "0123456789") == strlen(dot + 2);
    const int   len = numbered ? (int)(dot - where) : 0;
    char        first[4096];
    struct stat st;
    (void)hdx_fail(err, HDX_BAD_DUMP, where, 0, "a segment of a dump of JDK 22 or later, not a whole dump");
    if (!numbered)
        return hdx_hint(err, HDX_BAD_DUMP,
                        "name the file without .p and number in its name, and put the segments next to it");
    if ((size_t)snprintf(first, sizeof first, "%.*s", len, where) < sizeof first &&
        hdx_io_system()->stat(hdx_io_system(), first, &st) == 0)
        return hdx_hint(err, HDX_BAD_DUMP, "name %s instead: its segments are read with it", first);
    return hdx_hint(err, HDX_BAD_DUMP,
                    "the main file %.*s, with header and names, is missing: put it next to the segment, and name it",
                    len, where);
}

/* ---- the answer ---- */

static bool is_utf16(const uint8_t *p, size_t len) { return BEGINS("\xff\xfe") || BEGINS("\xfe\xff"); }

static hdx_code refuse_header(const char *where, const uint8_t *p, size_t len, hdx_error *err)
{
#define NO(message, ...) hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, where, 0, message), __VA_ARGS__)
    if (BEGINS("JAVA PROFILE 1.0\0"))
        return NO("HPROF version 1.0 (JDK 1.2 beta) is not supported", "supported versions: 1.0.1, 1.0.2 and 1.0.3");
    const uint8_t *nul = memchr(p, 0, len < 64 ? len : 64);
    if (nul == NULL && len < 19)
        return NO("the file header is truncated",
                  "the file has %zu bytes; check whether the dump was interrupted or the disk was full", len);
    if (nul != NULL && nul - p < 24 && is_text(p, (size_t)(nul - p)))
        return hdx_hint(err,
                        hdx_fail(err, HDX_BAD_DUMP, where, 0, "unknown HPROF version \"%.*s\"", (int)(nul - p - 13),
                                 (const char *)p + 13),
                        "supported versions: 1.0.1, 1.0.2 and 1.0.3");
    return NO("the file header contains no HPROF version",
              "the file is damaged, or a text dump (format=a) of the old hprof agent");
}

/* One row of a table, or a structure: what the file is, and the hint. NULL: unknown. */
static const known *find_binary(hdx_source *source, const uint8_t *p, size_t len)
{
    static const known tar = { .what = "a tar archive", .hint = "tar xf FILE unpacks it; name the dump in it" },
                       class_file = { .what = "a Java class file", .hint = GET_DUMP },
                       program = { .what = "an ELF program or library", .hint = GET_DUMP },
                       windows = { .what = "a program of Windows", .hint = GET_DUMP },
                       pprof = { .what = "a profile of pprof", .hint = "go tool pprof FILE shows it; " GET_DUMP },
                       perfetto = { .what = "a trace of Perfetto",
                                    .hint = "ui.perfetto.dev opens it, heap graphs too; " GET_HPROF },
                       java = { .what = "a Java archive (jar), which is a zip archive", .hint = GET_DUMP },
                       app = { .what = "an Android app (apk), which is a zip archive", .hint = GET_HPROF };
    if (BEGINS("PK\3\4") && len > 50 && begins(p + 30, len - 30, "META-INF/", 9))
        return &java;
    if (BEGINS("PK\3\4") && len > 50 && begins(p + 30, len - 30, "AndroidManifest.xml", 19))
        return &app;
    if (BEGINS("\xca\xfe\xba\xbe\0") && len >= 8 && p[6] == 0 && p[7] >= 45 && p[7] < 100)
        return &class_file;
    if (BEGINS("MZ") && len >= 64 && hdx_le32(p + 60) < len &&
        begins(p + hdx_le32(p + 60), len - hdx_le32(p + 60), "PE\0\0", 4))
        return &windows;
    if (BEGINS("\x7f"
               "ELF") &&
        len >= 18 && p[16] + p[17] >= 1 && p[16] + p[17] <= 3)
        return &program;
    if (is_old_tar(p, len))
        return &tar;
    if (p[0] == 0x0a && !is_text(p, len) && is_pprof(p, len))
        return &pprof;
    if (p[0] == 0x0a && !is_text(p, len) && (has_packets(source) || has_packets_later(p, len)))
        return &perfetto;
    return find(binaries, sizeof binaries / sizeof *binaries, p, len);
}

hdx_code hdx_kind_refuse(hdx_source *source, const uint8_t *p, size_t len, hdx_error *err)
{
    const bool     packed = hdx_source_compression(source) != HDX_PLAIN;
    const char    *where = hdx_source_path(source);
    const known   *k;
    const uint8_t *head;
    if (len == 0)
        return NO("the file is empty", "%s",
                  packed ? "the compressed file contains no data; check whether it is complete"
                         : "check whether the dump was interrupted or the disk was full");
    if (BEGINS("\x1f\x8b"))
        return packed ? NO("a gzip file in a gzip file", "unpack it once and try again")
                      : NO("a gzip file with a damaged header", "fetch the file again");
    if (len >= 20 && memcmp(p + 2, "portable heap dump", 18) == 0)
        return NO("an IBM portable heap dump (PHD), not HPROF",
                  "OpenJ9 and IBM JVMs write PHD; export it as HPROF with Eclipse MAT and DTFJ");
    if ((k = find_binary(source, p, len)) != NULL)
        return hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, where, 0, "%s, not a heap dump", k->what), "%s", k->hint);
    if (BEGINS("\x7f"
               "ELF"))
        return NO("an ELF core file, not a heap dump",
                  "jhsdb jmap --binaryheap --core FILE --exe JAVA makes a heap dump of it");
    if (BEGINS("JAVA PROFILE "))
        return refuse_header(where, p, len, err);
    if (len < 19 && memcmp(p, "JAVA PROFILE 1.0.", len < 17 ? len : 17) == 0)
        return NO("the file header is truncated",
                  "the file has %zu bytes; check whether the dump was interrupted or the disk was full", len);
    if (is_piece(p, len))
        return refuse_piece(where, err);
    if (is_zero(p, len))
        return NO("the file begins with zero bytes, not with an HPROF header",
                  "check whether it was copied while being written, or the disk was full");
    if (is_utf16(p, len))
        return NO("UTF-16 text, not a heap dump",
                  "PowerShell's > converts the bytes to UTF-16: write the dump with jcmd PID GC.heap_dump FILE");
    head = memmem(p, len, "JAVA PROFILE 1.0.", 17);
    if (head != NULL)
        return NO("the HPROF header is not at the start of the file",
                  "tail -c +%zu FILE > app.hprof removes the bytes before it", (size_t)(head - p) + 1);
    if (is_text(p, len)) {
        size_t from = BEGINS("\xef\xbb\xbf") ? 3 : 0;
        while (from < len && (p[from] == ' ' || p[from] == '\n' || p[from] == '\r' || p[from] == '\t'))
            from++;
        if ((k = find_text(p + from, len - from)) != NULL)
            return hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, where, 0, "%s, not a heap dump", k->what), "%s", k->hint);
        return NO("a text file, not a heap dump", GET_DUMP);
    }
    return NO("not a heap dump: no HPROF header",
              "a heap dump begins with JAVA PROFILE; decrypt an encrypted dump first");
#undef NO
}
