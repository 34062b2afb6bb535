/* origin.h - whose a class is: the application's or the platform's. */
#ifndef HDX_QUERY_COMMON_ORIGIN_H
#define HDX_QUERY_COMMON_ORIGIN_H

#include "query/query.h"

typedef enum hdx_origin {
    HDX_ORIGIN_APPLICATION,
    HDX_ORIGIN_PLATFORM,
    HDX_ORIGIN_GENERATED,
    HDX_ORIGIN_ARRAY
} hdx_origin;

/* Prepares the origins of the classes of a heap. */
typedef struct hdx_origins {
    hdx_graph *g;          /* NULL: only the classes are known */
    bool       one_loader; /* the boot loader defined all classes */
} hdx_origins;
hdx_origins hdx_origins_of(hdx_graph *g);
hdx_origins hdx_origins_of_classes(const hdx_class *classes, uint32_t count);
/* Returns whether the origin of a class is known: without a graph, other loaders than the boot loader are not. */
bool hdx_origin_known(const hdx_origins *o, const hdx_class *c);
/*
 * Returns the origin of a class: an array; generated at run time (lambdas, proxies, accessors); of the platform, if the
 * boot loader, the platform loader or Android's boot loader defined it; otherwise of the application. In a dump in
 * which the boot loader defined all classes, as those of native images, names decide (hdx_is_of_jdk). REQUIRES:
 * hdx_origin_known.
 */
hdx_origin  hdx_origin_of(const hdx_origins *o, const hdx_class *c);
const char *hdx_origin_name(hdx_origin origin); /* "application", "platform", "generated", "array" */

/* flags: in addition to those that the column always has; may be 0 */
#define HDX_ORIGIN_COLUMN(flags, sentence) HDX_COLUMN("origin", TEXT, NONE, HDX_COLUMN_FEW | (flags), sentence)

#endif
