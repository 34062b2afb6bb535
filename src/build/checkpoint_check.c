/*
 * checkpoint_check.c - is what a build left behind what it wrote, and can nothing in it lead outside?
 *
 * In:  the state of a checkpoint, read.
 * Out: temporary files open, bits of what lives and is special; or HDX_NOT_FOUND.
 * A build trusts what it spilled; what lies in a folder from earlier does not have that trust. So every record is taken apart once with
 * all bounds looked at: sums tell rot, this tells anything else.
 */
#include "build/checkpoint.h"

#include <stdio.h>

#define PIECE 65536u /* bytes of a tape read at once; whole visits of either width */

static hdx_code unusable(hdx_error *err) { return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no usable checkpoint"); }

static hdx_code open_tape(hdx_build *b, const char *name, hdx_tape_file *t, hdx_error *err)
{
    const uint64_t end = t->end;
    const uint32_t sum = t->sum;
    struct stat    st;
    hdx_code       code = hdx_tape_file_reopen(b, name, t, err);
    if (code != HDX_OK || b->io->stat(b->io, t->path, &st) < 0 || (uint64_t)st.st_size != end)
        return unusable(err);
    t->end = end;
    t->sum = sum;
    return HDX_OK;
}

/* ---- the spill file ---- */
static bool number(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    if (*at >= end || (uint64_t)(end - *at) < (**at & 3u) + 1u + ((**at & 3u) == 3u))
        return false;
    *value = hdx_unpack(at);
    return true;
}

typedef struct spilled {
    hdx_pass *p;
    uint64_t *seen;
    uint64_t  objects, lists, edges;
    uint8_t   widths[4];
} spilled;

static bool list_holds(spilled *s, uint64_t id, const uint8_t *at, const uint8_t *end, uint32_t *class_number)
{
    const uint64_t objects = s->p->b->objects;
    uint64_t       head, before = 0;
    if (!number(&at, end, &head) || head >> 2 >= s->p->b->class_count)
        return false;
    *class_number = (uint32_t)(head >> 2);
    const unsigned width = s->widths[head & 3];
    if ((uint64_t)(end - at) % width != 0)
        return false;
    for (bool first = true; at < end; first = false, at += width, s->edges++) {
        const uint64_t target = id - hdx_packed_half(width) + (hdx_le64(at) & hdx_packed_mask(width));
        if (target >= objects || (!first && target <= before))
            return false;
        before = target;
    }
    return true;
}

static bool record_holds(spilled *s, const hdx_spilled *u, const uint8_t **at, const uint8_t *end, uint64_t *next_id, hdx_pos *pos)
{
    const hdx_build *b = s->p->b;
    uint64_t         id, value, bytes;
    uint32_t         class_number;
    if (!number(at, end, &id))
        return false;
    id = *next_id + (uint64_t)hdx_unzigzag(id);
    if (id >= b->objects || id < u->first || id > u->last || !hdx_bits_set(s->seen, id))
        return false;
    *next_id = id + 1;
    if (!u->bare && (!number(at, end, &value) || !hdx_add(*pos, value, pos) || *pos >= b->manifest.dump_size))
        return false;
    if (b->heap_count > 0 && (!number(at, end, &value) || value > b->heap_count))
        return false;
    if (!number(at, end, &bytes) || bytes == 0 || bytes > (uint64_t)(end - *at) || !list_holds(s, id, *at, *at + bytes, &class_number))
        return false;
    *at += bytes;
    s->lists += bytes;
    s->objects++;
    return b->classes[class_number].kind == HDX_INSTANCE || (number(at, end, &value) && value <= UINT32_MAX);
}

static bool unit_holds(spilled *s, uint64_t i, uint8_t *bytes)
{
    hdx_build         *b = s->p->b;
    const hdx_spilled *u = &s->p->spill.units[i];
    hdx_spill_reader   reader;
    hdx_error          err;
    uint64_t           end, next_id = 0;
    hdx_pos            pos = u->pos;
    if (!hdx_add(u->at, u->bytes, &end) || end > s->p->spill.file.end || u->bytes > s->p->spill.longest ||
        hdx_spill_get(b, &s->p->spill, i, bytes, &reader, &err) != HDX_OK)
        return false;
    for (const uint8_t *at = reader.at; at < reader.end;)
        if (!record_holds(s, u, &at, reader.end, &next_id, &pos))
            return false;
    return true;
}

static hdx_code check_spill(hdx_pass *p, hdx_error *err)
{
    hdx_build     *b = p->b;
    spilled        s = { .p = p, .seen = hdx_mem_array(&b->mem, hdx_bits_words(b->objects), 8) };
    const uint64_t room = p->spill.longest + HDX_PACKED_SLACK;
    uint8_t       *bytes = p->spill.longest <= p->spill.file.end ? hdx_mem_get(&b->mem, room) : NULL;
    hdx_code       code = HDX_OK;
    hdx_packed_widths(b->objects, s.widths);
    (void)pthread_mutex_init(&p->spill.lock, NULL);
    p->spill.open = true;
    if (s.seen == NULL || bytes == NULL)
        code = hdx_no_memory(err, "a checkpoint", room);
    else if ((code = open_tape(b, "references.tmp", &p->spill.file, err)) == HDX_OK)
        for (uint64_t i = 0; i < p->spill.count && code == HDX_OK; i++)
            code = unit_holds(&s, i, bytes) ? HDX_OK : unusable(err);
    if (code == HDX_OK && (s.objects != b->objects || s.lists != p->spill.lists || s.edges != p->spill.edges))
        code = unusable(err);
    if (p->spill.longest <= p->spill.file.end)
        hdx_mem_put(&b->mem, bytes, room);
    hdx_mem_put(&b->mem, s.seen, hdx_bits_words(b->objects) * 8);
    return code;
}

/* ---- tapes ---- */
typedef bool look(hdx_pass *p, uint64_t first, const uint8_t *bytes, uint64_t count);

static hdx_code check_tape(hdx_pass *p, hdx_tape_file *t, uint64_t each, look *at_it, hdx_error *err)
{
    uint8_t *piece = hdx_mem_get(&p->b->mem, PIECE);
    uint32_t sum = 0;
    hdx_code code = piece == NULL ? hdx_no_memory(err, "a checkpoint", PIECE) : t->end == p->reached * each ? HDX_OK : unusable(err);
    for (uint64_t at = 0; at < t->end && code == HDX_OK; at += PIECE) {
        const uint64_t n = t->end - at < PIECE ? t->end - at : PIECE;
        if (t->tape.read(t, at, piece, n, err) != HDX_OK || !at_it(p, at / each, piece, n / each))
            code = unusable(err);
        else
            sum = hdx_crc32c(sum, piece, (size_t)n);
    }
    if (code == HDX_OK && sum != t->sum)
        code = unusable(err);
    hdx_mem_put(&p->b->mem, piece, PIECE);
    return code;
}

static uint64_t id_at(const hdx_pass *p, const uint8_t *bytes, uint64_t i) { return p->width == 32 ? hdx_le32(bytes + 4 * i) : hdx_le64(bytes + 8 * i); }

/* Each node once, each parent before its children; what is visited lives. */
static bool look_at_visits(hdx_pass *p, uint64_t first, const uint8_t *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t node = id_at(p, bytes, 2 * i), parent = id_at(p, bytes, 2 * i + 1);
        if (node >= p->b->objects || parent > first + i || !hdx_bits_set(p->live, node))
            return false;
    }
    return true;
}

static bool look_at_idoms(hdx_pass *p, uint64_t first, const uint8_t *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (id_at(p, bytes, i) > first + i)
            return false;
    return true;
}

/* ---- reachability ---- */
static hdx_code read_special(hdx_pass *p, hdx_error *err)
{
    hdx_build     *b = p->b;
    hdx_index_file file = { b->manifest.files[HDX_KIND_SPECIAL].bytes, b->manifest.files[HDX_KIND_SPECIAL].sum };
    hdx_ranks     *ranks;
    uint64_t       rank;
    if (hdx_ranks_open(&b->place, HDX_KIND_SPECIAL, &file, b->objects, &p->note, &ranks, err) != HDX_OK)
        return unusable(err);
    for (uint64_t id = 0; id < b->objects; id++)
        if (hdx_ranks_find(ranks, id, &rank))
            hdx_bits_put(p->special, id);
    hdx_ranks_close(ranks);
    return hdx_bits_count(p->special, hdx_bits_words(b->objects)) == b->manifest.specials ? HDX_OK : unusable(err);
}

static hdx_code check_search(hdx_pass *p, hdx_error *err)
{
    hdx_build     *b = p->b;
    const uint64_t words = hdx_bits_words(b->objects);
    hdx_code       code;
    p->live = hdx_mem_array(&b->mem, words, 8);
    p->is_root = hdx_mem_array(&b->mem, words, 8);
    p->special = hdx_mem_array(&b->mem, words, 8);
    if (p->live == NULL || p->is_root == NULL || p->special == NULL)
        return hdx_no_memory(err, "a checkpoint", 3 * words * 8);
    for (uint64_t i = 0; i < b->root_count; i++)
        if (b->roots[i].thread == HDX_NO_ID)
            hdx_bits_put(p->is_root, b->roots[i].object);
    if (p->reached > b->objects || (code = open_tape(b, "search.tmp", &p->search, err)) != HDX_OK)
        return unusable(err);
    code = check_tape(p, &p->search, p->width / 4, look_at_visits, err);
    return code != HDX_OK ? code : read_special(p, err);
}

/* ---- referrers ---- */
static bool chunk_holds(hdx_pass *p, const hdx_referrer_chunk *c, uint8_t *bytes, uint64_t *entries)
{
    const uint64_t objects = p->b->objects;
    uint64_t       end, node = c->node, value, n;
    hdx_error      err;
    if (!hdx_add(c->at, c->bytes, &end) || end > p->referrer_file.end || c->bytes > p->chunk_longest ||
        p->referrer_file.tape.read(&p->referrer_file, c->at, bytes, c->bytes, &err) != HDX_OK || hdx_crc32c(0, bytes, (size_t)c->bytes) != c->sum)
        return false;
    const uint8_t *at = bytes, *stop = bytes + c->bytes;
    for (bool first = true; at < stop; first = false) {
        uint64_t source = 0;
        if (!number(&at, stop, &value) || !hdx_add(node, value + !first, &node) || node >= objects || !number(&at, stop, &n) || n > (uint64_t)(stop - at))
            return false;
        for (uint64_t i = 0; i < n; i++) {
            if (!number(&at, stop, &value))
                return false;
            source = i == 0 ? node + (uint64_t)hdx_unzigzag(value) : source + 1 + value;
            if (source >= objects)
                return false;
        }
        *entries += n + 1;
    }
    return true;
}

static hdx_code check_referrers(hdx_pass *p, hdx_error *err)
{
    hdx_build     *b = p->b;
    const uint64_t room = p->chunk_longest + HDX_PACKED_SLACK;
    uint64_t       entries = 0;
    uint8_t       *bytes;
    hdx_code       code = open_tape(b, "referrers.tmp", &p->referrer_file, err);
    if (code != HDX_OK || p->chunk_longest > p->referrer_file.end)
        return unusable(err);
    if ((bytes = hdx_mem_get(&b->mem, room)) == NULL)
        return hdx_no_memory(err, "a checkpoint", room);
    for (uint64_t i = 0; i < p->chunk_count && code == HDX_OK; i++)
        code = chunk_holds(p, &p->chunks[i], bytes, &entries) ? HDX_OK : unusable(err);
    hdx_mem_put(&b->mem, bytes, room);
    return code == HDX_OK && entries != p->referrer_entries ? unusable(err) : code;
}

/* ---- everything ---- */
static bool numbers_hold(const hdx_pass *p, uint64_t done)
{
    const hdx_build *b = p->b;
    if (b->objects == 0 || b->class_count == 0 || b->class_class >= b->class_count || b->loader_class >= b->class_count ||
        (p->width == 32 && b->objects >= UINT32_MAX - 2) || ((done & 1u << HDX_PASS_DOMINATORS) != 0 && p->size_unit == 0))
        return false;
    for (uint64_t i = 0; i < b->root_count; i++)
        if (b->roots[i].object >= b->objects || (b->roots[i].thread != HDX_NO_ID && b->roots[i].thread >= b->objects) || b->roots[i].type >= HDX_ROOT_TYPES)
            return false;
    return true;
}

static hdx_code check_files(hdx_pass *p, hdx_error *err)
{
    hdx_build *b = p->b;
    for (unsigned kind = 0; kind < HDX_KINDS; kind++) {
        const hdx_manifest_file *f = &b->manifest.files[kind];
        const hdx_index_file     file = { f->bytes, f->sum };
        if (f->name[0] != '\0' && hdx_index_check(&b->place, (hdx_kind)kind, &file, err) != HDX_OK)
            return unusable(err);
    }
    return HDX_OK;
}

hdx_code hdx_checkpoint_check(hdx_pass *p, uint64_t done, hdx_error *err)
{
    const bool inbound = (done & 1u << HDX_PASS_INBOUND) != 0, dominators = (done & 1u << HDX_PASS_DOMINATORS) != 0;
    hdx_code   code = numbers_hold(p, done) ? check_files(p, err) : unusable(err);
    if (code == HDX_OK && !inbound)
        code = check_spill(p, err);
    if (code == HDX_OK && (done & 1u << HDX_PASS_SEARCH) != 0)
        code = check_search(p, err);
    if (code == HDX_OK && inbound && !dominators && p->referrer_file.end > 0)
        code = check_referrers(p, err);
    if (code == HDX_OK && dominators && (code = open_tape(p->b, "idoms.tmp", &p->idoms, err)) == HDX_OK)
        code = check_tape(p, &p->idoms, p->width / 8, look_at_idoms, err);
    return code;
}
