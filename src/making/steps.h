/* steps.h - the steps of a build after the first pass (steps.c), for their order (order.c). */
#ifndef HDX_MAKING_STEPS_H
#define HDX_MAKING_STEPS_H

#include "making/checkpoint.h"

/* ---- steps, in their order (M1) ---- */
hdx_code hdx_step_columns(hdx_pass *p, hdx_error *err);
hdx_code hdx_step_objects(hdx_pass *p, hdx_error *err);
hdx_code hdx_step_references(hdx_pass *p, hdx_error *err);
hdx_code hdx_step_dominators(hdx_pass *p, hdx_error *err);
hdx_code hdx_step_retained(hdx_pass *p, hdx_error *err);

/* ---- parts of steps that a resumed build or a view needs too ---- */
/* Opens the files of classes and sizes that the step columns wrote. */
hdx_code hdx_step_open_columns(hdx_pass *p, hdx_error *err);
/* Allocates the bits of r for all objects. */
hdx_code hdx_step_begin_referenced(hdx_pass *p, hdx_referenced *r, hdx_error *err);
/* Finds the objects that outbound lists refer to. */
hdx_code hdx_step_find_referenced(hdx_pass *p, hdx_error *err);
/* Counts live objects by class. REQUIRES: the search is done. */
hdx_code hdx_step_count_live(hdx_pass *p, hdx_error *err);
void     hdx_step_free_referenced(hdx_pass *p, hdx_referenced *r);
/* Frees the results of all steps and closes their files. */
void hdx_step_free_all(hdx_pass *p);

#endif
