#include "watch/status.h"

#include "base/time.h"
#include "codec/text.h"
#include "io/clock.h"

static void json_text_member(struct buf *to, const char *name, const char *text)
{
    buf_printf(to, "\"%s\":", name);
    text_append_json(to, bytes_of(text));
}

static void json_time(struct buf *to, int64_t ms)
{
    char text[TIME_TEXT_LENGTH];

    if (ms < TIME_MS_MIN || ms > TIME_MS_MAX) {
        buf_append_text(to, "null");
        return;
    }
    time_write_rfc3339(ms, text);
    buf_printf(to, "\"%.*s\"", TIME_TEXT_LENGTH, text);
}

/* Of an end that connects: whether it is connected, since when, and why not. */
static void json_connector(const struct connector *c, bool connecting, struct buf *to)
{
    if (!connecting)
        return;
    buf_printf(to, "\"connected\":%s,\"since\":", connector_is_connected(c) ? "true" : "false");
    json_time(to, clock_wall_ms() - (clock_mono().ms - connector_since_ms(c)));
    if (c->trouble[0] != '\0') {
        buf_append_char(to, ',');
        json_text_member(to, "trouble", c->trouble);
    }
    buf_append_char(to, ',');
}

int64_t status_side_time(const struct watch *w, int s)
{
    if (w->flow->config->plan->time == TIME_EVENT)
        return engine_watermark(w->flow->engine, (enum side)s).ms;
    return engine_time(w->flow->engine).ms;
}

static void json_side(const struct watch *w, int s, struct buf *to)
{
    const struct books_side *b = &engine_books(w->flow->engine)->side[s];

    buf_printf(to, "\"%s\":{", side_word((enum side)s));
    json_text_member(to, "name", w->flow->config->plan->side[s].schema.name);
    buf_append_char(to, ',');
    json_connector(&w->flow->inputs[s].connector, w->flow->inputs[s].connecting, to);
    buf_printf(to,
               "\"rate\":%.0f,\"connections\":%zu,\"bytes\":%llu,\"paused\":%s,\"ended\":%s,"
               "\"received\":%llu",
               w->rate[s], w->flow->inputs[s].group.count,
               (unsigned long long)flow_bytes_read(w->flow, (enum side)s),
               pump_holds_side(&w->flow->pump, (enum side)s) ? "true" : "false",
               w->flow->pump.ended[s] ? "true" : "false", (unsigned long long)b->received);
    for (int f = 0; f < FATES; f++)
        buf_printf(to, ",\"%s\":%llu", fate_word((enum fate)f), (unsigned long long)b->fate[f]);
    buf_printf(to, ",\"held\":%llu,\"watermark\":",
               (unsigned long long)engine_held(w->flow->engine, (enum side)s));
    json_time(to, status_side_time(w, s));
    if (w->flow->config->plan->time == TIME_EVENT)
        buf_printf(to, ",\"idle\":%s,\"late_windows\":%llu",
                   engine_side_idle(w->flow->engine, (enum side)s) ? "true" : "false",
                   (unsigned long long)b->late_windows);
    buf_append_char(to, '}');
}

static void json_results(const struct watch *w, struct buf *to)
{
    const struct books *b = engine_books(w->flow->engine);

    buf_append_text(to, "\"results\":{");
    for (int k = 0; k < RESULT_KINDS; k++)
        buf_printf(to, "\"%s\":%llu,", result_kind_word((enum result_kind)k),
                   (unsigned long long)b->results[k]);
    buf_printf(to, "\"rejected\":%llu}", (unsigned long long)b->results_rejected);
}

static void json_duration(struct buf *to, const char *name, int64_t ms)
{
    buf_printf(to, "\"%s\":\"", name);
    duration_write(ms, to);
    buf_append_char(to, '"');
}

/* Which interval would have kept how many of the pairs, those that windows parted too. */
static void json_keep(const struct watch *w, struct buf *to)
{
    static const struct {
        const char *percent;
        unsigned share; /* as of lag_keep() */
    } rows[] = {{"50", 5000}, {"90", 9000}, {"99", 9900}, {"99.9", 9990}};
    struct lag_bounds b;

    if (lag_pairs(engine_lag(w->flow->engine)) == 0) {
        buf_append_text(to, "null");
        return;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        lag_keep(engine_lag(w->flow->engine), rows[i].share, &b);
        buf_printf(to, "%s\"%s\":{", i == 0 ? "{" : ",", rows[i].percent);
        json_duration(to, "lower", b.lower_ms);
        buf_append_char(to, ',');
        json_duration(to, "upper", b.upper_ms);
        buf_append_char(to, '}');
    }
    buf_append_char(to, '}');
}

static void json_pairs(const struct watch *w, struct buf *to)
{
    uint64_t lost = engine_books(w->flow->engine)->near_misses;

    buf_printf(to, "\"pairs\":{\"seen\":%llu,\"lost\":%llu,\"keep\":",
               (unsigned long long)(lag_pairs(engine_lag(w->flow->engine)) - lost),
               (unsigned long long)lost);
    json_keep(w, to);
    buf_append_char(to, '}');
}

static void json_outputs(const struct watch *w, struct buf *to)
{
    bool first = true;

    buf_append_text(to, "\"outputs\":{");
    for (int i = 0; i < OUTPUTS; i++) {
        const struct output *o = &w->flow->outputs[i];
        if (o->config->endpoint.kind == ENDPOINT_NONE)
            continue;
        buf_printf(to, "%s\"%s\":{", first ? "" : ",", o->word);
        json_connector(&o->connector, o->connecting, to);
        buf_printf(to, "\"readers\":%zu,\"bytes\":%llu,\"discarded\":%llu,", o->sink_count,
                   (unsigned long long)o->bytes_written, (unsigned long long)o->discarded);
        buf_printf(to, "\"room\":%s}", output_has_room(o) ? "true" : "false");
        first = false;
    }
    buf_append_char(to, '}');
}

static void json_health(const struct watch *w, struct buf *to)
{
    struct buf reason = BUF_EMPTY;

    if (!watch_trouble(w, &reason))
        buf_append_text(&reason, "ok");
    buf_append_text(to, "\"health\":");
    text_append_json(to, buf_bytes(&reason));
    buf_done(&reason);
}

void status_json(const struct watch *w, struct buf *to)
{
    buf_append_char(to, '{');
    json_text_member(to, "name", w->flow->config->name);
    buf_append_char(to, ',');
    json_text_member(to, "version", JOIND_VERSION);
    buf_printf(to, ",\"uptime_seconds\":%lld,\"step\":\"%s\",",
               (long long)(clock_mono().ms - w->started_mono_ms) / 1000, step_word(w->stop->step));
    json_health(w, to);
    buf_append_char(to, ',');
    json_side(w, SIDE_LEFT, to);
    buf_append_char(to, ',');
    json_side(w, SIDE_RIGHT, to);
    buf_append_char(to, ',');
    json_results(w, to);
    buf_append_char(to, ',');
    json_pairs(w, to);
    if (w->flow->config->plan->time == TIME_EVENT) {
        buf_append_text(to, ",\"time\":");
        json_time(to, engine_time(w->flow->engine).ms);
    }
    buf_printf(to, ",\"state\":{\"bytes\":%llu,\"limit\":%llu},",
               (unsigned long long)engine_state_bytes(w->flow->engine),
               (unsigned long long)w->flow->config->plan->state_bytes_max);
    json_outputs(w, to);
    buf_printf(to, ",\"loop\":{\"threads\":%d,\"turns\":%llu,\"turn_cpu_max_us\":%lld}}",
               w->flow->pump.results.second != NULL ? 2 : 1, (unsigned long long)w->turns,
               (long long)w->turn_cpu_max_us);
}

void status_line(const struct watch *w, struct buf *to)
{
    if (!watch_trouble(w, to))
        buf_append_text(to, "ok");
    buf_printf(to, ": left %.0f/s, right %.0f/s, held %llu + %llu, state %llu of %llu MiB",
               w->rate[SIDE_LEFT], w->rate[SIDE_RIGHT],
               (unsigned long long)engine_held(w->flow->engine, SIDE_LEFT),
               (unsigned long long)engine_held(w->flow->engine, SIDE_RIGHT),
               (unsigned long long)engine_state_bytes(w->flow->engine) >> 20,
               (unsigned long long)w->flow->config->plan->state_bytes_max >> 20);
}
