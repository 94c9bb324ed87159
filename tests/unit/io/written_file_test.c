/*
 * Files that rows are appended to, in a folder of the test's own.
 */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/written_file.h"

static char folder[] = "/tmp/joind-written-XXXXXX";
static char path[64];

static struct endpoint file(unsigned mode)
{
    return (struct endpoint){.kind = ENDPOINT_FILE, .path = path, .mode = mode};
}

static void put(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static int open_anew(unsigned mode)
{
    struct endpoint e = file(mode);

    unlink(path);
    return written_file_open("output", &e);
}

static void a_new_file_has_the_mode_that_is_asked_for(void **state)
{
    mode_t before = umask(077);
    int fd = open_anew(0664);
    struct stat st;

    (void)state;
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0664);
    close(fd);
    umask(before);
}

static void one_that_is_there_is_appended_to_and_keeps_its_mode(void **state)
{
    struct endpoint e = file(0666);
    int fd = open_anew(0600), again;
    struct stat st;

    (void)state;
    put(fd, "a\n");
    again = written_file_open("output", &e);
    put(again, "b\n");
    put(fd, "c\n");
    assert_int_equal(fstat(again, &st), 0);
    assert_int_equal(st.st_size, 6);
    assert_int_equal(st.st_mode & 07777, 0600);
    close(again);
    close(fd);
}

static void a_last_line_without_an_end_is_seen(void **state)
{
    int fd = open_anew(0600);

    (void)state;
    assert_false(written_file_is_torn(fd));
    put(fd, "a\nb");
    assert_true(written_file_is_torn(fd));
    put(fd, "\n");
    assert_false(written_file_is_torn(fd));
    close(fd);
}

static void a_fifo_is_opened_when_somebody_reads_it(void **state)
{
    struct endpoint e = file(0600);
    int reader, writer;

    (void)state;
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(written_file_open("output", &e), -1);
    assert_int_equal(written_file_open_old(path), -1);
    reader = open(path, O_RDONLY | O_NONBLOCK);
    writer = written_file_open_old(path);
    assert_true(writer >= 0);
    assert_false(written_file_is_torn(writer));
    close(writer);
    close(reader);
}

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof(path), "%s/out.csv", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_file_has_the_mode_that_is_asked_for),
        cmocka_unit_test(one_that_is_there_is_appended_to_and_keeps_its_mode),
        cmocka_unit_test(a_last_line_without_an_end_is_seen),
        cmocka_unit_test(a_fifo_is_opened_when_somebody_reads_it),
    };
    return cmocka_run_group_tests_name("io/written_file", tests, make_folder, remove_folder);
}
