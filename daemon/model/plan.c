#include "model/plan.h"

#include <assert.h>

#include "base/mem.h"
#include "base/time.h"

static const char *const type_words[JOIN_TYPES] = {
    [JOIN_INNER] = "inner", [JOIN_LEFT] = "left", [JOIN_RIGHT] = "right",
    [JOIN_FULL] = "full",   [JOIN_SEMI] = "semi", [JOIN_ANTI] = "anti",
};

const char *join_type_word(enum join_type t)
{
    assert(t < JOIN_TYPES);
    return type_words[t];
}

const struct match_traits match_traits[MATCH_KINDS] = {
    [MATCH_TUMBLING] = {.word = "tumbling",
                        .by_time = true,
                        .replays = true,
                        .aligned = true,
                        .has_windows = true,
                        .detaches = true},
    [MATCH_SLIDING] =
        {.word = "sliding", .by_time = true, .replays = true, .aligned = true, .has_windows = true},
    [MATCH_SESSION] = {.word = "session", .by_time = true, .replays = true, .has_windows = true},
    [MATCH_INTERVAL] = {.word = "interval", .by_time = true, .replays = true},
    [MATCH_LATEST] = {.word = "latest", .by_time = true, .right_asked = true},
    [MATCH_LOOKUP] = {.word = "lookup", .right_asked = true, .right_file = true},
    [MATCH_BATCH] = {.word = "batch", .bounded = true},
};

struct plan *plan_new(void)
{
    struct plan *p = mem_alloc_zeroed(1, sizeof(*p));

    schema_init(&p->side[SIDE_LEFT].schema, "left");
    schema_init(&p->side[SIDE_RIGHT].schema, "right");
    return p;
}

void plan_free(struct plan *p)
{
    if (p == NULL)
        return;
    for (int s = 0; s < SIDES; s++) {
        struct plan_side *side = &p->side[s];
        schema_done(&side->schema);
        mem_free((char *)side->form.null_text.p);
        expr_list_done(&side->key);
        mem_free(side->key_as_double);
        expr_free(side->where);
        expr_free(side->timestamp);
    }
    expr_free(p->on);
    mem_free(p);
}

bool plan_pads(const struct plan *p, enum side s)
{
    switch (p->type) {
    case JOIN_FULL:
        return true;
    case JOIN_LEFT:
    case JOIN_ANTI:
        return s == SIDE_LEFT;
    case JOIN_RIGHT:
        return s == SIDE_RIGHT;
    case JOIN_INNER:
    case JOIN_SEMI:
        break;
    }
    return false;
}

bool plan_detaches(const struct plan *p)
{
    return plan_traits(p)->detaches && p->grace_ms == 0;
}

int64_t plan_window_start(const struct plan *p, int64_t t)
{
    return t - floor_mod(t - p->offset_ms, p->slide_ms);
}
