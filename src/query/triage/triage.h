/* triage.h - the most conspicuous facts about a heap (triage.c). */
#ifndef HDX_QUERY_TRIAGE_H
#define HDX_QUERY_TRIAGE_H

#include "query/query.h"

enum { HDX_TRIAGE_MOST = 8, HDX_TRIAGE_MEMBERS = 4 };
extern const hdx_column hdx_triage_members[HDX_TRIAGE_MEMBERS];

/*
 * Returns a list of at most HDX_TRIAGE_MOST objects with these members, in the arena. out_of_memory: as in info.
 * Without the dump, facts that need field values are omitted.
 */
hdx_code hdx_triage_cell(const hdx_query *q, const hdx_cell *out_of_memory, hdx_arena *arena, hdx_cell *out,
                         hdx_error *err);

#endif
