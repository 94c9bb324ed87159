#include "flow/replay.h"

#include "flow/input.h"
#include "flow/pump.h"
#include "flow/tell.h"
#include "io/log.h"

/* To decode once, and what gives no rows: lines that are empty, or too long. */
#define FETCH_FUEL   20
#define BYTES_A_FUEL 4

void replay_ready(struct replay *r, struct source *s)
{
    struct replay_side *side = &r->side[s->input->side];
    struct pump *p = s->input->pump;

    side->source = s;
    side->dry = false;
    engine_feed_unread(p->engine, &s->feed);
    source_unwatch(s);
}

static bool has_rows(const struct pump *p, enum side side)
{
    return p->replay.side[side].from < p->batch[side].count;
}

void replay_give_back(struct pump *p, struct source *s)
{
    struct replay_side *r = &p->replay.side[s->input->side];
    struct batch *b = &p->batch[s->input->side];

    if (r->source != s || (r->used == 0 && b->count == 0))
        return;
    buf_eat(&s->tail, decoder_rewind(s->decoder, b, r->from));
    batch_clear(b);
    r->from = 0;
    r->used = 0;
    r->dry = false;
}

static void at_end(struct pump *p, enum side side)
{
    struct replay_side *r = &p->replay.side[side];
    struct source *s = r->source;

    log_debug("%s: %s has ended", side_word(side), s->peer);
    tell_header(s);
    *r = (struct replay_side){.dry = true};
    input_source_done(s->input, s);
    pump_tell_ends(p);
}

/* Reads on. False: there is nothing now. */
static bool read_more(struct pump *p, enum side side)
{
    struct replay_side *r = &p->replay.side[side];
    struct source *s = r->source;
    size_t got = source_read_on(s, PUMP_READ_BYTES);

    tell_protocol(s, buf_bytes(&s->tail));
    if (got > 0 || s->end != INPUT_GOES_ON)
        return true;
    r->dry = true;
    engine_feed_read(p->engine, &s->feed, true); /* it may have waited for its turn */
    source_watch(s);
    return false;
}

/* Sees to it that there is a row at hand. False: there is none now, or none any more, or
 * it would take too long to come to one. */
static bool fetch(struct pump *p, enum side side, int64_t *fuel)
{
    struct replay_side *r = &p->replay.side[side];
    struct batch *b = &p->batch[side];
    static const char nothing[1];

    while (r->source != NULL && !has_rows(p, side) && *fuel > 0) {
        struct source *s = r->source;
        size_t length;
        buf_eat(&s->tail, r->used);
        length = buf_length(&s->tail);
        r->from = 0;
        r->used =
            decoder_read(s->decoder, length == 0 ? nothing : buf_data(&s->tail), length, s->end, b);
        b->feed = &s->feed;
        tell_header(s);
        *fuel -= FETCH_FUEL + (int64_t)r->used / BYTES_A_FUEL;
        if (r->used > 0 || b->count > 0)
            continue;
        if (s->end != INPUT_GOES_ON)
            at_end(p, side);
        else if (!read_more(p, side))
            return false;
    }
    return r->source != NULL && has_rows(p, side);
}

/* Gives what may come now of this side. False: nothing moved. */
static bool give(struct pump *p, enum side side, int64_t *fuel)
{
    struct replay_side *r = &p->replay.side[side];
    struct stream_time now = clock_now(p->clock);
    size_t taken;

    if (!fetch(p, side, fuel))
        return false;
    taken = engine_push(p->engine, side, &p->batch[side], r->from, now);
    tell_rows(p, r->source, &p->batch[side], r->from, r->from + taken, now);
    r->from += taken;
    *fuel -= (int64_t)(taken + 1) * (PUMP_ROW_FUEL + engine_push_fuel(p->engine));
    return taken > 0;
}

static bool wants(const struct pump *p, enum side side)
{
    const struct replay_side *r = &p->replay.side[side];

    return r->source != NULL && (has_rows(p, side) || !r->dry) &&
           engine_holds(p->engine, side, &r->source->feed) == ENGINE_TAKES;
}

void replay_read(struct pump *p, int64_t *fuel)
{
    bool moved = true;

    while (moved && *fuel > 0 && pump_fates_have_room(p)) {
        moved = false;
        for (int s = 0; s < SIDES; s++) {
            if (!p->ended[s] && wants(p, (enum side)s))
                moved |= give(p, (enum side)s, fuel) || p->ended[s];
            if (p->replay.side[s].source != NULL &&
                engine_holds(p->engine, (enum side)s, NULL) == ENGINE_RESULTS)
                moved |= pump_give_results(p, fuel);
        }
    }
}

bool replay_busy(const struct pump *p)
{
    return pump_fates_have_room(p) && (wants(p, SIDE_LEFT) || wants(p, SIDE_RIGHT));
}
