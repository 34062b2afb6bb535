/*
 * histogram.h - the histogram, retained sizes of many sets of classes at once (groups.c), their saved results
 * (saved.c), names of classes that are created at run time (hidden_names.c).
 */
#ifndef HDX_QUERY_HISTOGRAM_HISTOGRAM_H
#define HDX_QUERY_HISTOGRAM_HISTOGRAM_H

#include "query/query.h"

/*
 * Input for retained sizes of many sets of classes (MAT 6.5): set k contains the class objects and all live instances
 * of its classes, and additional objects. The sets of class c are set[at[c]] .. set[at[c + 1] - 1]; a class may be in
 * several.
 */
typedef struct hdx_class_sets {
    uint32_t        count; /* number of sets */
    uint32_t        classes;
    const uint32_t *at; /* classes + 1 entries */
    const uint32_t *set;
    uint32_t        more_count; /* objects that belong to a set in addition to its classes: loaders */
    const hdx_id   *more;       /* in any order */
    const uint32_t *more_set;
    uint64_t        room; /* entries of the working tables; 0: chosen for speed (tests use small ones) */
} hdx_class_sets;
hdx_by hdx_histogram_by(const hdx_arguments *a);
/* Returns whether retained sizes are requested, by the flag or by the name of the column, and can be computed. */
bool hdx_histogram_retains(const hdx_query *q, const hdx_arguments *a);
/* Returns whether the caller named the column origin, which is complete only with an index. */
bool hdx_histogram_names_origins(const hdx_query *q, const hdx_arguments *a);
/* Same as hdx_query_histogram_of, with memory accounting. */
hdx_code hdx_histogram_of(hdx_mem *mem, const hdx_class *classes, uint32_t count, const hdx_arguments *a,
                          hdx_rows **out, hdx_error *err);
hdx_code hdx_histogram_check(const hdx_query *q, const hdx_arguments *a, hdx_error *err);
/*
 * Returns retained sizes that were saved before, indexed by the class numbers that represent groups; allocated by
 * hdx_mem_array(mem, classes, 8); NULL: no memory. Unknown ones are HDX_RETAINED_UNKNOWN. hdx_save_retained saves them;
 * its failures are ignored.
 */
#define HDX_RETAINED_UNKNOWN UINT64_MAX
uint64_t *hdx_saved_retained(hdx_mem *mem, hdx_graph *g, hdx_by by, uint32_t classes);
hdx_code hdx_query_saved_verify(const hdx_query *q, hdx_error *err); /* computes them again; HDX_DAMAGED: they differ */
void     hdx_save_retained(hdx_mem *mem, hdx_graph *g, hdx_by by, const uint64_t *bytes, uint32_t classes);
hdx_code hdx_class_sets_retained(const hdx_query *q, const hdx_class_sets *sets, uint64_t *bytes, hdx_error *err);

/*
 * Returns the name that a class created at run time shares with others of its kind (hidden_names.c); false: it has
 * none.
 */
bool hdx_hidden_name(hdx_text name, hdx_buffer *out);
/*
 * Returns the text by which classes of different heaps are matched: the name, without parts that differ from run to
 * run. It is in `scratch`, or `name` itself; scratch->failed: no memory.
 */
hdx_text hdx_class_key(hdx_text name, hdx_buffer *scratch);

hdx_code hdx_query_histogram(const hdx_query *q, hdx_by by, const char *class_pattern, bool retained, hdx_rows **out,
                             hdx_error *err);
/*
 * Same for all objects, computed from a table of classes alone (counts.h). `by`: class, package, loader or superclass.
 * REQUIRES: `classes` outlives the rows.
 */
hdx_code hdx_query_histogram_of(const hdx_class *classes, uint32_t count, hdx_by by, const char *class_pattern,
                                hdx_rows **out, hdx_error *err);

#endif
