/*
 * manifest.c - all facts about an index that exist once, encoded as one value.
 *
 * The same list of members is processed for writing and for reading, so that the two cannot differ: `both` has the
 * direction.
 */
#include "catalog/values.h"

#include "base/map.h"

#define DAMAGE_LEAST 6u /* bytes of the shortest entry */

typedef struct both {
    hdx_buffer *to;   /* writing, otherwise */
    hdx_taker  *from; /* reading */
} both;

static void u64(both *b, uint64_t *v)
{
    if (b->to != NULL)
        hdx_put_number(b->to, *v);
    else
        *v = hdx_take_number(b->from);
}

static void u32_up_to(both *b, uint32_t *v, uint32_t most, const char *name)
{
    if (b->to != NULL)
        hdx_put_number(b->to, *v);
    else
        *v = (uint32_t)hdx_take_up_to(b->from, most, name);
}

static void u32(both *b, uint32_t *v) { u32_up_to(b, v, UINT32_MAX, "a number of 32 bits"); }

static void flag(both *b, bool *v)
{
    uint32_t n = b->to != NULL ? *v : 0;
    u32_up_to(b, &n, 1, "a flag");
    if (b->to == NULL)
        *v = n != 0;
}

static void bytes(both *b, uint8_t *at, uint64_t len)
{
    hdx_view part;
    if (b->to != NULL)
        hdx_buffer_put(b->to, at, len);
    else if (hdx_cut(&b->from->left, len, &part))
        memcpy(at, part.at, (size_t)len);
    else
        (void)hdx_take_fault(b->from, "bytes of an identity, left", b->from->left.len, len);
}

/* A text in an array of `room` bytes, including its NUL. */
static void text(both *b, char *at, size_t room)
{
    if (b->to != NULL) {
        size_t len = strnlen(at, room - 1);
        hdx_put_number(b->to, len);
        hdx_buffer_put(b->to, at, len);
        return;
    }
    hdx_text t = hdx_take_text(b->from);
    if (t.len >= room)
        (void)hdx_take_fault(b->from, "bytes of text", t.len, room - 1);
    else if (t.len > 0)
        memcpy(at, t.at, t.len);
}

static void dump_members(both *b, hdx_manifest *m)
{
    u32(b, &m->format);
    text(b, m->heapdex, sizeof m->heapdex);
    bytes(b, m->identity, sizeof m->identity);
    text(b, m->version, sizeof m->version);
    u32(b, &m->id_size);
    u64(b, &m->created_ms);
    u64(b, &m->dump_size);
    u32(b, &m->dump_number);
    u32(b, &m->dumps_in_file);
    text(b, m->jvm, sizeof m->jvm);
    u32(b, &m->reference_size);
    u32(b, &m->alignment);
    flag(b, &m->compressed_oops);
    flag(b, &m->stated_sizes);
}

static void count_members(both *b, hdx_manifest *m)
{
    uint64_t *const counts[] = { &m->objects,
                                 &m->records,
                                 &m->live_objects,
                                 &m->live_bytes,
                                 &m->unreachable_objects,
                                 &m->unreachable_bytes,
                                 &m->references,
                                 &m->all_references,
                                 &m->outbound_values,
                                 &m->classes,
                                 &m->live_classes,
                                 &m->live_loaders,
                                 &m->gc_roots,
                                 &m->roots,
                                 &m->threads,
                                 &m->dangling_references,
                                 &m->dangling_roots,
                                 &m->specials,
                                 &m->dominators };
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
        u64(b, counts[i]);
    u32(b, &m->step);
}

/* Most of the 512 tags never occur: pairs of index + 1 and count, ended by 0. */
static void record_counts(both *b, hdx_manifest *m)
{
    uint64_t *counts = &m->record_counts[0][0];
    if (b->to != NULL) {
        for (uint64_t i = 0; i < 512; i++)
            if (counts[i] != 0) {
                hdx_put_number(b->to, i + 1);
                hdx_put_number(b->to, counts[i]);
            }
        hdx_put_number(b->to, 0);
        return;
    }
    for (uint64_t place; (place = hdx_take_up_to(b->from, 512, "tag")) != 0;)
        counts[place - 1] = hdx_take_number(b->from);
}

static void files(both *b, hdx_manifest *m)
{
    uint32_t count = 0, kind = 0;
    for (unsigned i = 0; b->to != NULL && i < HDX_KINDS_MAX; i++)
        count += m->files[i].name[0] != '\0';
    u32_up_to(b, &m->file_count, HDX_KINDS_MAX, "files");
    u32_up_to(b, &count, HDX_KINDS_MAX, "files");
    for (uint32_t i = 0; i < count; i++, kind++) {
        while (b->to != NULL && m->files[kind].name[0] == '\0')
            kind++;
        u32_up_to(b, &kind, HDX_KINDS_MAX - 1, "kind of file");
        text(b, m->files[kind].name, sizeof m->files[kind].name);
        u64(b, &m->files[kind].bytes);
        u32(b, &m->files[kind].sum);
    }
}

static void damage_entry(both *b, hdx_damage *d)
{
    uint32_t kind = (uint32_t)d->kind;
    u32_up_to(b, &kind, HDX_DAMAGE_KINDS - 1, "kind of damage");
    d->kind = (hdx_damage_kind)kind;
    u64(b, &d->offset);
    u64(b, &d->kept_objects);
    u64(b, &d->lost_bytes);
    text(b, d->record, sizeof d->record);
    text(b, d->expected, sizeof d->expected);
}

static hdx_code damage(both *b, hdx_manifest *m, uint64_t *capacity)
{
    u64(b, &m->damage_more);
    if (b->to != NULL) {
        hdx_put_number(b->to, m->damage_count);
        for (uint64_t i = 0; i < m->damage_count; i++)
            damage_entry(b, &m->damage[i]);
        return HDX_OK;
    }
    uint64_t count = hdx_take_count(b->from, DAMAGE_LEAST, "damage entries");
    for (m->damage_count = 0; m->damage_count < count && b->from->code == HDX_OK;
         m->damage_count++) { /* grows with what was read */
        if (!hdx_mem_room(NULL, (void **)&m->damage, capacity, m->damage_count, sizeof *m->damage))
            return hdx_no_memory(b->from->err, "the damage list", count * sizeof *m->damage);
        m->damage[m->damage_count] = (hdx_damage){ 0 };
        damage_entry(b, &m->damage[m->damage_count]);
    }
    return b->from->code;
}

static void stripping(both *b, hdx_stripping *s)
{
    uint32_t policy = (uint32_t)s->policy, overlay = (uint32_t)s->overlay, confidence = s->confidence,
             count = s->evidence_count;
    u32_up_to(b, &policy, HDX_STRIP_POLICIES - 1, "policy of stripping");
    u32_up_to(b, &overlay, HDX_OVERLAY_FORMS - 1, "form of a stripped dump");
    u32_up_to(b, &confidence, 100, "per cent");
    u32_up_to(b, &count, HDX_EVIDENCE_MAX, "lines of evidence");
    s->policy = (hdx_strip_policy)policy;
    s->overlay = (hdx_overlay_form)overlay;
    s->confidence = confidence;
    s->evidence_count = count;
    for (uint32_t i = 0; i < count; i++)
        text(b, s->evidence[i], sizeof s->evidence[i]);
}

static void source_and_build(both *b, hdx_manifest *m)
{
    u32_up_to(b, &m->warning_count, HDX_WARNINGS_MAX, "warnings");
    for (uint32_t i = 0; i < m->warning_count; i++)
        text(b, m->warnings[i], sizeof m->warnings[i]);
    stripping(b, &m->stripping);
    text(b, m->dump_name, sizeof m->dump_name);
    u32(b, &m->compression);
    u64(b, &m->file_size);
    u64(b, &m->file_mtime_ns);
    u64(b, &m->file_inode);
    bytes(b, m->file_sample, sizeof m->file_sample);
    u64(b, &m->built_at_ms);
    u64(b, &m->wall_ns);
    u64(b, &m->cpu_ns);
    u64(b, &m->peak_rss);
    u32_up_to(b, &m->step_count, HDX_STEPS_MAX, "steps");
    for (uint32_t i = 0; i < m->step_count; i++) {
        text(b, m->steps[i].name, sizeof m->steps[i].name);
        u64(b, &m->steps[i].wall_ns);
        u64(b, &m->steps[i].cpu_ns);
        u64(b, &m->steps[i].peak_bytes);
        u64(b, &m->steps[i].written_bytes);
    }
}

static bool details(const hdx_stripping *s) { return s->detailed || s->limit[0] > 0; }

/* What redaction left, or limits. If neither is known, and in older indexes, the manifest ends before this. */
static void stripped_contents(both *b, hdx_stripping *s)
{
    uint32_t kept = s->kept, fill[2] = { s->fill[0], s->fill[1] };
    if (b->to != NULL ? !details(s) : b->from->left.len == 0 || b->from->code != HDX_OK)
        return;
    flag(b, &s->detailed);
    flag(b, &s->fields);
    u32_up_to(b, &kept, 0xfff, "types of elements");
    for (unsigned i = 0; i < 2; i++) {
        u32_up_to(b, &fill[i], UINT16_MAX, "an element");
        u32(b, &s->limit[i]);
        s->fill[i] = (uint16_t)fill[i];
    }
    s->kept = (uint16_t)kept;
}

/* Older indexes end before this. An index has an empty name and the path of its dump, a view the other members. */
static void view(both *b, hdx_manifest *m)
{
    if (b->to == NULL && (b->from->left.len == 0 || b->from->code != HDX_OK))
        return;
    text(b, m->view, sizeof m->view);
    if (m->view[0] == '\0') {
        text(b, m->dump_path, sizeof m->dump_path);
        return;
    }
    text(b, m->view_spec, sizeof m->view_spec);
    u64(b, &m->cut_references);
    u64(b, &m->cut_from);
    u64(b, &m->cut_to);
    if (b->to != NULL ? m->view_layout != 0 || details(&m->stripping)
                      : b->from->left.len != 0) /* omitted for MAT's rules, as in older indexes */
        u32(b, &m->view_layout);
}

bool hdx_view_name_is_one(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    const size_t      len = strlen(name);
    return len > 0 && len < HDX_VIEW_NAME_SIZE && name[0] != '-' && strspn(name, letters) == len;
}

void hdx_view_identity(const uint8_t index[16], const char *name, const char *spec, uint8_t out[16])
{
    const uint64_t low = hdx_hash_bytes(hdx_hash_bytes(hdx_le64(index), name, strlen(name) + 1), spec, strlen(spec));
    hdx_put64(out, low);
    hdx_put64(out + 8, hdx_mix64(low ^ hdx_le64(index + 8)));
}

static hdx_code all_members(both *b, hdx_manifest *m, uint64_t *capacity)
{
    dump_members(b, m);
    count_members(b, m);
    record_counts(b, m);
    files(b, m);
    hdx_code code = damage(b, m, capacity);
    if (code == HDX_OK)
        source_and_build(b, m);
    if (code == HDX_OK)
        view(b, m);
    if (code == HDX_OK)
        stripped_contents(b, &m->stripping);
    return code;
}

void hdx_encode_manifest(hdx_buffer *to, const hdx_manifest *m)
{
    both b = { .to = to };
    (void)all_members(&b, (hdx_manifest *)(uintptr_t)m, NULL); /* writing does not change it */
}

hdx_code hdx_decode_manifest(hdx_view value, hdx_manifest *out, uint64_t *capacity, hdx_error *err)
{
    hdx_taker taker = hdx_taker_of(value, "manifest", 0, err);
    both      b = { .from = &taker };
    *out = (hdx_manifest){ 0 };
    *capacity = 0;
    hdx_code code = all_members(&b, out, capacity);
    return code != HDX_OK ? code : hdx_take_end(&taker);
}
