#include "config/paths.h"

#include <assert.h>

#include "base/buf.h"
#include "base/mem.h"

static char *text_of(struct buf *b)
{
    char *text = mem_strdup(buf_text(b));

    buf_done(b);
    return text;
}

/* Appends the parts of `path`, each with a `/` before it. */
static void append_parts(struct buf *to, struct bytes path)
{
    size_t at = 0;

    while (at < path.n) {
        const char *slash = memchr(path.p + at, '/', path.n - at);
        size_t end = slash != NULL ? (size_t)(slash - path.p) : path.n;
        struct bytes part = {path.p + at, end - at};

        if (part.n > 0 && !bytes_equal(part, BYTES_LIT("."))) {
            buf_append_char(to, '/');
            buf_append_bytes(to, part);
        }
        at = end + 1;
    }
}

char *path_absolute(const char *folder, struct bytes path)
{
    struct buf absolute = BUF_EMPTY;

    assert(folder[0] == '/');
    if (path.n == 0 || path.p[0] != '/')
        append_parts(&absolute, bytes_of(folder));
    append_parts(&absolute, path);
    if (buf_length(&absolute) == 0)
        buf_append_char(&absolute, '/');
    return text_of(&absolute);
}

char *path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');

    assert(path[0] == '/');
    if (slash == NULL || slash == path)
        return mem_strdup("/");
    return mem_strndup(path, (size_t)(slash - path));
}

char *path_stem(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *last = slash != NULL ? slash + 1 : path;
    size_t n = strlen(last);

    if (n > 4 && strcmp(last + n - 4, ".ini") == 0)
        n -= 4;
    return mem_strndup(last, n);
}
