/*
 * values.c - getters and cursors with a fault behind them: each gives the harmless value that <heapdex/graph.h> names.
 * Functions that give an hdx_code have wrappers without being named here. `ctest -R house.faults` says which function
 * of the two headers is missing.
 */
#include "faults/faults.h"

#define VALUE_OF(graph, type, name, parameters, arguments, harmless)                                                   \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters { return fault_in_value(graph, #name) ? (harmless) : __real_##name arguments; }
#define VALUE(type, name, parameters, arguments, harmless) VALUE_OF(g, type, name, parameters, arguments, harmless)
/* Of a table that is read once, whole or not at all: as if it never could be. */
#define OF_TABLE(table, type, name, parameters, arguments, harmless)                                                   \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters { return fault_in_table(table, g, #name) ? (harmless) : __real_##name arguments; }
#define FILLS(name, parameters, arguments, harmless)                                                                   \
    void __real_##name parameters;                                                                                     \
    void __wrap_##name parameters;                                                                                     \
    void __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        __real_##name arguments;                                                                                       \
        if (fault_in_value(g, #name)) {                                                                                \
            harmless;                                                                                                  \
        }                                                                                                              \
    }
#define EACH(n, out, value)                                                                                            \
    for (uint64_t i_ = 0; i_ < (n); i_++)                                                                              \
    (out)[i_] = (value)

/* ---- one object ---- */
VALUE(bool, hdx_graph_find, (const hdx_graph *g, hdx_addr address, hdx_id *id), (g, address, id), false)
VALUE(hdx_addr, hdx_graph_address, (const hdx_graph *g, hdx_id id), (g, id), 0)
VALUE(uint32_t, hdx_graph_class_of, (const hdx_graph *g, hdx_id id), (g, id), HDX_NO_CLASS)
VALUE(hdx_object_kind, hdx_graph_kind, (const hdx_graph *g, hdx_id id), (g, id), HDX_INSTANCE)
VALUE(uint64_t, hdx_graph_shallow, (const hdx_graph *g, hdx_id id), (g, id), 0)
VALUE(uint64_t, hdx_graph_length, (const hdx_graph *g, hdx_id id), (g, id), 0)
VALUE(uint64_t, hdx_graph_stored_length, (const hdx_graph *g, hdx_id id), (g, id), 0)
VALUE(int, hdx_graph_heap, (const hdx_graph *g, hdx_id id), (g, id), -1)
VALUE(bool, hdx_graph_position, (const hdx_graph *g, hdx_id id, hdx_pos *pos), (g, id, pos), false)
VALUE(bool, hdx_graph_live, (const hdx_graph *g, hdx_id id), (g, id), false)
VALUE(uint64_t, hdx_graph_retained, (const hdx_graph *g, hdx_id id), (g, id), 0)
VALUE(hdx_id, hdx_graph_dominator, (const hdx_graph *g, hdx_id id), (g, id), HDX_NO_ID)
VALUE(hdx_id, hdx_graph_nearest, (const hdx_graph *g, hdx_id id), (g, id), HDX_NO_ID)
VALUE(bool, hdx_graph_text_absent, (hdx_graph * g, hdx_id id), (g, id), false)

/* ---- runs ---- */
FILLS(hdx_graph_read_addresses, (const hdx_graph *g, hdx_id first, uint32_t n, hdx_addr *out), (g, first, n, out),
      EACH(n, out, 0))
FILLS(hdx_graph_read_classes, (const hdx_graph *g, hdx_id first, uint32_t n, uint32_t *out), (g, first, n, out),
      EACH(n, out, HDX_NO_CLASS))
FILLS(hdx_graph_read_kinds, (const hdx_graph *g, hdx_id first, uint32_t n, uint8_t *out), (g, first, n, out),
      EACH(n, out, HDX_INSTANCE))
FILLS(hdx_graph_read_lengths, (const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out), (g, first, n, out),
      EACH(n, out, 0))
FILLS(hdx_graph_read_stored_lengths, (const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out), (g, first, n, out),
      EACH(n, out, 0))
FILLS(hdx_graph_read_shallow, (const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out), (g, first, n, out),
      EACH(n, out, 0))
FILLS(hdx_graph_read_retained, (const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out), (g, first, n, out),
      EACH(n, out, 0))
FILLS(hdx_graph_read_positions, (const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out), (g, first, n, out),
      EACH(n, out, 0))
FILLS(hdx_graph_read_heaps, (const hdx_graph *g, hdx_id first, uint32_t n, int32_t *out), (g, first, n, out),
      EACH(n, out, -1))
FILLS(hdx_graph_read_live, (const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out), (g, first, n, out),
      EACH((n + 63) / 64, out, 0))
FILLS(hdx_graph_read_dominators, (const hdx_graph *g, hdx_id first, uint32_t n, hdx_id *out), (g, first, n, out),
      EACH(n, out, HDX_NO_ID))
FILLS(hdx_graph_read_nearest, (const hdx_graph *g, hdx_id first, uint32_t n, hdx_id *out), (g, first, n, out),
      EACH(n, out, HDX_NO_ID))
FILLS(hdx_graph_find_many, (const hdx_graph *g, const hdx_addr *addresses, size_t n, hdx_id *ids),
      (g, addresses, n, ids), EACH(n, ids, HDX_NO_ID))
FILLS(hdx_graph_read_counts,
      (hdx_graph * g, hdx_refs_scope scope, hdx_id first, uint32_t n, uint64_t *outbound, uint64_t *inbound),
      (g, scope, first, n, outbound, inbound), if (outbound != NULL) EACH(n, outbound, 0);
      if (inbound != NULL) EACH(n, inbound, 0))
VALUE(size_t, hdx_graph_garbage, (const hdx_graph *g, hdx_id *from, hdx_id *ids, size_t n), (g, from, ids, n), 0)
VALUE(hdx_id, hdx_graph_first_at, (const hdx_graph *g, hdx_addr address), (g, address), hdx_graph_objects(g))
VALUE(uint32_t, hdx_graph_read_outbound,
      (const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *lengths, hdx_id *out, uint64_t room),
      (g, first, n, lengths, out, room), 0)

/* ---- classes ---- */
OF_TABLE(FAULT_CLASSES, const hdx_class *, hdx_graph_classes, (hdx_graph * g, uint32_t *count), (g, count),
         (*count = 0, NULL))
OF_TABLE(FAULT_CLASSES, const hdx_class *, hdx_graph_class, (hdx_graph * g, uint32_t number), (g, number), NULL)
OF_TABLE(FAULT_CLASSES, const hdx_class *, hdx_graph_class_object, (hdx_graph * g, hdx_id id), (g, id), NULL)
OF_TABLE(FAULT_CLASSES, const hdx_class *, hdx_graph_class_named, (hdx_graph * g, const char *name), (g, name), NULL)
OF_TABLE(FAULT_CLASSES, bool, hdx_class_extends, (hdx_graph * g, uint32_t number, uint32_t ancestor),
         (g, number, ancestor), false)
bool __real_hdx_field_walk_next(hdx_field_walk *layout, hdx_field_place *out);
bool __wrap_hdx_field_walk_next(hdx_field_walk *layout, hdx_field_place *out);
bool __wrap_hdx_field_walk_next(hdx_field_walk *layout, hdx_field_place *out)
{
    return !fault_in_table(FAULT_CLASSES, layout->graph, "hdx_field_walk_next") &&
           __real_hdx_field_walk_next(layout, out);
}
void __real_hdx_class_heirs(hdx_graph *g, uint32_t number, uint64_t *bits);
void __wrap_hdx_class_heirs(hdx_graph *g, uint32_t number, uint64_t *bits);
void __wrap_hdx_class_heirs(hdx_graph *g, uint32_t number, uint64_t *bits)
{
    if (!fault_in_table(FAULT_CLASSES, g, "hdx_class_heirs"))
        __real_hdx_class_heirs(g, number, bits);
}

/* ---- cursors ---- */
/* The first thing in a cursor (src/graph/refs.c). */
static hdx_graph *graph_of(const hdx_refs *cursor)
{
    hdx_graph *g;
    memcpy(&g, cursor->inside, sizeof g);
    return g;
}
#define OF_CURSOR graph_of(cursor)
VALUE_OF(OF_CURSOR, bool, hdx_refs_next, (hdx_refs * cursor, hdx_id *id), (cursor, id), false)
VALUE_OF(OF_CURSOR, size_t, hdx_refs_take, (hdx_refs * cursor, hdx_id *ids, size_t n), (cursor, ids, n), 0)
VALUE(uint64_t, hdx_graph_outbound_count, (hdx_graph * g, hdx_id id, hdx_refs_scope scope), (g, id, scope), 0)
VALUE(uint64_t, hdx_graph_inbound_count, (hdx_graph * g, hdx_id id, hdx_refs_scope scope), (g, id, scope), 0)

/* ---- roots, threads, heaps ---- */
OF_TABLE(FAULT_ROOTS, const hdx_root *, hdx_graph_roots, (hdx_graph * g, uint64_t *count), (g, count),
         (*count = 0, NULL))
OF_TABLE(FAULT_THREADS, const hdx_thread *, hdx_graph_threads, (hdx_graph * g, uint64_t *count), (g, count),
         (*count = 0, NULL))
OF_TABLE(FAULT_HEAPS, const hdx_heap_space *, hdx_graph_heaps, (hdx_graph * g, uint64_t *count), (g, count),
         (*count = 0, NULL))
OF_TABLE(FAULT_THREADS, const hdx_thread *, hdx_graph_thread_of, (hdx_graph * g, hdx_id object), (g, object), NULL)

/*
 * What has no fault of its own: it reads nothing of an index that is open, or begins what the calls above go on with.
 *
 * SOUND hdx_graph_close hdx_graph_handle_fault hdx_graph_summary_of hdx_graph_file hdx_graph_step hdx_graph_view_at
 * SOUND hdx_graph_record_name hdx_graph_objects hdx_graph_ahead hdx_graph_ahead_find hdx_field_walk_of
 * SOUND hdx_graph_outbound hdx_graph_inbound hdx_graph_dominated hdx_graph_instances hdx_values_free
 * SOUND hdx_instances_close hdx_graph_lacks_dump hdx_text_free hdx_ref_kind_name hdx_graph_identity
 * SOUND hdx_graph_view_name hdx_graph_value_of hdx_graph_near_begin hdx_graph_near_end hdx_graph_all_live
 * SOUND hdx_class_of_strings hdx_put_units hdx_graph_size_of_array hdx_graph_recall hdx_graph_remember
 * SOUND hdx_class_of_bytes hdx_graph_saved_name hdx_graph_saved hdx_put hdx_graph_wiped
 */
