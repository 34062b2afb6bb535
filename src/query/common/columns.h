/* columns.h - columns that several questions share. A question writes its own sentence only if the meaning differs. */
#ifndef HDX_QUERY_COMMON_COLUMNS_H
#define HDX_QUERY_COMMON_COLUMNS_H

#include "query/query.h"

/* flags: in addition to those that the column always has; may be 0 */
#define HDX_CLASS_COLUMN(flags)                                                                                        \
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME | (flags), "class of the object")
#define HDX_LABEL_COLUMN                                                                                               \
    HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,                          \
               "label of the object, such as its text or name; null if it has none")
#define HDX_SHALLOW_COLUMN(flags) HDX_COLUMN("shallow", UNSIGNED, BYTES, flags, "shallow size of the object")
#define HDX_RETAINED_COLUMN(flags)                                                                                     \
    HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | (flags),                                             \
               "retained size: bytes that would be freed without the object")
#define HDX_RETAINED_IF_LIVE_COLUMN(flags)                                                                             \
    HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | (flags),                                             \
               "retained size: bytes that would be freed without the object; null if it is unreachable")

/* Sums over several objects. */
#define HDX_SHALLOWS_COLUMN HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "total shallow size of the objects")

#endif
