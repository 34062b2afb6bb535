/* head.c - the file header (HPROF 1, R1 and R2). kinds.c recognizes files without one. */
#include "hprof/inside.h"

#define LOOK 512u /* bytes that are read to recognize a file */

hdx_code hdx_head_read(hdx_source *source, hdx_hprof_head *out, hdx_error *err)
{
    uint8_t     bytes[LOOK] = { 0 };
    size_t      len = 0;
    const char *where = hdx_source_path(source);
    hdx_code    code = hdx_source_read_at(source, 0, bytes, sizeof bytes, &len, err);
    if (code != HDX_OK)
        return code;
    if (len < 19 || memcmp(bytes, "JAVA PROFILE 1.0.", 17) != 0 || bytes[17] < '1' || bytes[17] > '3' || bytes[18] != 0)
        return hdx_kind_refuse(source, bytes, len, err);
    if (len < 31)
        return hdx_hint(err,
                        hdx_fail(err, HDX_BAD_DUMP, where, len,
                                 "the file header is truncated: it needs 31 bytes; the file has %zu", len),
                        "check whether the dump was interrupted or the disk was full");
    *out = (hdx_hprof_head){
        .id_size = hdx_be32(bytes + 19), .time_ms = hdx_be64(bytes + 23), .size = 31, .android = bytes[17] == '3'
    };
    memcpy(out->version, bytes + 13, 6);
    if (out->id_size != 4 && out->id_size != 8)
        return hdx_hint(
            err, hdx_fail(err, HDX_BAD_DUMP, where, 19, "identifiers are %u bytes; expected 4 or 8", out->id_size),
            "the file header is damaged");
    return HDX_OK;
}
