#include "io/sink.h"

#include <assert.h>

#include "base/mem.h"
#include "base/object.h"
#include "codec/text.h"
#include "io/clock.h"

/* What stays allocated of a buffer that is empty: room for what comes at once, which is a row more
 * than OUTPUT_AHEAD. */
#define KEEP_BYTES (512 << 10)

static const struct timeval retry_after = {.tv_sec = 1};
static const struct timeval acknowledged_soon = {.tv_usec = 20000};
static const struct timeval settled_after = {.tv_usec = SINK_SETTLE_MS * 1000};

/* So long after a write to a peer that said FIN its answer is looked for often: gone or not. */
#define DOUBT_MS 1000

static void flush(struct sink *s);

static bool is_file(const struct sink *s)
{
    return s->link.kind == LINK_FILE;
}

/* It holds between any two calls from outside. */
static bool sink_ok(const struct sink *s)
{
    size_t pending = buf_length(&s->pending);

    return s->sent <= pending && s->header_left <= pending && s->last <= pending &&
           s->counted <= s->written && (!s->ending || (s->fin_seen && s->fin_ends)) &&
           (!s->doubted || s->fin_seen) && (!s->settling || (s->waiting && s->sent == 0)) &&
           (s->trouble == NULL || is_file(s)) &&
           (s->lent == NULL || (pending == 0 && !s->waiting && !is_file(s)));
}

static struct sink *sink_of(struct link *l)
{
    struct sink *s = object_of(LIST_MEMBER(l, struct sink, link), SINK_MAGIC);

    assert(sink_ok(s));
    return s;
}

static void go_on(struct sink *s)
{
    assert(sink_ok(s));
    s->settling = false;
    s->waiting = false;
    flush(s);
    assert(sink_ok(s));
    if (s->dead != NULL)
        s->gone(s->owner, s);
}

static void on_writable(struct link *l)
{
    go_on(sink_of(l));
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    go_on(object_of(arg, SINK_MAGIC));
}

/* Nothing can be written to it any more: both ways are closed, or it was reset. */
static void look_for_gone(struct sink *s)
{
    if (s->dead == NULL && link_is_gone(&s->link))
        s->dead = "it closed its connection";
}

static void take_fin(struct sink *s)
{
    s->fin_seen = true;
    look_for_gone(s);
    if (s->settling)
        s->fin_ends = false;
    if (!s->fin_ends)
        return;
    s->ending = true;
    s->last = s->sent > 0 ? text_first_row_end(buf_bytes(&s->pending), s->quoted) : 0;
    flush(s);
}

/* What a reader says is thrown away. */
static ssize_t read_nothing(struct sink *s)
{
    char nothing[4096];
    return link_read(&s->link, nothing, sizeof(nothing));
}

/* That he says no more (FIN) mostly means nothing; but only by reading is it found out that he is
 * gone. */
static void on_readable(struct link *l)
{
    struct sink *s = sink_of(l);
    ssize_t n;

    sink_take_back(s);
    n = read_nothing(s);
    if (n >= 0)
        return;
    link_unwatch(l);
    if (n == LINK_ENDED)
        take_fin(s);
    else
        s->dead = link_why(l);
    if (s->dead != NULL)
        s->gone(s->owner, s);
}

static const struct link_owner link_owner = {.readable = on_readable, .writable = on_writable};

struct sink *sink_new(struct event_base *base, int fd, const char *name, uint64_t *bytes_written,
                      sink_gone *gone, void *owner)
{
    struct sink *s = mem_alloc_zeroed(1, sizeof(*s));

    s->magic = SINK_MAGIC;
    list_link_init(&s->among);
    link_init(&s->link, base, fd, &link_owner);
    s->name = mem_strdup(name);
    buf_init(&s->pending);
    s->bytes_written = bytes_written;
    s->taken_ms = clock_mono().ms;
    s->gone = gone;
    s->owner = owner;
    event_assign(&s->retry, base, -1, 0, on_retry, s);
    if (link_is_socket(&s->link))
        link_watch(&s->link);
    return s;
}

void sink_settle(struct sink *s)
{
    s->settling = true;
    s->waiting = true;
    s->stalled_since_ms = clock_mono().ms;
    event_add(&s->retry, &settled_after);
}

/* Of what was written: what is not known to have arrived. What is written to a unix socket has,
 * and before a FIN nobody asks. */
static size_t on_its_way(const struct sink *s)
{
    return s->fin_seen && s->link.kind == LINK_TCP ? link_unacknowledged(&s->link) : 0;
}

static void count(struct sink *s, size_t on_its_way)
{
    uint64_t arrived = s->written > on_its_way ? s->written - on_its_way : 0;

    if (arrived <= s->counted)
        return;
    *s->bytes_written += arrived - s->counted;
    s->counted = arrived;
}

void sink_free(struct sink *s)
{
    if (s == NULL)
        return;
    assert(s->lent == NULL);
    count(s, on_its_way(s));
    event_del(&s->retry);
    list_remove(&s->among);
    link_done(&s->link);
    buf_done(&s->pending);
    mem_free(s->name);
    s->magic = 0;
    mem_free(s);
}

/* Unread bytes would turn our FIN into a reset. */
void sink_say_goodbye(struct sink *s)
{
    link_half_close(&s->link);
    while (read_nothing(s) > 0)
        ;
}

static void wait_for_room(struct sink *s)
{
    if (s->waiting)
        return;
    s->waiting = true;
    s->stalled_since_ms = clock_mono().ms;
    if (is_file(s))
        event_add(&s->retry, &retry_after);
    else
        link_await_room(&s->link);
}

/* What link_write() said. Returns how many bytes were taken. */
static size_t note_written(struct sink *s, ssize_t said)
{
    if (said > 0) {
        s->trouble = NULL;
        s->discarding = false;
        s->stalled_since_ms = clock_mono().ms;
        s->written += (uint64_t)said;
        return (size_t)said;
    }
    if (said == 0)
        return 0;
    if (is_file(s))
        s->trouble = link_why(&s->link); /* full disk, quota, I/O: it may pass */
    else
        s->dead = link_why(&s->link);
    return 0;
}

static size_t try_write(struct sink *s, const char *p, size_t n)
{
    return note_written(s, link_write(&s->link, p, n));
}

static void forget_whole_rows(struct sink *s)
{
    size_t way = on_its_way(s);
    size_t arrived = s->sent > way ? s->sent - way : 0;
    size_t whole = text_rows_end((struct bytes){buf_data(&s->pending), arrived}, s->quoted);

    buf_eat(&s->pending, whole);
    s->sent -= whole;
    s->last = s->last > whole ? s->last - whole : 0;
    s->header_left = s->header_left > whole ? s->header_left - whole : 0;
    count(s, way);
}

/* The line under way is finished first, and then held until it has arrived; so has what was
 * written before the FIN, which nobody else would get. */
static void go_on_ending(struct sink *s)
{
    if (s->sent < s->last)
        wait_for_room(s);
    else if (s->sent > 0 || on_its_way(s) > 0)
        event_add(&s->retry, &acknowledged_soon);
    else
        s->dead = "it asked us to end";
}

/* It has all, and said FIN: whether it was still there to get it shows soon. */
static void go_on_doubting(struct sink *s)
{
    s->doubted =
        s->link.kind == LINK_TCP && s->sent > 0 && clock_mono().ms - s->stalled_since_ms < DOUBT_MS;
    if (s->doubted)
        event_add(&s->retry, &acknowledged_soon);
}

static void flush(struct sink *s)
{
    size_t to = s->ending ? s->last : buf_length(&s->pending);

    if (s->dead != NULL)
        return;
    if (s->sent < to)
        s->sent += try_write(s, buf_data(&s->pending) + s->sent, to - s->sent);
    forget_whole_rows(s);
    if (s->fin_seen)
        look_for_gone(s);
    if (s->dead != NULL)
        return;
    if (s->ending)
        go_on_ending(s);
    else if (sink_unwritten(s) > 0)
        wait_for_room(s);
    else if (s->fin_seen)
        go_on_doubting(s);
}

/* Nothing waited: what was `sent` at once needs no copy. */
static void put_rest(struct sink *s, struct bytes lines, size_t sent, size_t header_bytes)
{
    size_t start;

    count(s, 0);
    if (sent == lines.n)
        return;
    start = text_rows_end((struct bytes){lines.p, sent}, s->quoted);
    s->sent = sent - start;
    s->header_left = header_bytes > start ? header_bytes - start : 0;
    buf_append(&s->pending, lines.p + start, lines.n - start);
    s->pended = true;
    if (s->dead == NULL)
        wait_for_room(s);
}

void sink_put(struct sink *s, struct bytes lines, size_t header_bytes)
{
    bool waits = sink_unwritten(s) > 0 || s->dead != NULL || s->ending || s->settling;

    assert(sink_ok(s) && s->lent == NULL && header_bytes <= lines.n);
    if (lines.n == 0)
        return;
    if (!waits && !s->fin_seen) {
        put_rest(s, lines, try_write(s, lines.p, lines.n), header_bytes);
        return;
    }
    if (buf_length(&s->pending) == 0)
        s->header_left = header_bytes;
    buf_append_bytes(&s->pending, lines);
    s->pended = true;
    if (!waits)
        flush(s);
    assert(sink_ok(s));
}

bool sink_is_idle(const struct sink *s)
{
    return !is_file(s) && s->dead == NULL && !s->waiting && !s->fin_seen && !s->discarding &&
           buf_length(&s->pending) == 0;
}

void sink_lend(struct sink *s, sink_returned *how, void *borrower)
{
    assert(s->lent == NULL && sink_is_idle(s));
    s->lent = how;
    s->borrower = borrower;
}

void sink_take_back(struct sink *s)
{
    if (s->lent != NULL)
        s->lent(s->borrower);
    s->lent = NULL;
}

void sink_put_written(struct sink *s, struct bytes lines, ssize_t said)
{
    size_t sent = note_written(s, said);

    assert(s->lent != NULL && buf_length(&s->pending) == 0);
    put_rest(s, lines, sent, 0);
    if (sent < lines.n)
        s->lent = NULL;
    assert(sink_ok(s));
}

void sink_keep(const struct sink *s, struct buf *to)
{
    size_t from = s->header_left;

    buf_append(to, buf_data(&s->pending) + from, buf_length(&s->pending) - from);
}

void sink_drop(struct sink *s)
{
    size_t way = on_its_way(s);

    if (way == 0)
        return;
    count(s, way);
    link_reset(&s->link);
    s->written = s->counted; /* what lay in the socket arrives nowhere */
}

uint64_t sink_rows(const struct sink *s)
{
    struct bytes all = buf_bytes(&s->pending);
    size_t from = text_rows_end((struct bytes){all.p, s->sent}, s->quoted);

    from = from > s->header_left ? from : s->header_left;
    return text_rows_count((struct bytes){all.p + from, all.n - from}, s->quoted);
}

void sink_precede(struct sink *s, struct bytes rows)
{
    struct buf all = BUF_EMPTY;

    assert(sink_ok(s) && s->settling);
    buf_append(&all, buf_data(&s->pending), s->header_left);
    buf_append_bytes(&all, rows);
    sink_keep(s, &all);
    buf_done(&s->pending);
    s->pending = all;
}

/* Bytes are taken when they are acknowledged. Of a unix socket only the memory of what waits
 * in it is known: it shrinks as the peer reads, and then there is room for more. */
static void look_for_progress(struct sink *s, int64_t now_ms)
{
    bool tcp = s->link.kind == LINK_TCP;
    size_t waits = link_unacknowledged(&s->link);
    uint64_t taken = tcp ? s->written - waits : s->written;
    bool took = taken > s->taken || (!tcp && waits < s->queued);
    bool nothing_waits = waits == 0 && sink_unwritten(s) == 0;

    if (took)
        s->stalled_since_ms = now_ms;
    if (took || nothing_waits)
        s->taken_ms = now_ms;
    s->taken = taken;
    s->queued = waits;
}

void sink_trim(struct sink *s)
{
    if (!s->pended)
        buf_trim(&s->pending, KEEP_BYTES);
    s->pended = false;
}

void sink_tick(struct sink *s, int64_t now_ms, int64_t dead_after_ms)
{
    assert(sink_ok(s));
    sink_take_back(s);
    if (is_file(s) || s->dead != NULL)
        return;
    look_for_progress(s, now_ms);
    if (s->fin_seen) {
        forget_whole_rows(s);
        look_for_gone(s);
    }
    if (s->dead == NULL && dead_after_ms > 0 && now_ms - s->taken_ms >= dead_after_ms)
        s->dead = "it took nothing for as long as dead_after says";
}
