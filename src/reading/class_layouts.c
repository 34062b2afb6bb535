/*
 * class_layouts.c - where the references of an instance are: the layouts of classes, from their chains of superclasses.
 *
 * In:  the table of classes by number, and the length of the longest record of an instance of each.
 * Out: for each class the bytes of all its fields and the positions of its references; cycles of superclasses are cut.
 * Cost: proportional to the number of classes, and to the fields of those with instances.
 */
#include "reading/reading.h"

#define UNKNOWN (HDX_NO_CLASS - 1) /* not the number of a class */
#define AHEAD   8u                 /* distance for prefetching the fields of classes */

static hdx_code no_memory(hdx_error *err) { return hdx_no_memory(err, "the table of classes", 0); }

uint64_t hdx_class_own_bytes(const hdx_class *c, uint32_t id_size)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->field_count; i++)
        n += hdx_type_size(c->fields[i].type, id_size);
    return n;
}

/* Makes all chains of superclasses end: cycles are cut and reported (R15). */
static hdx_code cut_cycles(const hdx_reading *in, hdx_error *err)
{
    uint32_t  cuts = 0;
    uint32_t *cut = hdx_mem_array(&in->w->mem, in->t->class_count, sizeof *cut);
    hdx_code  code = HDX_OK;
    in->t->sizing = (hdx_sizing){ in->dump->survey.head.id_size, in->dump->survey.head.id_size, 8,
                                  in->dump->survey.head.android, 0 };
    if (cut == NULL || !hdx_model_cut_cycles(in->t->classes, in->t->class_count, &in->w->mem, cut, &cuts))
        code = no_memory(err);
    for (uint32_t i = 0; i < cuts && code == HDX_OK; i++) {
        hdx_text name = in->t->classes[cut[i]].name;
        code = hdx_work_damage(in->w, HDX_DAMAGE_CYCLE, 0, "CLASS_DUMP", 0, err,
                               "superclasses of %.*s form a cycle; the chain ends there",
                               (int)(name.len > 60 ? 60 : name.len), name.at);
    }
    hdx_mem_put(&in->w->mem, cut, in->t->class_count * sizeof *cut);
    return code;
}

/* Sums the bytes of all fields of every class, and finds the nearest superclass that has fields. Chains end. */
static void sum_chains(const hdx_reading *in, uint32_t *path, uint32_t *above)
{
    const uint32_t id_size = in->dump->survey.head.id_size;
    for (uint32_t i = 0; i < in->t->class_count; i++) {
        if (i + AHEAD < in->t->class_count)
            hdx_lines_ahead(in->t->classes[i + AHEAD].fields, 128);
        in->t->lookup.layouts[i].bytes = hdx_class_own_bytes(&in->t->classes[i], id_size); /* its own, so far */
        above[i] = UNKNOWN;
    }
    for (uint32_t i = 0; i < in->t->class_count; i++) {
        uint32_t depth = 0;
        for (uint32_t c = i; c != HDX_NO_CLASS && above[c] == UNKNOWN; c = in->t->classes[c].super) {
            above[c] = HDX_NO_CLASS;
            path[depth++] = c;
        }
        while (depth > 0) {
            assert(depth <= in->t->class_count); /* T4 */
            const uint32_t c = path[--depth], super = in->t->classes[c].super;
            if (super == HDX_NO_CLASS)
                continue;
            const uint64_t higher = above[super] == HDX_NO_CLASS ? 0 : in->t->lookup.layouts[above[super]].bytes;
            above[c] = in->t->lookup.layouts[super].bytes > higher ? super : above[super];
            in->t->lookup.layouts[c].bytes += in->t->lookup.layouts[super].bytes;
        }
    }
}

/*
 * Finds the references of an instance of class i: own fields first, then those of the superclasses (HPROF 3.2). Stops
 * at the length of the longest record: so each field costs a byte of the dump, and long chains of classes whose
 * instances have no bytes cost nothing.
 */
static bool lay_out_one(const hdx_reading *in, uint32_t i, uint64_t longest, const uint32_t *above, uint64_t *capacity,
                        uint64_t *count)
{
    const uint32_t    id_size = in->dump->survey.head.id_size;
    hdx_class_layout *l = &in->t->lookup.layouts[i];
    uint64_t          at = 0;
    for (uint32_t c = i; c != HDX_NO_CLASS && at < longest; c = above[c]) {
        const hdx_class *k = &in->t->classes[c];
        for (uint32_t f = 0; f < k->field_count && at < longest; f++) {
            const uint8_t type = k->fields[f].type;
            if (type == 2 && longest - at >= id_size) {
                if (!hdx_mem_room(&in->w->mem, (void **)&in->t->lookup.offsets, capacity, *count,
                                  sizeof *in->t->lookup.offsets))
                    return false;
                in->t->lookup.offset_count = *capacity;
                in->t->lookup.offsets[(*count)++] = (uint32_t)at;                     /* below longest, which is a u4 */
                assert(l->references == 0 || in->t->lookup.offsets[*count - 2] < at); /* T6 */
                l->references++;
            }
            at += hdx_type_size(type, id_size);
        }
    }
    return true;
}

static hdx_code lay_out(const hdx_reading *in, const uint32_t *longest, hdx_error *err)
{
    uint64_t  capacity = 0, count = 0;
    uint32_t *path = hdx_mem_array(&in->w->mem, in->t->class_count, sizeof *path),
             *above = hdx_mem_array(&in->w->mem, in->t->class_count, sizeof *above);
    in->t->lookup.layouts = hdx_mem_array(&in->w->mem, in->t->class_count, sizeof *in->t->lookup.layouts);
    bool memory = path != NULL && above != NULL && in->t->lookup.layouts != NULL;
    if (memory && (memory = hdx_mem_room(&in->w->mem, (void **)&in->t->lookup.offsets, &capacity, 0,
                                         sizeof *in->t->lookup.offsets))) { /* not NULL: pointers into it are formed */
        in->t->lookup.offset_count = capacity;
        sum_chains(in, path, above);
        for (uint32_t i = 0; i < in->t->class_count && memory; i++) {
            in->t->lookup.layouts[i].first = count;
            if (in->t->classes[i].kind == HDX_INSTANCE)
                memory = lay_out_one(in, i, longest[i], above, &capacity, &count);
        }
    }
    hdx_mem_put(&in->w->mem, path, in->t->class_count * sizeof *path);
    hdx_mem_put(&in->w->mem, above, in->t->class_count * sizeof *above);
    return memory ? HDX_OK : no_memory(err);
}

hdx_code hdx_classes_lay_out(const hdx_reading *in, const uint32_t *longest, hdx_error *err)
{
    const hdx_code code = cut_cycles(in, err);
    return code == HDX_OK ? lay_out(in, longest, err) : code;
}

hdx_code hdx_classes_size(hdx_work *w, hdx_dump_tables *t, hdx_error *err)
{
    return hdx_model_sizes(&t->sizing, t->classes, t->class_count, &w->mem) ? HDX_OK : no_memory(err);
}

hdx_pos hdx_class_misfit(const hdx_dump_tables *t, const hdx_class_use *use)
{
    const uint32_t number = use->instances == 0 ? HDX_NO_CLASS : hdx_class_at(t, use->addr);
    if (number == HDX_NO_CLASS || (t->classes[number].flags & HDX_CLASS_OPAQUE) != 0)
        return 0;
    if (t->lookup.layouts[number].bytes != use->first_bytes)
        return use->first_pos + 1;
    return use->other_pos == 0 ? 0 : use->other_pos + 1;
}

uint64_t hdx_classes_reference_bound(const hdx_dump_tables *t)
{
    uint64_t bound = t->lookup.local_count + t->lookup.elements;
    for (uint32_t i = 0; i < t->class_count; i++) {
        const uint64_t records =
            t->classes[i].instances - (i == t->class_class ? t->class_count : 0); /* class objects have none */
        bound += 2u + t->classes[i].static_count + records * t->lookup.layouts[i].references;
    }
    return bound;
}
