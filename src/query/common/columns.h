/* columns.h - columns that several questions share. A question writes its own sentence only if the meaning differs. */
#ifndef HDX_QUERY_COMMON_COLUMNS_H
#define HDX_QUERY_COMMON_COLUMNS_H

#include "query/query.h"

/* flags: in addition to those that the column always has; may be 0 */
#define HDX_CLASS_COLUMN(flags)                                                                                        \
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME | (flags), "its class")
#define HDX_LABEL_COLUMN                                                                                               \
    HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,                          \
               "what it says of itself: a text, a name; null for most objects")
#define HDX_SHALLOW_COLUMN(flags)                                                                                      \
    HDX_COLUMN("shallow", UNSIGNED, BYTES, flags, "its own size, without what it refers to")
#define HDX_RETAINED_COLUMN(flags)                                                                                     \
    HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | (flags), "bytes that would be free if it were gone")
#define HDX_RETAINED_IF_LIVE_COLUMN(flags)                                                                             \
    HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | (flags),                                             \
               "bytes that would be free if it were gone; null for garbage")

/* Sums over several objects. */
#define HDX_SHALLOWS_COLUMN HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "their own size, without what they refer to")

#endif
