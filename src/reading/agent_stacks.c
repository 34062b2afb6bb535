/*
 * agent_stacks.c - assigns stacks to threads in a dump that the serviceability agent wrote (jhsdb jmap, from a core or
 * a process that hangs).
 *
 * In:  traces, the threads that roots name, in the order of the file; the dump once more.
 * Out: the trace of each thread.
 *
 * The agent numbers its ROOT_THREAD_OBJECT records over all threads, but its STACK_TRACE records over those that are
 * not hidden from tools: compiler threads, "Service Thread", "Monitor Deflation Thread" and "Sweeper thread" are hidden
 * (JavaThread.isHiddenFromExternalView, seen with JDK 17.0.15 and 25.0.3). So the n-th trace belongs to the n-th thread
 * that is not hidden. Only the names of threads show which are hidden. If the numbers do not match, no thread gets a
 * stack.
 *
 * Cost: three walks through the dump, for names of threads, their Strings and the arrays of these.
 */
#include "reading/reading.h"

#define NAME_BYTES 96u /* hidden threads have shorter names, even in UTF-16 */

typedef struct name {
    hdx_addr at;    /* of the thread, then of its name, then of the name's array */
    hdx_pos  where; /* of the record that was found; 0: none */
    uint64_t next;  /* index + 1 of another one at the same address */
} name;

typedef struct finder {
    const hdx_reading *in;
    name              *names;
    uint64_t           count;
    hdx_map            places; /* address to find -> index + 1 of a name that has it */
    const char        *owner, *field;
    pthread_mutex_t    lock; /* guards names */
} finder;

bool hdx_is_of_agent(const hdx_scan_stacks *stacks, const hdx_agent_thread *threads, uint64_t count)
{
    uint64_t dummies = 0, named = 0;
    for (uint64_t i = 0; i < stacks->traces.count; i++)
        dummies += stacks->traces.at[i].serial == 1 && stacks->traces.at[i].thread == 0;
    for (uint64_t i = 0; i < count; i++)
        named += threads[i].trace == 1;
    return count > 1 && named == count && dummies == 2;
}

/* ---- names, found in three walks ---- */

/*
 * Finds the offset of a field in the record of an instance; false: its class has no such field, or it is not a
 * reference.
 */
static bool find_field(const finder *f, hdx_addr class_addr, uint64_t *at)
{
    const hdx_dump_tables *t = f->in->t;
    uint64_t               offset = 0;
    for (uint32_t c = hdx_class_at(t, class_addr); c != HDX_NO_CLASS; c = t->classes[c].super)
        for (uint32_t k = 0; k < t->classes[c].field_count; k++) {
            const hdx_field *field = &t->classes[c].fields[k];
            if (hdx_text_is(t->classes[c].name, f->owner) && hdx_text_is(field->name, f->field) && field->type == 2) {
                *at = offset;
                return true;
            }
            offset += hdx_type_size(field->type, t->sizing.id_size);
        }
    return false;
}

static void take_reference(finder *f, const hdx_event *e, uint64_t first)
{
    const uint32_t id_size = f->in->t->sizing.id_size;
    uint64_t       at;
    hdx_addr       target = 0;
    if (find_field(f, e->class_addr, &at) && e->body != NULL && at + id_size <= e->body_len)
        target = hdx_be_id(e->body + at, id_size);
    for (uint64_t i = first; i > 0 && f->names[i - 1].where == 0; i = f->names[i - 1].next) {
        f->names[i - 1].at = target;
        f->names[i - 1].where = e->pos;
    }
}

static hdx_code on_events(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    finder *f = context;
    (void)worker;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *place = events[i].addr == 0 ? NULL : hdx_map_get(&f->places, events[i].addr);
        if (place == NULL)
            continue;
        (void)pthread_mutex_lock(&f->lock);
        if (events[i].tag == HDX_SUB_INSTANCE)
            take_reference(f, &events[i], *place);
        else if (events[i].tag == HDX_SUB_PRIMITIVE_ARRAY && f->field == NULL)
            for (uint64_t k = *place; k > 0; k = f->names[k - 1].next)
                f->names[k - 1].where = events[i].pos;
        (void)pthread_mutex_unlock(&f->lock);
    }
    return HDX_OK;
}

static hdx_code on_begin(void *context, unsigned worker, uint64_t stretch, hdx_error *err)
{
    const finder *f = context;
    (void)worker;
    (void)stretch;
    return hdx_tick(&f->in->w->tick, 0) ? hdx_tick_stop(err) : HDX_OK;
}

static hdx_code on_end(void *context, unsigned worker, uint64_t stretch, hdx_error *err)
{
    (void)context;
    (void)worker;
    (void)stretch;
    (void)err;
    return HDX_OK;
}

/* owner NULL: arrays are searched. */
static hdx_code walk(finder *f, const char *owner, const char *field, hdx_error *err)
{
    const hdx_walk_visitor visitor = { f, on_begin, on_events, on_end };
    const hdx_reading     *in = f->in;
    hdx_code               code = HDX_OK;
    f->owner = owner;
    f->field = field;
    f->places = hdx_map_of(&in->w->mem);
    for (uint64_t i = 0; code == HDX_OK && i < f->count; i++) {
        uint64_t *place = f->names[i].at == 0 ? NULL : hdx_map_put(&f->places, f->names[i].at, NULL);
        f->names[i].where = f->names[i].next = 0;
        if (place != NULL) {
            f->names[i].next = *place;
            *place = i + 1;
        } else if (f->names[i].at != 0)
            code = hdx_no_memory(err, "names of threads", f->count * sizeof *f->names);
    }
    if (code == HDX_OK)
        code =
            hdx_hprof_walk(in->dump->source, &in->dump->survey, in->w->threads, &visitor, NULL, &in->w->mem, NULL, err);
    for (uint64_t i = 0; i < f->count; i++)
        f->names[i].at = f->names[i].where == 0 ? 0 : f->names[i].at;
    hdx_map_free(&f->places);
    return code;
}

/* Reads ASCII text, skipping the zero bytes of UTF-16; "" if the dump lacks the name. */
static hdx_code read_name(const finder *f, const name *n, char text[NAME_BYTES + 1], hdx_error *err)
{
    hdx_source *source = f->in->dump->source;
    hdx_event   record;
    hdx_pos     at;
    uint64_t    len;
    uint8_t     bytes[NAME_BYTES];
    size_t      got = 0, used = 0;
    hdx_code    code = HDX_OK;
    if (n->at != 0 &&
        (code = hdx_hprof_record_at(source, f->in->t->sizing.id_size, n->where, &record, &at, &len, err)) == HDX_OK)
        code = hdx_source_read_at(source, at, bytes, (size_t)hdx_least(len, NAME_BYTES), &got, err);
    for (size_t i = 0; i < got; i++)
        if (bytes[i] != 0)
            text[used++] = (char)bytes[i];
    text[used] = '\0';
    return code;
}

/* ---- hidden threads ---- */

static bool is_hidden(const char *text)
{
    static const char *const hidden[] = { "Service Thread", "Monitor Deflation Thread", "Sweeper thread" };
    const char              *compiler = strstr(text, "CompilerThread");
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (strcmp(text, hidden[i]) == 0)
            return true;
    return compiler != NULL && compiler[14] != '\0' && compiler[14 + strspn(compiler + 14, "0123456789")] == '\0';
}

/* Assigns the traces in the order of the file, except for the two dummies. */
static hdx_code assign(const finder *f, hdx_agent_thread *threads, bool *fits, hdx_error *err)
{
    const hdx_scan_stacks *stacks = &f->in->dump->scan.stacks;
    char                   text[NAME_BYTES + 1];
    uint64_t               next = 0;
    hdx_code               code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < f->count; i++) {
        threads[i].place = HDX_NO_TRACE;
        if ((code = read_name(f, &f->names[i], text, err)) != HDX_OK || is_hidden(text))
            continue;
        while (next < stacks->traces.count && stacks->traces.at[next].thread == 0)
            next++;
        threads[i].place = next < stacks->traces.count ? next : HDX_NO_TRACE;
        *fits = *fits && next < stacks->traces.count;
        next++;
    }
    for (; next < stacks->traces.count; next++)
        *fits = *fits && stacks->traces.at[next].thread == 0;
    return code;
}

hdx_code hdx_agent_stacks(const hdx_reading *in, hdx_agent_thread *threads, uint64_t count, bool *fits, hdx_error *err)
{
    hdx_mem *mem = &in->w->mem;
    finder   f = { .in = in, .count = count, .names = hdx_mem_array(mem, count, sizeof *f.names) };
    hdx_code code = HDX_OK;
    *fits = true;
    if (f.names == NULL)
        return hdx_no_memory(err, "names of threads", count * sizeof *f.names);
    (void)pthread_mutex_init(&f.lock, NULL);
    for (uint64_t i = 0; i < count; i++)
        f.names[i].at = hdx_addresses_at(in->t->lookup.ids, threads[i].object);
    if ((code = walk(&f, "java.lang.Thread", "name", err)) == HDX_OK &&
        (code = walk(&f, "java.lang.String", "value", err)) == HDX_OK && (code = walk(&f, NULL, NULL, err)) == HDX_OK)
        code = assign(&f, threads, fits, err);
    (void)pthread_mutex_destroy(&f.lock);
    hdx_mem_put(mem, f.names, count * sizeof *f.names);
    return code;
}
