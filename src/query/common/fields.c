/*
 * fields.c - reads the fields of one object by name, for questions that know classes of the JDK.
 *
 * In:  an object, read once from the dump; a class object for its statics.
 * Out: the value of the field that the named class declares; subclasses may declare others with the same name. A value
 * that the dump lacks (no dump, stripped, another version of the class) is absent, which is not an error. A dump that
 * changed since it was indexed is an error.
 */
#include "query/common/fields.h"
#include "query/common/labels.h"
#include "query/query.h"

hdx_code hdx_fields_read(hdx_fields *f, hdx_graph *g, hdx_id id, hdx_error *err)
{
    hdx_error mine;
    f->g = g;
    f->v.count = 0;
    if (id == HDX_NO_ID)
        return HDX_OK;
    const hdx_code code = hdx_graph_kind(g, id) == HDX_CLASS_OBJECT ? hdx_graph_statics(g, id, &f->v, &mine)
                                                                    : hdx_graph_fields(g, id, &f->v, &mine);
    if (code != HDX_OK)
        f->v.count = 0;
    return hdx_label_allow_missing_dump(g, code, &mine, err);
}

hdx_code hdx_fields_statics(hdx_fields *f, hdx_graph *g, const char *class_name, hdx_error *err)
{
    const hdx_class *c = hdx_graph_class_named(g, class_name);
    return hdx_fields_read(f, g, c == NULL ? HDX_NO_ID : c->id, err);
}

void hdx_fields_close(hdx_fields *f) { hdx_values_free(&f->v); }

const hdx_value *hdx_fields_value(const hdx_fields *f, const char *class_name, const char *name)
{
    const hdx_value *found = NULL;
    for (uint64_t i = 0; i < f->v.count; i++) {
        const hdx_field_value *at = &f->v.at[i];
        const hdx_class       *owner = class_name == NULL ? NULL : hdx_graph_class(f->g, at->owner);
        if (!at->value.absent && hdx_text_is(at->name, name) &&
            (class_name == NULL || (owner != NULL && hdx_text_is(owner->name, class_name))))
            found = &at->value;
    }
    return found;
}

hdx_id hdx_fields_ref(const hdx_fields *f, const char *class_name, const char *name)
{
    const hdx_value *v = hdx_fields_value(f, class_name, name);
    hdx_id           id;
    return v != NULL && v->type == 2 && v->as.address != 0 && hdx_graph_find(f->g, v->as.address, &id) ? id : HDX_NO_ID;
}

bool hdx_fields_number(const hdx_fields *f, const char *class_name, const char *name, int64_t *out)
{
    const hdx_value *v = hdx_fields_value(f, class_name, name);
    if (v == NULL || (v->type != 4 && (v->type < 8 || v->type > 11)))
        return false;
    *out = v->type == 4 ? v->as.boolean : v->as.integer;
    return true;
}
