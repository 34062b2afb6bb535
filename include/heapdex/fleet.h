/*
 * fleet.h - the answers of many dumps as tables: one schema for all of them, each dump a partition that is replaced
 * whole or not at all.
 *
 * Example (examples/fleet.c):
 *     const hdx_argument      manifest[] = { { "application", "shop" }, { "release", "2.1" }, { "team", "books" } };
 *     const hdx_fleet_options fleet = { .out = out, .dump_id = "shop-17", .manifest = manifest, .manifest_count = 3 };
 *     code = hdx_session_open(&options, &session, &err);
 *     if (code == HDX_OK)
 *         code = hdx_fleet_write(session, &fleet, &err); // OUT/tables/dump_id=shop-17/classes.parquet ...
 *
 * What the tables are, columns and sentences, says doc/fleet.md; hdx_fleet_tables says it to programs.
 */
#ifndef HEAPDEX_FLEET_H
#define HEAPDEX_FLEET_H

#include <heapdex/answer.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HDX_FLEET_VERSION 1u /* of the schema: rises when a column changes its meaning, its type or its name */

typedef enum hdx_fleet_format {
    HDX_FLEET_PARQUET, /* OUT/tables/dump_id=ID/TABLE.parquet */
    HDX_FLEET_CSV,     /* OUT/tables/dump_id=ID/TABLE.csv; an address is 0x... there */
    HDX_FLEET_SQLITE   /* OUT/tables.sqlite: one file for all dumps */
} hdx_fleet_format;

typedef struct hdx_fleet_options {
    const char      *out;     /* folder; made where there is none */
    const char      *dump_id; /* as hdx_fleet_id_check wants it */
    hdx_fleet_format format;
    const char      *tables; /* more of them, commas between: "objects,references"; NULL: none. */
    /*
     * What is known of the dump besides: application, host, release and time are columns of the table `dump`, all
     * others rows of the table `manifest`. A value may be NULL. Without `time` it is when the dump was written.
     */
    const hdx_argument *manifest;
    size_t              manifest_count;
    const char         *file;       /* the dump as the manifest has it; NULL: the name of its file */
    double              seconds;    /* that its index took; 0: not known */
    uint64_t            peak_bytes; /* of memory, while it was built; 0: not known */
    /*
     * Why there is no answer about it: the session is NULL then, and the tables say that it failed, and nothing else.
     */
    const hdx_error *failure;
    unsigned        *failed;   /* how many tables have no rows because their answer could not be given; may be NULL */
    hdx_progress     progress; /* where the session is NULL, its `cancelled`; else the session's own */
} hdx_fleet_options;

/* HDX_USAGE: it is not of 1 to 200 bytes of UTF-8, begins with a dot, or has a slash or a control character. */
HDX_API hdx_code hdx_fleet_id_check(const char *dump_id, hdx_error *err);

/*
 * Asks everything of the first dump of the session, which opens or builds its index, and puts the tables in place. The
 * dump's partition is the old one until the new one is whole and on disk; what a writer that was killed left behind
 * goes with the next call. Of an answer that cannot be given the table has no rows, and the table `problems` says why:
 * that is HDX_OK. Several may write at once, also of one dump (the last one holds), also into one file of SQLite.
 */
HDX_API hdx_code hdx_fleet_write(hdx_session *s, const hdx_fleet_options *options, hdx_error *err);

/*
 * Are the tables of options.dump_id there, in options.format and with those of options.tables? In a file of SQLite a
 * row of the table `dump` says so. What cannot be looked at is not there.
 */
HDX_API bool hdx_fleet_is_there(const hdx_fleet_options *options);

/* ---- what the tables are ---- */
#define HDX_FLEET_MOST_COLUMNS 48u
typedef struct hdx_fleet_declared {
    const char *name;
    const char *sentence;
    char        command[128]; /* that gives the same rows: "histogram --retained"; "": none does */
    bool        on_demand;    /* only where options.tables names it */
    hdx_column  columns[HDX_FLEET_MOST_COLUMNS];
    unsigned    column_count;
} hdx_fleet_declared;

/* Fills *out (some 3 KB) for i = 0 ..; false behind the last. */
HDX_API bool hdx_fleet_table_at(unsigned i, hdx_fleet_declared *out);

#ifdef __cplusplus
}
#endif

#endif
