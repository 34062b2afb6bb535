/*
 * fleet.h - stores the answers of many dumps as tables with one schema. Each dump is a partition, which is replaced
 * completely or not at all.
 *
 * Example (examples/fleet.c):
 *     const hdx_argument      manifest[] = { { "application", "shop" }, { "release", "2.1" }, { "team", "books" } };
 *     const hdx_fleet_options fleet = { .out = out, .dump_id = "shop-17", .manifest = manifest, .manifest_count = 3 };
 *     code = hdx_session_open(&options, &session, &err);
 *     if (code == HDX_OK)
 *         code = hdx_fleet_write(session, &fleet, &err); // OUT/tables/dump_id=shop-17/classes.parquet ...
 *
 * doc/fleet.md describes tables and columns; hdx_fleet_table_at returns the same to programs.
 */
#ifndef HEAPDEX_FLEET_H
#define HEAPDEX_FLEET_H

#include <heapdex/answer.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HDX_FLEET_VERSION 1u /* of the schema; increases when a column changes its meaning, type or name */

typedef enum hdx_fleet_format {
    HDX_FLEET_PARQUET, /* OUT/tables/dump_id=ID/TABLE.parquet */
    HDX_FLEET_CSV,     /* OUT/tables/dump_id=ID/TABLE.csv; addresses are written as 0x... */
    HDX_FLEET_SQLITE   /* OUT/tables.sqlite: one file for all dumps */
} hdx_fleet_format;

typedef struct hdx_fleet_options {
    const char      *out;     /* folder; created if missing */
    const char      *dump_id; /* see hdx_fleet_id_check */
    hdx_fleet_format format;
    const char      *tables; /* further tables, separated by commas: "objects,references"; NULL: none */
    /*
     * Facts about the dump from elsewhere: application, host, release and time are columns of the table `dump`, all
     * others are rows of the table `manifest`. A value may be NULL. Without `time`, the time at which the dump was
     * written is used.
     */
    const hdx_argument *manifest;
    size_t              manifest_count;
    const char         *file;       /* name of the dump in the manifest; NULL: the name of its file */
    double              seconds;    /* duration of the index build; 0: unknown */
    uint64_t            peak_bytes; /* largest memory of the index build; 0: unknown */
    /*
     * Reason why the dump could not be analysed. The session is then NULL, and the tables record only the failure.
     * NULL: no failure.
     */
    const hdx_error *failure;
    unsigned        *failed; /* receives the number of tables without rows because their answer failed; may be NULL */
    /* only its `cancelled`, and only if the session is NULL; otherwise that of the session */
    hdx_progress progress;
} hdx_fleet_options;

/*
 * Checks a dump id. Returns HDX_USAGE unless it is 1 to 200 bytes of UTF-8 that do not begin with a dot and contain no
 * slash and no control character.
 */
HDX_API hdx_code hdx_fleet_id_check(const char *dump_id, hdx_error *err);

/*
 * Runs all answers for the first dump of the session, which opens or builds its index, and replaces the dump's tables.
 * The old partition remains until the new one is complete and synced to disk; the next call removes what a killed
 * writer left. If an answer fails, its table has no rows and the table `problems` has the reason; the call still
 * returns HDX_OK. Several writers may run at once, also for one dump (the last one wins), also into one SQLite file.
 */
HDX_API hdx_code hdx_fleet_write(hdx_session *s, const hdx_fleet_options *options, hdx_error *err);

/*
 * Returns whether the tables of options->dump_id exist, in options->format and with those of options->tables. In an
 * SQLite file a row of the table `dump` is the proof. False also if that cannot be checked.
 */
HDX_API bool hdx_fleet_is_there(const hdx_fleet_options *options);

/* ---- the schema ---- */
#define HDX_FLEET_MOST_COLUMNS 48u
typedef struct hdx_fleet_declared {
    const char *name;
    const char *sentence;
    char        command[128]; /* command that gives the same rows: "histogram --retained"; "": none */
    bool        on_demand;    /* only written if options.tables names it */
    hdx_column  columns[HDX_FLEET_MOST_COLUMNS];
    unsigned    column_count;
} hdx_fleet_declared;

/* Describes the i-th table in *out (about 3 KB). Returns false after the last. */
HDX_API bool hdx_fleet_table_at(unsigned i, hdx_fleet_declared *out);

#ifdef __cplusplus
}
#endif

#endif
