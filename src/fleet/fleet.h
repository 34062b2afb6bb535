/*
 * fleet.h - the answers about one dump as tables next to those of other dumps. <heapdex/fleet.h> is the public part of
 * the room; doc/fleet.md describes the schema.
 *
 *   tables.c     the list of tables: answer, arguments, columns, additional columns
 *   added.c      the additional columns: keys by which rows of several dumps are the same thing
 *   rows.c       rows of a table: the dump's id, the answer's columns, the additional ones
 *   once.c       tables that are not answers: dump, manifest, problems
 *   place.c      where they are stored: a hidden folder that becomes the partition, or is copied to an SQLite file
 *   write.c      all tables of a dump, one after the other
 *
 * Invariants
 *   1. A table has the same columns for every dump, whatever the dump lacks; they are those of the declared answer.
 *   2. A partition is complete or does not exist. A hidden folder is abandoned when its writer has ended.
 */
#ifndef HDX_FLEET_FLEET_H
#define HDX_FLEET_FLEET_H

#include "base/base.h"
#include "query/query.h"
#include "rows/rows.h"
#include <heapdex/fleet.h>

#define FLEET_ADDED 2u /* most additional columns of one table */

/* What the rows of one dump are made from. */
typedef struct fleet_dump {
    hdx_session                   *session; /* NULL: the dump could not be analysed */
    const hdx_fleet_options       *options;
    hdx_text                       id;
    hdx_graph                     *g;
    hdx_query                      query;
    hdx_arena                      arena;   /* texts that many rows share */
    hdx_map                        loaders; /* names of loaders: a hdx_text in `arena`, by address */
    HDX_LIST(struct fleet_problem) problems;
    unsigned                       failed; /* number of tables whose answer failed */
} fleet_dump;

typedef struct fleet_problem {
    const char *table; /* NULL: about the dump itself */
    const char *code;
    const char *message; /* both are in the arena of the dump */
} fleet_problem;

/* ---- added.c ---- */
typedef struct fleet_added {
    hdx_column  column;
    const char *from; /* the column of the answer from which it is computed */
    /* What it points to is in the arena, or valid as long as the dump. */
    hdx_code (*make)(fleet_dump *d, const hdx_cell *from, hdx_arena *arena, hdx_cell *out, hdx_error *err);
} fleet_added;
extern const fleet_added hdx_fleet_class_key, hdx_fleet_loader_name, hdx_fleet_pool, hdx_fleet_owner,
    hdx_fleet_class_path;

/* ---- tables.c ---- */
typedef struct fleet_table {
    const char        *name, *sentence;
    const char        *answer;                 /* NULL: not an answer (once.c) */
    hdx_argument       arguments[5];           /* a NULL name ends them */
    const char        *columns;                /* of the answer, in this order */
    const fleet_added *added[FLEET_ADDED + 1]; /* NULL ends them */
    unsigned           least_percent; /* rows below this many thousandths of a percent of the live bytes are omitted */
    bool               on_demand;
} fleet_table;
const fleet_table *hdx_fleet_table(unsigned i); /* NULL after the last; `problems` is the last one */
/* Returns its columns, and how many of them are columns of the answer, after the id. */
unsigned hdx_fleet_columns(const fleet_table *t, hdx_column out[HDX_FLEET_MOST_COLUMNS], unsigned *answered);
/* Returns the arguments for hdx_answer_run. */
size_t hdx_fleet_arguments(const fleet_table *t, hdx_argument out[8]);

/* ---- rows.c ---- */
/* The error of the answer itself, as opposed to an error of storing its rows; code HDX_OK: none. */
typedef struct fleet_source {
    hdx_error error;
} fleet_source;
/* Returns the rows of a table that is an answer. REQUIRES: `source` outlives them. */
hdx_code hdx_fleet_rows(fleet_dump *d, const fleet_table *t, fleet_source *source, hdx_rows **out, hdx_error *err);

/* ---- once.c ---- */
extern const hdx_column hdx_fleet_id_column; /* dump_id */
/* Returns the columns of dump, manifest, problems, after the id. */
unsigned hdx_fleet_once_columns(const fleet_table *t, hdx_column *out, unsigned most);
hdx_code hdx_fleet_once(fleet_dump *d, const fleet_table *t, const hdx_column *columns, unsigned count, hdx_rows **out,
                        hdx_error *err);
hdx_code hdx_fleet_problem(fleet_dump *d, const char *table, const char *code, const char *message, hdx_error *err);

/* ---- place.c ---- */
typedef struct fleet_place {
    hdx_io              *io;
    hdx_fleet_format     format;
    const hdx_progress  *progress;
    const char          *id;
    hdx_access           access;                                /* of the dump */
    char                 folder[4096], part[4096], final[4096]; /* folder of partitions; hidden folder; target */
    int                  lock;                                  /* of the hidden folder; -1: none */
    unsigned             number;                                /* at the end of its name */
    bool                 hidden;                                /* the hidden folder exists */
    bool                 broken;                                /* writing to it failed */
    struct hdx_sql_file *file;
} fleet_place;
hdx_code hdx_fleet_place_open(hdx_io *io, const hdx_fleet_options *o, const char *dump, const hdx_progress *progress,
                              fleet_place *out, hdx_error *err); /* call hdx_fleet_place_close on failure, too */
hdx_code hdx_fleet_place_add(fleet_place *p, const char *table, hdx_rows *rows, hdx_error *err);
/* Removes what was written of a table, before its rows are written again. */
hdx_code hdx_fleet_place_again(fleet_place *p, const char *table, hdx_error *err);
hdx_code hdx_fleet_place_commit(fleet_place *p, hdx_error *err);
void     hdx_fleet_place_close(fleet_place *p); /* removes what was not committed */

/* ---- write.c ---- */
bool     hdx_fleet_is_asked(const hdx_fleet_options *o, const fleet_table *t);
hdx_code hdx_fleet_write_by(hdx_io *io, hdx_session *s, const hdx_fleet_options *o, hdx_error *err);

#endif
