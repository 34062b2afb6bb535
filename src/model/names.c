/*
 * names.c - converts names of all writers to the one form that all other code uses.
 *
 * HotSpot's dumper writes "java/lang/String", "[Ljava/lang/String;" and "[I", the agent and ART "java.lang.String[]"
 * and "int[]" (HPROF 2.1). All become the Java form here, once. Modified UTF-8 becomes UTF-8; bytes that are neither
 * occur in obfuscated apps and are not changed. MAT decodes such names with losses (MAT 10.2); that is not reproduced.
 */
#include "model/model.h"

static bool low_surrogate(const uint8_t *p, size_t len)
{
    return len >= 3 && p[0] == 0xED && p[1] >= 0xB0 && p[1] <= 0xBF && p[2] >= 0x80 && p[2] <= 0xBF;
}

static bool high_surrogate(const uint8_t *p, size_t len)
{
    return len >= 3 && p[0] == 0xED && p[1] >= 0xA0 && p[1] <= 0xAF && p[2] >= 0x80 && p[2] <= 0xBF;
}

/* Decodes n bytes into `to`, which has room for n; returns the number of bytes written, at most n. */
static size_t decode(char *to, const uint8_t *p, size_t n)
{
    size_t o = 0, k = 0;
    while (k < n) {
        if (n - k >= 8 && (hdx_le64(p + k) & 0x8080808080808080u) == 0) {
            memcpy(to + o, p + k, 8);
            o += 8;
            k += 8;
        } else if (p[k] == 0xC0 && n - k >= 2 && p[k + 1] == 0x80) { /* U+0000 */
            to[o++] = 0;
            k += 2;
        } else if (high_surrogate(p + k, n - k) && low_surrogate(p + k + 3, n - k - 3)) {
            const uint32_t high = (uint32_t)(p[k + 1] & 0x0F) << 6 | (p[k + 2] & 0x3F),
                           low = (uint32_t)(p[k + 4] & 0x0F) << 6 | (p[k + 5] & 0x3F);
            const uint32_t c = 0x10000 + (high << 10 | low);
            to[o++] = (char)(0xF0 | c >> 18);
            to[o++] = (char)(0x80 | (c >> 12 & 0x3F));
            to[o++] = (char)(0x80 | (c >> 6 & 0x3F));
            to[o++] = (char)(0x80 | (c & 0x3F));
            k += 6;
        } else
            to[o++] = (char)p[k++];
    }
    return o;
}

bool hdx_java_text(hdx_arena *arena, hdx_view raw, hdx_text *out)
{
    char *at = raw.len > UINT32_MAX - 64 ? NULL : hdx_arena_get(arena, (uint64_t)raw.len + 1);
    if (at == NULL)
        return false;
    *out = (hdx_text){ at, (uint32_t)decode(at, raw.at, raw.len) };
    return true;
}

static bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/* Slashes become dots, except for the one before the address of a hidden class: "A$$Lambda/0x00007f1c04001200". */
static void dots(char *at, size_t len)
{
    size_t last = len, digits = len;
    while (last > 0 && at[last - 1] != '/')
        last--;
    if (last > 0 && len - last > 2 && at[last] == '0' && at[last + 1] == 'x') {
        for (digits = last + 2; digits < len && is_hex(at[digits]); digits++)
            ;
        if (digits == len)
            len = last - 1;
    }
    for (size_t k = 0; k < len; k++)
        if (at[k] == '/')
            at[k] = '.';
}

static const char *primitive(uint8_t letter)
{
    switch (letter) {
    case 'Z': return "boolean";
    case 'C': return "char";
    case 'F': return "float";
    case 'D': return "double";
    case 'B': return "byte";
    case 'S': return "short";
    case 'I': return "int";
    case 'J': return "long";
    default: return NULL;
    }
}

bool hdx_java_class_name(hdx_arena *arena, hdx_view raw, hdx_text *out)
{
    size_t dimensions = 0, len;
    while (dimensions < raw.len && raw.at[dimensions] == '[')
        dimensions++;
    if (raw.len > UINT32_MAX / 4)
        return false;
    char *at = hdx_arena_get(arena, (uint64_t)raw.len + dimensions + 16);
    if (at == NULL)
        return false;
    hdx_view rest = { raw.at + dimensions, raw.len - dimensions };
    if (dimensions > 0 && rest.len > 1 && rest.at[0] == 'L') {
        const bool closed = rest.at[rest.len - 1] == ';';
        len = decode(at, rest.at + 1, rest.len - 1 - closed);
        dots(at, len);
    } else if (dimensions > 0) {
        const char *name = rest.len == 1 ? primitive(rest.at[0]) : NULL;
        name = name == NULL ? "unknown" : name; /* MAT 10.1 */
        len = strlen(name);
        memcpy(at, name, len);
    } else {
        len = decode(at, rest.at, rest.len);
        dots(at, len);
    }
    for (size_t k = 0; k < dimensions; k++) {
        at[len++] = '[';
        at[len++] = ']';
    }
    at[len] = 0;
    *out = (hdx_text){ at, (uint32_t)len };
    return true;
}

bool hdx_name_is_array(hdx_text name)
{
    return name.len > 2 && name.at[name.len - 2] == '[' && name.at[name.len - 1] == ']';
}

uint8_t hdx_name_element_type(hdx_text name)
{
    if (!hdx_name_is_array(name))
        return 0;
    const hdx_text element = { name.at, name.len - 2 };
    for (uint8_t type = 4; type < 12; type++)
        if (hdx_text_is(element, hdx_type_name(type)))
            return type;
    return 2;
}
