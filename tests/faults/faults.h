/*
 * faults.h - the door for questions, with a fault behind it on demand: the linker puts wrappers in the place of every
 * function of <heapdex/graph.h> and graph/graph.h (cmake/faults.cmake), and the n-th call of one kind goes wrong.
 *
 *     FAULT_CODE    a function that gives an hdx_code gives HDX_DAMAGED with "a fault in hdx_graph_label", and leaves
 *                   what it should have filled as it was. Nothing else will tell of it: who looks away is found out.
 *     FAULT_VALUE   a getter gives its harmless value once, as a damaged page would; hdx_graph_check says so of
 *                   this graph from then on, in the same words
 *     FAULT_GETTER  the same of all calls of one getter, as a file that cannot be opened would; n is its number, in the
 *                   order of first calls
 *     FAULT_LATER   the same of the second half of these
 *     FAULT_TABLE   the table of that number cannot be read, from the first call on; calls are those that need it
 */
#ifndef HDX_TESTS_FAULTS_H
#define HDX_TESTS_FAULTS_H

#include "graph/graph.h"

typedef enum fault_kind { FAULT_NONE, FAULT_CODE, FAULT_VALUE, FAULT_GETTER, FAULT_LATER, FAULT_TABLE } fault_kind;
enum { FAULT_CLASSES = 1, FAULT_ROOTS, FAULT_THREADS, FAULT_HEAPS, FAULT_TABLES_END };
#define FAULT_WORDS "a fault in "

void        fault_begin(fault_kind kind, uint64_t n); /* n 0: calls are counted, and none goes wrong */
const char *fault_end(uint64_t *calls); /* which function went wrong; NULL: none, there were fewer calls */

/* ---- for the wrappers ---- */
bool     fault_in_code(const char *function);
hdx_code fault_fails(const char *function, hdx_error *err);
bool     fault_in_check(const hdx_graph *g); /* of hdx_graph_check: has something gone wrong in this graph? */
bool     fault_in_value(const hdx_graph *g, const char *function);
bool     fault_in_table(uint64_t table, const hdx_graph *g, const char *function);

#endif
