/*
 * hidden_names.c - shared names of classes that the JVM and its libraries create at run time.
 *
 * The shared name is a --class pattern that all of them match, with * in place of the part that differs (name in the
 * dump -> shared name):
 *
 *   1. the address of a hidden class (JDK 15 and later: +0x...; 8 to 14: /0x... or /1234)
 *          app.Shop$$Lambda+0x7f0001     app.Shop$$Lambda*      app.Shop$$Lambda$14/0x7f0001  app.Shop$$Lambda*
 *   2. the number of a lambda, also of Android's R8
 *          app.Shop$$Lambda$14           app.Shop$$Lambda*      app.A$$ExternalSyntheticLambda3
 *                                                                                app.A$$ExternalSyntheticLambda*
 *   3. forms of method handles, whose address JDK 9 to 14 omit
 *          java.lang.invoke.LambdaForm$MH                       java.lang.invoke.LambdaForm$MH*
 *   4. the number of a dynamic proxy, and of the package of its loader
 *          jdk.proxy2.$Proxy12           jdk.proxy*.$Proxy*     com.sun.proxy.$Proxy7         com.sun.proxy.$Proxy*
 *   5. the number of an accessor of core reflection
 *          sun.reflect.GeneratedMethodAccessor7                 sun.reflect.GeneratedMethodAccessor*
 *
 * Arrays keep their brackets. Every other name is unchanged, including the numbers of anonymous classes.
 *
 * Libraries also create classes at run time, with numbers or random letters after a mark. The histogram shows their
 * full names; hdx_class_key, which compares heaps of different runs, truncates those as well:
 *
 *   6. CGLIB and Spring, Byte Buddy, Hibernate, Mockito, Javassist
 *          app.Shop$$EnhancerBySpringCGLIB$$3f2a  app.Shop$$EnhancerBySpringCGLIB$$*
 */
#include "query/histogram/histogram.h"
#include "query/query.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

static bool ends(hdx_text name, const char *with)
{
    const size_t n = strlen(with);
    return name.len >= n && memcmp(name.at + name.len - n, with, n) == 0;
}

/* Returns the name without digits at its end. */
static hdx_text unnumbered(hdx_text name)
{
    while (name.len > 0 && is_digit(name.at[name.len - 1]))
        name.len--;
    return name;
}

/* 1: removes "+0x7f0001", "/0x7f0001" or "/1234" at the end. */
static hdx_text without_address(hdx_text name)
{
    hdx_text left = name;
    while (left.len > 0 && is_hex(left.at[left.len - 1]))
        left.len--;
    if (left.len < name.len && (ends(left, "+0x") || ends(left, "/0x")))
        return (hdx_text){ left.at, left.len - 3 };
    left = unnumbered(name);
    return left.len < name.len && ends(left, "/") ? (hdx_text){ left.at, left.len - 1 } : name;
}

/* 2, 4, 5: removes the number, if the name before it is one of those that get numbers. */
static hdx_text without_number(hdx_text name)
{
    static const char *const numbered[] = { "$$ExternalSyntheticLambda", "$Proxy", "reflect.GeneratedMethodAccessor",
                                            "reflect.GeneratedConstructorAccessor",
                                            "reflect.GeneratedSerializationConstructorAccessor" };
    hdx_text                 left = unnumbered(name);
    if (left.len == name.len)
        return name;
    if (ends(left, "$$Lambda$"))
        return (hdx_text){ left.at, left.len - 1 };
    for (size_t i = 0; i < HDX_COUNT(numbered); i++)
        if (ends(left, numbered[i]))
            return left;
    return name;
}

static bool is_form(hdx_text name)
{
    return hdx_text_is(name, "java.lang.invoke.LambdaForm$MH") ||
           hdx_text_is(name, "java.lang.invoke.LambdaForm$DMH") || hdx_text_is(name, "java.lang.invoke.LambdaForm$BMH");
}

/*
 * Returns the length of "jdk.proxy" if the name begins with "jdk.proxy12."; *with is the length with the number. 0:
 * another name.
 */
static uint32_t proxy_package(hdx_text name, uint32_t *with)
{
    static const char begin[] = "jdk.proxy";
    const uint32_t    len = sizeof begin - 1;
    uint32_t          end = len;
    if (name.len <= len || memcmp(name.at, begin, len) != 0)
        return 0;
    while (end < name.len && is_digit(name.at[end]))
        end++;
    *with = end;
    return end > len && end < name.len && name.at[end] == '.' ? len : 0;
}

bool hdx_hidden_name(hdx_text name, hdx_buffer *out)
{
    hdx_text element = name;
    uint32_t with = 0;
    while (ends(element, "[]"))
        element.len -= 2;
    const hdx_text brackets = { name.at + element.len, name.len - element.len };
    const hdx_text left = without_number(without_address(element));
    hdx_buffer_clear(out);
    if (left.len == 0 || (left.len == element.len && !is_form(left)))
        return false;
    const uint32_t package = ends(left, ".$Proxy") ? proxy_package(left, &with) : 0;
    if (package > 0) {
        hdx_buffer_put(out, left.at, package);
        hdx_buffer_text(out, "*");
    }
    hdx_buffer_put(out, left.at + (package > 0 ? with : 0), left.len - (package > 0 ? with : 0));
    hdx_buffer_text(out, "*");
    hdx_buffer_put(out, brackets.at, brackets.len);
    return true;
}

/* 6: removes everything after the mark, except for brackets of arrays. */
static bool generated_name(hdx_text name, hdx_buffer *out)
{
    static const char *const marks[] = { "CGLIB$$", "$ByteBuddy$", "$HibernateProxy$", "$MockitoMock$", "_$$_jvst" };
    hdx_text                 element = name;
    while (ends(element, "[]"))
        element.len -= 2;
    for (size_t i = 0; i < HDX_COUNT(marks); i++) {
        const size_t len = strlen(marks[i]);
        const char  *at = element.len > len ? memmem(element.at, element.len, marks[i], len) : NULL;
        if (at == NULL)
            continue;
        hdx_buffer_clear(out);
        hdx_buffer_put(out, element.at, (uint64_t)(at - element.at) + len);
        hdx_buffer_text(out, "*");
        hdx_buffer_put(out, name.at + element.len, name.len - element.len);
        return true;
    }
    return false;
}

hdx_text hdx_class_key(hdx_text name, hdx_buffer *scratch)
{
    const bool shared = hdx_hidden_name(name, scratch) || generated_name(name, scratch);
    return shared && !scratch->failed ? (hdx_text){ scratch->at, (uint32_t)scratch->len } : name;
}
