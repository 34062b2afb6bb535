/*
 * fleet.h - the answers about one dump as tables beside those of other dumps. The room's public face is
 * <heapdex/fleet.h>, its schema for people doc/fleet.md.
 *
 *   tables.c     which tables there are: answer, arguments, columns, what is added to them
 *   added.c      the columns that no answer has: keys by which rows of several dumps are the same thing
 *   rows.c       rows of a table: the dump's id, the answer's columns, the added ones
 *   once.c       tables that are no answer: dump, manifest, problems
 *   place.c      where they go: a hidden folder that becomes the partition, or goes into a file of SQLite
 *   write.c      all tables of a dump, one after the other
 *
 * Invariants
 *   1. A table has the same columns for every dump, whatever the dump lacks; they are those of the declared answer.
 *   2. A partition is there whole or not at all. A hidden folder is nobody's once its writer is gone.
 */
#ifndef HDX_FLEET_FLEET_H
#define HDX_FLEET_FLEET_H

#include "base/base.h"
#include "query/query.h"
#include "rows/rows.h"
#include <heapdex/fleet.h>

#define FLEET_ADDED 2u /* columns added to one table, at most */

/* What rows of one dump are made with. */
typedef struct fleet_dump {
    hdx_session                   *session; /* NULL: there is no answer about it */
    const hdx_fleet_options       *options;
    hdx_text                       id;
    hdx_graph                     *g;
    hdx_query                      query;
    hdx_arena                      arena;   /* texts that many rows share */
    hdx_map                        loaders; /* what loaders are called: a hdx_text in `arena`, by address */
    HDX_LIST(struct fleet_problem) problems;
    unsigned                       failed; /* tables whose answer could not be given */
} fleet_dump;

typedef struct fleet_problem {
    const char *table; /* NULL: of the dump itself */
    const char *code;
    const char *message; /* both in the arena of the dump */
} fleet_problem;

/* ---- added.c ---- */
typedef struct fleet_added {
    hdx_column  column;
    const char *from; /* the column of the answer that it is made of */
    /* What it points to comes from the arena, or lives as long as the dump. */
    hdx_code (*make)(fleet_dump *d, const hdx_cell *from, hdx_arena *arena, hdx_cell *out, hdx_error *err);
} fleet_added;
extern const fleet_added hdx_fleet_class_key, hdx_fleet_loader_name, hdx_fleet_pool, hdx_fleet_owner,
    hdx_fleet_class_path;

/* ---- tables.c ---- */
typedef struct fleet_table {
    const char        *name, *sentence;
    const char        *answer;                 /* NULL: it is none (once.c) */
    hdx_argument       arguments[5];           /* a name of NULL ends them */
    const char        *columns;                /* of the answer, in this order */
    const fleet_added *added[FLEET_ADDED + 1]; /* NULL ends them */
    unsigned           least_percent; /* rows below that many thousandths of a percent of the live bytes are no use */
    bool               on_demand;
} fleet_table;
const fleet_table *hdx_fleet_table(unsigned i); /* NULL behind the last; `problems` is the last one */
/* Its columns, and how many of them come from the answer, behind the id. */
unsigned hdx_fleet_columns(const fleet_table *t, hdx_column out[HDX_FLEET_MOST_COLUMNS], unsigned *answered);
/* What hdx_answer_run is asked with. */
size_t hdx_fleet_arguments(const fleet_table *t, hdx_argument out[8]);

/* ---- rows.c ---- */
/*
 * Why the answer itself could not be given, apart from where its rows were put; code HDX_OK: it could.
 */
typedef struct fleet_source {
    hdx_error error;
} fleet_source;
/* The rows of a table that is an answer; `source` outlives them. */
hdx_code hdx_fleet_rows(fleet_dump *d, const fleet_table *t, fleet_source *source, hdx_rows **out, hdx_error *err);

/* ---- once.c ---- */
extern const hdx_column hdx_fleet_id_column; /* dump_id */
/* The columns of dump, manifest, problems; behind the id. */
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
    char                 folder[4096], part[4096], final[4096]; /* of partitions; hidden; where it goes */
    int                  lock;                                  /* of the hidden folder; -1: none */
    unsigned             number;                                /* at the end of its name */
    bool                 hidden;                                /* the hidden folder is there */
    bool                 broken;                                /* it takes no bytes */
    struct hdx_sql_file *file;
} fleet_place;
hdx_code hdx_fleet_place_open(hdx_io *io, const hdx_fleet_options *o, const char *dump, const hdx_progress *progress,
                              fleet_place *out, hdx_error *err); /* closed on failure, too */
hdx_code hdx_fleet_place_add(fleet_place *p, const char *table, hdx_rows *rows, hdx_error *err);
/* What was begun of that table is none any more: rows follow. */
hdx_code hdx_fleet_place_again(fleet_place *p, const char *table, hdx_error *err);
hdx_code hdx_fleet_place_commit(fleet_place *p, hdx_error *err);
void     hdx_fleet_place_close(fleet_place *p); /* what was not committed is gone */

/* ---- write.c ---- */
bool     hdx_fleet_is_asked(const hdx_fleet_options *o, const fleet_table *t);
hdx_code hdx_fleet_write_by(hdx_io *io, hdx_session *s, const hdx_fleet_options *o, hdx_error *err);

#endif
