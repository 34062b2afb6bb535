/*
 * fleet.c - the tables of one dump of a fleet.
 *
 *     $ fleet bookshop.hprof.gz fleet-out
 *     fleet-out/tables/dump_id=shop-17
 */
#include <heapdex/fleet.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    const hdx_index_options options = { .dump = argc > 1 ? argv[1] : "app.hprof" };
    const char             *out = argc > 2 ? argv[2] : "fleet-out";
    hdx_session            *session = NULL;
    hdx_error               err;
    hdx_code                code;

    // fleet.h
    const hdx_argument      manifest[] = { { "application", "shop" }, { "release", "2.1" }, { "team", "books" } };
    const hdx_fleet_options fleet = { .out = out, .dump_id = "shop-17", .manifest = manifest, .manifest_count = 3 };
    code = hdx_session_open(&options, &session, &err);
    if (code == HDX_OK)
        code = hdx_fleet_write(session, &fleet, &err); // OUT/tables/dump_id=shop-17/classes.parquet ...
    // end

    if (code != HDX_OK)
        fprintf(stderr, "%s: %s\n", err.where, err.message);
    else
        printf("%s/tables/dump_id=%s\n", fleet.out, fleet.dump_id);
    hdx_session_close(session);
    return code == HDX_OK ? 0 : 1;
}
