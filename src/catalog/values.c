/*
 * values.c - encodes classes, roots, threads and heaps.
 *
 * Everything is a number in groups of 7 bits: most numbers of a class are small or zero, and a layout of fixed width
 * would be four times as long. Texts are numbers, too: the catalog contains a name once, however many fields have it,
 * so that no dump can make the catalog grow faster than itself by repeating one long text.
 */
#include "catalog/values.h"

void hdx_put_number(hdx_buffer *to, uint64_t v)
{
    char *at = hdx_buffer_room(to, 10), *end = at;
    if (at == NULL)
        return;
    for (; v >= 0x80; v >>= 7)
        *end++ = (char)(v | 0x80);
    *end++ = (char)v;
    *end = '\0';
    to->len += (uint64_t)(end - at);
}

/* ---- decoding ---- */

hdx_taker hdx_taker_of(hdx_view value, const char *what, uint64_t which, hdx_error *err)
{
    return (hdx_taker){ value, value.len, HDX_OK, err, what, which };
}

hdx_code hdx_take_fault(hdx_taker *t, const char *problem, uint64_t seen, uint64_t allowed)
{
    if (t->code == HDX_OK)
        t->code = hdx_fail(t->err, HDX_DAMAGED, "catalog", t->size - t->left.len,
                           "%s %llu: %s %llu; the maximum is %llu", t->what, (unsigned long long)t->which, problem,
                           (unsigned long long)seen, (unsigned long long)allowed);
    t->left.len = 0;
    return t->code;
}

uint64_t hdx_take_number(hdx_taker *t)
{
    uint64_t v = 0;
    if (t->left.len > 0 && t->left.at[0] < 0x80) { /* most numbers */
        t->left.len--;
        return *t->left.at++;
    }
    for (unsigned i = 0; i < t->left.len && i < 10; i++) {
        uint8_t byte = t->left.at[i];
        if (i == 9 && byte > 1)
            break;
        v |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            t->left.at += i + 1;
            t->left.len -= i + 1;
            return v;
        }
    }
    (void)hdx_take_fault(t, "no complete number in the remaining bytes:", t->left.len, 10);
    return 0;
}

uint64_t hdx_take_up_to(hdx_taker *t, uint64_t most, const char *name)
{
    uint64_t v = hdx_take_number(t);
    if (v <= most)
        return v;
    (void)hdx_take_fault(t, name, v, most);
    return 0;
}

uint64_t hdx_take_count(hdx_taker *t, uint64_t least, const char *name)
{
    uint64_t v = hdx_take_number(t);
    if (v <= t->left.len / least)
        return v;
    (void)hdx_take_fault(t, name, v, t->left.len / least);
    return 0;
}

hdx_text hdx_take_text(hdx_taker *t)
{
    uint64_t len = hdx_take_count(t, 1, "bytes of text");
    hdx_view part = { t->left.at, 0 };
    if (len > UINT32_MAX)
        (void)hdx_take_fault(t, "bytes of text", len, UINT32_MAX);
    else
        (void)hdx_cut(&t->left, len, &part);
    return (hdx_text){ (const char *)part.at, (uint32_t)part.len };
}

hdx_code hdx_take_end(hdx_taker *t)
{
    return t->code != HDX_OK || t->left.len == 0 ? t->code : hdx_take_fault(t, "excess bytes:", t->left.len, 0);
}

/* An id + 1; 0 for none. */
static void put_id(hdx_buffer *to, hdx_id id) { hdx_put_number(to, id + 1); }

static hdx_id take_id(hdx_taker *t, uint64_t objects) { return hdx_take_up_to(t, objects, "object id") - 1; }

static hdx_text text_of(hdx_taker *t, hdx_texts texts)
{
    uint64_t number = hdx_take_number(t);
    if (number < texts.count)
        return texts.at[number];
    (void)hdx_take_fault(t, "text number", number, texts.count == 0 ? 0 : texts.count - 1);
    return (hdx_text){ "", 0 };
}

/* ---- classes ---- */

static void put_fields(hdx_buffer *to, const hdx_field *fields, uint32_t count, const uint32_t *texts)
{
    for (uint32_t i = 0; i < count; i++) {
        hdx_put_number(to, texts[i]);
        hdx_put_number(to, fields[i].type);
    }
}

void hdx_encode_class(hdx_buffer *to, const hdx_class *c, const uint32_t *texts)
{
    const uint64_t head[] = {
        texts[0],          c->address,       c->id + 1,      c->super == HDX_NO_CLASS ? 0 : (uint64_t)c->super + 1,
        c->super_address,  c->loader,        c->signers,     c->domain,
        (uint64_t)c->kind, c->element_type,  c->flags,       c->stated_size,
        c->instance_size,  c->class_shallow, c->instances,   c->live_instances,
        c->bytes,          c->live_bytes,    c->field_count, c->static_count
    };
    for (unsigned i = 0; i < sizeof head / sizeof *head; i++)
        hdx_put_number(to, head[i]);
    put_fields(to, c->fields, c->field_count, texts + 1);
    put_fields(to, c->statics, c->static_count, texts + 1 + c->field_count);
}

static const hdx_field *take_fields(hdx_taker *t, uint64_t count, hdx_texts texts, hdx_arena *arena)
{
    hdx_field *fields =
        count == 0 ? NULL : hdx_arena_get(arena, count * sizeof *fields); /* count is below the value's length */
    if (fields == NULL && count > 0 && t->code == HDX_OK) {
        t->code = hdx_no_memory(t->err, "fields of classes", count * sizeof *fields);
        t->left.len = 0;
    }
    for (uint64_t i = 0; fields != NULL && i < count && t->code == HDX_OK; i++) {
        fields[i].name = text_of(t, texts);
        fields[i].type = (uint8_t)hdx_take_up_to(t, UINT8_MAX, "field type");
    }
    return fields;
}

hdx_code hdx_decode_class(hdx_view value, uint32_t number, const hdx_numbers *all, uint64_t objects, hdx_texts texts,
                          hdx_arena *arena, hdx_class *out, hdx_error *err)
{
    hdx_taker t = hdx_taker_of(value, "class", number, err);
    *out = (hdx_class){ .number = number, .name = text_of(&t, texts) };
    out->address = hdx_take_number(&t);
    out->id = take_id(&t, objects);
    uint64_t super = hdx_take_up_to(&t, all->classes, "super class");
    out->super = super == 0 ? HDX_NO_CLASS : (uint32_t)(super - 1);
    out->super_address = hdx_take_number(&t);
    out->loader = hdx_take_number(&t);
    out->signers = hdx_take_number(&t);
    out->domain = hdx_take_number(&t);
    out->kind = (hdx_object_kind)hdx_take_up_to(&t, HDX_CLASS_OBJECT, "kind");
    out->element_type = (uint8_t)hdx_take_up_to(&t, UINT8_MAX, "element type");
    out->flags = (uint8_t)hdx_take_up_to(&t, UINT8_MAX, "flags");
    out->stated_size = (uint32_t)hdx_take_up_to(&t, UINT32_MAX, "stated size");
    out->instance_size = hdx_take_number(&t);
    out->class_shallow = hdx_take_number(&t);
    out->instances = hdx_take_number(&t);
    out->live_instances = hdx_take_number(&t);
    out->bytes = hdx_take_number(&t);
    out->live_bytes = hdx_take_number(&t);
    uint64_t fields = hdx_take_up_to(&t, UINT32_MAX, "fields"), statics = hdx_take_up_to(&t, UINT32_MAX, "statics");
    if (fields + statics > t.left.len / 2) /* a field needs at least two bytes */
        (void)hdx_take_fault(&t, "fields and statics", fields + statics, t.left.len / 2);
    if (t.code != HDX_OK)
        return t.code;
    out->field_count = (uint32_t)fields;
    out->static_count = (uint32_t)statics;
    out->fields = take_fields(&t, fields, texts, arena);
    out->statics = take_fields(&t, statics, texts, arena);
    return hdx_take_end(&t);
}

/* ---- threads ---- */

void hdx_encode_thread(hdx_buffer *to, const hdx_thread *thread, hdx_view frames)
{
    put_id(to, thread->object);
    hdx_put_number(to, thread->serial);
    hdx_put_number(to, thread->frame_count);
    hdx_buffer_put(to, frames.at, frames.len);
}

void hdx_encode_frames(hdx_buffer *to, const hdx_thread *thread, const uint32_t *texts)
{
    for (uint32_t i = 0; i < thread->frame_count; i++) {
        for (unsigned k = 0; k < 4; k++)
            hdx_put_number(to, texts[(uint64_t)i * 4 + k]);
        hdx_put_number(to, hdx_zigzag(thread->frames[i].line));
    }
}

hdx_code hdx_decode_thread(hdx_view value, uint64_t index, uint64_t objects, hdx_texts texts, hdx_arena *arena,
                           hdx_thread *out, hdx_error *err)
{
    hdx_taker t = hdx_taker_of(value, "thread", index, err);
    *out = (hdx_thread){ .object = take_id(&t, objects) };
    out->serial = (uint32_t)hdx_take_up_to(&t, UINT32_MAX, "serial");
    uint64_t count = hdx_take_count(&t, 5, "frames");
    if (t.code != HDX_OK || count > UINT32_MAX)
        return t.code != HDX_OK ? t.code : hdx_take_fault(&t, "frames", count, UINT32_MAX);
    hdx_frame *frames = count == 0 ? NULL : hdx_arena_get(arena, count * sizeof *frames);
    if (frames == NULL && count > 0)
        return hdx_no_memory(err, "stack frames", count * sizeof *frames);
    for (uint64_t i = 0; i < count && t.code == HDX_OK; i++) {
        frames[i].class_name = text_of(&t, texts);
        frames[i].method = text_of(&t, texts);
        frames[i].signature = text_of(&t, texts);
        frames[i].source = text_of(&t, texts);
        int64_t line = hdx_unzigzag(hdx_take_up_to(&t, UINT32_MAX, "line")); /* zigzag of 32 bits has no more */
        frames[i].line = (int32_t)line;
    }
    out->frame_count = (uint32_t)count;
    out->frames = frames;
    return hdx_take_end(&t);
}

/* ---- heaps ---- */

void hdx_encode_heap(hdx_buffer *to, const hdx_heap_space *h, uint32_t text)
{
    hdx_put_number(to, h->number);
    hdx_put_number(to, text);
    hdx_put_number(to, h->objects);
    hdx_put_number(to, h->bytes);
    hdx_put_number(to, h->live_objects);
    hdx_put_number(to, h->live_bytes);
}

hdx_code hdx_decode_heap(hdx_view value, uint64_t index, hdx_texts texts, hdx_heap_space *out, hdx_error *err)
{
    hdx_taker t = hdx_taker_of(value, "heap", index, err);
    out->number = (uint32_t)hdx_take_up_to(&t, UINT32_MAX, "heap number");
    out->name = text_of(&t, texts);
    out->objects = hdx_take_number(&t);
    out->bytes = hdx_take_number(&t);
    out->live_objects = hdx_take_number(&t);
    out->live_bytes = hdx_take_number(&t);
    return hdx_take_end(&t);
}

/* ---- counts ---- */

void hdx_encode_numbers(hdx_buffer *to, const hdx_numbers *n)
{
    hdx_put_number(to, n->classes);
    hdx_put_number(to, n->heaps);
    hdx_put_number(to, n->roots);
    hdx_put_number(to, n->threads);
    hdx_put_number(to, n->texts);
}

hdx_code hdx_decode_numbers(hdx_view value, hdx_numbers *out, hdx_error *err)
{
    hdx_taker t = hdx_taker_of(value, "key n", 0, err);
    out->classes = hdx_take_up_to(&t, UINT32_MAX - 1, "classes");
    out->heaps = hdx_take_up_to(&t, UINT32_MAX, "heaps");
    out->roots = hdx_take_number(&t);
    out->threads = hdx_take_up_to(&t, UINT32_MAX, "threads");
    out->texts = hdx_take_up_to(&t, UINT32_MAX, "texts");
    return hdx_take_end(&t);
}

/* ---- roots ---- */

void hdx_encode_root(hdx_buffer *to, const hdx_root *r, hdx_id *object)
{
    bool local = r->thread != HDX_NO_ID || r->frame != -1;
    hdx_put_number(to, r->object - *object);
    hdx_put_number(to, (uint64_t)r->type << 1 | local);
    if (local) {
        put_id(to, r->thread);
        hdx_put_number(to, (uint64_t)(r->frame + (int64_t)1));
    }
    *object = r->object;
}

hdx_root_chunk hdx_root_chunk_of(hdx_view value, hdx_id first, uint64_t objects, hdx_error *err)
{
    return (hdx_root_chunk){ hdx_taker_of(value, "roots from object", first, err), first, objects };
}

bool hdx_root_chunk_next(hdx_root_chunk *chunk, hdx_root *out)
{
    hdx_taker *t = &chunk->taker;
    if (t->left.len == 0)
        return false;
    uint64_t step = hdx_take_number(t), type;
    if (chunk->object >= chunk->objects || step >= chunk->objects - chunk->object) {
        (void)hdx_take_fault(t, "next root", step, chunk->objects);
        return false;
    }
    chunk->object += step;
    type = hdx_take_up_to(t, (uint64_t)(HDX_ROOT_TYPES - 1) << 1 | 1, "type of root");
    *out = (hdx_root){ chunk->object, (hdx_root_type)(type >> 1), HDX_NO_ID, -1 };
    if (type & 1) {
        out->thread = take_id(t, chunk->objects);
        out->frame = (int32_t)((int64_t)hdx_take_up_to(t, (uint64_t)INT32_MAX + 1, "frame") - 1);
    }
    return t->code == HDX_OK;
}
