/* textfile.c - a text file named by a user (textfile.h). */
#include "base/textfile.h"
#include "base/error.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PIECE 65536u

static bool cancelled(const hdx_progress *p) { return p != NULL && p->cancelled != NULL && p->cancelled(p->context); }

/* Appends the whole file, or one byte more than `most` if it is longer. Returns 0, or a negative errno. */
static int read_all(int fd, uint64_t most, const hdx_progress *progress, hdx_buffer *out)
{
    while (out->len <= most) {
        if (cancelled(progress))
            return -EINTR;
        char   *room = hdx_buffer_room(out, PIECE);
        ssize_t n = room != NULL ? read(fd, room, PIECE) : -1;
        if (room == NULL)
            return -ENOMEM;
        if (n == 0)
            return 0;
        if (n > 0)
            out->len += (uint64_t)n;
        else if (errno != EINTR)
            return -errno;
    }
    return 0;
}

hdx_code hdx_text_file(const char *path, uint64_t most, const hdx_progress *progress, hdx_arena *arena, hdx_text *out,
                       hdx_error *err)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    hdx_code   code = HDX_OK;
    int        fd, rc;
    do
        fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR && !cancelled(progress));
    rc = fd < 0 ? -errno : read_all(fd, most, progress, &text);
    if (fd >= 0)
        (void)close(fd);
    char *at = rc < 0 ? NULL : hdx_arena_copy(arena, text.at, text.len);
    if (rc == -EINTR)
        code = hdx_fail(err, HDX_CANCELLED, path, HDX_NOWHERE, "interrupted");
    else if (rc < 0 && rc != -ENOMEM)
        code = hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "cannot be read: %s", strerror(-rc));
    else if (at == NULL)
        code = hdx_no_memory(err, "a text", text.len);
    else if (text.len > most)
        code = hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "is larger than %llu MiB", (unsigned long long)most >> 20);
    else
        *out = (hdx_text){ at, (uint32_t)text.len };
    hdx_buffer_free(&text);
    return code;
}
