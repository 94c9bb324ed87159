/*
 * joind: arguments, wiring, exit status. interface.md section 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/mem.h"
#include "config/print.h"
#include "config/reader.h"
#include "config/settings.h"
#include "io/file.h"
#include "io/log.h"
#include "model/plan.h"
#include "service/daemon.h"

#define EXIT_USAGE  64
#define EXIT_CONFIG 78

struct arguments {
    const char *path;
    struct config_override *overrides; /* owned */
    size_t override_count;
    bool check, flink;
    enum log_level level;
};

static const char usage[] =
    "usage: joind [options] FILE          run the join that FILE describes\n"
    "       joind --check FILE            read FILE, print what it means, exit\n"
    "       joind --flink FILE            print FILE as a Flink SQL script, exit\n"
    "       joind --help | --version\n";

static const char help[] =
    "\n"
    "joind joins two streams of records that come over TCP, over unix sockets or from files.\n"
    "\n"
    "  -s, --set SECTION.KEY=VALUE   override one key of FILE; may be given many times;\n"
    "                                an empty VALUE unsets the key\n"
    "  -t, --check                   check only: print the configuration in force\n"
    "  -f, --flink                   export only: print a Flink SQL script\n"
    "  -v, --verbose                 more log lines (connections too)\n"
    "  -q, --quiet                   warnings, errors and the ready line only\n"
    "  -h, --help                    this text\n"
    "  -V, --version                 the version\n"
    "\n"
    "Signals: TERM and INT stop in order, a second one at once; HUP reads the table of a\n"
    "lookup and opens written files anew; USR1 writes the status to the log.\n"
    "Exit status: 0 fine; 1 a failure while running; 64 wrong usage; 78 wrong configuration.\n";

static const struct option options[] = {
    {"set", required_argument, NULL, 's'}, {"check", no_argument, NULL, 't'},
    {"flink", no_argument, NULL, 'f'},     {"verbose", no_argument, NULL, 'v'},
    {"quiet", no_argument, NULL, 'q'},     {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},   {NULL, 0, NULL, 0},
};

static int wrong_usage(const char *format, const char *what)
{
    if (format != NULL) {
        fputs("joind: ", stderr);
        fprintf(stderr, format, what);
        fputc('\n', stderr);
    }
    fputs(usage, stderr);
    return EXIT_USAGE;
}

static void add_override(struct arguments *a, const char *text)
{
    a->overrides = mem_realloc(a->overrides, (a->override_count + 1) * sizeof(*a->overrides));
    a->overrides[a->override_count++] = (struct config_override){.text = text};
}

/* -1: go on; else the exit status. */
static int read_arguments(int argc, char **argv, struct arguments *ret)
{
    int option;

    while ((option = getopt_long(argc, argv, "s:tfvqhV", options, NULL)) != -1) {
        switch (option) {
        case 's':
            if (!settings_override_valid(optarg))
                return wrong_usage("--set %s: this is not SECTION.KEY=VALUE", optarg);
            add_override(ret, optarg);
            break;
        case 't':
            ret->check = true;
            break;
        case 'f':
            ret->flink = true;
            break;
        case 'v':
            ret->level = LOG_LEVEL_DEBUG;
            break;
        case 'q':
            ret->level = LOG_LEVEL_WARNING;
            break;
        case 'h':
            fputs(usage, stdout);
            fputs(help, stdout);
            return 0;
        case 'V':
            puts("joind " JOIND_VERSION);
            return 0;
        default:
            return wrong_usage(NULL, NULL);
        }
    }
    if (optind + 1 != argc)
        return wrong_usage(optind == argc ? "FILE is missing%s" : "one FILE only, not also %s",
                           optind == argc ? "" : argv[optind + 1]);
    ret->path = argv[optind];
    return -1;
}

/* False: a message is printed. */
static bool read_file(const char *path, struct buf *ret)
{
    struct stat st;
    bool good;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) != 0) {
        fprintf(stderr, "joind: cannot read %s: %s\n", path, strerror(errno));
        return false;
    }
    if (S_ISDIR(st.st_mode)) {
        fprintf(stderr, "joind: cannot read %s: it is a directory\n", path);
        close(fd);
        return false;
    }
    good = file_read_all(fd, CONFIG_BYTES_MAX, ret);
    if (!good)
        fprintf(stderr, "joind: cannot read %s: %s\n", path, strerror(errno));
    else if (buf_length(ret) > CONFIG_BYTES_MAX)
        fprintf(stderr, "joind: %s has more than 1 MiB: this is no configuration\n", path);
    close(fd);
    return good && buf_length(ret) <= CONFIG_BYTES_MAX;
}

static void print_faults(struct diag *diag)
{
    diag_sort(diag);
    for (size_t i = 0; i < diag->count; i++)
        fprintf(stderr, "%s\n", diag->messages[i].text);
}

/* NULL: messages are printed. */
static struct config *read_config(const struct arguments *a, struct bytes text)
{
    char *folder = getcwd(NULL, 0);
    struct config_source source = {
        .path = a->path,
        .text = text,
        .current_directory = folder == NULL ? "/" : folder,
        .overrides = a->overrides,
        .override_count = a->override_count,
    };
    struct diag diag;
    struct config *c;

    diag_init(&diag);
    c = config_read(&source, &diag);
    print_faults(&diag);
    diag_done(&diag);
    free(folder);
    return c;
}

static int print_check(const struct config *c)
{
    struct buf text = BUF_EMPTY;

    config_print(c, &text);
    fwrite(buf_data(&text), 1, buf_length(&text), stdout);
    buf_done(&text);
    return fflush(stdout) == 0 ? 0 : 1;
}

static void draw_hash_seed(struct config *c)
{
    uint64_t seed;

    if (c->hash_seed_random && getrandom(&seed, sizeof(seed), 0) == sizeof(seed))
        c->plan->hash_seed = seed;
}

static int act(const struct arguments *a, struct config *c)
{
    static struct daemon daemon;

    if (a->check)
        return print_check(c);
    log_init(a->level);
    draw_hash_seed(c);
    return daemon_run(&daemon, c);
}

/* With 0, 1 or 2 closed, the next thing opened would take that place, and log lines or
 * results would go where nobody meant them to. */
static void fill_standard_fds(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.level = LOG_LEVEL_INFO};
    struct buf text = BUF_EMPTY;
    struct config *config;
    int status;

    fill_standard_fds();
    status = read_arguments(argc, argv, &arguments);
    if (status >= 0) {
        mem_free(arguments.overrides);
        return status;
    }
    if (arguments.flink) {
        fputs("joind: --flink: not in this version\n", stderr);
        status = EXIT_USAGE;
    } else if (!read_file(arguments.path, &text)) {
        status = 1;
    } else if ((config = read_config(&arguments, buf_bytes(&text))) == NULL) {
        status = EXIT_CONFIG;
    } else {
        status = act(&arguments, config);
        config_free(config);
    }
    buf_done(&text);
    mem_free(arguments.overrides);
    return status;
}
