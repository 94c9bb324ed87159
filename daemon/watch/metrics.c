#include "watch/metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "watch/status.h"

static double listener_count(const struct listener *l, bool listening)
{
    return listening ? (double)l->connections : 0;
}

struct metric {
    const char *name, *type, *help;
    /* Appends the metric's samples. */
    void (*samples)(const struct watch *w, const char *name, struct buf *to);
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

static void received(const struct watch *w, const char *name, struct buf *to)
{
    for (int s = 0; s < SIDES; s++)
        sample(to, name, side_label(s), (double)engine_books(w->flow->engine)->side[s].received);
}

static void fates(const struct watch *w, const char *name, struct buf *to)
{
    char labels[64];

    for (int s = 0; s < SIDES; s++) {
        for (int f = 0; f < FATES; f++) {
            snprintf(labels, sizeof(labels), "{side=\"%s\",fate=\"%s\"}", side_word((enum side)s),
                     fate_word((enum fate)f));
            sample(to, name, labels, (double)engine_books(w->flow->engine)->side[s].fate[f]);
        }
    }
}

static void held(const struct watch *w, const char *name, struct buf *to)
{
    for (int s = 0; s < SIDES; s++)
        sample(to, name, side_label(s), (double)engine_held(w->flow->engine, (enum side)s));
}

static void results(const struct watch *w, const char *name, struct buf *to)
{
    char labels[64];

    for (int k = 0; k < RESULT_KINDS; k++) {
        snprintf(labels, sizeof(labels), "{kind=\"%s\"}", result_kind_word((enum result_kind)k));
        sample(to, name, labels, (double)engine_books(w->flow->engine)->results[k]);
    }
}

static void results_rejected(const struct watch *w, const char *name, struct buf *to)
{
    sample(to, name, "", (double)engine_books(w->flow->engine)->results_rejected);
}

static void late_windows(const struct watch *w, const char *name, struct buf *to)
{
    for (int s = 0; s < SIDES; s++)
        sample(to, name, side_label(s),
               (double)engine_books(w->flow->engine)->side[s].late_windows);
}

static void reloads(const struct watch *w, const char *name, struct buf *to)
{
    sample(to, name, "{result=\"ok\"}", (double)w->flow->lookup.reloads_ok);
    sample(to, name, "{result=\"failed\"}", (double)w->flow->lookup.reloads_failed);
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

static void late_seconds(const struct watch *w, const char *name, struct buf *to)
{
    char label[32];

    for (int s = 0; s < SIDES; s++) {
        const struct lateness *l = &engine_books(w->flow->engine)->side[s].lateness;
        const struct histogram h = {lateness_le_seconds, l->bucket, LATENESS_BUCKETS, l->count,
                                    (uint64_t)l->sum_ms};
        snprintf(label, sizeof(label), "side=\"%s\"", side_word((enum side)s));
        histogram_samples(&h, name, label, to);
    }
}

static void pair_lag(const struct watch *w, const char *name, struct buf *to)
{
    const struct lag *l = engine_lag(w->flow->engine);
    struct histogram h = {lag_le_seconds, l->bucket, LAG_BUCKETS, 0, l->sum_ms};

    for (int i = 0; i <= LAG_BUCKETS; i++)
        h.count += l->bucket[i];
    histogram_samples(&h, name, "", to);
}

static void near_misses(const struct watch *w, const char *name, struct buf *to)
{
    sample(to, name, "", (double)engine_books(w->flow->engine)->near_misses);
}

static void output_sample(const struct watch *w, const char *name, struct buf *to,
                          double (*value)(const struct output *))
{
    char labels[64];

    for (int i = 0; i < OUTPUTS; i++) {
        snprintf(labels, sizeof(labels), "{output=\"%s\"}", w->flow->outputs[i].word);
        sample(to, name, labels, value(&w->flow->outputs[i]));
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

static void discarded(const struct watch *w, const char *name, struct buf *to)
{
    output_sample(w, name, to, value_discarded);
}

static void output_bytes(const struct watch *w, const char *name, struct buf *to)
{
    output_sample(w, name, to, value_bytes);
}

static void input_bytes(const struct watch *w, const char *name, struct buf *to)
{
    for (int s = 0; s < SIDES; s++)
        sample(to, name, side_label(s), (double)flow_bytes_read(w->flow, (enum side)s));
}

static void wrong_protocol(const struct watch *w, const char *name, struct buf *to)
{
    for (int s = 0; s < SIDES; s++)
        sample(to, name, side_label(s), (double)w->flow->inputs[s].group.wrong_protocol);
}

static void connections(const struct watch *w, const char *name, struct buf *to)
{
    sample(to, name, "{endpoint=\"left\"}", (double)w->flow->inputs[SIDE_LEFT].group.count);
    sample(to, name, "{endpoint=\"right\"}", (double)w->flow->inputs[SIDE_RIGHT].group.count);
    sample(to, name, "{endpoint=\"output\"}", (double)w->flow->outputs[OUTPUT_RESULTS].sink_count);
    sample(to, name, "{endpoint=\"late\"}", (double)w->flow->outputs[OUTPUT_LATE].sink_count);
    sample(to, name, "{endpoint=\"rejects\"}", (double)w->flow->outputs[OUTPUT_REJECTS].sink_count);
    sample(to, name, "{endpoint=\"http\"}", listener_count(&w->http.listener, w->http.listening));
}

static void watermark(const struct watch *w, const char *name, struct buf *to)
{
    for (int s = 0; s < SIDES; s++) {
        int64_t ms = status_side_time(w, s);
        if (ms != INT64_MIN && ms != INT64_MAX)
            sample(to, name, side_label(s), (double)ms / 1000);
    }
}

static void state_bytes(const struct watch *w, const char *name, struct buf *to)
{
    sample(to, name, "", (double)engine_state_bytes(w->flow->engine));
}

static void state_limit(const struct watch *w, const char *name, struct buf *to)
{
    sample(to, name, "", (double)w->flow->config->plan->state_bytes_max);
}

static void paused(const struct watch *w, const char *name, struct buf *to)
{
    for (int s = 0; s < SIDES; s++)
        sample(to, name, side_label(s), pump_holds_side(&w->flow->pump, (enum side)s));
}

/* --- process_*, as Prometheus's own client libraries name them --- */

static void process_cpu(const struct watch *w, const char *name, struct buf *to)
{
    struct rusage u;

    (void)w;
    getrusage(RUSAGE_SELF, &u);
    sample(to, name, "",
           (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
               (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
}

static void process_start(const struct watch *w, const char *name, struct buf *to)
{
    sample(to, name, "", (double)w->started_wall_ms / 1000);
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

static void process_virtual(const struct watch *w, const char *name, struct buf *to)
{
    (void)w;
    sample(to, name, "", statm(0));
}

static void process_resident(const struct watch *w, const char *name, struct buf *to)
{
    (void)w;
    sample(to, name, "", statm(1));
}

static void process_open_fds(const struct watch *w, const char *name, struct buf *to)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = -3; /* `.`, `..`, and the directory itself */

    (void)w;
    if (dir == NULL)
        return;
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    sample(to, name, "", count);
}

static void process_max_fds(const struct watch *w, const char *name, struct buf *to)
{
    struct rlimit limit;

    (void)w;
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

void metrics_write(const struct watch *w, struct buf *to)
{
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
        const struct metric *m = &metrics[i];
        buf_printf(to, "# HELP %s %s\n# TYPE %s %s\n", m->name, m->help, m->name, m->type);
        m->samples(w, m->name, to);
    }
}
