/* object_parts.h - parts of the answer `object` that are answers of their own. */
#ifndef HDX_QUERY_OBJECT_PARTS_H
#define HDX_QUERY_OBJECT_PARTS_H

#include "query/paths/paths.h"
#include "query/query.h"

/* The parts, in the order of the choices of --with and of their columns. */
enum { HDX_OBJECT_PATH, HDX_OBJECT_IN, HDX_OBJECT_OUT, HDX_OBJECT_KEEPS, HDX_OBJECT_PARTS };
enum { HDX_OBJECT_PART_MEMBERS = 2 };
extern const hdx_column hdx_object_in_members[HDX_OBJECT_PART_MEMBERS];
extern const hdx_column hdx_object_out_members[HDX_OBJECT_PART_MEMBERS];
extern const hdx_column hdx_object_keeps_members[HDX_OBJECT_PART_MEMBERS];
#define HDX_OBJECT_PART(name, sentence, members)                                                                       \
    HDX_NESTED(name, OBJECT, HDX_COLUMN_NULLABLE | HDX_COLUMN_OPTIONAL | HDX_COLUMN_WIDE, sentence, members)
#define HDX_OBJECT_PART_COLUMNS                                                                                        \
    HDX_OBJECT_PART("path", "path from the nearest GC root, as in `path`; only with --with path", hdx_path_members),   \
        HDX_OBJECT_PART("in", "first referrers, as in `refs --in`; only with --with in", hdx_object_in_members),       \
        HDX_OBJECT_PART("out", "first references, as in `refs --out`; only with --with out", hdx_object_out_members),  \
        HDX_OBJECT_PART("keeps", "what it keeps, as in `dominators OBJECT --by class`; only with --with keeps",        \
                        hdx_object_keeps_members)

typedef struct hdx_object_parts_reader {
    const hdx_query *q;
    unsigned         which; /* bit i: part i is read */
    uint64_t         most;  /* rows of a part, and steps of the path; 0: all */
    hdx_rows        *path;  /* the last path, to which its part points; NULL: none */
} hdx_object_parts_reader;

/*
 * Fills a cell for each part of one object; null if it is not read. Cells are valid as long as the arena, and until the
 * next call or hdx_object_parts_done.
 */
hdx_code hdx_object_parts_read(hdx_object_parts_reader *r, hdx_id id, hdx_arena *arena,
                               hdx_cell cells[HDX_OBJECT_PARTS], hdx_error *err);
void     hdx_object_parts_done(hdx_object_parts_reader *r);

#endif
