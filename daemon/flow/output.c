#include "flow/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/object.h"
#include "codec/text.h"
#include "io/log.h"
#include "io/socket.h"
#include "io/written_file.h"

/* Rows are handed on when so many bytes are encoded: one write. */
#define COMMIT_BYTES OUTPUT_AHEAD
/* How long a subscriber may take no byte before `slow` decides. */
#define SLOW_MS 5000

static const char *const words[OUTPUTS] = {
    [OUTPUT_RESULTS] = "output",
    [OUTPUT_LATE] = "late",
    [OUTPUT_REJECTS] = "rejects",
};

#define SINKS_EACH(o, name) LIST_EACH (&(o)->sinks, struct sink, among, name)

/* There is one. */
static struct sink *first_sink(const struct output *o)
{
    return LIST_MEMBER(list_first(&o->sinks), struct sink, among);
}

static bool is_csv(const struct output *o)
{
    return o->config->format.kind == OUTPUT_CSV;
}

/* Its readers come and go, in contrast to a file. */
static bool has_peers(const struct output *o)
{
    return o->listening || o->connecting;
}

static enum absent_policy absent(const struct output *o)
{
    return o->listening ? o->config->absent : ABSENT_WAIT;
}

static enum slow_policy slow(const struct output *o)
{
    return o->connecting ? SLOW_WAIT : o->config->slow;
}

/* It holds between any two calls from outside. What was kept is for who comes when nobody is
 * there. */
static bool output_ok(const struct output *o)
{
    return !(o->listening && o->connecting) && (o->sink_count == 0) == list_empty(&o->sinks) &&
           (o->sink_count == 0 || buf_length(&o->kept) == 0) &&
           (o->row_count > 0 || buf_length(&o->rows) == 0) && (!o->unread || o->sink_count == 0);
}

/* --- those who read --- */

static void header(const struct output *o, struct buf *to)
{
    if (o->encoder != NULL)
        encoder_header(o->encoder, to);
    else
        fate_header(&o->config->format, to);
}

static void sink_leaves(struct output *o, struct sink *s)
{
    sink_take_back(s);
    o->sink_count--;
    if (o->listening)
        listener_gone(&o->listener);
    if (o->connecting)
        connector_again(&o->connector);
    sink_free(s);
}

/* Where the one after it has not begun to read either, that one gets what came before it. (Those
 * that are not the first have nothing that the first has not.) */
static void bequeath(struct output *o, const struct sink *s)
{
    struct buf rows = BUF_EMPTY;
    struct sink *next;
    uint64_t both;

    if (list_first(&o->sinks) != &s->among)
        return;
    next = LIST_MEMBER(s->among.next, struct sink, among);
    if (!next->settling)
        return;
    both = o->given - next->since;
    sink_keep(s, &rows);
    if (buf_length(&rows) > both)
        sink_precede(next, (struct bytes){buf_data(&rows), buf_length(&rows) - both});
    buf_done(&rows);
}

/* Closed first of all: who opens it before would get the end of what the last one left. */
static void fifo_is_unread(struct output *o, struct sink *s)
{
    o->unread = o->trouble_told = true;
    sink_keep(s, &o->kept);
    sink_leaves(o, s);
    log_error("%s: nobody reads the FIFO %s; waiting for a reader, nothing is lost", o->word,
              o->config->endpoint.path);
}

static void tell_gone(const struct output *o, const struct sink *s)
{
    if (o->connecting && o->connector.flaps)
        log_debug("%s: %s has gone: %s", o->word, s->name, s->dead);
    else
        log_info("%s: %s has gone: %s", o->word, s->name, s->dead);
}

static void on_gone(void *owner, struct sink *s)
{
    struct output *o = object_of(owner, OUTPUT_MAGIC);

    if (o->config->endpoint.kind == ENDPOINT_FILE && s->link.kind == LINK_PIPE) {
        fifo_is_unread(o, s);
        return;
    }
    if (!has_peers(o)) {
        log_error("%s: cannot write to %s: %s", o->word, s->name, s->dead);
        o->failed = true;
        event_base_loopbreak(o->base);
        return;
    }
    if (o->sink_count == 1)
        sink_keep(s, &o->kept);
    else
        bequeath(o, s);
    sink_drop(s);
    tell_gone(o, s);
    sink_leaves(o, s);
}

/* Those whose writes have failed. */
static void bury_dead(struct output *o)
{
    SINKS_EACH(o, s)
    {
        if (s->dead != NULL)
            on_gone(o, s);
    }
}

static struct sink *sink_join(struct output *o, int fd, const char *name)
{
    struct sink *s = sink_new(o->base, fd, name, &o->bytes_written, on_gone, o);

    s->quoted = is_csv(o);
    s->since = o->given;
    list_append(&o->sinks, &s->among);
    o->sink_count++;
    return s;
}

/* `first` is no results; then comes what was kept. */
static void give(struct output *o, struct sink *s, struct buf *first)
{
    size_t header_bytes = buf_length(first);

    buf_append_bytes(first, buf_bytes(&o->kept));
    buf_done(&o->kept);
    sink_put(s, buf_bytes(first), header_bytes);
}

/* A new reader gets the header, what the last one left unread, and all that follows. */
static void welcome(struct output *o, int fd, const char *peer)
{
    struct buf first = BUF_EMPTY;
    struct sink *s;

    assert(output_ok(o) && has_peers(o));
    output_take_back(o);
    output_commit(o); /* what was there before */
    socket_for_rows(fd);
    s = sink_join(o, fd, peer);
    s->fin_ends = o->connecting;
    sink_settle(s);
    header(o, &first);
    give(o, s, &first);
    buf_done(&first);
}

static void on_subscriber(void *owner, int fd, const char *peer)
{
    struct output *o = object_of(owner, OUTPUT_MAGIC);

    log_info("%s: %s subscribes", o->word, peer);
    welcome(o, fd, peer);
}

static void on_connected(void *owner, int fd, const char *peer)
{
    welcome(object_of(owner, OUTPUT_MAGIC), fd, peer);
}

/* --- files --- */

/* What comes first in a file: its header when it is empty, the end of a torn last line. */
static void file_start(const struct output *o, int fd, struct buf *to)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        header(o, to);
    else if (written_file_is_torn(fd))
        buf_append_char(to, '\n');
}

static void join_file(struct output *o, int fd, const char *name)
{
    struct buf first = BUF_EMPTY;
    struct sink *s = sink_join(o, fd, name);

    file_start(o, fd, &first);
    give(o, s, &first);
    buf_done(&first);
}

static bool open_path(struct output *o)
{
    int fd = written_file_open(o->word, &o->config->endpoint);

    if (fd >= 0)
        join_file(o, fd, o->config->endpoint.path);
    return fd >= 0;
}

/* Not made anew: who took the FIFO away is going to put another one there. */
static void try_unread(struct output *o)
{
    int fd = written_file_open_old(o->config->endpoint.path);

    if (fd < 0)
        return;
    o->unread = false;
    join_file(o, fd, o->config->endpoint.path);
    bury_dead(o);
}

static bool open_standard(struct output *o)
{
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    struct stat st;

    if (fd < 0) {
        log_error("%s: standard output is closed: %s", o->word, strerror(errno));
        return false;
    }
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
        o->standard_flags = fcntl(fd, F_GETFL); /* shared with others: put back at the end */
        fcntl(fd, F_SETFL, o->standard_flags | O_NONBLOCK);
    }
    join_file(o, fd, "standard output");
    return true;
}

bool output_reopen(struct output *o)
{
    const char *path = o->config->endpoint.path;
    struct sink *s;
    int fd;

    assert(output_ok(o));
    if (o->config->endpoint.kind != ENDPOINT_FILE || list_empty(&o->sinks))
        return true;
    s = first_sink(o);
    if (s->link.kind != LINK_FILE)
        return true;
    fd = written_file_open(o->word, &o->config->endpoint);
    if (fd < 0)
        return false;
    sink_keep(s, &o->kept); /* the row that was torn is written whole in the new file */
    sink_leaves(o, s);
    join_file(o, fd, path);
    log_info("%s: %s is open anew", o->word, path);
    return true;
}

/* --- open, close --- */

bool output_open(struct output *o, struct event_base *base, const struct output_config *c,
                 enum output_id id, const struct plan *plan, bool make_files)
{
    *o = (struct output){
        .magic = OUTPUT_MAGIC, .config = c, .word = words[id], .base = base, .standard_flags = -1};
    list_init(&o->sinks);
    if (id == OUTPUT_RESULTS)
        o->encoder = encoder_new(&c->format, plan);
    switch (c->endpoint.kind) {
    case ENDPOINT_NONE:
        return true;
    case ENDPOINT_FILE:
        return !make_files || open_path(o);
    case ENDPOINT_STANDARD:
        return !make_files || open_standard(o);
    case ENDPOINT_CONNECT:
        o->connecting = make_files;
        if (make_files)
            connector_start(&o->connector, base, &c->endpoint, o->word, on_connected, o);
        return true;
    case ENDPOINT_LISTEN:
        break;
    }
    o->listening = listener_open(&o->listener, base, &c->endpoint, o->word, on_subscriber, o);
    return o->listening;
}

void output_close(struct output *o)
{
    if (o->standard_flags >= 0)
        fcntl(STDOUT_FILENO, F_SETFL, o->standard_flags);
    if (o->listening)
        listener_close(&o->listener);
    SINKS_EACH(o, s)
    {
        sink_take_back(s);
        if (has_peers(o))
            sink_say_goodbye(s);
        sink_leaves(o, s);
    }
    connector_stop(&o->connector);
    encoder_free(o->encoder);
    buf_done(&o->rows);
    buf_done(&o->kept);
}

/* --- rows --- */

static bool configured(const struct output *o)
{
    return o->config->endpoint.kind != ENDPOINT_NONE;
}

/* `buffer` is for peers; what a file does not take is not piled up. */
static size_t buffer_max(const struct output *o)
{
    return has_peers(o) ? (size_t)o->config->buffer_bytes : OUTPUT_AHEAD;
}

static size_t ahead_max(const struct output *o)
{
    size_t buffer = buffer_max(o);
    return slow(o) == SLOW_WAIT && buffer > OUTPUT_AHEAD ? OUTPUT_AHEAD : buffer;
}

/* Results can wait where they are, in the records; rejected lines have no other place
 * than the buffer for the next subscriber. */
static size_t absent_room(const struct output *o)
{
    size_t kept = buf_length(&o->kept);

    if (absent(o) == ABSENT_DISCARD)
        return COMMIT_BYTES;
    return o->encoder == NULL && kept < buffer_max(o) ? buffer_max(o) - kept : 0;
}

static size_t less_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t output_room(const struct output *o)
{
    size_t room = COMMIT_BYTES, least = SIZE_MAX;

    assert(output_ok(o));
    if (!configured(o) || o->takes_all)
        return SIZE_MAX;
    if (o->sink_count == 0)
        return less_of(room, absent_room(o));
    SINKS_EACH(o, s)
    {
        size_t unwritten = sink_unwritten(s);
        if (s->discarding)
            continue;
        if (unwritten >= buffer_max(o))
            return 0;
        room = less_of(room, buffer_max(o) - unwritten);
        least = less_of(least, unwritten);
    }
    return least == SIZE_MAX || least < ahead_max(o) ? room : 0;
}

size_t output_results(struct output *o, const struct result *results, size_t n, size_t room)
{
    size_t encoded = encoder_results(o->encoder, results, n, room, &o->rows);

    o->row_count += encoded;
    return encoded;
}

void output_fate(struct output *o, const struct fate_row *r)
{
    if (!configured(o))
        return;
    fate_row(&o->config->format, r, &o->rows);
    o->row_count++;
}

void output_take_all(struct output *o)
{
    o->takes_all = true;
}

static void give_rows(struct output *o)
{
    if (o->sink_count == 0 && absent(o) == ABSENT_DISCARD)
        o->discarded += o->row_count;
    else if (o->sink_count == 0)
        buf_append_bytes(&o->kept, buf_bytes(&o->rows));
    SINKS_EACH(o, s)
    {
        if (s->discarding)
            o->discarded += o->row_count;
        else
            sink_put(s, buf_bytes(&o->rows), 0);
    }
    o->given += buf_length(&o->rows);
    buf_clear(&o->rows);
    buf_trim(&o->rows, 2 * COMMIT_BYTES);
    o->row_count = 0;
}

void output_commit(struct output *o)
{
    assert(output_ok(o));
    if (o->row_count > 0)
        give_rows(o);
    bury_dead(o);
    assert(output_ok(o));
}

void output_take(struct output *o, struct buf *rows, uint64_t count)
{
    struct buf own;

    assert(output_ok(o) && count > 0);
    output_commit(o);
    own = o->rows;
    o->rows = *rows;
    o->row_count = count;
    *rows = own;
    output_commit(o);
}

struct sink *output_idle_sink(const struct output *o)
{
    struct sink *s;

    if (!has_peers(o) || o->sink_count != 1 || o->row_count > 0)
        return NULL;
    s = first_sink(o);
    return s->lent == NULL && sink_is_idle(s) ? s : NULL;
}

void output_take_written(struct output *o, struct bytes rows, ssize_t said)
{
    assert(o->sink_count == 1 && o->row_count == 0);
    sink_put_written(first_sink(o), rows, said);
    o->given += rows.n;
}

void output_take_back(struct output *o)
{
    SINKS_EACH(o, s)
    sink_take_back(s);
}

/* A small buffer is not gone beyond by much. */
size_t output_piece(const struct output *o)
{
    return has_peers(o) ? less_of(COMMIT_BYTES, buffer_max(o) / 4) : COMMIT_BYTES;
}

/* --- those that do not read --- */

static void slow_decides(struct output *o, struct sink *s)
{
    uint64_t rows;

    if (o->config->slow == SLOW_DISCARD) {
        log_warning("%s: %s takes nothing: its results are discarded until it reads again", o->word,
                    s->name);
        s->discarding = true;
        return;
    }
    rows = sink_rows(s);
    log_warning("%s: %s takes nothing: disconnected, its %llu results are discarded", o->word,
                s->name, (unsigned long long)rows);
    o->discarded += rows;
    sink_leaves(o, s);
}

static bool file_refuses(const struct output *o, struct buf *ret_reason)
{
    if (o->unread) {
        buf_printf(ret_reason, "%s: nobody reads the FIFO %s", o->word, o->config->endpoint.path);
        return true;
    }
    SINKS_EACH(o, s)
    {
        if (s->trouble == NULL)
            continue;
        buf_printf(ret_reason, "%s: cannot write to %s: %s", o->word, s->name, s->trouble);
        return true;
    }
    return false;
}

bool output_trouble(const struct output *o, struct buf *ret_reason)
{
    return file_refuses(o, ret_reason) || connector_trouble(&o->connector, ret_reason);
}

/* A disk that refuses is tried again every second; that, and the end of it, is told. */
static void tell_trouble(struct output *o)
{
    struct buf reason = BUF_EMPTY;
    bool trouble = file_refuses(o, &reason);

    if (trouble && !o->trouble_told)
        log_error("%s; waiting for room, nothing is lost", buf_text(&reason));
    else if (!trouble && o->trouble_told)
        log_info("%s: written again", o->word);
    o->trouble_told = trouble;
    buf_done(&reason);
}

void output_tick(struct output *o, struct mono_time now)
{
    assert(output_ok(o));
    if (o->unread)
        try_unread(o);
    tell_trouble(o);
    SINKS_EACH(o, s)
    {
        sink_trim(s);
    }
    if (!has_peers(o))
        return;
    SINKS_EACH(o, s)
    {
        bool full = sink_unwritten(s) >= buffer_max(o);

        sink_tick(s, now.ms, o->config->dead_after_ms);
        if (s->dead != NULL)
            on_gone(o, s);
        else if (slow(o) != SLOW_WAIT && full && !s->discarding &&
                 now.ms - s->stalled_since_ms >= SLOW_MS)
            slow_decides(o, s);
    }
    assert(output_ok(o));
}

void output_hurry(struct output *o)
{
    if (o->connecting)
        connector_hurry(&o->connector);
}

/* --- what it knows --- */

bool output_drained(const struct output *o)
{
    assert(output_ok(o));
    if (o->row_count > 0)
        return false;
    SINKS_EACH(o, s)
    if (sink_waits(s))
        return false;
    return buf_length(&o->kept) == 0 || absent(o) == ABSENT_DISCARD;
}

uint64_t output_rows_unwritten(const struct output *o)
{
    uint64_t rows = o->row_count + text_rows_count(buf_bytes(&o->kept), is_csv(o));

    SINKS_EACH(o, s)
    rows += sink_rows(s);
    return rows;
}
