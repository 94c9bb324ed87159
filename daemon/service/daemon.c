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

#include "base/object.h"
#include "config/reader.h"
#include "io/clock.h"
#include "io/file.h"
#include "io/log.h"
#include "service/notify.h"
#include "watch/pages.h"
#include "watch/status.h"

#define STATUS_TICKS 2  /* seconds between two STATUS lines */
#define TRIM_TICKS   30 /* seconds between two looks for memory to give back */

static const struct timeval second = {.tv_sec = 1};

/* --- signals --- */

static bool file_differs(const struct daemon *d)
{
    struct buf text = BUF_EMPTY;
    bool differs;
    struct stat st;
    int fd = open(d->flow.config->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return false;
    /* What came through a pipe cannot be read twice. */
    differs =
        fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && file_read_all(fd, CONFIG_BYTES_MAX, &text);
    close(fd);
    differs = differs && config_text_differs(d->flow.config, buf_bytes(&text));
    buf_done(&text);
    return differs;
}

static void end_reload(struct daemon *d, bool table_good)
{
    struct buf failed = BUF_EMPTY;

    for (int i = 0; i < OUTPUTS; i++)
        if (d->not_reopened[i])
            buf_printf(&failed, "%sthe file of [%s] (it goes on with the old one)",
                       buf_length(&failed) > 0 ? ", " : "", d->flow.outputs[i].word);
    if (!table_good)
        buf_printf(&failed, "%sthe table of [right]", buf_length(&failed) > 0 ? ", " : "");
    d->reloading = false;
    if (buf_length(&failed) == 0)
        log_info("reloaded");
    else
        log_warning("reloaded, but for %s", buf_text(&failed));
    buf_done(&failed);
    notify_ready();
}

/* Two at once would race: what comes during one is done once more after it. */
static void reload(struct daemon *d)
{
    if (d->stop.step != STEP_RUNNING)
        return;
    if (lookup_is_reading(&d->flow.lookup)) {
        d->reload_queued = true;
        return;
    }
    d->reloading = true;
    notify_reloading();
    for (int i = 0; i < OUTPUTS; i++)
        d->not_reopened[i] = !output_reopen(&d->flow.outputs[i]);
    if (file_differs(d))
        log_warning("%s differs from what is running: that takes a restart", d->flow.config->path);
    if (d->flow.lookup.config == NULL)
        end_reload(d, true);
    else if (!lookup_reload(&d->flow.lookup))
        end_reload(d, false);
}

static void read_table(struct daemon *d)
{
    enum lookup_outcome outcome = lookup_turn(&d->flow.lookup);

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
    struct daemon *d = object_of(arg, DAEMON_MAGIC);
    struct buf status = BUF_EMPTY;

    (void)what;
    switch (signal) {
    case SIGHUP:
        reload(d);
        break;
    case SIGUSR1:
        results_count_written(&d->flow.pump.results);
        status_json(&d->watch, &status);
        log_info("status: %s", buf_text(&status));
        break;
    default:
        if (d->stop.step == STEP_RUNNING)
            notify_stopping();
        stop_asked(&d->stop, signal == SIGTERM ? "TERM" : "INT");
    }
    buf_done(&status);
}

/* --- timers --- */

static void tell_service(struct daemon *d)
{
    struct buf line = BUF_EMPTY;

    if (d->stop.step == STEP_DRAINING)
        notify_extend_timeout(STOP_DRAINING_MS + 5000);
    if (d->ticks % STATUS_TICKS == 0) {
        status_line(&d->watch, &line);
        notify_status(buf_text(&line));
    }
    buf_done(&line);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = object_of(arg, DAEMON_MAGIC);

    (void)fd;
    (void)what;
    d->ticks++;
    flow_tick(&d->flow);
    if (d->stop.step == STEP_RUNNING)
        lookup_tick(&d->flow.lookup);
    watch_tick(&d->watch);
    if (d->ticks % TRIM_TICKS == 0 && watch_is_quiet(&d->watch))
        engine_trim(d->flow.engine);
    stop_tick(&d->stop);
    tell_service(d);
}

/* Only wakes the loop: the turn that follows lets time go on. */
static void on_due(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = object_of(arg, DAEMON_MAGIC);
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
    notify_watchdog();
}

/* A timer of our own, set when the next tick is another one: libevent's would either
 * be coarse (ticks 4 ms late) or cost a system call a turn. */
static void set_due(struct daemon *d)
{
    bool event = d->flow.config->plan->time == TIME_EVENT;
    int64_t due_ms = event ? engine_wake(d->flow.engine).ms : engine_due(d->flow.engine).ms,
            wait_ms;
    struct itimerspec when = {.it_value = {0}};

    if (due_ms == d->due_ms)
        return;
    d->due_ms = due_ms;
    if (due_ms != INT64_MAX) {
        wait_ms = due_ms - (event ? clock_mono().ms : stream_clock_now(&d->flow.clock).ms);
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
    int64_t watchdog_ms = notify_watchdog_interval_ms();
    struct timeval watchdog = {.tv_sec = watchdog_ms / 1000, .tv_usec = watchdog_ms % 1000 * 1000};

    for (int i = 0; i < DAEMON_SIGNALS; i++) {
        event_assign(&d->signals[i], d->flow.base, signals[i], EV_SIGNAL | EV_PERSIST, on_signal,
                     d);
        event_add(&d->signals[i], NULL);
    }
    d->due_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    event_assign(&d->due, d->flow.base, d->due_fd, EV_READ | EV_PERSIST, on_due, d);
    event_add(&d->due, NULL);
    event_assign(&d->tick, d->flow.base, -1, EV_PERSIST, on_tick, d);
    event_add(&d->tick, &second);
    event_assign(&d->watchdog, d->flow.base, -1, EV_PERSIST, on_watchdog, d);
    if (watchdog_ms > 0)
        event_add(&d->watchdog, &watchdog);
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
    const struct config *c = d->flow.config;
    struct buf line = BUF_EMPTY;

    for (int s = 0; s < SIDES; s++)
        append_place(&line, side_word((enum side)s), &c->input[s].endpoint,
                     &d->flow.inputs[s].listener);
    for (int i = 0; i < OUTPUTS; i++)
        append_place(&line, d->flow.outputs[i].word, &c->output[i].endpoint,
                     &d->flow.outputs[i].listener);
    append_place(&line, "http", &c->http, &d->watch.http.listener);
    log_ready("ready:%s", buf_text(&line));
    buf_done(&line);
}

static void loop(struct daemon *d)
{
    while (d->stop.step != STEP_STOPPED) {
        bool busy = pump_busy(&d->flow.pump) || lookup_is_reading(&d->flow.lookup);

        event_base_loop(d->flow.base, EVLOOP_ONCE | (busy ? EVLOOP_NONBLOCK : 0));
        if (d->stop.step == STEP_STOPPED)
            break; /* what is given up is counted already */
        pump_turn(&d->flow.pump);
        read_table(d);
        set_due(d);
        stop_turn(&d->stop);
        watch_turn(&d->watch);
    }
}

static void close_all(struct daemon *d)
{
    flow_close(&d->flow);
    http_close(&d->watch.http);
    for (int i = 0; i < DAEMON_SIGNALS; i++)
        event_del(&d->signals[i]);
    signal(SIGTERM, SIG_IGN); /* what is left is to end with our own status */
    signal(SIGINT, SIG_IGN);
    event_del(&d->tick);
    event_del(&d->due);
    close(d->due_fd);
    event_del(&d->watchdog);
}

/* As process.threads says; auto: where there are two cores. */
static void start_second(struct daemon *d)
{
    unsigned threads = d->flow.config->threads;

    if (!plan_detaches(d->flow.config->plan) || threads == 1 || (threads == 0 && cores() < 2))
        return;
    if (!results_start_second(&d->flow.pump.results, d->flow.base))
        log_warning("there is no second thread to be had: one does all");
}

static void run(struct daemon *d)
{
    add_events(d);
    if (flow_open(&d->flow, pages_open(&d->watch, &d->flow.config->http))) {
        start_second(d);
        tell_ready(d);
        engine_count_idle_anew(d->flow.engine, clock_mono());
        notify_ready();
        watch_begin(&d->watch);
        loop(d);
        stop_tell_books(&d->stop);
        log_info("stopped");
    } else {
        d->stop.status = 1;
    }
    close_all(d);
}

int daemon_run(struct daemon *d, const struct config *config)
{
    struct event_base *base = event_base_new();

    *d = (struct daemon){.magic = DAEMON_MAGIC, .due_ms = INT64_MAX, .stop = {.flow = &d->flow}};
    watch_init(&d->watch, &d->flow, &d->stop);
    raise_fd_limit();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is a full disk */
    /* Before the loop, TERM and INT simply end the process, as nothing is open yet; HUP would too.
     */
    signal(SIGHUP, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    if (flow_init(&d->flow, config, base))
        run(d);
    else
        d->stop.status = 1;
    flow_done(&d->flow);
    event_base_free(base);
    return d->stop.status;
}
