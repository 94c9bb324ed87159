#include "flow/source.h"

#include <assert.h>

#include "base/mem.h"
#include "base/object.h"

static bool source_ok(const struct source *s)
{
    return s->group != NULL && s->decoder != NULL && s->used <= buf_length(&s->tail) &&
           (s->rows != NULL || s->used == 0) && (s->end == INPUT_GOES_ON || !s->link.watched);
}

static void tell_ready(struct source *s)
{
    assert(source_ok(s));
    s->group->ready(s->group->mover, s);
}

static void on_readable(struct link *l)
{
    tell_ready(object_of(LIST_MEMBER(l, struct source, link), SOURCE_MAGIC));
}

static const struct link_owner link_owner = {.readable = on_readable};

void source_group_init(struct source_group *g, struct event_base *base,
                       const struct input_config *c, enum side side, source_ready *ready,
                       void *mover)
{
    *g = (struct source_group){
        .side = side, .config = c, .base = base, .ready = ready, .mover = mover};
    list_init(&g->sources);
}

struct source *source_new(struct source_group *g, int fd, const char *peer)
{
    struct source *s = mem_alloc_zeroed(1, sizeof(*s));

    list_append(&g->sources, &s->among);
    list_link_init(&s->ready_link);
    g->count++;
    s->magic = SOURCE_MAGIC;
    s->group = g;
    link_init(&s->link, g->base, fd, &link_owner);
    s->peer = mem_strdup(peer);
    s->decoder = decoder_new(&g->config->format);
    s->end = INPUT_GOES_ON;
    buf_init(&s->tail);
    return s;
}

void source_free(struct source *s)
{
    if (s == NULL)
        return;
    list_remove(&s->among);
    list_remove(&s->ready_link);
    s->group->count--;
    link_done(&s->link);
    decoder_free(s->decoder);
    buf_done(&s->tail);
    mem_free(s->peer);
    s->magic = 0;
    mem_free(s);
}

size_t source_read(struct source *s, char *to, size_t max)
{
    ssize_t n;

    assert(source_ok(s) && max > 0);
    if (s->end != INPUT_GOES_ON)
        return 0;
    n = link_read(&s->link, to, max);
    if (n >= 0) {
        s->group->bytes += (uint64_t)n;
        return (size_t)n;
    }
    if (n == LINK_BROKEN && !link_is_socket(&s->link)) {
        log_error("%s: cannot read %s: %s", side_word(s->group->side), s->peer, link_why(&s->link));
        s->group->fault = true;
    }
    s->end = n == LINK_ENDED ? INPUT_ENDED : INPUT_BROKEN;
    source_unwatch(s);
    return 0;
}

/* Rows at hand that are not given yet are cut anew from the tail later. */
static void give_rows_back(struct source *s)
{
    if (s->rows == NULL || (s->used == 0 && s->rows->count == 0))
        return;
    buf_eat(&s->tail, decoder_rewind(s->decoder, s->rows, s->from));
    batch_clear(s->rows);
    s->from = s->used = 0;
}

bool source_cut_rows(struct source *s, struct batch *b)
{
    static const char nothing[1];
    size_t length;

    assert(source_ok(s) && (s->rows == NULL || s->rows == b));
    buf_eat(&s->tail, s->used);
    length = buf_length(&s->tail);
    s->rows = b;
    s->from = 0;
    s->used =
        decoder_read(s->decoder, length == 0 ? nothing : buf_data(&s->tail), length, s->end, b);
    return s->used > 0 || b->count > 0;
}

size_t source_read_on(struct source *s, size_t max)
{
    size_t got;

    give_rows_back(s);
    got = source_read(s, buf_reserve(&s->tail, max), max);
    buf_advance(&s->tail, got);
    return got;
}

bool source_has_input(const struct source *s)
{
    return s->end == INPUT_GOES_ON && link_has_input(&s->link);
}

void source_watch(struct source *s)
{
    if (s->end == INPUT_GOES_ON)
        link_watch(&s->link);
}

void source_unwatch(struct source *s)
{
    link_unwatch(&s->link);
}

/* A FIFO that no writer has opened yet would never say that it has none: only reading does. */
static void look_for_writers(struct source *s)
{
    if (source_read_on(s, 1) == 0 && s->end == INPUT_GOES_ON)
        return;
    s->backlog = true; /* that byte may end a row, with none to follow */
    tell_ready(s);
}

void source_ask_to_end(struct source *s)
{
    if (link_is_socket(&s->link) && !s->link.shared)
        link_half_close(&s->link);
    else if (link_is_always_ready(&s->link) || s->link.kind == LINK_TERMINAL)
        source_cut(s);
    else
        look_for_writers(s);
}

/* Takes what has arrived already, and a byte at most of what comes now: a sender may go on for
 * ever. Of one who has ended, with nothing left to read, the last line is a line. */
static void read_what_came(struct source *s)
{
    size_t waiting = link_unread(&s->link), got;

    while (waiting > 0 && (got = source_read_on(s, waiting)) > 0)
        waiting -= got;
    if (link_is_socket(&s->link))
        source_read_on(s, 1);
}

void source_cut(struct source *s)
{
    if (s->end == INPUT_GOES_ON && link_is_always_ready(&s->link))
        s->end = INPUT_LEFT; /* the rest of a file is not lost, it is not read */
    if (s->end == INPUT_GOES_ON)
        read_what_came(s);
    if (s->end == INPUT_GOES_ON)
        s->end = INPUT_BROKEN;
    source_unwatch(s);
    tell_ready(s);
}
