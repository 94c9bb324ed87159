#include "machine_parts.h"

/* Windows are fired as a second thread would, with what it does in any order. */

void machine_fires_aside(struct machine *m, unsigned settles_every)
{
    if (!plan_detaches(m->config->plan) || settles_every == 0)
        return;
    m->aside.news = firing_news_new();
    m->aside.settles_every = settles_every;
    engine_leave(m->engine, 0);
}

void aside_settle(struct machine *m)
{
    struct machine_aside *a = &m->aside;
    if (a->unsettled)
        engine_settle(m->engine, a->news);
    a->unsettled = false;
}

void aside_done(struct machine *m)
{
    aside_settle(m);
    firing_news_free(m->aside.news);
}

void aside_reject_result(struct machine *m, const struct result *r)
{
    m->aside.unsettled = true;
    firing_reject_result(m->aside.news, r);
}

static void detach(struct machine *m)
{
    struct machine_aside *a = &m->aside;
    struct firing *f;
    while (a->count < MACHINE_FIRINGS && (f = engine_detach(m->engine, 0)) != NULL)
        a->out[a->count++] = f;
    if (a->count > 0 && !engine_has_work(m->engine))
        break_promise(m, "a window is out, and there is no work");
}

static size_t fire(struct machine *m, struct result *results, size_t max, int64_t *fuel)
{
    struct machine_aside *a = &m->aside;
    size_t n = firing_pull(a->out[0], a->news, results, max, fuel);
    a->unsettled = true;
    if (firing_is_over(a->out[0])) {
        a->count--;
        for (size_t i = 0; i < a->count; i++)
            a->out[i] = a->out[i + 1];
    }
    if (n == 0 || ++a->pulls % a->settles_every == 0)
        aside_settle(m);
    return n;
}

size_t aside_pull(struct machine *m, struct result *results, size_t max, int64_t *fuel)
{
    size_t n = 0;
    while (n == 0 && *fuel > 0 && engine_has_work(m->engine)) {
        detach(m);
        if (m->aside.count == 0)
            return engine_pull(m->engine, results, max, fuel);
        n = fire(m, results, max, fuel);
    }
    return n;
}
