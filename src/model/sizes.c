/*
 * sizes.c - shallow sizes by the rules of Eclipse MAT (MAT 2.1 to 2.7, in doc/mat.md).
 *
 * They are not always those of the JVM (MAT 2.9), but with them the numbers of different dumps can be compared.
 */
#include "model/model.h"

/* In HotSpot elements begin at a multiple of their size, and of 4. */
static uint64_t laid_out(const hdx_sizing *s, unsigned size, uint64_t elements)
{
    return hdx_round_up(hdx_round_up(s->array_header, size < 4 ? 4 : size) + elements * size, s->alignment);
}

uint64_t hdx_object_array_size(const hdx_sizing *s, uint64_t elements)
{
    if (s->array_header != 0)
        return laid_out(s, s->reference_size, elements);
    /* up(P + R + 4 + n * R, A) (MAT 2.5) */
    return hdx_round_up(s->id_size + s->reference_size + 4 + elements * s->reference_size, s->alignment);
}

uint64_t hdx_primitive_array_size(const hdx_sizing *s, uint8_t type, uint64_t elements)
{
    if (s->array_header != 0)
        return laid_out(s, hdx_type_size(type, s->reference_size), elements);
    /* up(up(P + R + 4, R) + n * e, A): here the header is rounded separately (MAT 2.4). */
    const uint64_t head = hdx_round_up(s->id_size + s->reference_size + 4, s->reference_size);
    return hdx_round_up(head + elements * hdx_type_size(type, s->reference_size), s->alignment);
}

bool hdx_alignment_feed(uint64_t *divisor, uint64_t difference)
{
    uint64_t a = *divisor, b = difference;
    if (b == 0)
        return true; /* two records for one address: no difference, and no division by it */
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    *divisor = a;
    return a > 8; /* the computation stops as soon as the divisor is <= 8 (MAT 2.2) */
}

uint32_t hdx_alignment_of(uint64_t divisor) { return divisor < 8 ? 8 : divisor > 256 ? 256 : (uint32_t)divisor; }

bool hdx_class_flat_holds(const hdx_class *c)
{
    return (c->flags & HDX_CLASS_FLAT) == 0 ||
           (c->kind == HDX_PRIMITIVE_ARRAY && c->element_type == 8 && c->stated_size > 0);
}

uint64_t hdx_class_field_bytes(const hdx_class *classes, uint32_t number, unsigned id_size, uint64_t most)
{
    uint64_t bytes = 0;
    for (; number != HDX_NO_CLASS && bytes < most; number = classes[number].super)
        for (uint32_t k = 0; k < classes[number].field_count && bytes < most; k++)
            bytes += hdx_type_size(classes[number].fields[k].type, id_size);
    return bytes < most ? bytes : most;
}

static uint64_t own_bytes(const hdx_field *fields, uint32_t count, unsigned reference_size)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < count; k++)
        bytes += hdx_type_size(fields[k].type, reference_size);
    return bytes;
}

/*
 * S(C) before the final rounding (MAT 2.3). REQUIRES: size[] of its own fields and of the superclass, if any, is set.
 */
static uint64_t raw_size(const hdx_sizing *s, const hdx_class *c, uint64_t own, const uint64_t *size)
{
    const uint64_t base = s->id_size + s->reference_size;
    if (c->super == HDX_NO_CLASS && c->super_address == 0)
        return base; /* java.lang.Object, and every class with super 0: its own fields do not count */
    /* A class whose chain was cut counts as if it extended java.lang.Object. */
    const uint64_t above = c->super == HDX_NO_CLASS ? base : size[c->super];
    return hdx_round_up(above + own, s->reference_size);
}

enum { UNSEEN, ON_PATH, DONE };

/*
 * Walks up from a class to the end, or to a class that was visited before. Returns the class that closes a cycle, or
 * HDX_NO_CLASS.
 */
static uint32_t climb(const hdx_class *classes, uint8_t *state, uint32_t first)
{
    uint32_t last = first, c = first;
    while (c != HDX_NO_CLASS && state[c] == UNSEEN) {
        state[c] = ON_PATH;
        last = c;
        c = classes[c].super;
    }
    const bool closes = c != HDX_NO_CLASS && state[c] == ON_PATH;
    for (c = first; c != HDX_NO_CLASS && state[c] == ON_PATH; c = classes[c].super)
        state[c] = DONE;
    return closes ? last : HDX_NO_CLASS;
}

bool hdx_model_cut_cycles(hdx_class *classes, uint32_t count, hdx_mem *mem, uint32_t *cut, uint32_t *cuts)
{
    uint8_t *state = hdx_mem_array(mem, count, sizeof *state);
    *cuts = 0;
    for (uint32_t first = 0; state != NULL && first < count; first++) {
        const uint32_t last = climb(classes, state, first);
        if (last != HDX_NO_CLASS) { /* R15: the chain is cut where it repeats */
            classes[last].super = HDX_NO_CLASS;
            cut[(*cuts)++] = last;
        }
    }
    const bool ok = state != NULL;
    hdx_mem_put(mem, state, count);
    return ok;
}

bool hdx_model_own_ancestor(const hdx_class *classes, uint32_t count, hdx_mem *mem, uint32_t *number)
{
    uint8_t *state = hdx_mem_array(mem, count, sizeof *state);
    *number = HDX_NO_CLASS;
    for (uint32_t first = 0; state != NULL && first < count && *number == HDX_NO_CLASS; first++) {
        const uint32_t last = climb(classes, state, first);
        if (last != HDX_NO_CLASS)
            *number = classes[last].super;
    }
    const bool ok = state != NULL;
    hdx_mem_put(mem, state, count);
    return ok;
}

#define AHEAD 8u
/*
 * Bytes of the fields of each class, and shallow sizes of their class objects: static fields only, no header, no fields
 * of java.lang.Class (MAT 2.6).
 */
static void sum_fields(const hdx_sizing *s, hdx_class *classes, uint32_t count, uint64_t *own)
{
    for (uint32_t k = 0; k < count; k++) {
        hdx_class *c = &classes[k];
        if (k + AHEAD < count) {
            hdx_lines_ahead(classes[k + AHEAD].fields, 128);
            hdx_lines_ahead(classes[k + AHEAD].statics, 64);
        }
        own[k] = own_bytes(c->fields, c->field_count, s->reference_size);
        c->class_shallow = hdx_round_up(own_bytes(c->statics, c->static_count, s->reference_size), s->alignment);
    }
}

bool hdx_model_sizes(const hdx_sizing *s, hdx_class *classes, uint32_t count, hdx_mem *mem)
{
    uint64_t *size = hdx_mem_array(mem, count, sizeof *size); /* at first the bytes of own fields */
    uint32_t *path =
        hdx_mem_array(mem, count, sizeof *path); /* the chain being walked: golden/malformed has chains of 3000 */
    uint8_t   *state = hdx_mem_array(mem, count, sizeof *state);
    const bool ok = size != NULL && path != NULL && state != NULL;
    if (ok)
        sum_fields(s, classes, count, size);
    for (uint32_t first = 0; ok && first < count; first++) {
        uint32_t depth = 0, c = first;
        while (c != HDX_NO_CLASS && state[c] == UNSEEN) {
            state[c] = ON_PATH;
            path[depth++] = c;
            c = classes[c].super;
        }
        while (depth > 0) {
            c = path[--depth];
            size[c] = raw_size(s, &classes[c], size[c], size);
            state[c] = DONE;
        }
    }
    for (uint32_t k = 0; ok && k < count; k++) {
        hdx_class *c = &classes[k];
        if (c->kind != HDX_INSTANCE)
            c->instance_size = s->reference_size; /* MAT 2.7 */
        else if (s->stated && (c->flags & HDX_CLASS_INVENTED) == 0)
            c->instance_size = c->stated_size; /* Android's are exact (HPROF 3.4) */
        else
            c->instance_size = hdx_round_up(size[k], s->alignment);
    }
    hdx_mem_put(mem, size, (uint64_t)count * sizeof *size);
    hdx_mem_put(mem, path, (uint64_t)count * sizeof *path);
    hdx_mem_put(mem, state, (uint64_t)count * sizeof *state);
    return ok;
}
