/* origin.c - whose a class is, by its class loader. */
#include "query/common/origin.h"

const char *hdx_origin_name(hdx_origin origin)
{
    static const char *const names[] = { "application", "platform", "generated", "array" };
    return names[origin];
}

static bool is_generated(hdx_text name)
{
    static const char *const parts[] = {
        "$$Lambda",     "/0x",        "$Proxy", "GeneratedMethodAccessor", "GeneratedConstructorAccessor",
        "$$EnhancerBy", "LambdaForm$"
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (memmem(name.at, name.len, parts[i], strlen(parts[i])) != NULL)
            return true;
    return false;
}

static bool is_platform_loader(hdx_graph *g, hdx_addr loader)
{
    static const char *const names[] = { "jdk.internal.loader.ClassLoaders$BootClassLoader",
                                         "jdk.internal.loader.ClassLoaders$PlatformClassLoader",
                                         "sun.misc.Launcher$ExtClassLoader", "java.lang.BootClassLoader" };
    hdx_id                   id;
    const hdx_class         *c;
    if (loader == 0)
        return true;
    if (!hdx_graph_find(g, loader, &id) || (c = hdx_graph_class(g, hdx_graph_class_of(g, id))) == NULL)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (hdx_text_is(c->name, names[i]))
            return true;
    return false;
}

hdx_origins hdx_origins_of_classes(const hdx_class *classes, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && classes[i].loader == 0)
        i++;
    return (hdx_origins){ NULL, i == count };
}

hdx_origins hdx_origins_of(hdx_graph *g)
{
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(g, &count);
    return (hdx_origins){ g, hdx_origins_of_classes(classes, count).one_loader };
}

bool hdx_origin_known(const hdx_origins *o, const hdx_class *c)
{
    return o->g != NULL || c->loader == 0 || c->kind != HDX_INSTANCE || is_generated(c->name);
}

hdx_origin hdx_origin_of(const hdx_origins *o, const hdx_class *c)
{
    if (c->kind != HDX_INSTANCE)
        return HDX_ORIGIN_ARRAY;
    if (is_generated(c->name))
        return HDX_ORIGIN_GENERATED;
    if (c->loader == 0 && o->one_loader && !hdx_is_of_jdk(c->name))
        return HDX_ORIGIN_APPLICATION;
    return is_platform_loader(o->g, c->loader) ? HDX_ORIGIN_PLATFORM : HDX_ORIGIN_APPLICATION;
}
