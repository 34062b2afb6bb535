/*
 * head.c - the file header (HPROF 1, R1 and R2), and one helpful line for files that are no heap dump (HPROF 8.8).
 */
#include "hprof/inside.h"

#define LOOK 512u /* bytes that are looked at to tell what a file is */

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

/* The file is no heap dump that can be read: says what it is. */
static hdx_code refuse(const char *where, const uint8_t *p, size_t len, bool packed, hdx_error *err)
{
#define NO(message, ...) hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, where, 0, message), __VA_ARGS__)
    if (len == 0)
        return NO("the file is empty", "%s",
                  packed ? "the compressed file holds no data; was it cut?"
                         : "was the dump stopped, or the disk full?");
    if (BEGINS("\x1f\x8b"))
        return packed ? NO("a gzip file in a gzip file", "unpack it once and try again")
                      : NO("a gzip file whose header is damaged", "get the file again");
    if (BEGINS("PK\x03\x04") || BEGINS("PK\x05\x06"))
        return NO("a zip archive, not a heap dump", "unzip it and name the dump in it");
    if (BEGINS("\x28\xb5\x2f\xfd") ||
        BEGINS("\xfd"
               "7zXZ") ||
        BEGINS("BZh") || BEGINS("7z\xbc\xaf\x27\x1c"))
        return NO("an archive of a kind that is not read", "unpack it; plain, gzip and zlib dumps are read");
    if (len >= 20 && memcmp(p + 2, "portable heap dump", 18) == 0)
        return NO("an IBM portable heap dump (PHD), not HPROF",
                  "OpenJ9 and IBM JVMs write PHD; export it as HPROF with Eclipse MAT and DTFJ");
    if (BEGINS("\x7f"
               "ELF"))
        return NO("an ELF core file, not a heap dump",
                  "jhsdb jmap --binaryheap --core FILE --exe JAVA makes a heap dump of it");
    if (BEGINS("FLR\0"))
        return NO("a JDK flight recording, not a heap dump", "heap dumps come from jcmd PID GC.heap_dump FILE");
    if (BEGINS("JAVA PROFILE 1.0\0"))
        return NO("HPROF version 1.0 (JDK 1.2 beta) is not read", "versions 1.0.1, 1.0.2 and 1.0.3 are");
    if (BEGINS("JAVA PROFILE ")) {
        const uint8_t *nul = memchr(p, 0, len < 64 ? len : 64);
        if (nul == NULL && len < 19)
            return NO("the file header is cut", "the file has %zu bytes; was the dump stopped, or the disk full?", len);
        if (nul != NULL && nul - p < 24 && is_text(p, (size_t)(nul - p)))
            return hdx_hint(err,
                            hdx_fail(err, HDX_BAD_DUMP, where, 0, "HPROF version \"%.*s\" is not known",
                                     (int)(nul - p - 13), (const char *)p + 13),
                            "versions 1.0.1, 1.0.2 and 1.0.3 are read");
        return NO("no HPROF version stands in the file header",
                  "the file is damaged, or a text dump (format=a) of the old hprof agent");
    }
    if (len < 19 && memcmp(p, "JAVA PROFILE 1.0.", len < 17 ? len : 17) == 0)
        return NO("the file header is cut", "the file has %zu bytes; was the dump stopped, or the disk full?", len);
    if (is_zero(p, len))
        return NO("the file begins with zero bytes, not with an HPROF header",
                  "was it copied while it was written, or the disk full?");
    if (is_text(p, len))
        return NO("a text file, not a heap dump", "heap dumps come from jcmd PID GC.heap_dump FILE");
    return NO("not a heap dump: no HPROF header",
              "heap dumps begin with JAVA PROFILE; encrypted ones must be decrypted first");
#undef NO
}

hdx_code hdx_head_read(hdx_source *source, hdx_hprof_head *out, hdx_error *err)
{
    uint8_t     bytes[LOOK] = { 0 };
    size_t      len = 0;
    const char *where = hdx_source_path(source);
    hdx_code    code = hdx_source_read_at(source, 0, bytes, sizeof bytes, &len, err);
    if (code != HDX_OK)
        return code;
    if (len < 19 || memcmp(bytes, "JAVA PROFILE 1.0.", 17) != 0 || bytes[17] < '1' || bytes[17] > '3' || bytes[18] != 0)
        return refuse(where, bytes, len, hdx_source_compression(source) != HDX_PLAIN, err);
    if (len < 31)
        return hdx_hint(
            err, hdx_fail(err, HDX_BAD_DUMP, where, len, "the file header is cut: it has 31 bytes, the file %zu", len),
            "was the dump stopped, or the disk full?");
    *out = (hdx_hprof_head){
        .id_size = hdx_be32(bytes + 19), .time_ms = hdx_be64(bytes + 23), .size = 31, .android = bytes[17] == '3'
    };
    memcpy(out->version, bytes + 13, 6);
    if (out->id_size != 4 && out->id_size != 8)
        return hdx_hint(
            err, hdx_fail(err, HDX_BAD_DUMP, where, 19, "identifiers of %u bytes; 4 and 8 are allowed", out->id_size),
            "the file header is damaged");
    return HDX_OK;
}
