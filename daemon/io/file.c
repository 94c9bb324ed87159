#include "io/file.h"

#include <unistd.h>

#define STEP_BYTES 65536

bool file_read_all(int fd, size_t max, struct buf *ret)
{
    ssize_t n = 0;

    while (buf_length(ret) <= max && (n = read(fd, buf_reserve(ret, STEP_BYTES), STEP_BYTES)) > 0)
        buf_advance(ret, (size_t)n);
    return n >= 0;
}
