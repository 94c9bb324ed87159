#include "service/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "config/reader.h"
#include "io/file.h"
#include "io/log.h"
#include "io/passed.h"
#include "service/report.h"
#include "service/service.h"
#include "service/stop.h"

#define STATUS_TICKS    2  /* seconds between two STATUS lines */
#define TRIM_TICKS      30 /* seconds between two looks for memory to give back */
#define FULL_TROUBLE_MS 10000
#define HOLD_TOLD_MS    2000

static const struct timeval second = {.tv_sec = 1};

/* --- what is wrong --- */

static const char *hold_reason(const struct daemon *d)
{
    if (!engine_takes(d->engine))
        return "state is full: inputs are held back";
    if (!output_has_room(&d->outputs[OUTPUT_REJECTS]))
        return "rejects has no room: inputs are held back";
    if (!output_has_room(&d->outputs[OUTPUT_LATE]))
        return "late has no room: inputs are held back";
    return "results wait for a reader: inputs are held back";
}

bool daemon_trouble(const struct daemon *d, struct buf *ret_reason)
{
    const struct pump *p = &d->pump;
    size_t before = buf_length(ret_reason);

    if (d->stop_signals > 0) {
        buf_append_text(ret_reason, "stopping");
        return true;
    }
    if (d->unbalanced) {
        buf_append_text(ret_reason,
                        "the books do not balance: records were lost, please report this");
        return true;
    }
    for (int s = 0; s < SIDES; s++)
        if (input_trouble(&d->inputs[s], ret_reason))
            return true;
    for (int i = 0; i < OUTPUTS; i++)
        if (output_trouble(&d->outputs[i], ret_reason))
            return true;
    if (p->held_since_ms != 0 && clock_mono().ms - p->held_since_ms >= FULL_TROUBLE_MS)
        buf_append_text(ret_reason, hold_reason(d));
    return buf_length(ret_reason) > before;
}

static void on_http(void *owner, const char *path, struct http_reply *ret)
{
    struct daemon *d = owner;

    results_count_written(&d->pump.results); /* who has got a row finds it in the books */
    if (strcmp(path, "/metrics") == 0) {
        ret->status = 200;
        ret->type = "text/plain; version=0.0.4; charset=utf-8";
        report_metrics(d, &ret->body);
    } else if (strcmp(path, "/healthz") == 0) {
        ret->status = daemon_trouble(d, &ret->body) ? 503 : 200;
        buf_append_text(&ret->body, ret->status == 200 ? "ok\n" : "\n");
    } else if (strcmp(path, "/status") == 0) {
        ret->status = 200;
        ret->type = "application/json";
        report_status_json(d, &ret->body);
        buf_append_char(&ret->body, '\n');
    } else if (strcmp(path, "/") == 0) {
        ret->status = 200;
        ret->type = "text/html; charset=utf-8";
        buf_append_text(&ret->body, report_page);
    } else {
        buf_append_text(&ret->body, "404: there are /, /status, /metrics and /healthz\n");
    }
}

/* --- signals --- */

static bool file_differs(const struct daemon *d)
{
    struct buf text = BUF_EMPTY;
    bool differs;
    struct stat st;
    int fd = open(d->config->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return false;
    /* What came through a pipe cannot be read twice. */
    differs =
        fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && file_read_all(fd, CONFIG_BYTES_MAX, &text);
    close(fd);
    differs = differs && config_text_differs(d->config, buf_bytes(&text));
    buf_done(&text);
    return differs;
}

static void end_reload(struct daemon *d, bool table_good)
{
    struct buf failed = BUF_EMPTY;

    for (int i = 0; i < OUTPUTS; i++)
        if (d->not_reopened[i])
            buf_printf(&failed, "%sthe file of [%s] (it goes on with the old one)",
                       buf_length(&failed) > 0 ? ", " : "", d->outputs[i].word);
    if (!table_good)
        buf_printf(&failed, "%sthe table of [right]", buf_length(&failed) > 0 ? ", " : "");
    d->reloading = false;
    if (buf_length(&failed) == 0)
        log_info("reloaded");
    else
        log_warning("reloaded, but for %s", buf_text(&failed));
    buf_done(&failed);
    service_ready();
}

/* Two at once would race: what comes during one is done once more after it. */
static void reload(struct daemon *d)
{
    if (d->step != DAEMON_RUNNING)
        return;
    if (lookup_is_reading(&d->lookup)) {
        d->reload_queued = true;
        return;
    }
    d->reloading = true;
    service_reloading();
    for (int i = 0; i < OUTPUTS; i++)
        d->not_reopened[i] = !output_reopen(&d->outputs[i]);
    if (file_differs(d))
        log_warning("%s differs from what is running: that takes a restart", d->config->path);
    if (d->lookup.config == NULL)
        end_reload(d, true);
    else if (!lookup_reload(&d->lookup))
        end_reload(d, false);
}

static void read_table(struct daemon *d)
{
    enum lookup_outcome outcome = lookup_turn(&d->lookup);

    d->inputs[SIDE_RIGHT].group.bytes += d->lookup.bytes - d->table_bytes;
    d->table_bytes = d->lookup.bytes;
    if (outcome == LOOKUP_NOTHING)
        return;
    if (d->reloading)
        end_reload(d, outcome == LOOKUP_DONE);
    if (d->reload_queued) {
        d->reload_queued = false;
        reload(d);
    }
}

static void on_signal(evutil_socket_t signal, short what, void *arg)
{
    struct daemon *d = arg;
    struct buf status = BUF_EMPTY;

    (void)what;
    switch (signal) {
    case SIGHUP:
        reload(d);
        break;
    case SIGUSR1:
        results_count_written(&d->pump.results);
        report_status_json(d, &status);
        log_info("status: %s", buf_text(&status));
        break;
    default:
        stop_asked(d, signal == SIGTERM ? "TERM" : "INT");
    }
    buf_done(&status);
}

/* --- timers --- */

static void note_rates(struct daemon *d)
{
    for (int s = 0; s < SIDES; s++) {
        uint64_t received = engine_books(d->engine)->side[s].received;
        d->rate[s] = (double)(received - d->received_before[s]);
        d->received_before[s] = received;
    }
}

static void check_books(struct daemon *d)
{
    for (int s = 0; s < SIDES; s++) {
        const struct books_side *b = &engine_books(d->engine)->side[s];
        if (d->unbalanced || books_balance(b, engine_held(d->engine, (enum side)s)))
            continue;
        d->unbalanced = true;
        log_error("%s: the books do not balance: records were lost, please report this",
                  side_word((enum side)s));
    }
}

/* Results that nobody takes would otherwise only show as silence. */
static void tell_absent(struct daemon *d)
{
    const struct output *o = &d->outputs[OUTPUT_RESULTS];
    bool absent = o->listening && results_wait(&d->pump.results) && o->sink_count == 0;

    if (absent && !d->absent_told)
        log_warning("output: results wait, and nobody is connected to %s",
                    listener_place(&o->listener));
    d->absent_told = absent;
}

/* A hold of some length is worth a line, and so is its end; short ones are normal. */
static void tell_hold(struct daemon *d)
{
    int64_t since_ms = d->pump.held_since_ms;
    bool stuck =
        since_ms != 0 && clock_mono().ms - since_ms >= HOLD_TOLD_MS && engine_is_stuck(d->engine);

    if (stuck && !d->stuck_told)
        log_error("state is full, and nothing that is held can leave by itself: raise [state] "
                  "memory, or hold less (for less long, or fewer keys)");
    d->stuck_told = stuck;

    if (!d->hold_told && since_ms != 0 && clock_mono().ms - since_ms >= HOLD_TOLD_MS) {
        log_warning("%s%s", hold_reason(d),
                    engine_takes(d->engine) ? ""
                                            : " ([state] memory, or a reader that does not read)");
        d->hold_told = true;
    } else if (d->hold_told && since_ms == 0) {
        log_info("inputs are read again");
        d->hold_told = false;
    }
}

static void tell_service(struct daemon *d)
{
    struct buf line = BUF_EMPTY;

    if (d->step == DAEMON_DRAINING)
        service_extend_timeout(STOP_DRAINING_MS + 5000);
    if (d->ticks % STATUS_TICKS == 0) {
        report_status_line(d, &line);
        service_status(buf_text(&line));
    }
    buf_done(&line);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;

    (void)fd;
    (void)what;
    d->ticks++;
    note_rates(d);
    check_books(d);
    for (int i = 0; i < OUTPUTS; i++)
        output_tick(&d->outputs[i], clock_mono());
    for (int s = 0; s < SIDES; s++)
        log_limit_tell(&d->inputs[s].group.bad_records, LOG_LEVEL_WARNING, "bad records");
    if (d->ticks % TRIM_TICKS == 0 && d->rate[SIDE_LEFT] + d->rate[SIDE_RIGHT] == 0)
        engine_trim(d->engine);
    if (d->step == DAEMON_RUNNING)
        lookup_tick(&d->lookup);
    tell_hold(d);
    tell_absent(d);
    stop_tick(d);
    tell_service(d);
}

/* Only wakes the loop: the turn that follows lets time go on. */
static void on_due(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;
    uint64_t times;
    ssize_t n = read(fd, &times, sizeof(times));

    (void)n;
    (void)what;
    d->due_ms = INT64_MAX;
}

static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    service_watchdog();
}

/* A timer of our own, set when the next tick is another one: libevent's would either
 * be coarse (ticks 4 ms late) or cost a system call a turn. */
static void set_due(struct daemon *d)
{
    bool event = d->config->plan->time == TIME_EVENT;
    int64_t due_ms = event ? engine_wake(d->engine).ms : engine_due(d->engine).ms, wait_ms;
    struct itimerspec when = {.it_value = {0}};

    if (due_ms == d->due_ms)
        return;
    d->due_ms = due_ms;
    if (due_ms != INT64_MAX) {
        wait_ms = due_ms - (event ? clock_mono().ms : clock_now(&d->clock).ms);
        when.it_value.tv_sec = wait_ms > 0 ? wait_ms / 1000 : 0;
        when.it_value.tv_nsec = wait_ms > 0 ? wait_ms % 1000 * 1000000 : 1;
    }
    timerfd_settime(d->due_fd, 0, &when, NULL);
}

/* --- start and end --- */

/* That this process may use. */
static int cores(void)
{
    cpu_set_t set;
    bool known = sched_getaffinity(0, sizeof(set), &set) == 0; /* not where there are very many */

    return known ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static void raise_fd_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void add_events(struct daemon *d)
{
    static const int signals[DAEMON_SIGNALS] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
    int64_t watchdog_ms = service_watchdog_interval_ms();
    struct timeval watchdog = {.tv_sec = watchdog_ms / 1000, .tv_usec = watchdog_ms % 1000 * 1000};

    for (int i = 0; i < DAEMON_SIGNALS; i++) {
        event_assign(&d->signals[i], d->base, signals[i], EV_SIGNAL | EV_PERSIST, on_signal, d);
        event_add(&d->signals[i], NULL);
    }
    d->due_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    event_assign(&d->due, d->base, d->due_fd, EV_READ | EV_PERSIST, on_due, d);
    event_add(&d->due, NULL);
    event_assign(&d->tick, d->base, -1, EV_PERSIST, on_tick, d);
    event_add(&d->tick, &second);
    event_assign(&d->watchdog, d->base, -1, EV_PERSIST, on_watchdog, d);
    if (watchdog_ms > 0)
        event_add(&d->watchdog, &watchdog);
}

/* Outputs come last: a start that fails leaves no file behind. */
static bool open_all(struct daemon *d)
{
    const struct config *c = d->config;
    bool good = http_open(&d->http, d->base, &c->http, on_http, d);

    for (int s = 0; s < SIDES; s++)
        good &=
            input_open(&d->inputs[s], d->base, d->engine, c, (enum side)s, pump_ready, &d->pump);
    for (int i = 0; i < OUTPUTS; i++)
        good =
            output_open(&d->outputs[i], d->base, &c->output[i], (enum output_id)i, c->plan, good) &&
            good;
    if (good)
        passed_tell_unused();
    for (int s = 0; s < SIDES && good; s++)
        input_start(&d->inputs[s]);
    return good;
}

static void append_place(struct buf *line, const char *word, const struct endpoint *e,
                         const struct listener *l)
{
    if (e->kind == ENDPOINT_NONE)
        return;
    buf_printf(line, " %s=%s", word, e->kind == ENDPOINT_LISTEN ? listener_place(l) : e->text);
}

static void tell_ready(const struct daemon *d)
{
    const struct config *c = d->config;
    struct buf line = BUF_EMPTY;

    for (int s = 0; s < SIDES; s++)
        append_place(&line, side_word((enum side)s), &c->input[s].endpoint, &d->inputs[s].listener);
    for (int i = 0; i < OUTPUTS; i++)
        append_place(&line, d->outputs[i].word, &c->output[i].endpoint, &d->outputs[i].listener);
    append_place(&line, "http", &c->http, &d->http.listener);
    log_ready("ready:%s", buf_text(&line));
    buf_done(&line);
}

static void loop(struct daemon *d)
{
    while (d->step != DAEMON_STOPPED) {
        bool busy = pump_busy(&d->pump) || lookup_is_reading(&d->lookup);
        int64_t cpu_us;

        event_base_loop(d->base, EVLOOP_ONCE | (busy ? EVLOOP_NONBLOCK : 0));
        if (d->step == DAEMON_STOPPED)
            break; /* what is given up is counted already */
        pump_turn(&d->pump);
        read_table(d);
        set_due(d);
        stop_turn(d);
        cpu_us = clock_thread_cpu_us();
        if (cpu_us - d->cpu_us > d->turn_cpu_max_us)
            d->turn_cpu_max_us = cpu_us - d->cpu_us;
        d->cpu_us = cpu_us;
        d->turns++;
    }
}

static void close_all(struct daemon *d)
{
    for (int s = 0; s < SIDES; s++)
        input_close(&d->inputs[s]);
    for (int i = 0; i < OUTPUTS; i++)
        output_close(&d->outputs[i]);
    http_close(&d->http);
    for (int i = 0; i < DAEMON_SIGNALS; i++)
        event_del(&d->signals[i]);
    signal(SIGTERM, SIG_IGN); /* what is left is to end with our own status */
    signal(SIGINT, SIG_IGN);
    event_del(&d->tick);
    event_del(&d->due);
    close(d->due_fd);
    event_del(&d->watchdog);
}

/* Before the loop, TERM and INT simply end the process, as nothing is open yet; HUP would too. */
static bool read_first_table(struct daemon *d)
{
    signal(SIGHUP, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    return lookup_open(&d->lookup, d->engine, &d->clock, d->config);
}

/* As process.threads says; auto: where there are two cores. */
static void start_second(struct daemon *d)
{
    unsigned threads = d->config->threads;

    if (!plan_detaches(d->config->plan) || threads == 1 || (threads == 0 && cores() < 2))
        return;
    if (!results_start_second(&d->pump.results, d->base))
        log_warning("there is no second thread to be had: one does all");
}

static void run(struct daemon *d)
{
    add_events(d);
    if (open_all(d)) {
        start_second(d);
        tell_ready(d);
        engine_count_idle_anew(d->engine, clock_mono());
        service_ready();
        d->cpu_us = clock_thread_cpu_us();
        loop(d);
        stop_tell_books(d);
        log_info("stopped");
    } else {
        d->status = 1;
    }
    close_all(d);
}

int daemon_run(struct daemon *d, const struct config *config)
{
    *d = (struct daemon){
        .config = config,
        .due_ms = INT64_MAX,
        .started_wall_ms = clock_wall_ms(),
        .started_mono_ms = clock_mono().ms,
    };
    raise_fd_limit();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is a full disk */
    d->base = event_base_new();
    d->engine = engine_new(config->plan);
    clock_init(&d->clock);
    pump_init(&d->pump, d->engine, &d->clock, d->inputs, d->outputs, config->plan);
    if (read_first_table(d))
        run(d);
    else
        d->status = 1;
    lookup_close(&d->lookup);
    pump_done(&d->pump);
    engine_free(d->engine);
    event_base_free(d->base);
    return d->status;
}
