#include "flow/second.h"

#include <assert.h>
#include <event2/event_struct.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/object.h"
#include "flow/output.h"
#include "io/thread.h"

#define QUEUE      16 /* firings that wait */
#define DELIVERIES 6
/* Those that are written are only counted: so many may lie there before the loop is woken. */
#define NEWS_WAIT 3
#define RESULTS   64

/* A piece of work, in fuel of about 10 ns. */
#define PIECE_FUEL 100000

/* What the last row mostly goes beyond the piece by. */
#define LAST_ROW 4096
/* Row memory that is kept. */
#define ROWS_KEEP (512 << 10)

#define SECOND_MAGIC 0x444e4353u /* SCND */

struct second {
    uint32_t magic;
    pthread_t thread;
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* for the thread: a firing, a delivery released, the stop */
    pthread_cond_t written; /* for the first one: a write is over */
    int fd;                 /* wakes the loop */
    struct event awake;

    /* Under the lock. */
    struct firing *queue[QUEUE]; /* not owned */
    size_t queue_head, queue_count;
    size_t ready_head, ready_count; /* deliveries that are the first thread's */
    bool stop;
    bool sleeps; /* the loop, or it is about to */
    struct link
        *line;    /* lent, see the header; NULL: none is. All rows in the ring are written then */
    bool writing; /* the thread, on the line */

    struct delivery deliveries[DELIVERIES]; /* whose, see above */

    /* The thread's, or, when it is stopped, the first one's. */
    const struct plan *plan;
    struct encoder *encoder; /* owned */
    size_t piece;
    struct firing *firing; /* at hand */
    struct result results[RESULTS];
    size_t next, count; /* pulled, not encoded yet: from next on */

    size_t out; /* the first thread's, as the next */
    uint64_t out_bytes;
};

/* --- the second thread --- */

static bool has_more(const struct second *s)
{
    return s->queue_count > 0 || s->firing != NULL || s->next < s->count;
}

/* Where what comes next goes. NULL: it was told to stop. */
static struct delivery *wait_for_work(struct second *s)
{
    struct delivery *d = NULL;

    pthread_mutex_lock(&s->lock);
    while (!s->stop && (s->ready_count == DELIVERIES || !has_more(s)))
        pthread_cond_wait(&s->changed, &s->lock);
    if (!s->stop)
        d = &s->deliveries[(s->ready_head + s->ready_count) % DELIVERIES];
    pthread_mutex_unlock(&s->lock);
    return d;
}

/* Under the lock, which is free meanwhile; but not between the end of this and the delivery. */
static void write_rows(struct second *s, struct delivery *d)
{
    struct link *line = s->line;

    s->writing = true;
    pthread_mutex_unlock(&s->lock);
    d->written = true;
    d->said = link_write(line, buf_data(&d->rows), buf_length(&d->rows));
    pthread_mutex_lock(&s->lock);
    s->writing = false;
    if (d->said < 0 || (size_t)d->said < buf_length(&d->rows))
        s->line = NULL;
    pthread_cond_signal(&s->written);
}

/* Nobody waits for what is only to be counted, as long as there is room for more of it. */
static bool is_urgent(const struct second *s, const struct delivery *d)
{
    return s->ready_count > NEWS_WAIT || !has_more(s) || s->line == NULL || !d->written;
}

/* Hands the delivery over. Whether it is written is decided under the lock under which it comes:
 * so the line cannot come between. */
static void deliver(struct second *s, struct delivery *d)
{
    uint64_t one = 1;
    bool wake;

    pthread_mutex_lock(&s->lock);
    if (s->line != NULL && d->row_count > 0)
        write_rows(s, d);
    s->ready_count++;
    wake = s->sleeps && is_urgent(s, d);
    s->sleeps = s->sleeps && !wake;
    pthread_mutex_unlock(&s->lock);
    if (wake && write(s->fd, &one, sizeof(one)) != sizeof(one))
        assert(!"a byte for the loop");
}

/* NULL: none waits. */
static struct firing *next_firing(struct second *s)
{
    struct firing *f = NULL;

    pthread_mutex_lock(&s->lock);
    if (s->queue_count > 0) {
        f = s->queue[s->queue_head];
        s->queue_head = (s->queue_head + 1) % QUEUE;
        s->queue_count--;
    }
    pthread_mutex_unlock(&s->lock);
    return f;
}

static void append_sized(struct buf *to, const struct buf *what)
{
    size_t n = buf_length(what);

    buf_append(to, &n, sizeof(n));
    buf_append_bytes(to, buf_bytes(what));
}

static void reject(struct second *s, struct delivery *d, const struct result *r)
{
    struct buf detail = BUF_EMPTY, line = BUF_EMPTY;

    fate_pair(s->plan, s->encoder, r, &detail, &line);
    append_sized(&d->rejected, &detail);
    append_sized(&d->rejected, &line);
    d->rejected_count++;
    buf_done(&detail);
    buf_done(&line);
}

static size_t delivery_bytes(const struct delivery *d)
{
    return buf_length(&d->rows) + buf_length(&d->rejected);
}

static void encode(struct second *s, struct delivery *d, int64_t *fuel)
{
    size_t bytes = delivery_bytes(d), full = s->piece - buf_length(&d->rejected);
    size_t n =
        encoder_results(s->encoder, &s->results[s->next], s->count - s->next, full, &d->rows);

    d->row_count += n;
    if (s->next + n < s->count && buf_length(&d->rows) < full) {
        const struct result *r = &s->results[s->next + n++];
        if (r->kind != RESULT_FAILED)
            firing_reject_result(d->news, r);
        reject(s, d, r);
    }
    s->next += n;
    *fuel -= (int64_t)(n * OUTPUT_RESULT_FUEL + (delivery_bytes(d) - bytes) / OUTPUT_BYTES_A_FUEL);
}

/* Pulls a few results. False: there is nothing to pull from. */
static bool pull_next(struct second *s, struct delivery *d, int64_t *fuel)
{
    s->next = s->count = 0;
    if (s->firing == NULL)
        s->firing = next_firing(s);
    if (s->firing == NULL)
        return false;
    s->count = firing_pull(s->firing, d->news, s->results, RESULTS, fuel);
    if (firing_is_over(s->firing))
        s->firing = NULL;
    return true;
}

static void fill(struct second *s, struct delivery *d)
{
    int64_t fuel = PIECE_FUEL;

    buf_reserve(&d->rows, s->piece + LAST_ROW); /* at once: growing would take twice as much */
    while (fuel > 0 && delivery_bytes(d) < s->piece) {
        if (s->next < s->count)
            encode(s, d, &fuel);
        else if (!pull_next(s, d, &fuel))
            break;
    }
    d->work = (uint64_t)(PIECE_FUEL - fuel);
}

static void *run(void *arg)
{
    struct second *s = object_of(arg, SECOND_MAGIC);
    struct delivery *d;

    while ((d = wait_for_work(s)) != NULL) {
        fill(s, d);
        deliver(s, d);
    }
    return NULL;
}

/* --- the first one --- */

/* It only wakes the loop, whose next turn sees what has come. */
static void on_awake(evutil_socket_t fd, short what, void *arg)
{
    uint64_t times;
    ssize_t n = read(fd, &times, sizeof(times));

    (void)n;
    (void)what;
    (void)arg;
}

static bool start_thread(struct second *s)
{
    s->running = thread_start(run, s, &s->thread);
    if (s->running)
        pthread_setname_np(s->thread, "joind-fires");
    return s->running;
}

struct second *second_start(struct event_base *base, const struct output_format *format,
                            const struct plan *plan, size_t piece)
{
    struct second *s = mem_alloc_zeroed(1, sizeof(*s));

    s->magic = SECOND_MAGIC;
    s->plan = plan;
    s->piece = piece;
    s->encoder = encoder_new(format, plan);
    for (size_t i = 0; i < DELIVERIES; i++)
        s->deliveries[i].news = firing_news_new();
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    pthread_cond_init(&s->written, NULL);
    s->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    event_assign(&s->awake, base, s->fd, EV_READ | EV_PERSIST, on_awake, NULL);
    event_add(&s->awake, NULL);
    if (s->fd >= 0 && start_thread(s))
        return s;
    second_free(s, NULL);
    return NULL;
}

/* Not any more: what it has done by now is in deliveries. */
static void stop_thread(struct second *s)
{
    if (!s->running)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    s->running = false;
}

static void delivery_done(struct delivery *d)
{
    buf_done(&d->rows);
    buf_done(&d->rejected);
    firing_news_free(d->news);
}

void second_free(struct second *s, struct engine *e)
{
    if (s == NULL)
        return;
    stop_thread(s);
    while (second_first(s) != NULL)
        second_release(s, e);
    event_del(&s->awake);
    if (s->fd >= 0)
        close(s->fd);
    pthread_cond_destroy(&s->changed);
    pthread_cond_destroy(&s->written);
    pthread_mutex_destroy(&s->lock);
    for (size_t i = 0; i < DELIVERIES; i++)
        delivery_done(&s->deliveries[i]);
    encoder_free(s->encoder);
    mem_free(s);
}

bool second_takes(const struct second *s)
{
    return s->out < QUEUE;
}

void second_give(struct second *s, struct firing *f)
{
    s->out++;
    s->out_bytes += firing_bytes(f);
    pthread_mutex_lock(&s->lock);
    assert(s->queue_count < QUEUE);
    s->queue[(s->queue_head + s->queue_count++) % QUEUE] = f;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

bool second_lend(struct second *s, struct link *line)
{
    bool lend;

    pthread_mutex_lock(&s->lock);
    lend = s->ready_count == 0;
    if (lend)
        s->line = line;
    pthread_mutex_unlock(&s->lock);
    return lend;
}

void second_recall(struct second *s)
{
    pthread_mutex_lock(&s->lock);
    s->line = NULL;
    while (s->writing)
        pthread_cond_wait(&s->written, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

size_t second_out(const struct second *s)
{
    return s->out;
}

uint64_t second_out_bytes(const struct second *s)
{
    return s->out_bytes;
}

struct delivery *second_first(struct second *s)
{
    struct delivery *d = NULL;

    pthread_mutex_lock(&s->lock);
    if (s->ready_count > 0)
        d = &s->deliveries[s->ready_head];
    s->sleeps = false;
    pthread_mutex_unlock(&s->lock);
    return d;
}

static void settle(struct second *s, struct engine *e, struct delivery *d)
{
    s->out -= d->news->over;
    s->out_bytes = s->out > 0 ? s->out_bytes - d->news->bytes : 0; /* that leaves their heads */
    engine_settle(e, d->news);
    buf_clear(&d->rows);
    buf_trim(&d->rows, ROWS_KEEP);
    buf_done(&d->rejected);
    d->row_count = d->rejected_count = d->work = 0;
    d->written = false;
}

void second_release(struct second *s, struct engine *e)
{
    settle(s, e, &s->deliveries[s->ready_head]);
    pthread_mutex_lock(&s->lock);
    s->ready_head = (s->ready_head + 1) % DELIVERIES;
    s->ready_count--;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

bool second_may_sleep(struct second *s)
{
    bool may;

    pthread_mutex_lock(&s->lock);
    may = s->sleeps = s->ready_count == 0;
    pthread_mutex_unlock(&s->lock);
    return may;
}

uint64_t second_forget(struct second *s, struct engine *e, int64_t *fuel)
{
    struct delivery *d;
    uint64_t results;

    stop_thread(s);
    results = s->count - s->next;
    while ((d = second_first(s)) != NULL) {
        results += d->row_count + d->rejected_count;
        second_release(s, e);
    }
    for (d = &s->deliveries[0]; *fuel > 0 && pull_next(s, d, fuel);)
        results += s->count;
    settle(s, e, d);
    s->next = s->count = 0;
    return results;
}

static struct bytes eat_sized(struct buf *b)
{
    struct bytes x;

    memcpy(&x.n, buf_data(b), sizeof(x.n));
    buf_eat(b, sizeof(x.n));
    x.p = buf_data(b);
    buf_eat(b, x.n);
    return x;
}

bool delivery_next_rejected(struct delivery *d, struct bytes *ret_detail, struct bytes *ret_line)
{
    if (buf_length(&d->rejected) == 0)
        return false;
    *ret_detail = eat_sized(&d->rejected);
    *ret_line = eat_sized(&d->rejected);
    return true;
}
