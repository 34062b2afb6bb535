/*
 * histogram.h - the histogram, retained sizes of many sets of classes at once (groups.c) and kept beside the index
 * (kept.c), names of classes made at run time (hidden_names.c).
 */
#ifndef HDX_QUERY_HISTOGRAM_HISTOGRAM_H
#define HDX_QUERY_HISTOGRAM_HISTOGRAM_H

#include "query/query.h"

/*
 * Retained sizes of many sets of classes (MAT 6.5): set k holds the class objects and all live instances of each of its
 * classes, and the objects named beside. Sets of a class c: set[at[c]] .. set[at[c + 1] - 1]; a class may be in
 * several.
 */
typedef struct hdx_class_sets {
    uint32_t        count; /* sets */
    uint32_t        classes;
    const uint32_t *at; /* classes + 1 entries */
    const uint32_t *set;
    uint32_t        more_count; /* objects that belong to a set beside its classes: loaders */
    const hdx_id   *more;       /* any order */
    const uint32_t *more_set;
    uint64_t        room; /* entries of the working tables; 0: as many as are good (tests make it small) */
} hdx_class_sets;
hdx_by hdx_histogram_by(const hdx_arguments *a);
/* Are retained sizes asked for, by the flag or by the column's name; can they be? */
bool hdx_histogram_retains(const hdx_query *q, const hdx_arguments *a);
/* hdx_query_histogram_of that counts what it holds. */
hdx_code hdx_histogram_of(hdx_mem *mem, const hdx_class *classes, uint32_t count, const hdx_arguments *a,
                          hdx_rows **out, hdx_error *err);
hdx_code hdx_histogram_check(const hdx_query *q, const hdx_arguments *a, hdx_error *err);
/*
 * What was computed before, at the numbers of classes that stand for a group; hdx_mem_array(mem, classes, 8); NULL: no
 * memory. Keeping it fails in silence.
 */
#define HDX_KEPT_UNKNOWN UINT64_MAX
uint64_t *hdx_kept_retained(hdx_mem *mem, hdx_graph *g, hdx_by by, uint32_t classes);
hdx_code  hdx_query_kept_verify(const hdx_query *q, hdx_error *err); /* computes them again; HDX_DAMAGED: they differ */
void      hdx_keep_retained(hdx_mem *mem, hdx_graph *g, hdx_by by, const uint64_t *bytes, uint32_t classes);
hdx_code  hdx_class_sets_retained(const hdx_query *q, const hdx_class_sets *sets, uint64_t *bytes, hdx_error *err);

/* The name that a class made at run time shares with others of its kind (hidden_names.c); false: it is none of these.
 */
bool hdx_hidden_name(hdx_text name, hdx_buffer *out);
/*
 * By which a class of one heap is that of another: its name, or what is left of it without what differs from run to
 * run. In `scratch`, or `name` itself; scratch->failed: no memory.
 */
hdx_text hdx_class_key(hdx_text name, hdx_buffer *scratch);

hdx_code hdx_query_histogram(const hdx_query *q, hdx_by by, const char *class_pattern, bool retained, hdx_rows **out,
                             hdx_error *err);
/*
 * The same of all objects, from a table of classes alone (counts.h), which must outlive the rows; by: class, package,
 * loader or superclass.
 */
hdx_code hdx_query_histogram_of(const hdx_class *classes, uint32_t count, hdx_by by, const char *class_pattern,
                                hdx_rows **out, hdx_error *err);

#endif
