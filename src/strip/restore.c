/*
 * restore.c - writes an overlay to a file: a dump by KOOM or Tailor becomes a dump that other tools read (STRIP 3).
 *
 * In:  a stripped dump.
 * Out: the restored one, and a report.
 * Cost: the heads of the input twice, its bytes once; memory is a few buffers, for any size. The result is blank where
 *       contents were cut; hdx_strip_detect reports that for it, too.
 */
#include "strip/inside.h"

#include <stdio.h>

#define NO_FILE "is not a regular file"

bool hdx_strip_packs(const char *path)
{
    const size_t len = strlen(path);
    return len > 3 && strcmp(path + len - 3, ".gz") == 0;
}

hdx_code hdx_strip_check_output(hdx_io *io, const char *dump, const char *output, hdx_error *err)
{
    struct stat a, b;
    if (output == NULL || output[0] == '\0')
        return hdx_fail(err, HDX_USAGE, dump, HDX_NOWHERE, "no output file is named");
    if (hdx_whole_descriptor(output) >= 0)
        return hdx_fail(err, HDX_USAGE, output, HDX_NOWHERE, NO_FILE);
    if (io->stat(io, output, &b) < 0)
        return HDX_OK;
    if (S_ISDIR(b.st_mode))
        return hdx_fail(err, HDX_USAGE, output, HDX_NOWHERE, "is a folder; name a file");
    if (io->stat(io, dump, &a) >= 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return hdx_fail(err, HDX_USAGE, output, HDX_NOWHERE, "is the dump itself");
    if (!S_ISREG(b.st_mode)) /* what was written is read again to prove it */
        return hdx_fail(err, HDX_USAGE, output, HDX_NOWHERE, NO_FILE);
    return HDX_OK;
}

static hdx_code write_all(overlay *v, sink *out, hdx_ticker *tick, hdx_error *err)
{
    reader   r = hdx_strip_reader_of(v->source, true, 256u << 10, NULL, tick);
    spot     s = { 0 };
    token    t;
    hdx_code code = HDX_OK;
    while (code == HDX_OK && s.mode != OVERLAY_END) {
        t = (token){ 0 };
        if ((code = v->step(v, &r, false, &s, &t, err)) != HDX_OK)
            break;
        s.out += hdx_strip_token_len(&t);
        if ((code = hdx_strip_sink_put(out, t.head, t.head_len, err)) == HDX_OK &&
            (code = hdx_strip_sink_copy(out, &r, t.copy_from, t.copy_len, err)) == HDX_OK)
            code = hdx_strip_sink_zeros(out, t.zeros, err);
    }
    hdx_strip_reader_free(&r);
    return code;
}

static hdx_code refuse(const char *dump, const hdx_stripping *what, hdx_error *err)
{
    hdx_code code =
        hdx_fail(err, HDX_BAD_DUMP, dump, HDX_NOWHERE, "nothing to restore: %s",
                 what->policy == HDX_STRIP_NONE      ? "this dump was not stripped"
                 : what->policy == HDX_STRIP_UNKNOWN ? "the dump is damaged, or stripped by an unknown tool"
                                                     : "the dropped or overwritten data is not in the file");
    return hdx_hint(err, code,
                    what->policy == HDX_STRIP_MATRIX || what->policy == HDX_STRIP_SHARK
                        ? "index the dump without restoring it: heapdex index"
                        : "heapdex detect shows what it is");
}

hdx_code hdx_strip_restore(const hdx_strip_options *options, hdx_strip_report *report, hdx_error *err)
{
    hdx_source_options source_options = { .max_uncompressed = options->max_uncompressed };
    hdx_io            *io = hdx_io_system();
    hdx_source        *source = NULL;
    overlay           *v = NULL;
    sink               out = { .io = NULL };
    hdx_stripping      what;
    hdx_ticker         tick;
    hdx_error          own;
    if (err == NULL)
        err = &own;
    memset(report, 0, sizeof *report);
    report->damage_at = HDX_NOWHERE;
    hdx_ticker_init(&tick, &options->progress, 1);
    hdx_code code = hdx_strip_check_output(io, options->dump, options->output, err);
    if (code != HDX_OK || (code = hdx_source_open(options->dump, &source_options, &source, err)) != HDX_OK ||
        (code = hdx_strip_recognise(source, NULL, HDX_STRIP_WINDOW, &what, err)) != HDX_OK)
        goto out;
    if (what.overlay != HDX_OVERLAY_KOOM && what.overlay != HDX_OVERLAY_TAILOR) {
        hdx_hprof_head head;
        code = hdx_head_read(source, &head, err);
        if (code == HDX_OK)
            code = refuse(options->dump, &what, err);
        goto out;
    }
    report->policy = what.policy;
    report->plain_in = report->bytes_in = hdx_source_file_size(source);
    hdx_ticker_step(&tick, "restore", report->bytes_in, "bytes");
    const bool packs = hdx_strip_packs(options->output); /* zeros take almost no space then */
    if ((code = hdx_strip_overlay_new(source, what.overlay, true, &v, err)) != HDX_OK ||
        (code = hdx_strip_overlay_pass(v, err)) != HDX_OK ||
        (!packs && (code = hdx_strip_sink_room(io, options->output, hdx_strip_overlay_size(v), err)) != HDX_OK) ||
        (code = hdx_strip_sink_open(&out, io, options, packs ? HDX_GZIP : HDX_PLAIN, NULL, err)) != HDX_OK ||
        (code = write_all(v, &out, &tick, err)) != HDX_OK || (code = hdx_strip_sink_finish(&out, err)) != HDX_OK)
        goto out;
    report->records_in = v->stats.records_in;
    report->records_out = what.overlay == HDX_OVERLAY_TAILOR ? v->stats.records_out : v->stats.records_in;
    report->absent_bytes = v->stats.absent_bytes;
    report->plain_out = out.bytes;
    report->bytes_out = out.written;
    report->truncated = v->stats.truncated;
    report->damage_at = v->stats.broken > 0 ? v->stats.first_broken : HDX_NOWHERE;
    const hdx_damage *damage;
    if (hdx_source_damage(source, &damage) > 0 && damage[0].kind != HDX_DAMAGE_CRC)
        report->truncated = true; /* the container ends early */
    code = hdx_strip_sink_commit(&out, err);
out:
    hdx_strip_sink_drop(&out);
    hdx_strip_overlay_free(v);
    hdx_source_close(source);
    hdx_ticker_free(&tick);
    if (code != HDX_OK && err->where[0] == '\0')
        (void)snprintf(err->where, sizeof err->where, "%s", options->dump);
    return code;
}
