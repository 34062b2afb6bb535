/* heapdex.h - includes all other headers of the library. */
#ifndef HEAPDEX_HEAPDEX_H
#define HEAPDEX_HEAPDEX_H

#include <heapdex/answer.h>
#include <heapdex/batch.h>
#include <heapdex/check.h>
#include <heapdex/columns.h>
#include <heapdex/counts.h>
#include <heapdex/damage.h>
#include <heapdex/error.h>
#include <heapdex/fleet.h>
#include <heapdex/graph.h>
#include <heapdex/heap.h>
#include <heapdex/index.h>
#include <heapdex/leaks.h>
#include <heapdex/oql.h>
#include <heapdex/progress.h>
#include <heapdex/render.h>
#include <heapdex/report.h>
#include <heapdex/rows.h>
#include <heapdex/source.h>
#include <heapdex/sql.h>
#include <heapdex/strip.h>
#include <heapdex/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEAPDEX_VERSION "0.1.0"
/* Returns the version of the library that runs, which may differ from HEAPDEX_VERSION. A constant string. */
HDX_API const char *hdx_version(void);

#ifdef __cplusplus
}
#endif

#endif
