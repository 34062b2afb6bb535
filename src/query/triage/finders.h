/*
 * finders.h - shared by the files of triage, which finds conspicuous facts about a heap with many small questions.
 *
 *   triage.c    their order, and what they share
 *   holding.c   suspects, holders, statics, class loaders that define the same classes
 *   runtime.c   locks, threads that have ended, pools, ThreadLocals, finalizers, open files, memory outside of the heap
 *   contents.c  maps with weak keys, soft references that something pins, waste
 *
 * A finder reports nothing if nothing is wrong. What is below a tenth of the heap is reported by its own question only.
 */
#ifndef HDX_QUERY_TRIAGE_FINDERS_H
#define HDX_QUERY_TRIAGE_FINDERS_H

#include "query/common/fields.h"
#include "query/common/labels.h"
#include "query/questions.h"
#include "query/triage/triage.h"

#include "graph/graph.h"

#define HDX_TRIAGE_LEAST   (32u << 10) /* bytes: every program retains this much somewhere */
#define HDX_TRIAGE_PERCENT 10u         /* of the live heap */
#define HDX_TRIAGE_MANY    100000u     /* buffers, threads: only this many are examined */

typedef struct hdx_triage {
    hdx_query  q;
    hdx_ask    ask;
    hdx_graph *g;
    hdx_arena *arena;
    hdx_cell  *at;
    uint64_t   count, live;  /* live: bytes */
    bool       large, tight; /* tight: the memory limit refused a request */
    bool       suspects;     /* suspects were found */
    bool       of_classes;   /* the first suspect is a class in the list of its loader: others may retain as much */
    hdx_fields fields;
} hdx_triage;

/* ---- output ---- */
hdx_code hdx_triage_report(hdx_triage *t, const char *kind, hdx_cell bytes, const char *next,
                           const hdx_buffer *sentence, hdx_error *err);
void     hdx_triage_put_text(hdx_buffer *b, const hdx_cell *cell);                 /* only if it is a text */
void     hdx_triage_put_share(const hdx_triage *t, hdx_buffer *b, uint64_t bytes); /* "40.0 MB (12 %)" */
void     hdx_triage_put_size(hdx_buffer *b, uint64_t bytes);
void     hdx_triage_put_count(hdx_buffer *b, uint64_t n, const char *one, const char *many); /* "1,204 threads" */
bool     hdx_triage_is_relevant(const hdx_triage *t, uint64_t bytes); /* whether it is large enough to report */

/* ---- rows of another question, of which some columns are read ---- */
#define HDX_ASKED_COLUMNS 6u
typedef struct hdx_asked {
    hdx_rows       *rows;
    const hdx_cell *cells[HDX_ASKED_COLUMNS]; /* of the current row, in the order in which the columns were named */
    unsigned        places[HDX_ASKED_COLUMNS], count;
} hdx_asked;
/* Opens rows. columns: names, NULL at the end. hdx_triage_end closes them; its `code` is that of the steps before. */
hdx_code hdx_triage_ask(hdx_triage *t, const hdx_question *question, const hdx_argument *arguments, size_t count,
                        const char *const *columns, hdx_asked *out, hdx_error *err);
bool     hdx_triage_next(hdx_asked *a);
hdx_code hdx_triage_end(hdx_asked *a, hdx_code code, hdx_error *err);
uint64_t hdx_triage_number(const hdx_cell *cell); /* 0 if it is not a natural number */

/* ---- finders ---- */
typedef hdx_code  hdx_triage_finder(hdx_triage *t, hdx_error *err);
hdx_triage_finder hdx_triage_suspects, hdx_triage_holders, hdx_triage_statics, hdx_triage_loaders; /* holding.c */
hdx_triage_finder hdx_triage_waiting, hdx_triage_ended, hdx_triage_pools, hdx_triage_thread_locals,
    hdx_triage_finalizers, hdx_triage_open_files, hdx_triage_outside;   /* runtime.c */
hdx_triage_finder hdx_triage_pinned, hdx_triage_soft, hdx_triage_waste; /* contents.c */

#endif
