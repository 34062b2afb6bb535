/*
 * survey.c - the first walk: chooses the reader, and collects damage and warnings.
 *
 * A plain file whose record headers form a valid chain is read on several threads (swift.c). Everything else, and every
 * file with any anomaly, is read from the start on one thread with all rules (careful.c). For a file without anomalies
 * the results are the same; because the second reader exists, the first needs no rule of damage.
 */
#include "hprof/inside.h"

#include <assert.h>
#include <stdio.h>

#define DUMPS_TEXT  128u
#define PIECES_TEXT 256u
#define KINDS_TEXT  128u

bool hdx_survey_stretch(hdx_survey *s, hdx_pos from, hdx_pos end, uint32_t heap)
{
    if (from >= end)
        return true;
    if (!hdx_mem_room(s->mem, (void **)&s->stretches, &s->stretch_capacity, s->stretch_count, sizeof *s->stretches))
        return false;
    s->stretches[s->stretch_count++] = (hdx_stretch){ from, end, heap };
    return true;
}

bool hdx_survey_damage(hdx_survey *s, const hdx_damage *entry)
{
    if (s->damage_count >= HDX_DAMAGE_MAX) {
        s->damage_more++;
        return true;
    }
    if (!hdx_mem_room(s->mem, (void **)&s->damage, &s->damage_capacity, s->damage_count, sizeof *s->damage))
        return false;
    s->damage[s->damage_count++] = *entry;
    return true;
}

void hdx_survey_warn(hdx_survey *s, const char *text)
{
    assert(s->warning_count < sizeof s->warnings / sizeof *s->warnings); /* each ends reading or follows it */
    s->warnings[s->warning_count++] = text;
}

void hdx_survey_count(hdx_survey *s, const uint64_t counts[256])
{
    for (unsigned tag = 0; tag < 256; tag++) {
        s->sub_records[tag] += counts[tag];
        if (hdx_sub_is_object((uint8_t)tag))
            s->objects += counts[tag];
    }
}

void hdx_survey_free(hdx_survey *s)
{
    hdx_mem_put(s->mem, s->stretches, s->stretch_capacity * sizeof *s->stretches);
    hdx_mem_put(s->mem, s->damage, s->damage_capacity * sizeof *s->damage);
    hdx_mem_put(s->mem, s->dumps_text, DUMPS_TEXT);
    hdx_mem_put(s->mem, s->pieces_text, PIECES_TEXT);
    hdx_mem_put(s->mem, s->kinds_text, KINDS_TEXT);
    *s = (hdx_survey){ 0 };
}

/*
 * Reports records of unknown kinds between valid ones, which a newer writer made; those in damaged places do not count.
 */
static hdx_code report_kinds(hdx_survey *out, hdx_error *err)
{
    uint64_t count = 0;
    unsigned kinds = 0, first = 0;
    for (unsigned tag = 256; tag-- > 0;)
        if (out->top_records[tag] > 0 && hdx_top_name((uint8_t)tag) == NULL) {
            count += out->top_records[tag];
            first = tag;
            kinds++;
        }
    if (count == 0)
        return HDX_OK;
    if ((out->kinds_text = hdx_mem_get(out->mem, KINDS_TEXT)) == NULL)
        return hdx_no_memory(err, "warning", KINDS_TEXT);
    (void)snprintf(out->kinds_text, KINDS_TEXT,
                   "skipped %llu record%s of %u unknown kind%s (0x%02x%s), probably from a newer JVM",
                   (unsigned long long)count, count == 1 ? "" : "s", kinds, kinds == 1 ? "" : "s", first,
                   kinds == 1 ? "" : " ...");
    hdx_survey_warn(out, out->kinds_text);
    return HDX_OK;
}

/* Adds what applies to the whole file, after it was read. */
static hdx_code finish(hdx_source *source, hdx_survey *out, hdx_error *err)
{
    const hdx_damage *entries;
    const size_t      n = hdx_source_damage(source, &entries);
    const char       *where = hdx_source_path(source);
    char              text[PIECES_TEXT] = { 0 };
    for (size_t k = 0; k < n; k++) {
        hdx_damage entry = entries[k];
        if (entry.kept_objects == 0)
            entry.kept_objects = out->objects; /* the container has no objects */
        if (!hdx_survey_damage(out, &entry))
            return hdx_no_memory(err, "list of damage", sizeof entry);
    }
    if (out->dumps_in_file == 0)
        return hdx_hint(err, hdx_fail(err, HDX_BAD_DUMP, where, HDX_NOWHERE, "no heap dump in this file"), "%s",
                        n + out->damage_count > 0 ? "the file is truncated or damaged before its first heap record"
                                                  : "the JVM stopped before it wrote the heap; segments of JDK 22 and "
                                                    "later (FILE.p0, FILE.p1) are read if they are next to it");
    if (out->dump_number > out->dumps_in_file)
        return hdx_fail(err, HDX_NOT_FOUND, where, HDX_NOWHERE, "no heap dump number %u: the file contains %u",
                        out->dump_number, out->dumps_in_file);
    if (out->dumps_in_file > 1) {
        out->dumps_text = hdx_mem_get(out->mem, DUMPS_TEXT);
        if (out->dumps_text == NULL)
            return hdx_no_memory(err, "warning", DUMPS_TEXT);
        (void)snprintf(out->dumps_text, DUMPS_TEXT, "the file contains %u heap dumps; using number %u (--dump-number)",
                       out->dumps_in_file, out->dump_number);
        hdx_survey_warn(out, out->dumps_text);
    }
    if (hdx_source_pieces(source, text, sizeof text)) {
        out->pieces_text = hdx_mem_get(out->mem, PIECES_TEXT);
        if (out->pieces_text == NULL)
            return hdx_no_memory(err, "warning", PIECES_TEXT);
        memcpy(out->pieces_text, text, PIECES_TEXT);
        hdx_survey_warn(out, out->pieces_text);
    }
    return report_kinds(out, err);
}

static void begin(hdx_survey *out, const hdx_hprof_head *head, const hdx_survey_options *options)
{
    *out = (hdx_survey){ .head = *head,
                         .dump_number = options->dump_number == 0 ? 1 : options->dump_number,
                         .mem = options->mem };
}

hdx_code hdx_hprof_survey(hdx_source *source, const hdx_survey_options *options, const hdx_survey_sink *sink,
                          hdx_survey *out, hdx_error *err)
{
    hdx_hprof_head head;
    bool           odd = true;
    hdx_code       code = hdx_head_read(source, &head, err);
    if (code != HDX_OK)
        return code;
    begin(out, &head, options);
    if (!options->sequential && hdx_source_compression(source) == HDX_PLAIN) {
        code = hdx_survey_swift(source, options, sink, out, &odd, err);
        if (code == HDX_OK && odd) {
            hdx_survey_free(out);
            begin(out, &head, options);
            if (options->tick != NULL)
                atomic_store(&options->tick->done, 0);
            code = sink->restart(sink->context, err);
        }
    }
    if (code == HDX_OK && odd) {
        out->sequential = true;
        code = hdx_survey_careful(source, options, sink, out, err);
    }
    if (code == HDX_OK)
        code = finish(source, out, err);
    if (code != HDX_OK)
        hdx_survey_free(out);
    return code;
}
