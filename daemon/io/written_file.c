#include "io/written_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/log.h"

#define OPEN_FLAGS (O_APPEND | O_CLOEXEC | O_NONBLOCK)

static bool is_fifo_path(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

int written_file_open_old(const char *path)
{
    int fd = open(path, OPEN_FLAGS | (is_fifo_path(path) ? O_WRONLY : O_RDWR));

    return fd < 0 && errno == EACCES ? open(path, OPEN_FLAGS | O_WRONLY) : fd;
}

int written_file_open(const char *word, const struct endpoint *e)
{
    int fd = open(e->path, OPEN_FLAGS | O_RDWR | O_CREAT | O_EXCL, e->mode);

    if (fd >= 0) {
        fchmod(fd, e->mode); /* whatever the umask */
        return fd;
    }
    if (errno == EEXIST)
        fd = written_file_open_old(e->path);
    if (fd < 0 && errno == ENXIO)
        log_error("%s: nobody reads the FIFO %s: start its reader first", word, e->path);
    else if (fd < 0)
        log_error("%s: cannot open %s: %s", word, e->path, strerror(errno));
    return fd;
}

bool written_file_is_torn(int fd)
{
    struct stat st;
    char last;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
           pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n';
}
