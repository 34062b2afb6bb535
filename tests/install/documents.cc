/*
 * documents.cc - a program of somebody else in C++11: the histogram of a dump as JSON into a std::string, printed.
 * Built against the installed headers and library by tests/install/test.sh, which compares it with what the program
 * says.
 */
#include <heapdex/heapdex.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

struct close_session {
    void operator()(hdx_session *session) const { hdx_session_close(session); }
};
struct close_rows {
    void operator()(hdx_rows *rows) const { hdx_rows_close(rows); }
};

static void check(hdx_code code, const hdx_error &err)
{
    if (code != HDX_OK)
        throw std::runtime_error(std::string(hdx_code_name(code)) + ": " + err.where + ": " + err.message);
}

static bool append(void *to, const char *bytes, size_t len)
{
    static_cast<std::string *>(to)->append(bytes, len);
    return true;
}

int main(int argc, char **argv)
try {
    hdx_error         err;
    hdx_index_options options = {};
    options.dump = argc > 1 ? argv[1] : "";
    options.index_dir = argc > 2 ? argv[2] : nullptr;
    hdx_session *opened = nullptr;
    check(hdx_session_open(&options, &opened, &err), err);
    const std::unique_ptr<hdx_session, close_session> session(opened);

    const hdx_argument by = { "by", "package" };
    hdx_rows          *answer = nullptr;
    check(hdx_answer_run(session.get(), "histogram", &by, 1, &answer, &err), err);
    const std::unique_ptr<hdx_rows, close_rows> rows(answer);

    std::string        text;
    const hdx_sink     sink = { append, &text };
    hdx_render_options format = {};
    format.format = HDX_FORMAT_JSON;
    check(hdx_render(rows.get(), &format, &sink, &err), err);
    std::fputs(text.c_str(), stdout);
    return 0;
} catch (const std::exception &e) {
    std::fprintf(stderr, "documents: %s\n", e.what());
    return 1;
}
