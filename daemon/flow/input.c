#include "flow/input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/object.h"
#include "io/log.h"

#define SOURCES_EACH(in, name) LIST_EACH (&(in)->group.sources, struct source, among, name)

static bool input_ok(const struct input *in)
{
    return !(in->listening && in->connecting) &&
           (in->group.count == 0) == list_empty(&in->group.sources);
}

static struct source *source_join(struct input *in, int fd, const char *peer)
{
    struct source *s = source_new(&in->group, fd, peer);

    engine_feed_open(in->engine, &s->feed, in->group.side);
    if (link_is_always_ready(&s->link))
        engine_never_idle(in->engine, in->group.side);
    return s;
}

static void on_connection(void *owner, int fd, const char *peer)
{
    struct input *in = object_of(owner, INPUT_MAGIC);
    struct source *s = source_join(in, fd, peer);

    log_debug("%s: connected with %s", side_word(in->group.side), peer);
    source_watch(s);
    in->group.ready(in->group.mover,
                    s); /* what has come with it may be all that keeps its side awake */
}

static bool open_path(struct input *in)
{
    const char *path = in->group.config->endpoint.path;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    if (fd < 0) {
        log_error("%s: cannot open %s: %s", side_word(in->group.side), path, strerror(errno));
        return false;
    }
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        log_error("%s: cannot read %s: it is a directory", side_word(in->group.side), path);
        close(fd);
        return false;
    }
    source_join(in, fd, path);
    return true;
}

static bool open_standard(struct input *in)
{
    int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

    if (fd < 0) {
        log_error("%s: standard input is closed: %s", side_word(in->group.side), strerror(errno));
        return false;
    }
    source_join(in, fd, "standard input")->link.shared = true;
    return true;
}

bool input_open(struct input *in, struct event_base *base, struct engine *e, const struct config *c,
                enum side side, source_ready *ready, void *mover)
{
    const struct endpoint *end = &c->input[side].endpoint;

    *in = (struct input){.magic = INPUT_MAGIC, .plan = c->plan, .engine = e};
    source_group_init(&in->group, base, &c->input[side], side, ready, mover);
    if (plan_traits(c->plan)->right_file && side == SIDE_RIGHT)
        return true; /* it is flow/lookup's */
    switch (end->kind) {
    case ENDPOINT_FILE:
        return open_path(in);
    case ENDPOINT_STANDARD:
        return open_standard(in);
    case ENDPOINT_CONNECT:
        return true; /* when it starts */
    case ENDPOINT_LISTEN:
    case ENDPOINT_NONE:
        break;
    }
    in->listening = listener_open(&in->listener, base, end, side_word(side), on_connection, in);
    return in->listening;
}

void input_start(struct input *in)
{
    const struct endpoint *e = &in->group.config->endpoint;

    SOURCES_EACH(in, s)
    source_watch(s);
    if (e->kind != ENDPOINT_CONNECT)
        return;
    in->connecting = true;
    connector_start(&in->connector, in->group.base, e, side_word(in->group.side), on_connection,
                    in);
}

void input_close(struct input *in)
{
    in->stopping = true;
    SOURCES_EACH(in, s)
    input_source_done(in, s);
    if (in->listening)
        listener_close(&in->listener);
    if (in->connecting)
        connector_stop(&in->connector);
}

static bool is_batch(const struct input *in)
{
    return plan_traits(in->plan)->bounded;
}

/* Batch: a listening side ends with its last connection, and its port with it. Who waits in
 * the queue has connected already. */
static void end_with_last(struct input *in)
{
    if (!is_batch(in) || in->group.count > 0)
        return;
    listener_take_last(&in->listener);
    listener_close(&in->listener);
    in->stopping = true;
    log_info("%s: the last connection has closed: this side %s", side_word(in->group.side),
             in->group.count > 0 ? "ends with those that waited" : "has ended");
}

/* Batch: the end of a connection that we made is the side's, if it came in order; else who
 * knows what is missing. */
static void connect_again_or_end(struct input *in, enum input_end how, const char *peer)
{
    if (!is_batch(in)) {
        connector_again(&in->connector);
        return;
    }
    connector_stop(&in->connector);
    in->stopping = true;
    in->group.fault = how == INPUT_BROKEN;
    if (in->group.fault)
        log_error("%s: the connection to %s broke before its end: what came is not all",
                  side_word(in->group.side), peer);
    else
        log_info("%s: %s has closed: this side has ended", side_word(in->group.side), peer);
}

void input_source_done(struct input *in, struct source *s)
{
    assert(input_ok(in) && s->group == &in->group);
    if (in->listening)
        listener_gone(&in->listener);
    engine_feed_close(in->engine, &s->feed);
    if (in->connecting && !in->stopping)
        connect_again_or_end(in, s->end, s->peer);
    source_free(s);
    if (in->listening && !in->stopping)
        end_with_last(in);
}

bool input_ended(const struct input *in)
{
    return in->group.count == 0 && (in->stopping || (!in->listening && !in->connecting));
}

bool input_trouble(const struct input *in, struct buf *ret_reason)
{
    return in->connecting && connector_trouble(&in->connector, ret_reason);
}

void input_close_door(struct input *in)
{
    assert(input_ok(in));
    if (in->listening) {
        if (in->group.config->endpoint.family != FAMILY_SYSTEMD)
            listener_take_last(&in->listener);
        listener_close(&in->listener);
    }
    if (in->connecting)
        connector_stop(&in->connector);
    in->stopping = true;
}

void input_ask_to_end(struct input *in)
{
    assert(input_ok(in) && in->stopping);
    SOURCES_EACH(in, s)
    source_ask_to_end(s);
}

void input_cut(struct input *in)
{
    SOURCES_EACH(in, s)
    {
        source_cut(s);
        if (s->end == INPUT_BROKEN)
            log_warning("%s: %s did not end within the time that a stop gives: cut off",
                        side_word(in->group.side), s->peer);
    }
}
