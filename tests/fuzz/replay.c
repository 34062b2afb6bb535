/* replay.c - runs a fuzz target over the files of its corpus, where libFuzzer is not at hand. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return 1;
    uint8_t *bytes = NULL;
    size_t   len = 0, room = 0, n;
    do {
        if (len == room)
            bytes = realloc(bytes, room = room == 0 ? 4096 : 2 * room);
        if (bytes == NULL)
            abort();
        n = fread(bytes + len, 1, room - len, f);
        len += n;
    } while (n > 0);
    (void)fclose(f);
    uint8_t *exact =
        malloc(len == 0 ? 1 : len); /* exactly as long as the input, so that ASan sees a read past its end */
    if (exact == NULL)
        abort();
    memcpy(exact, bytes, len);
    (void)LLVMFuzzerTestOneInput(exact, len);
    free(exact);
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    unsigned files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (folder == NULL) {
            if (replay(argv[i]) != 0)
                return fprintf(stderr, "replay: cannot read %s\n", argv[i]), 1;
            files++;
            continue;
        }
        struct dirent *entry;
        char           path[4096];
        while ((entry = readdir(folder)) != NULL)
            if (entry->d_name[0] != '.' &&
                snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name) < (int)sizeof path && replay(path) == 0)
                files++;
        (void)closedir(folder);
    }
    printf("%u inputs replayed\n", files);
    return files == 0;
}
