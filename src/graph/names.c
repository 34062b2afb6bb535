/*
 * names.c - the references of an object with their names: fields, elements, statics, locals of threads.
 *
 * In:  the class and locals from the index; field values, elements and statics from the dump.
 * Out: one visit for each reference that leads to an object, in MAT's order (MAT 3.3, 3.4, 3.6).
 * References without a name of their own get MAT's names. Two fields with the same target are two visits, so this list
 * may be longer than the outbound set.
 * Cost: one record; with only_target an array's elements are compared one by one, and none is stored.
 */
#include "graph/inside.h"

#include <stdio.h>

#define PIECE 4096u

typedef struct visitor {
    hdx_graph *g;
    hdx_id     only; /* HDX_NO_ID: every target */
    bool (*visit)(void *context, const hdx_named_ref *ref);
    void        *context;
    bool         stopped;
    hdx_cut_list cut; /* excluded by the view */
    hdx_error   *err;
} visitor;

const char *hdx_ref_kind_name(hdx_ref_kind kind)
{
    static const char *const names[] = { "class", "super", "loader", "signers", "domain",
                                         "local", "field", "static", "element" };
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

/* Copies a name of the dump: never empty, without NULs, cut between characters. */
static void copy_name(char *to, size_t room, hdx_text name)
{
    size_t n = hdx_least(name.len, room - 1);
    if (n < name.len)
        while (n > 0 && ((uint8_t)name.at[n] & 0xc0) == 0x80)
            n--;
    for (size_t i = 0; i < n; i++)
        to[i] = name.at[i] != '\0' ? name.at[i] : '?';
    to[n] = '\0';
    if (n == 0)
        (void)snprintf(to, room, "<unnamed>");
}

static void give(visitor *v, hdx_id target, hdx_ref_kind kind, hdx_text name, uint32_t owner)
{
    if (v->stopped || (v->only != HDX_NO_ID && v->only != target) ||
        (kind != HDX_REF_CLASS && hdx_cut_has(&v->cut, target)))
        return;
    hdx_named_ref ref = { .target = target, .kind = kind, .owner = owner };
    copy_name(ref.name, sizeof ref.name, name);
    v->stopped = !v->visit(v->context, &ref);
}

static void give_plain(visitor *v, hdx_id target, hdx_ref_kind kind, const char *name)
{
    give(v, target, kind, (hdx_text){ name, (uint32_t)strlen(name) }, HDX_NO_CLASS);
}

static void give_address(visitor *v, hdx_addr address, hdx_ref_kind kind, const char *name)
{
    hdx_id target;
    if (hdx_graph_find(v->g, address, &target))
        give_plain(v, target, kind, name);
}

/* ---- locals ---- */

/* The types of locals in the order in which MAT joins their names: the bits of GCRootInfo.Type. */
static const hdx_root_type joined[] = {
    HDX_ROOT_UNKNOWN,      HDX_ROOT_SYSTEM_CLASS, HDX_ROOT_NATIVE_LOCAL, HDX_ROOT_NATIVE_STATIC, HDX_ROOT_THREAD_BLOCK,
    HDX_ROOT_BUSY_MONITOR, HDX_ROOT_JAVA_LOCAL,   HDX_ROOT_NATIVE_STACK, HDX_ROOT_THREAD_OBJ,    HDX_ROOT_JNI_MONITOR,
};

static void give_local(visitor *v, hdx_id target, unsigned types)
{
    char        name[160];
    size_t      n = 0;
    const char *between = "<";
    for (size_t i = 0; i < sizeof joined / sizeof *joined; i++)
        if ((types >> joined[i] & 1) != 0) {
            n += (size_t)snprintf(name + n, sizeof name - n, "%s%s", between, hdx_root_type_title(joined[i]));
            between = ", ";
        }
    (void)snprintf(name + n, sizeof name - n, "%s", n == 0 ? "<Local>" : ">");
    give_plain(v, target, HDX_REF_LOCAL, name);
}

static hdx_code locals(visitor *v, hdx_id id)
{
    const hdx_root *at = NULL;
    uint64_t        count;
    hdx_code        code = hdx_graph_locals(v->g, id, &at, &count, v->err);
    if (code != HDX_OK)
        return code;
    for (uint64_t i = 0; i < count && !v->stopped;) {
        hdx_id   target = at[i].object;
        unsigned types = 0;
        for (; i < count && at[i].object == target; i++)
            types |= 1u << at[i].type; /* the catalog contains no other types */
        give_local(v, target, types);
    }
    return HDX_OK;
}

/* ---- fields, statics, elements ---- */

static void give_values(visitor *v, const hdx_values *values, hdx_ref_kind kind)
{
    for (uint64_t i = 0; i < values->count && !v->stopped; i++) {
        const hdx_field_value *f = &values->at[i];
        hdx_id                 target;
        if (f->value.type == 2 && !f->value.absent && f->value.as.address != 0 &&
            hdx_graph_find(v->g, f->value.as.address, &target))
            give(v, target, kind, f->name, f->owner);
    }
}

static bool declares_references(const hdx_class *c)
{
    for (uint32_t f = 0; f < c->field_count; f++)
        if (c->fields[f].type == 2)
            return true;
    return false;
}

/* Returns whether the class or a superclass has a reference field. Each chain of superclasses is walked once. */
static bool has_references(const hdx_class_table *t, uint32_t number)
{
    enum { UNKNOWN, NONE, SOME }; /* hdx_class_table.references */
    uint8_t  found = UNKNOWN;
    uint32_t c = number;
    for (; c != HDX_NO_CLASS && (found = __atomic_load_n(&t->references[c], __ATOMIC_RELAXED)) == UNKNOWN;
         c = t->at[c].super)
        if (declares_references(&t->at[c])) {
            __atomic_store_n(&t->references[c], SOME, __ATOMIC_RELAXED);
            found = SOME;
            break;
        }
    found = found == UNKNOWN ? NONE : found;
    for (c = number; c != HDX_NO_CLASS && __atomic_load_n(&t->references[c], __ATOMIC_RELAXED) == UNKNOWN;
         c = t->at[c].super)
        __atomic_store_n(&t->references[c], found, __ATOMIC_RELAXED);
    return found == SOME;
}

static hdx_code fields(visitor *v, const hdx_class_table *t, uint32_t number, hdx_id id)
{
    if (!has_references(t, number))
        return HDX_OK; /* the dump is not needed then */
    hdx_values values = { 0 };
    hdx_code   code = hdx_graph_fields_present(v->g, id, &values, v->err);
    if (code == HDX_OK)
        give_values(v, &values, HDX_REF_FIELD);
    hdx_values_free(&values);
    return code;
}

static hdx_code class_object(visitor *v, const hdx_class *c)
{
    if (c->super_address != 0)
        give_address(v, c->super_address, HDX_REF_SUPER, "<super>");
    give_address(v, c->loader, HDX_REF_LOADER,
                 "<classloader>"); /* always, even for the boot loader at address 0 (MAT 3.3) */
    if (c->signers != 0)
        give_address(v, c->signers, HDX_REF_SIGNERS, "<signers>");
    if (c->domain != 0)
        give_address(v, c->domain, HDX_REF_DOMAIN, "<protectionDomain>");
    bool references = false;
    for (uint32_t s = 0; s < c->static_count; s++)
        references = references || c->statics[s].type == 2;
    if (!references || v->stopped)
        return HDX_OK;
    hdx_values values = { 0 };
    hdx_code   code = hdx_graph_statics(v->g, c->id, &values, v->err);
    if (code == HDX_OK)
        give_values(v, &values, HDX_REF_STATIC);
    hdx_values_free(&values);
    return code;
}

static void give_element(visitor *v, uint64_t index, hdx_id target)
{
    char name[32];
    (void)snprintf(name, sizeof name, "[%llu]", (unsigned long long)index);
    give_plain(v, target, HDX_REF_ELEMENT, name);
}

static void give_elements(visitor *v, uint64_t first, uint64_t n, const uint8_t *bytes)
{
    const unsigned size = v->g->m->id_size;
    hdx_addr       addresses[PIECE / 4];
    hdx_id         ids[PIECE / 4];
    for (uint64_t i = 0; i < n; i++)
        addresses[i] = hdx_be_id(bytes + i * size, size);
    hdx_graph_find_many(v->g, addresses, n, ids);
    for (uint64_t i = 0; i < n && !v->stopped; i++)
        if (addresses[i] != 0 && ids[i] != HDX_NO_ID)
            give_element(v, first + i, ids[i]);
}

/*
 * Returns the index of the first of n elements, starting at `from`, that has these bytes; n: none. Tables of maps have
 * a million elements: eight are compared at a time, without a branch each.
 */
static uint64_t find_element(const uint8_t *bytes, uint64_t from, uint64_t n, unsigned size, const uint8_t *wanted)
{
    for (; from < n; from++) {
        while (n - from >= 8) {
            unsigned any = 0;
            for (unsigned i = 0; i < 8; i++)
                any |= size == 4 ? hdx_le32(bytes + 4 * (from + i)) == hdx_le32(wanted)
                                 : hdx_le64(bytes + 8 * (from + i)) == hdx_le64(wanted);
            if (any != 0)
                break;
            from += 8;
        }
        if (from < n && memcmp(bytes + size * from, wanted, size) == 0)
            return from;
    }
    return n;
}

static void give_only(visitor *v, uint64_t first, uint64_t n, const uint8_t *bytes)
{
    const unsigned size = v->g->m->id_size;
    const hdx_addr only = hdx_graph_address(v->g, v->only);
    uint8_t        wanted[8];
    for (unsigned i = 0; i < size; i++)
        wanted[i] = (uint8_t)(only >> (8 * (size - 1 - i)));
    for (uint64_t i = 0; only != 0 && !v->stopped && (i = find_element(bytes, i, n, size, wanted)) < n; i++)
        give_element(v, first + i, v->only);
}

static hdx_code elements(visitor *v, hdx_id id)
{
    uint8_t    bytes[PIECE];
    hdx_record r;
    bool       there;
    unsigned   size = v->g->m->id_size;
    uint64_t   length = hdx_graph_length(v->g, id), got;
    if (length == 0)
        return HDX_OK;
    hdx_code code = hdx_graph_record(v->g, id, &r, &there, v->err);
    if (code != HDX_OK || !there)
        return code;
    for (uint64_t first = 0; first < length && !v->stopped; first += got) {
        const uint64_t n = hdx_least(length - first, PIECE / size);
        if ((code = hdx_record_elements(&r, size, first, n, bytes, &got, v->err)) != HDX_OK)
            return code;
        if (v->only == HDX_NO_ID)
            give_elements(v, first, got, bytes);
        else
            give_only(v, first, got, bytes);
        if (got < n)
            break;
    }
    return HDX_OK;
}

hdx_code hdx_graph_named_refs(hdx_graph *g, hdx_id id, hdx_id only_target,
                              bool (*visit)(void *context, const hdx_named_ref *ref), void *context, hdx_error *err)
{
    visitor                v = { .g = g,
                                 .only = only_target,
                                 .visit = visit,
                                 .context = context,
                                 .cut = hdx_graph_cut_of(g, id, false),
                                 .err = err };
    const hdx_class_table *t = hdx_graph_class_table(g);
    uint32_t               number = t != NULL ? hdx_graph_class_of(g, id) : HDX_NO_CLASS;
    hdx_code               code;
    if (number == HDX_NO_CLASS)
        return HDX_OK;
    const hdx_class *c = &t->at[number], *own = t->mirror[number] ? hdx_class_of_object(t, id) : NULL;
    give_plain(&v, c->id, HDX_REF_CLASS, "<class>");
    if (c->kind == HDX_INSTANCE && (code = locals(&v, id)) != HDX_OK)
        return code;
    if (v.stopped)
        return HDX_OK;
    if (own != NULL)
        return class_object(&v, own);
    if (c->kind == HDX_INSTANCE)
        return fields(&v, t, number, id);
    return c->kind == HDX_OBJECT_ARRAY ? elements(&v, id) : HDX_OK;
}
