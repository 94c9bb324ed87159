/* How a scene is made from a seed. Keys are few and windows short, so that records meet. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "scene.h"

#define EVENTS_MAX      120
#define EVENTS_MAX_RARE 800

struct dice {
    uint64_t state;
};

/* splitmix64 */
static uint64_t roll(struct dice *d)
{
    uint64_t x = d->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* 0 <= result < n */
static int below(struct dice *d, int n)
{
    return (int)(roll(d) % (uint64_t)n);
}

static bool chance(struct dice *d, int percent)
{
    return below(d, 100) < percent;
}

#define PICK(d, list) ((list)[below((d), (int)(sizeof(list) / sizeof((list)[0])))])

/* --- the plan --- */

static void add_field(struct dice *d, struct scene_side *x, const struct alphabet *a)
{
    int n = a == NULL ? 0 : (int)alphabet_size(a);
    struct scene_field *f = &x->fields[x->field_count];
    f->alphabet = a;
    f->values = n == 0 ? 0 : 1 + below(d, n < 5 ? n : 5);
    f->first = n == 0 ? 0 : below(d, n - f->values + 1);
    snprintf(f->name, sizeof(f->name), "f%d", x->field_count++);
}

static void swap_fields(struct scene_side *x, int a, int b)
{
    struct scene_field f = x->fields[a];
    x->fields[a] = x->fields[b];
    x->fields[b] = f;
    int *const places[] = {&x->key[0], &x->key[1], &x->where, &x->on};
    for (size_t i = 0; i < 4; i++)
        *places[i] = *places[i] == a ? b : *places[i] == b ? a : *places[i];
}

static void random_side(struct dice *d, struct scene *s, int side,
                        const struct alphabet_pair *const *keys)
{
    static const char *const nulls[] = {"", "", "", "NULL", "-"};
    static const char delimiters[] = {',', ',', ',', ';', '|', '\t'};
    static const int max_lines[] = {64, 512, 1024, 65536};
    struct scene_side *x = &s->side[side];
    for (int i = 0; i < s->plan.keys; i++) {
        x->key[i] = x->field_count;
        add_field(d, x, keys[i] == NULL ? NULL : keys[i]->of[side]);
    }
    if (s->plan.keys == 0 || keys[0] != NULL)
        add_field(d, x, NULL);
    x->where = x->field_count;
    add_field(d, x, &alphabet_boolean);
    x->on = chance(d, 50) ? x->field_count : x->where;
    if (x->on != x->where)
        add_field(d, x, &alphabet_boolean);
    if (chance(d, 30))
        add_field(d, x, alphabet_pairs[below(d, (int)alphabet_pair_count)].of[side]);
    for (int i = 0; i < x->field_count && chance(d, 80); i++)
        swap_fields(x, i, below(d, x->field_count));
    x->null_text = PICK(d, nulls);
    x->delimiter = PICK(d, delimiters);
    x->max_line = PICK(d, max_lines);
    s->plan.where[side] = chance(d, 25);
}

/* Equal keys shall occur: both sides mostly take from the same part of their alphabets, which
 * are so written that what compares as equal stands at about the same place. */
static void bring_keys_together(struct dice *d, struct scene *s)
{
    for (int i = 0; i < s->plan.keys && chance(d, 85); i++) {
        const struct scene_field *left = &s->side[0].fields[s->side[0].key[i]];
        struct scene_field *right = &s->side[1].fields[s->side[1].key[i]];
        if (right->alphabet == NULL)
            continue;
        int size = (int)alphabet_size(right->alphabet);
        right->first = left->first < size ? left->first : 0;
        right->values = left->values;
        if (right->first + right->values > size)
            right->values = size - right->first;
    }
}

static void random_plan(struct dice *d, struct scene *s)
{
    static const int sizes[] = {1, 2, 3, 7, 10, 100, 1000, 10000, 86400000};
    const struct alphabet_pair *keys[REF_KEYS_MAX];
    long long size = PICK(d, sizes);
    s->plan.type = (enum ref_type)below(d, 6);
    s->plan.size = size;
    s->plan.offset = chance(d, 50) ? 0 : below(d, 4 * (int)size + 1) - 2 * (int)size;
    s->plan.keys = chance(d, 60) ? 1 : 2 * below(d, 2);
    s->plan.on = chance(d, 65) ? REF_NOBODY : below(d, 2);
    for (int i = 0; i < s->plan.keys; i++) {
        bool strings = i > 0 && chance(d, 30);
        keys[i] = &alphabet_pairs[strings ? 0 : below(d, (int)alphabet_pair_count)];
        s->plan.key_is_real[i] =
            keys[i]->of[0]->kind == REF_REAL || keys[i]->of[1]->kind == REF_REAL;
    }
    if (s->plan.keys == 1 && chance(d, 10)) {
        keys[0] = NULL; /* the id: many keys */
        s->plan.key_is_real[0] = false;
    }
    for (int side = 0; side < 2; side++)
        random_side(d, s, side, keys);
    bring_keys_together(d, s);
}

/* Plain fields, each at most once: what columns are called is not looked at here. */
static void random_select(struct dice *d, struct scene *s)
{
    bool left_only = s->plan.type == REF_SEMI || s->plan.type == REF_ANTI;
    for (int wanted = below(d, SELECT_MAX + 1); wanted > 0; wanted--) {
        int side = left_only ? 0 : below(d, 2), field = below(d, s->side[side].field_count);
        bool there = false;
        for (int i = 0; i < s->select_count; i++)
            there = there || (s->select[i].side == side && s->select[i].field == field);
        if (there)
            continue;
        s->select[s->select_count].side = side;
        s->select[s->select_count++].field = field;
    }
}

static void random_rest(struct dice *d, struct scene *s)
{
    static const char *const nulls[] = {"", "", "NULL", "-"};
    static const char delimiters[] = {',', ',', ';', '|', '\t'};
    static const size_t cuts[] = {0, 0, 0, 1, 2, 5, 13, 100};
    int longest =
        s->side[0].max_line > s->side[1].max_line ? s->side[0].max_line : s->side[1].max_line;
    s->delimiter = PICK(d, delimiters);
    s->null_text = PICK(d, nulls);
    s->cut = PICK(d, cuts);
    s->hash_seed = roll(d);
    if (chance(d, 30))
        s->state_bytes = 16 * longest + below(d, 3) * below(d, 2048);
    if (chance(d, 50))
        random_select(d, s);
}

/* --- what happens --- */

struct mood {
    int nulls, bads, glued; /* percent */
    int ids;                /* how many there are; few: equal records */
    int pad, pads;          /* bytes, percent */
    bool calm;              /* time hardly moves: windows with many records */
};

static struct scene_row random_row(struct dice *d, const struct scene *s, int side,
                                   const struct mood *mood)
{
    const struct scene_side *x = &s->side[side];
    struct scene_row row = {.id = below(d, mood->ids), .cr = chance(d, 5)};
    for (int i = 0; i < x->field_count; i++) {
        const struct scene_field *f = &x->fields[i];
        row.values[i] =
            f->values == 0 || chance(d, mood->nulls) ? NONE : f->first + below(d, f->values);
    }
    row.quoted = chance(d, 20) ? (unsigned)below(d, 1 << x->field_count) : 0;
    row.bad = chance(d, mood->bads) ? (enum bad)below(d, BADS) : BAD_NOT;
    row.pad = chance(d, mood->pads) ? mood->pad + below(d, 4) : 0;
    return row;
}

/* Mostly a little later, sometimes much, sometimes earlier. */
static int64_t random_step(struct dice *d, int64_t size, bool calm)
{
    int way = below(d, 100);
    if (way < 35 || (calm && chance(d, 98)))
        return 0;
    if (way < 80)
        return below(d, (int)(size / 6) + 2);
    if (way < 90)
        return below(d, (int)size + 1);
    if (way < 95)
        return size * below(d, 6);
    return -below(d, (int)(2 * size) + 1);
}

static struct event random_event(struct dice *d, const struct scene *s, const struct mood *mood)
{
    static const int64_t fuels[] = {1, 1, 2, 3, 10, 100, 100000};
    static const size_t mosts[] = {1, 1, 2, 5, 64};
    int way = below(d, 100);
    struct event e = {.kind = way < 76   ? EVENT_ROW
                              : way < 83 ? EVENT_TICK
                              : way < 95 ? EVENT_PULL
                                         : EVENT_SETTLE};
    if (e.kind == EVENT_ROW) {
        e.side = below(d, 2);
        e.glued = chance(d, mood->glued);
        e.row = random_row(d, s, e.side, mood);
    } else if (e.kind == EVENT_PULL) {
        e.max = PICK(d, mosts);
        e.fuel = PICK(d, fuels);
    }
    return e;
}

static struct mood random_mood(struct dice *d, const struct scene *s)
{
    static const int nulls[] = {0, 0, 10, 40}, bads[] = {0, 5, 30}, glued[] = {0, 20, 80};
    static const int pads[] = {50, 300, 4000, 17000}, ids[] = {2, 10, 200, 1000000};
    struct mood mood = {
        .nulls = PICK(d, nulls),
        .bads = PICK(d, bads),
        .glued = PICK(d, glued),
        .ids = PICK(d, ids),
        .pad = PICK(d, pads),
        .calm = chance(d, 10),
    };
    bool cut_small = s->cut > 0 && s->cut < 100;
    mood.pads = cut_small && mood.pad > 300 ? 0 : chance(d, 30) ? 15 : 0;
    return mood;
}

static void random_events(struct dice *d, struct scene *s)
{
    static const int64_t starts[] = {0, -1, 1, 1767323045123, -62135596000000, 253402000000000};
    struct mood mood = random_mood(d, s);
    int64_t now = PICK(d, starts) - below(d, (int)s->plan.size);
    int ends = chance(d, 20) ? below(d, 2) : NONE; /* a side that ends early */
    bool many = chance(d, mood.calm ? 50 : 3);
    s->event_count = (size_t)(1 + below(d, many ? EVENTS_MAX_RARE : EVENTS_MAX));
    s->events = mem_alloc_zeroed(s->event_count + 1, sizeof(*s->events));
    size_t end_at = s->event_count * 2 / 3;
    for (size_t i = 0; i < s->event_count; i++) {
        struct event e = random_event(d, s, &mood);
        if (ends != NONE && i == end_at)
            e = (struct event){.kind = EVENT_END, .side = ends};
        else if (ends != NONE && i > end_at && e.kind == EVENT_ROW && e.side == ends)
            e = (struct event){.kind = EVENT_TICK};
        now += random_step(d, s->plan.size, mood.calm);
        e.time = now;
        s->events[i] = e;
    }
}

struct scene scene_random(uint64_t seed)
{
    struct scene s = {.seed = seed};
    struct dice d = {seed};
    random_plan(&d, &s);
    random_rest(&d, &s);
    random_events(&d, &s);
    return s;
}
