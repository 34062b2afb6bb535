/* faults.c - calls are counted, and the n-th of its kind goes wrong. */
#include "faults/faults.h"

#include <stdatomic.h>
#include <stdlib.h>

#define FUNCTIONS 64u

static _Atomic fault_kind         armed;
static _Atomic uint64_t           at, calls;
static _Atomic(const char *)      fired;
static _Atomic(const hdx_graph *) where;

static struct {
    _Atomic(const char *) name; /* NULL: none, and none behind it */
    _Atomic uint64_t      calls;
    uint64_t              half; /* of the calls that were counted last */
} functions[FUNCTIONS];         /* getters, in the order of their first calls; kept from run to run */

void fault_begin(fault_kind kind, uint64_t n)
{
    atomic_store(&fired, NULL);
    atomic_store(&where, NULL);
    atomic_store(&calls, 0);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        atomic_store(&functions[i].calls, 0);
    atomic_store(&at, n);
    atomic_store(&armed, kind);
}

const char *fault_end(uint64_t *out_calls)
{
    const fault_kind kind = atomic_exchange(&armed, FAULT_NONE);
    uint64_t         n = 0;
    for (; n < FUNCTIONS && atomic_load(&functions[n].name) != NULL; n++)
        if (atomic_load(&at) == 0)
            functions[n].half = atomic_load(&functions[n].calls) / 2;
    if (out_calls != NULL)
        *out_calls = kind == FAULT_GETTER || kind == FAULT_LATER ? n : atomic_load(&calls);
    return atomic_load(&fired);
}

/* What went wrong first is what is told. */
static void fires(const hdx_graph *g, const char *function)
{
    const char *none = NULL;
    if (atomic_load(&fired) != NULL)
        return;
    atomic_store(&where, g); /* before anybody can ask */
    (void)atomic_compare_exchange_strong(&fired, &none, function);
}

/* Whether this call is the n-th. */
static bool comes(const hdx_graph *g, const char *function)
{
    if (atomic_fetch_add(&calls, 1) + 1 != atomic_load(&at))
        return false;
    fires(g, function);
    return true;
}

/* Whether all of this function's calls go wrong, or those of the second half. */
static bool is_wrong(const hdx_graph *g, const char *function, bool later)
{
    unsigned    i = 0;
    const char *known = NULL;
    while (!atomic_compare_exchange_strong(&functions[i].name, &known, function) && known != function) {
        known = NULL;
        if (++i == FUNCTIONS)
            abort();
    }
    const uint64_t now = atomic_fetch_add(&functions[i].calls, 1);
    if (i + 1 != atomic_load(&at) || (later && now < functions[i].half))
        return false;
    fires(g, function);
    return atomic_load(&where) == g;
}

bool fault_in_code(const char *function) { return atomic_load(&armed) == FAULT_CODE && comes(NULL, function); }

bool fault_in_check(const hdx_graph *g)
{
    if (atomic_load(&armed) == FAULT_CODE)
        return comes(g, "hdx_graph_check");
    return atomic_load(&armed) != FAULT_NONE && atomic_load(&fired) != NULL && atomic_load(&where) == g;
}

hdx_code fault_fails(const char *function, hdx_error *err)
{
    const char *of = atomic_load(&fired);
    return hdx_fail(err, HDX_DAMAGED, "fault", 4096, FAULT_WORDS "%s", of != NULL ? of : function);
}

bool fault_in_value(const hdx_graph *g, const char *function)
{
    const fault_kind kind = atomic_load(&armed);
    if (kind == FAULT_VALUE)
        return comes(g, function);
    return (kind == FAULT_GETTER || kind == FAULT_LATER) && is_wrong(g, function, kind == FAULT_LATER);
}

bool fault_in_table(uint64_t table, const hdx_graph *g, const char *function)
{
    if (atomic_load(&armed) != FAULT_TABLE || atomic_load(&at) != table)
        return false;
    fires(g, function);
    return atomic_load(&where) == g;
}
