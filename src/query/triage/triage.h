/* triage.h - what stands out in a heap (triage.c). */
#ifndef HDX_QUERY_TRIAGE_H
#define HDX_QUERY_TRIAGE_H

#include "query/query.h"

enum { HDX_TRIAGE_MOST = 8, HDX_TRIAGE_MEMBERS = 4 };
extern const hdx_column hdx_triage_members[HDX_TRIAGE_MEMBERS];

/*
 * A list of at most HDX_TRIAGE_MOST objects with those members, from the arena. out_of_memory: as info has it.
 * Without the dump, what only values of fields would tell is left out.
 */
hdx_code hdx_triage_cell(const hdx_query *q, const hdx_cell *out_of_memory, hdx_arena *arena, hdx_cell *out,
                         hdx_error *err);

#endif
