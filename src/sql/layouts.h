/* layouts.h - offsets of the fields of a class table in the instances of each of its classes. */
#ifndef HDX_SQL_LAYOUTS_H
#define HDX_SQL_LAYOUTS_H

#include "sql/sql.h"

typedef struct sql_field { /* a column */
    hdx_text name, owner;  /* owner: name of the class that declares it */
    uint8_t  type;
} sql_field;

typedef struct sql_layout {
    uint32_t *places; /* offset of each field; SQL_NO_PLACE: these classes do not have it */
    uint32_t  end;    /* end of the last field */
} sql_layout;
#define SQL_NO_PLACE UINT32_MAX

typedef struct sql_layout_of { /* of a class */
    const sql_layout *layout;  /* NULL: not yet known */
    uint64_t          shift;   /* bytes of an instance before those of the layout */
} sql_layout_of;

typedef struct sql_layouts {
    sql_heap        *heap;
    hdx_mem         *mem;
    const sql_field *fields;
    unsigned         field_count, group_count;
    uint64_t         most; /* bytes of an instance that are read */
    uint32_t         width;
    sql_layout_of   *of; /* by class number */
    uint32_t        *chain;
    uint32_t         class_count;
    hdx_map          texts;  /* number of a name or an owner, by hash of the text */
    hdx_map          known;  /* the same by its address in memory; texts without a field are 0 */
    hdx_map          groups; /* group + 1 of fields with equal owner, name and type, by their numbers */
    const hdx_text  *text_at;
    uint32_t         text_count;
    uint32_t        *group_of, *rank_of, *slots, *first, *used;
    sql_layout       none; /* of classes without any of the fields */
    hdx_arena        arena;
    uint64_t         made; /* number of layouts, for tests */
} sql_layouts;

/*
 * Prepares layouts for `fields`, which are borrowed. No offset exceeds `most`. HDX_LIMIT: no memory. The caller closes
 * *l in any case.
 */
hdx_code hdx_sql_layouts_open(sql_layouts *l, sql_heap *heap, const sql_field *fields, unsigned count, uint64_t most,
                              hdx_error *err);
void     hdx_sql_layouts_close(sql_layouts *l);
/*
 * Finds the layout of a class and, in `width`, the bytes of an instance up to the end of the last field. If a class
 * has several fields of one owner, name and type, the first of them in an instance is the first of the table. Cost of
 * all classes: their own fields once, and field_count for each class that declares a field of the table.
 */
hdx_code hdx_sql_layouts_add(sql_layouts *l, uint32_t number, hdx_error *err);

/* Returns the offset of a field in instances of a class. REQUIRES: the class was added. False: it has no such field. */
static inline bool sql_layouts_place(const sql_layouts *l, uint32_t number, unsigned field, uint64_t *place)
{
    const sql_layout_of *of = number < l->class_count ? &l->of[number] : NULL;
    if (of == NULL || of->layout == NULL || of->layout->places[field] == SQL_NO_PLACE)
        return false;
    *place = of->layout->places[field] + of->shift;
    return true;
}

#endif
