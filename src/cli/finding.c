/* finding.c - one finding of the command check as text, for its page and its reports. */
#include "cli/report.h"

static void put(hdx_buffer *out, const char *text) { cli_put_plain(out, text, strlen(text)); }

void cli_put_found_object(hdx_buffer *out, const hdx_check_result *r, const char *before)
{
    char human[16];
    if (r->address == 0)
        return;
    hdx_buffer_text(out, before);
    put(out, r->class_name != NULL ? r->class_name : "an object");
    hdx_buffer_format(out, " 0x%llx", (unsigned long long)r->address);
    if (r->retained == 0)
        return;
    hdx_human_size(r->retained, human);
    hdx_buffer_format(out, " keeps %s", human);
}

void cli_put_finding(hdx_buffer *out, const hdx_check_result *r)
{
    put(out, r->message);
    hdx_buffer_text(out, "\n");
    if (r->address != 0) {
        cli_put_found_object(out, r, "");
        hdx_buffer_text(out, "\n");
    }
    if (r->root != NULL) {
        hdx_buffer_text(out, "GC root: ");
        put(out, r->root);
        hdx_buffer_text(out, "\n");
    }
    for (uint64_t i = 0; i < r->step_count; i++) {
        const hdx_check_step *s = &r->steps[i];
        const bool            class_object = s->label != NULL && strcmp(s->class_name, "java.lang.Class") == 0;
        if (r->left_out > 0 && i == r->left_at)
            hdx_buffer_format(out, "-> (%llu more)\n", (unsigned long long)r->left_out);
        hdx_buffer_text(out, "-> ");
        put(out, class_object ? s->label : s->class_name[0] != '\0' ? s->class_name : "(no class)");
        if (s->label != NULL && !class_object) {
            hdx_buffer_text(out, " \"");
            put(out, s->label);
            hdx_buffer_text(out, "\"");
        }
        if (s->reference != NULL) {
            hdx_buffer_text(out, s->reference[0] == '[' || s->reference[0] == '<' ? " " : " .");
            put(out, s->reference);
        }
        hdx_buffer_format(out, "  0x%llx\n", (unsigned long long)s->address);
    }
    if (r->reason != NULL) {
        hdx_buffer_text(out, "because ");
        put(out, r->reason);
        hdx_buffer_text(out, "\n");
    }
}

static bool same_text(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0); }

uint64_t cli_check_alike(const hdx_check *check, uint64_t at)
{
    const hdx_check_result *r = &check->results[at];
    uint64_t                count = 0;
    for (uint64_t i = 0; i < at; i++) {
        const hdx_check_result *k = &check->results[i];
        count += same_text(k->kind, r->kind) && same_text(k->name, r->name) && same_text(k->signature, r->signature) &&
                 (r->name != NULL || same_text(k->rule, r->rule));
    }
    return count;
}
