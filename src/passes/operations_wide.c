/* operations_wide.c - the passes over ids of one width, in a table. */
#include "passes/wide.h"

const hdx_wide WIDE(hdx_wide_ids) = {
    .width = HDX_WIDTH,
    .instances = WIDE(hdx_pass_instances),
    .inbound = WIDE(hdx_pass_inbound),
    .search = WIDE(hdx_pass_search),
    .numbers = WIDE(hdx_pass_numbers),
    .predecessors = WIDE(hdx_pass_predecessors),
    .class_instances = WIDE(hdx_pass_class_instances),
    .begin_sums = WIDE(hdx_pass_begin_sums),
    .put_sums = WIDE(hdx_pass_put_sums),
    .sums = WIDE(hdx_pass_sums),
    .dominators = WIDE(hdx_pass_dominators),
    .retained = WIDE(hdx_pass_retained),
    .write_retained = WIDE(hdx_pass_write_retained),
    .tree = WIDE(hdx_pass_tree),
};
