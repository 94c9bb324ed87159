#include "flow/lookup.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io/clock.h"
#include "io/log.h"

/* About 0.4 ms a turn, beside what the join itself does. */
#define TURN_FUEL  40000
#define READ_BYTES (64 << 10)
/* To read and cut so many bytes; a row costs more, which its table takes off. */
#define BYTES_A_FUEL 8
/* A file that is wrong in every row does not fill the log. */
#define FAULTS_TOLD 10

/* --- what the file is like --- */

static struct lookup_stamp stamp_of(const struct stat *st)
{
    return (struct lookup_stamp){st->st_dev, st->st_ino, st->st_size, st->st_mtim, st->st_ctim};
}

static bool same_instant(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool same_stamp(const struct lookup_stamp *a, const struct lookup_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           same_instant(&a->modified, &b->modified) && same_instant(&a->changed, &b->changed);
}

/* --- faults --- */

static void tell_fault(struct lookup *l, uint64_t line, const char *what)
{
    struct lookup_reading *r = &l->reading;

    if (r->faults++ < FAULTS_TOLD)
        log_error("right: %s:%llu: %s", l->path, (unsigned long long)line, what);
}

static void tell_whole_fault(struct lookup *l, const char *what)
{
    l->reading.faults++;
    log_error("right: %s: %s", l->path, what);
}

static uint64_t lines_in(const char *p, size_t n)
{
    uint64_t lines = 0;

    for (size_t i = 0; i < n; i++)
        lines += p[i] == '\n';
    return lines;
}

/* The line that a row starts at. */
static uint64_t line_of(const struct lookup_reading *r, const struct row *row)
{
    const char *start = buf_data(&r->source->tail);

    return r->lines + 1 + lines_in(start, (size_t)(row->line.p - start));
}

/* --- a reading --- */

static void reading_begin(struct lookup *l, int fd, const struct stat *st)
{
    struct lookup_reading *r = &l->reading;

    assert(!lookup_is_reading(l));
    *r = (struct lookup_reading){
        .source = source_new(&l->group, fd, l->path),
        .stamp = stamp_of(st),
        .table = engine_table_new(l->engine),
    };
    l->group.fault = false;
    l->tried = l->seen = r->stamp;
}

static void reading_end(struct lookup *l)
{
    source_free(l->reading.source);
    l->reading.source = NULL;
}

static bool open_file(struct lookup *l)
{
    int fd = open(l->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    if (fd < 0) {
        log_error("right: cannot open %s: %s", l->path, strerror(errno));
        return false;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        log_error("right: cannot read %s: a lookup needs a regular file%s", l->path,
                  S_ISDIR(st.st_mode) ? ", it is a directory" : "");
        close(fd);
        return false;
    }
    reading_begin(l, fd, &st);
    return true;
}

static void read_more(struct lookup *l, int64_t *fuel)
{
    size_t n = source_read_on(l->reading.source, READ_BYTES);

    l->reading.bytes += n;
    *fuel -= (int64_t)n / BYTES_A_FUEL;
    if (l->group.fault)
        l->reading.faults += FAULTS_TOLD;
}

/* Rows of the tail into the batch. False: it has no more. */
static bool cut_rows(struct lookup *l)
{
    struct lookup_reading *r = &l->reading;
    const char *fault;
    bool more;

    r->lines += lines_in(buf_data(&r->source->tail), r->source->used);
    more = source_cut_rows(r->source, &l->batch);
    fault = decoder_header_fault(r->source->decoder);
    if (fault != NULL) {
        tell_fault(l, 1, fault);
        r->faults += FAULTS_TOLD; /* all its rows say the same */
    }
    return more;
}

/* Puts rows of the batch into the table. A fault does not end it at once: the next ones are
 * worth knowing too. */
static void add_rows(struct lookup *l, int64_t *fuel)
{
    struct lookup_reading *r = &l->reading;
    struct source *s = r->source;
    struct buf fault = BUF_EMPTY;

    while (source_has_rows(s) && *fuel > 0 && r->faults < FAULTS_TOLD) {
        const struct row *row;
        size_t n = engine_table_add(l->engine, r->table, &l->batch, s->from, fuel, &fault);
        s->from += n;
        r->rows += n;
        if (buf_length(&fault) == 0)
            continue;
        row = &l->batch.rows[s->from++];
        tell_fault(l, line_of(r, row), buf_text(&fault));
        if (row->reject == REJECT_NONE)
            r->faults += FAULTS_TOLD; /* state is full: none that follows can be put in */
        buf_clear(&fault);
    }
    buf_done(&fault);
}

/* True: there is nothing more to read, or no use in it. */
static bool read_on(struct lookup *l, int64_t *fuel)
{
    struct lookup_reading *r = &l->reading;

    while (*fuel > 0 && r->faults < FAULTS_TOLD) {
        if (source_has_rows(r->source))
            add_rows(l, fuel);
        else if (cut_rows(l))
            continue;
        else if (r->source->end == INPUT_GOES_ON)
            read_more(l, fuel);
        else
            return true;
    }
    return r->faults >= FAULTS_TOLD;
}

static bool has_changed(const struct lookup_reading *r)
{
    struct lookup_stamp now;
    struct stat st;

    if (fstat(r->source->link.fd, &st) != 0)
        return true;
    now = stamp_of(&st);
    return !same_stamp(&now, &r->stamp) || r->bytes != (uint64_t)st.st_size;
}

/* A reading is over: what it gave is taken, or not. */
static bool conclude(struct lookup *l)
{
    struct lookup_reading *r = &l->reading;
    bool good;

    if (r->faults < FAULTS_TOLD && has_changed(r))
        tell_whole_fault(l, "it changed while it was read");
    else if (r->faults == 0 && r->bytes == 0 && l->config->format.header)
        tell_whole_fault(l, "it is empty: there is no header");
    good = r->faults == 0;
    if (good) {
        l->rows = r->rows;
        l->loaded_wall_ms = clock_wall_ms();
        engine_table_swap(l->engine, r->table, stream_clock_now(l->clock));
    } else {
        engine_table_drop(l->engine, r->table);
    }
    reading_end(l);
    return good;
}

/* --- the first one --- */

bool lookup_open(struct lookup *l, struct engine *e, struct stream_clock *c,
                 const struct config *config)
{
    int64_t fuel;

    *l = (struct lookup){.engine = e, .clock = c};
    if (!plan_traits(config->plan)->right_file)
        return true;
    l->config = &config->input[SIDE_RIGHT];
    l->path = l->config->endpoint.path;
    source_group_init(&l->group, NULL, l->config, SIDE_RIGHT, NULL, NULL);
    batch_init(&l->batch, config->plan->side[SIDE_RIGHT].form.field_count);
    if (!open_file(l))
        return false;
    do
        fuel = TURN_FUEL;
    while (!read_on(l, &fuel));
    if (!conclude(l))
        return false;
    log_info("right: %s: %llu rows", l->path, (unsigned long long)l->rows);
    return true;
}

void lookup_close(struct lookup *l)
{
    if (l->config == NULL)
        return;
    lookup_give_up(l);
    batch_done(&l->batch);
}

/* --- later ones --- */

static void note_failed(struct lookup *l)
{
    l->reloads_failed++;
    log_error("right: %s was not taken, the table of before stays", l->path);
}

bool lookup_reload(struct lookup *l)
{
    assert(!lookup_is_reading(l) && l->config != NULL);
    if (open_file(l))
        return true;
    note_failed(l);
    return false;
}

enum lookup_outcome lookup_turn(struct lookup *l)
{
    int64_t fuel = TURN_FUEL;

    if (!lookup_is_reading(l) || !read_on(l, &fuel))
        return LOOKUP_NOTHING;
    if (!conclude(l)) {
        note_failed(l);
        return LOOKUP_FAILED;
    }
    l->reloads_ok++;
    log_info("right: %s was read anew: %llu rows", l->path, (unsigned long long)l->rows);
    return LOOKUP_DONE;
}

static bool look(struct lookup *l, struct lookup_stamp *ret)
{
    struct stat st;

    if (stat(l->path, &st) == 0) {
        l->missing = false;
        *ret = stamp_of(&st);
        return true;
    }
    if (!l->missing)
        log_warning("right: cannot look at %s: %s; the table that was read stays", l->path,
                    strerror(errno));
    l->missing = true;
    return false;
}

void lookup_tick(struct lookup *l)
{
    struct lookup_stamp now;
    bool still;

    if (l->config == NULL || lookup_is_reading(l) || !look(l, &now))
        return;
    still = same_stamp(&now, &l->seen);
    l->seen = now;
    if (still && !same_stamp(&now, &l->tried)) {
        l->tried = now; /* also if it cannot be opened: it is said once */
        lookup_reload(l);
    }
}

void lookup_give_up(struct lookup *l)
{
    if (!lookup_is_reading(l))
        return;
    engine_table_drop(l->engine, l->reading.table);
    reading_end(l);
}
