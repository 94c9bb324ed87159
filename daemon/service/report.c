#include "service/report.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/time.h"
#include "codec/text.h"
#include "io/clock.h"

/* --- what is measured --- */

static double listener_count(const struct listener *l, bool listening)
{
    return listening ? (double)l->connections : 0;
}

/* --- metrics --- */

struct metric {
    const char *name, *type, *help;
    /* Appends the metric's samples. */
    void (*samples)(const struct daemon *d, const char *name, struct buf *to);
};

static void sample(struct buf *to, const char *name, const char *labels, double value)
{
    if (value == (double)(int64_t)value)
        buf_printf(to, "%s%s %lld\n", name, labels, (long long)value);
    else
        buf_printf(to, "%s%s %.15g\n", name, labels, value);
}

static const char *side_label(int side)
{
    return side == SIDE_LEFT ? "{side=\"left\"}" : "{side=\"right\"}";
}

static void received(const struct daemon *d, const char *name, struct buf *to)
{
    for (int s = 0; s < SIDES; s++)
        sample(to, name, side_label(s), (double)engine_books(d->engine)->side[s].received);
}

static void fates(const struct daemon *d, const char *name, struct buf *to)
{
    char labels[64];

    for (int s = 0; s < SIDES; s++) {
        for (int f = 0; f < FATES; f++) {
            snprintf(labels, sizeof(labels), "{side=\"%s\",fate=\"%s\"}", side_word((enum side)s),
                     fate_word((enum fate)f));
            sample(to, name, labels, (double)engine_books(d->engine)->side[s].fate[f]);
        }
    }
}

static void held(const struct daemon *d, const char *name, struct buf *to)
{
    for (int s = 0; s < SIDES; s++)
        sample(to, name, side_label(s), (double)engine_held(d->engine, (enum side)s));
}

static void results(const struct daemon *d, const char *name, struct buf *to)
{
    char labels[64];

    for (int k = 0; k < RESULT_KINDS; k++) {
        snprintf(labels, sizeof(labels), "{kind=\"%s\"}", result_kind_word((enum result_kind)k));
        sample(to, name, labels, (double)engine_books(d->engine)->results[k]);
    }
}

static void results_rejected(const struct daemon *d, const char *name, struct buf *to)
{
    sample(to, name, "", (double)engine_books(d->engine)->results_rejected);
}

static void late_windows(const struct daemon *d, const char *name, struct buf *to)
{
    for (int s = 0; s < SIDES; s++)
        sample(to, name, side_label(s), (double)engine_books(d->engine)->side[s].late_windows);
}

static void reloads(const struct daemon *d, const char *name, struct buf *to)
{
    sample(to, name, "{result=\"ok\"}", (double)d->lookup.reloads_ok);
    sample(to, name, "{result=\"failed\"}", (double)d->lookup.reloads_failed);
}

struct histogram {
    const double *le_seconds;
    const uint64_t *bucket; /* not cumulative */
    int buckets;
    uint64_t count, sum_ms;
};

/* `label` is one that all its samples have, or "". */
static void histogram_samples(const struct histogram *h, const char *name, const char *label,
                              struct buf *to)
{
    const char *comma = label[0] == '\0' ? "" : ",";
    char series[64], labels[64];
    uint64_t count = 0;

    snprintf(series, sizeof(series), "%s_bucket", name);
    for (int i = 0; i < h->buckets; i++) {
        count += h->bucket[i];
        snprintf(labels, sizeof(labels), "{%s%sle=\"%g\"}", label, comma, h->le_seconds[i]);
        sample(to, series, labels, (double)count);
    }
    snprintf(labels, sizeof(labels), "{%s%sle=\"+Inf\"}", label, comma);
    sample(to, series, labels, (double)h->count);
    snprintf(labels, sizeof(labels), label[0] == '\0' ? "%s" : "{%s}", label);
    snprintf(series, sizeof(series), "%s_sum", name);
    sample(to, series, labels, (double)h->sum_ms / 1000);
    snprintf(series, sizeof(series), "%s_count", name);
    sample(to, series, labels, (double)h->count);
}

static void late_seconds(const struct daemon *d, const char *name, struct buf *to)
{
    char label[32];

    for (int s = 0; s < SIDES; s++) {
        const struct lateness *l = &engine_books(d->engine)->side[s].lateness;
        const struct histogram h = {lateness_le_seconds, l->bucket, LATENESS_BUCKETS, l->count,
                                    (uint64_t)l->sum_ms};
        snprintf(label, sizeof(label), "side=\"%s\"", side_word((enum side)s));
        histogram_samples(&h, name, label, to);
    }
}

static void pair_lag(const struct daemon *d, const char *name, struct buf *to)
{
    const struct lag *l = engine_lag(d->engine);
    struct histogram h = {lag_le_seconds, l->bucket, LAG_BUCKETS, 0, l->sum_ms};

    for (int i = 0; i <= LAG_BUCKETS; i++)
        h.count += l->bucket[i];
    histogram_samples(&h, name, "", to);
}

static void near_misses(const struct daemon *d, const char *name, struct buf *to)
{
    sample(to, name, "", (double)engine_books(d->engine)->near_misses);
}

static void output_sample(const struct daemon *d, const char *name, struct buf *to,
                          double (*value)(const struct output *))
{
    char labels[64];

    for (int i = 0; i < OUTPUTS; i++) {
        snprintf(labels, sizeof(labels), "{output=\"%s\"}", d->outputs[i].word);
        sample(to, name, labels, value(&d->outputs[i]));
    }
}

static double value_discarded(const struct output *o)
{
    return (double)o->discarded;
}

static double value_bytes(const struct output *o)
{
    return (double)o->bytes_written;
}

static void discarded(const struct daemon *d, const char *name, struct buf *to)
{
    output_sample(d, name, to, value_discarded);
}

static void output_bytes(const struct daemon *d, const char *name, struct buf *to)
{
    output_sample(d, name, to, value_bytes);
}

static void input_bytes(const struct daemon *d, const char *name, struct buf *to)
{
    for (int s = 0; s < SIDES; s++)
        sample(to, name, side_label(s), (double)d->inputs[s].group.bytes);
}

static void wrong_protocol(const struct daemon *d, const char *name, struct buf *to)
{
    for (int s = 0; s < SIDES; s++)
        sample(to, name, side_label(s), (double)d->inputs[s].group.wrong_protocol);
}

static void connections(const struct daemon *d, const char *name, struct buf *to)
{
    sample(to, name, "{endpoint=\"left\"}", (double)d->inputs[SIDE_LEFT].group.count);
    sample(to, name, "{endpoint=\"right\"}", (double)d->inputs[SIDE_RIGHT].group.count);
    sample(to, name, "{endpoint=\"output\"}", (double)d->outputs[OUTPUT_RESULTS].sink_count);
    sample(to, name, "{endpoint=\"late\"}", (double)d->outputs[OUTPUT_LATE].sink_count);
    sample(to, name, "{endpoint=\"rejects\"}", (double)d->outputs[OUTPUT_REJECTS].sink_count);
    sample(to, name, "{endpoint=\"http\"}", listener_count(&d->http.listener, d->http.listening));
}

/* How far a side has come: by its own records, or (processing time) by the clock. */
static int64_t side_time(const struct daemon *d, int s)
{
    if (d->config->plan->time == TIME_EVENT)
        return engine_watermark(d->engine, (enum side)s).ms;
    return engine_time(d->engine).ms;
}

static void watermark(const struct daemon *d, const char *name, struct buf *to)
{
    for (int s = 0; s < SIDES; s++) {
        int64_t ms = side_time(d, s);
        if (ms != INT64_MIN && ms != INT64_MAX)
            sample(to, name, side_label(s), (double)ms / 1000);
    }
}

static void state_bytes(const struct daemon *d, const char *name, struct buf *to)
{
    sample(to, name, "", (double)engine_state_bytes(d->engine));
}

static void state_limit(const struct daemon *d, const char *name, struct buf *to)
{
    sample(to, name, "", (double)d->config->plan->state_bytes_max);
}

static void paused(const struct daemon *d, const char *name, struct buf *to)
{
    for (int s = 0; s < SIDES; s++)
        sample(to, name, side_label(s), pump_holds_side(&d->pump, (enum side)s));
}

/* --- process_*, as Prometheus's own client libraries name them --- */

static void process_cpu(const struct daemon *d, const char *name, struct buf *to)
{
    struct rusage u;

    (void)d;
    getrusage(RUSAGE_SELF, &u);
    sample(to, name, "",
           (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
               (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
}

static void process_start(const struct daemon *d, const char *name, struct buf *to)
{
    sample(to, name, "", (double)d->started_wall_ms / 1000);
}

/* Field `index` of /proc/self/statm, in bytes. */
static double statm(int index)
{
    unsigned long long pages[2] = {0, 0};
    FILE *f = fopen("/proc/self/statm", "re");

    if (f == NULL)
        return 0;
    if (fscanf(f, "%llu %llu", &pages[0], &pages[1]) != 2)
        pages[0] = pages[1] = 0;
    fclose(f);
    return (double)pages[index] * (double)sysconf(_SC_PAGESIZE);
}

static void process_virtual(const struct daemon *d, const char *name, struct buf *to)
{
    (void)d;
    sample(to, name, "", statm(0));
}

static void process_resident(const struct daemon *d, const char *name, struct buf *to)
{
    (void)d;
    sample(to, name, "", statm(1));
}

static void process_open_fds(const struct daemon *d, const char *name, struct buf *to)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = -3; /* `.`, `..`, and the directory itself */

    (void)d;
    if (dir == NULL)
        return;
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    sample(to, name, "", count);
}

static void process_max_fds(const struct daemon *d, const char *name, struct buf *to)
{
    struct rlimit limit;

    (void)d;
    getrlimit(RLIMIT_NOFILE, &limit);
    sample(to, name, "", (double)limit.rlim_cur);
}

static const struct metric metrics[] = {
    {"joind_records_received_total", "counter",
     "Every record that was cut out of the input, good or bad.", received},
    {"joind_records_total", "counter", "Records by fate.", fates},
    {"joind_records_held", "gauge", "In state, and neither matched nor unmatched yet.", held},
    {"joind_results_total", "counter", "Joined records by kind.", results},
    {"joind_results_rejected_total", "counter", "Results for which select or on failed.",
     results_rejected},
    {"joind_late_windows_total", "counter",
     "Record and window pairs that were late, also of records that other windows took.",
     late_windows},
    {"joind_late_seconds", "histogram",
     "By how much late records were behind the watermark of the join.", late_seconds},
    {"joind_lookup_reloads_total", "counter",
     "How often the table of a lookup was read anew, and was or was not taken.", reloads},
    {"joind_pair_lag_seconds", "histogram",
     "How far apart in time the records of pairs are, whichever came first.", pair_lag},
    {"joind_near_misses_total", "counter",
     "Pairs that windows parted: lost on either side of an "
     "edge.",
     near_misses},
    {"joind_results_discarded_total", "counter",
     "Rows not delivered: by absent or slow = discard, with a disconnected subscriber, or at the "
     "end of a stop.",
     discarded},
    {"joind_input_bytes_total", "counter", "Bytes read.", input_bytes},
    {"joind_output_bytes_total", "counter", "Bytes written.", output_bytes},
    {"joind_wrong_protocol_total", "counter",
     "Connections whose first bytes were plainly another protocol's.", wrong_protocol},
    {"joind_connections", "gauge", "Open connections and files.", connections},
    {"joind_watermark_timestamp_seconds", "gauge", "How far time has come.", watermark},
    {"joind_state_bytes", "gauge", "Memory that held records take.", state_bytes},
    {"joind_state_limit_bytes", "gauge", "What state.memory allows.", state_limit},
    {"joind_input_paused", "gauge", "1 while the side's senders are held back.", paused},
    {"process_cpu_seconds_total", "counter", "User and system CPU time.", process_cpu},
    {"process_start_time_seconds", "gauge", "Start of the process since the epoch.", process_start},
    {"process_virtual_memory_bytes", "gauge", "Virtual memory size.", process_virtual},
    {"process_resident_memory_bytes", "gauge", "Resident memory size.", process_resident},
    {"process_open_fds", "gauge", "Open file descriptors.", process_open_fds},
    {"process_max_fds", "gauge", "The most file descriptors.", process_max_fds},
};

void report_metrics(const struct daemon *d, struct buf *to)
{
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
        const struct metric *m = &metrics[i];
        buf_printf(to, "# HELP %s %s\n# TYPE %s %s\n", m->name, m->help, m->name, m->type);
        m->samples(d, m->name, to);
    }
}

/* --- /status --- */

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

static void json_side(const struct daemon *d, int s, struct buf *to)
{
    const struct books_side *b = &engine_books(d->engine)->side[s];

    buf_printf(to, "\"%s\":{", side_word((enum side)s));
    json_text_member(to, "name", d->config->plan->side[s].schema.name);
    buf_append_char(to, ',');
    json_connector(&d->inputs[s].connector, d->inputs[s].connecting, to);
    buf_printf(to,
               "\"rate\":%.0f,\"connections\":%zu,\"bytes\":%llu,\"paused\":%s,\"ended\":%s,"
               "\"received\":%llu",
               d->rate[s], d->inputs[s].group.count, (unsigned long long)d->inputs[s].group.bytes,
               pump_holds_side(&d->pump, (enum side)s) ? "true" : "false",
               d->pump.ended[s] ? "true" : "false", (unsigned long long)b->received);
    for (int f = 0; f < FATES; f++)
        buf_printf(to, ",\"%s\":%llu", fate_word((enum fate)f), (unsigned long long)b->fate[f]);
    buf_printf(to, ",\"held\":%llu,\"watermark\":",
               (unsigned long long)engine_held(d->engine, (enum side)s));
    json_time(to, side_time(d, s));
    if (d->config->plan->time == TIME_EVENT)
        buf_printf(to, ",\"idle\":%s,\"late_windows\":%llu",
                   engine_side_idle(d->engine, (enum side)s) ? "true" : "false",
                   (unsigned long long)b->late_windows);
    buf_append_char(to, '}');
}

static void json_results(const struct daemon *d, struct buf *to)
{
    const struct books *b = engine_books(d->engine);

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
static void json_keep(const struct daemon *d, struct buf *to)
{
    static const struct {
        const char *percent;
        unsigned share; /* as of lag_keep() */
    } rows[] = {{"50", 5000}, {"90", 9000}, {"99", 9900}, {"99.9", 9990}};
    struct lag_bounds b;

    if (lag_pairs(engine_lag(d->engine)) == 0) {
        buf_append_text(to, "null");
        return;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        lag_keep(engine_lag(d->engine), rows[i].share, &b);
        buf_printf(to, "%s\"%s\":{", i == 0 ? "{" : ",", rows[i].percent);
        json_duration(to, "lower", b.lower_ms);
        buf_append_char(to, ',');
        json_duration(to, "upper", b.upper_ms);
        buf_append_char(to, '}');
    }
    buf_append_char(to, '}');
}

static void json_pairs(const struct daemon *d, struct buf *to)
{
    uint64_t lost = engine_books(d->engine)->near_misses;

    buf_printf(to, "\"pairs\":{\"seen\":%llu,\"lost\":%llu,\"keep\":",
               (unsigned long long)(lag_pairs(engine_lag(d->engine)) - lost),
               (unsigned long long)lost);
    json_keep(d, to);
    buf_append_char(to, '}');
}

static void json_outputs(const struct daemon *d, struct buf *to)
{
    bool first = true;

    buf_append_text(to, "\"outputs\":{");
    for (int i = 0; i < OUTPUTS; i++) {
        const struct output *o = &d->outputs[i];
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

static const char *const step_words[] = {
    [DAEMON_RUNNING] = "running",
    [DAEMON_ENDING] = "ending",
    [DAEMON_DRAINING] = "draining",
    [DAEMON_STOPPED] = "stopped",
};

static void json_health(const struct daemon *d, struct buf *to)
{
    struct buf reason = BUF_EMPTY;

    if (!daemon_trouble(d, &reason))
        buf_append_text(&reason, "ok");
    buf_append_text(to, "\"health\":");
    text_append_json(to, buf_bytes(&reason));
    buf_done(&reason);
}

void report_status_json(const struct daemon *d, struct buf *to)
{
    buf_append_char(to, '{');
    json_text_member(to, "name", d->config->name);
    buf_append_char(to, ',');
    json_text_member(to, "version", JOIND_VERSION);
    buf_printf(to, ",\"uptime_seconds\":%lld,\"step\":\"%s\",",
               (long long)(clock_mono().ms - d->started_mono_ms) / 1000, step_words[d->step]);
    json_health(d, to);
    buf_append_char(to, ',');
    json_side(d, SIDE_LEFT, to);
    buf_append_char(to, ',');
    json_side(d, SIDE_RIGHT, to);
    buf_append_char(to, ',');
    json_results(d, to);
    buf_append_char(to, ',');
    json_pairs(d, to);
    if (d->config->plan->time == TIME_EVENT) {
        buf_append_text(to, ",\"time\":");
        json_time(to, engine_time(d->engine).ms);
    }
    buf_printf(to, ",\"state\":{\"bytes\":%llu,\"limit\":%llu},",
               (unsigned long long)engine_state_bytes(d->engine),
               (unsigned long long)d->config->plan->state_bytes_max);
    json_outputs(d, to);
    buf_printf(to, ",\"loop\":{\"threads\":%d,\"turns\":%llu,\"turn_cpu_max_us\":%lld}}",
               d->pump.results.second != NULL ? 2 : 1, (unsigned long long)d->turns,
               (long long)d->turn_cpu_max_us);
}

void report_status_line(const struct daemon *d, struct buf *to)
{
    if (!daemon_trouble(d, to))
        buf_append_text(to, "ok");
    buf_printf(to, ": left %.0f/s, right %.0f/s, held %llu + %llu, state %llu of %llu MiB",
               d->rate[SIDE_LEFT], d->rate[SIDE_RIGHT],
               (unsigned long long)engine_held(d->engine, SIDE_LEFT),
               (unsigned long long)engine_held(d->engine, SIDE_RIGHT),
               (unsigned long long)engine_state_bytes(d->engine) >> 20,
               (unsigned long long)d->config->plan->state_bytes_max >> 20);
}
