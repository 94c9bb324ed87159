#include "flow/flow.h"

#include "io/clock.h"
#include "io/passed.h"

bool flow_init(struct flow *f, const struct config *c, struct event_base *base)
{
    *f = (struct flow){.config = c, .base = base, .engine = engine_new(c->plan)};
    stream_clock_init(&f->clock);
    pump_init(&f->pump, f->engine, &f->clock, f->inputs, f->outputs, c->plan);
    return lookup_open(&f->lookup, f->engine, &f->clock, c);
}

void flow_done(struct flow *f)
{
    lookup_close(&f->lookup);
    pump_done(&f->pump);
    engine_free(f->engine);
}

bool flow_open(struct flow *f, bool good)
{
    const struct config *c = f->config;

    for (int s = 0; s < SIDES; s++)
        good &=
            input_open(&f->inputs[s], f->base, f->engine, c, (enum side)s, pump_ready, &f->pump);
    for (int i = 0; i < OUTPUTS; i++)
        good &=
            output_open(&f->outputs[i], f->base, &c->output[i], (enum output_id)i, c->plan, good);
    if (good)
        passed_tell_unused();
    for (int s = 0; s < SIDES && good; s++)
        input_start(&f->inputs[s]);
    return good;
}

void flow_close(struct flow *f)
{
    for (int s = 0; s < SIDES; s++)
        input_close(&f->inputs[s]);
    for (int i = 0; i < OUTPUTS; i++)
        output_close(&f->outputs[i]);
}

uint64_t flow_bytes_read(const struct flow *f, enum side side)
{
    return f->inputs[side].group.bytes + (side == SIDE_RIGHT ? f->lookup.group.bytes : 0);
}

void flow_tick(struct flow *f)
{
    for (int i = 0; i < OUTPUTS; i++)
        output_tick(&f->outputs[i], clock_mono());
    for (int s = 0; s < SIDES; s++)
        log_limit_tell(&f->inputs[s].group.bad_records, LOG_LEVEL_WARNING, "bad records");
}
