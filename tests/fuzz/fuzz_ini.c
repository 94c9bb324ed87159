/*
 * Any text is read as a configuration or refused with reasons; one that is read can
 * be printed, and what is printed reads as the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include "config/print.h"
#include "config/reader.h"
#include "fuzz.h"

static struct config *read_text(struct bytes text, struct diag *diag)
{
    const struct config_source source = {
        .path = "fuzz.ini",
        .text = text,
        .current_directory = "/etc/joind",
    };

    return config_read(&source, diag);
}

static void fail(const char *what, struct buf *printed, const struct diag *diag)
{
    fprintf(stderr, "%s\n%s", what, buf_text(printed));
    for (size_t i = 0; i < diag->count; i++)
        fprintf(stderr, "%s\n", diag->messages[i].text);
    abort();
}

static void check_printed(const struct config *c, struct diag *diag)
{
    struct buf printed = BUF_EMPTY, again = BUF_EMPTY;
    struct config *read;

    config_print(c, &printed);
    read = read_text(buf_bytes(&printed), diag);
    if (read == NULL)
        fail("what is printed is refused:", &printed, diag);
    config_print(read, &again);
    if (!bytes_equal(buf_bytes(&printed), buf_bytes(&again)))
        fail("what is printed reads as something else:", &printed, diag);
    config_free(read);
    buf_done(&printed);
    buf_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag diag;
    struct config *c;

    diag_init(&diag);
    c = read_text((struct bytes){(const char *)data, size}, &diag);
    if (c != NULL)
        check_printed(c, &diag);
    else if (!diag_any(&diag))
        abort();
    config_free(c);
    diag_done(&diag);
    return 0;
}
