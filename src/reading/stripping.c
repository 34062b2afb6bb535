/*
 * stripping.c - warnings about a dump that a stripping tool processed: one for all that is missing, and the damage that
 * its reading found.
 *
 * What is normal for such a dump is not damage (STRIP 6.1: hundreds of roots and references to absent objects): one
 * line reports all of it.
 */
#include "reading/reading.h"

#define SURE 80u /* per cent: below that only `info` reports it, without a warning */

void hdx_warn(hdx_survey *s, const char *text)
{
    if (s->warning_count < sizeof s->warnings / sizeof *s->warnings)
        s->warnings[s->warning_count++] = text;
}

static const char *redaction(const hdx_stripping *s)
{
    const bool texts = (s->kept & 1u << 8) == 0;
    if (s->fields)
        return !texts         ? "redacted: values of primitive fields are overwritten"
               : s->kept != 0 ? "redacted: contents of byte[] and char[] and values of primitive fields are overwritten"
                              : "redacted: contents of arrays and values of primitive fields are overwritten";
    return s->kept != 0 ? "redacted: contents of byte[] and char[] are overwritten"
                        : "redacted: contents of arrays and values of boxes are overwritten";
}

static const char *warning_of(const hdx_stripping *s)
{
    switch (s->policy) {
    case HDX_STRIP_MATRIX:
        return "stripped by Matrix: primitive arrays other than texts are absent, so sizes are too small";
    case HDX_STRIP_KOOM:
        return "stripped by KOOM: contents of arrays and objects of the zygote and image heaps are absent; unreachable "
               "objects may be reachable through them";
    case HDX_STRIP_TAILOR:
        return "stripped by Tailor: contents of byte[] and char[], stack frames and thread numbers are absent";
    case HDX_STRIP_SHARK: return "stripped by Shark: contents of arrays and values of boxes are overwritten";
    case HDX_STRIP_REDACTED: return redaction(s);
    case HDX_STRIP_LIMITED: return "limited: primitive arrays have only their first elements; long texts are cut";
    default: return NULL;
    }
}

hdx_code hdx_report_stripping(const hdx_reading *in, hdx_error *err)
{
    hdx_overlay_stats stats;
    hdx_code          code = hdx_strip_overlay_stats(in->dump->source, &stats, err);
    if (code != HDX_OK)
        return code;
    if (in->dump->stripping.policy == HDX_STRIP_UNKNOWN)
        in->dump->stripping =
            (hdx_stripping){ .policy = HDX_STRIP_NONE }; /* the damage list contains what could not be read */
    if (in->dump->stripping.confidence >= SURE && warning_of(&in->dump->stripping) != NULL)
        hdx_warn(&in->dump->survey, warning_of(&in->dump->stripping));
    if (stats.cut_names > 0)
        code = hdx_work_damage(
            in->w, HDX_DAMAGE_LENGTH, stats.first_cut, hdx_top_name(HDX_TOP_STRING), stats.lost_bytes, err,
            "%llu non-ASCII names are truncated (Matrix); their records are read with their actual length",
            (unsigned long long)stats.cut_names);
    if (code == HDX_OK && in->dump->stripping.overlay == HDX_OVERLAY_KOOM && stats.broken > 0)
        code = hdx_work_damage(
            in->w, HDX_DAMAGE_GARBAGE, stats.first_broken, hdx_top_name(HDX_TOP_HEAP_DUMP_SEGMENT), stats.lost_bytes,
            err, "%llu heap records cannot be parsed (offset: in the stripped file); their remaining data is skipped",
            (unsigned long long)stats.broken);
    if (code == HDX_OK && in->dump->stripping.overlay == HDX_OVERLAY_TAILOR && stats.broken > 0)
        code = hdx_work_damage(in->w, HDX_DAMAGE_GARBAGE, stats.first_broken, "container", 0, err,
                               "no token of the container begins at this byte; the remaining data is not read");
    else if (code == HDX_OK && in->dump->stripping.overlay == HDX_OVERLAY_TAILOR && stats.truncated)
        code = hdx_work_damage(in->w, HDX_DAMAGE_TRUNCATED, in->t->dump_size, "container", 0, err,
                               "the container ends inside a token");
    return code;
}
