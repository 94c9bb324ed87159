#include "scene_random.h"

#include <stdio.h>
#include <string.h>

/* --- fields --- */

static int add_field(struct dice *d, struct scene_side *x, const struct alphabet *a)
{
    int n = a == NULL ? 0 : (int)alphabet_size(a);
    struct scene_field *f = &x->fields[x->field_count];
    f->alphabet = a;
    f->values = n == 0 ? 0 : 1 + below(d, n < 5 ? n : 5);
    f->first = n == 0 ? 0 : below(d, n - f->values + 1);
    snprintf(f->name, sizeof(f->name), "f%d", x->field_count);
    return x->field_count++;
}

static int add_time(struct dice *d, struct scene_side *x)
{
    static const char *const types[] = {"timestamp_ms", "timestamp_ms", "timestamp_ms", "timestamp",
                                        "timestamp_s",  "timestamp_us", "timestamp_ns"};
    int field = add_field(d, x, NULL);
    x->fields[field].time_type = PICK(d, types);
    return field;
}

static void swap_fields(struct scene_side *x, int a, int b)
{
    struct scene_field f = x->fields[a];
    x->fields[a] = x->fields[b];
    x->fields[b] = f;
    int *const places[] = {&x->key[0], &x->key[1], &x->truth, &x->other, &x->number, &x->time};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        *places[i] = *places[i] == a ? b : *places[i] == b ? a : *places[i];
}

static void random_side(struct dice *d, struct scene *s, int side,
                        const struct alphabet_pair *const *keys)
{
    static const char *const nulls[] = {"", "", "", "NULL", "-"};
    static const char delimiters[] = {',', ',', ',', ';', '|', '\t'};
    static const int max_lines[] = {64, 512, 1024, 65536};
    struct scene_side *x = &s->side[side];
    for (int i = 0; i < s->plan.keys; i++)
        x->key[i] = add_field(d, x, keys[i] == NULL ? NULL : keys[i]->of[side]);
    if (s->plan.keys == 0 || keys[0] != NULL)
        add_field(d, x, NULL);
    x->truth = add_field(d, x, &alphabet_boolean);
    x->other = chance(d, 50) ? add_field(d, x, &alphabet_boolean) : x->truth;
    x->number = add_field(d, x, &alphabet_number);
    x->time = s->plan.event_time ? add_time(d, x) : NONE;
    if (x->field_count < FIELDS_MAX && chance(d, 30))
        add_field(d, x, alphabet_pairs[below(d, (int)alphabet_pair_count)].of[side]);
    for (int i = 0; i < x->field_count && chance(d, 80); i++)
        swap_fields(x, i, below(d, x->field_count));
    x->null_text = PICK(d, nulls);
    x->delimiter = PICK(d, delimiters);
    x->max_line = PICK(d, max_lines);
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

static void random_fields(struct dice *d, struct scene *s)
{
    static const struct alphabet_pair numbers = {{&alphabet_number, &alphabet_number}};
    static const struct alphabet_pair strings = {{&alphabet_string, &alphabet_string}};
    const struct alphabet_pair *keys[REF_KEYS_MAX];
    bool computed[REF_KEYS_MAX];
    s->plan.keys = chance(d, 60) ? 1 : 2 * below(d, 2);
    for (int i = 0; i < s->plan.keys; i++) {
        computed[i] = chance(d, 30);
        bool text = chance(d, i > 0 || computed[i] ? 40 : 0);
        keys[i] = text          ? &strings
                  : computed[i] ? &numbers
                                : &alphabet_pairs[below(d, (int)alphabet_pair_count)];
        s->plan.key_is_real[i] =
            keys[i]->of[0]->kind == REF_REAL || keys[i]->of[1]->kind == REF_REAL;
    }
    if (s->plan.keys == 1 && !computed[0] && chance(d, 10)) {
        keys[0] = NULL; /* the id: many keys */
        s->plan.key_is_real[0] = false;
    }
    for (int side = 0; side < 2; side++)
        random_side(d, s, side, keys);
    bring_keys_together(d, s);
    random_keys(d, s, computed);
}

/* --- the match --- */

int64_t scene_span(const struct scene *s)
{
    const struct ref_plan *p = &s->plan;
    if (p->match == REF_SESSION)
        return p->gap;
    if (p->match == REF_INTERVAL)
        return p->upper - p->lower + 1;
    return p->size > p->slide ? p->size : p->slide;
}

static void random_match(struct dice *d, struct scene *s)
{
    static const int sizes[] = {1, 2, 3, 7, 10, 100, 1000, 10000, 86400000};
    static const enum ref_match matches[] = {
        REF_TUMBLING, REF_SLIDING, REF_SESSION, REF_INTERVAL,
        REF_LATEST,   REF_LATEST,  REF_BATCH,   REF_LOOKUP,
    };
    struct ref_plan *p = &s->plan;
    int size = PICK(d, sizes);
    p->match = PICK(d, matches);
    p->size = p->slide = p->gap = size;
    p->offset = chance(d, 50) ? 0 : below(d, 4 * size + 1) - 2 * size;
    if (p->match == REF_SLIDING && chance(d, 90))
        p->slide =
            chance(d, 60) ? (size + 3) / (1 + below(d, 4)) : 1 + size / 5 + below(d, 2 * size);
    int shift = chance(d, 70) ? size / 2 : below(d, 3 * size) - size;
    p->lower = chance(d, 20) ? 0 : -shift;
    p->upper = p->lower + (chance(d, 15) ? 0 : below(d, size + 1));
}

static void random_latest(struct dice *d, struct ref_plan *p)
{
    int size = (int)p->size;
    p->wait = chance(d, 30) ? 0 : chance(d, 25) ? REF_OFF : below(d, 2 * size + 1);
    p->ttl = chance(d, 50) ? REF_OFF : below(d, 3 * size + 1);
    p->duplicates = (enum ref_duplicates)(chance(d, 50) ? 0 : below(d, 3));
}

/* latest and lookup have no use for the right rows alone. */
static void random_type(struct dice *d, struct ref_plan *p)
{
    static const enum ref_type types[] = {REF_INNER, REF_LEFT, REF_SEMI, REF_ANTI};
    p->type = (enum ref_type)below(d, 6);
    if (p->match == REF_LATEST || p->match == REF_LOOKUP)
        p->type = PICK(d, types);
}

static long long random_idle(struct dice *d)
{
    static const int idles[] = {1, 10, 50, 200};
    return chance(d, 40) ? REF_OFF : PICK(d, idles);
}

static void random_time(struct dice *d, struct scene *s)
{
    struct ref_plan *p = &s->plan;
    int span = (int)scene_span(s);
    for (int side = 0; side < 2; side++)
        p->idle[side] = p->max_ahead[side] = REF_OFF;
    p->event_time = chance(d, 65) && p->match != REF_BATCH && p->match != REF_LOOKUP;
    if (!p->event_time)
        return;
    s->replay = chance(d, 8) && p->match != REF_LATEST;
    p->grace = chance(d, 50) || p->match == REF_LATEST ? 0 : below(d, span + 2);
    long long delay = chance(d, 40) ? 0 : below(d, span + 2);
    for (int side = 0; side < 2; side++) {
        p->delay[side] = chance(d, 70) ? delay : below(d, span + 2);
        if (!s->replay)
            p->idle[side] = random_idle(d);
        if (chance(d, 20))
            p->max_ahead[side] = below(d, 3 * span + 1);
    }
}

/* --- the rest --- */

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
    s->by_hand = chance(d, 50);
    s->hash_seed = roll(d);
    if (chance(d, 20))
        s->state_bytes = 16 * longest + below(d, 3) * below(d, 2048);
}

static int64_t right_bytes(const struct scene *s)
{
    struct buf line = BUF_EMPTY;
    int64_t n = 0;
    for (size_t i = 0; i < s->event_count; i++) {
        if (s->events[i].kind != EVENT_ROW || s->events[i].side != REF_SIDE_RIGHT)
            continue;
        buf_clear(&line);
        scene_line(s, i, &line);
        n += 300 + 2 * (int64_t)buf_length(&line);
    }
    buf_done(&line);
    return n;
}

/* What no input and no time would let go of has to fit: the right side of batch, values without
 * ttl. */
static void random_room(struct scene *s)
{
    const struct ref_plan *p = &s->plan;
    bool latest = p->match == REF_LATEST && !p->event_time;
    if (s->state_bytes == 0)
        return;
    if (p->match == REF_BATCH || (latest && (p->ttl == REF_OFF || p->wait == REF_OFF)))
        s->state_bytes += right_bytes(s);
}

struct scene scene_random(uint64_t seed, int size)
{
    struct scene s = {.seed = seed, .aside = seed % 4};
    struct dice d = {seed};
    random_match(&d, &s);
    random_latest(&d, &s.plan);
    random_type(&d, &s.plan);
    random_time(&d, &s);
    random_fields(&d, &s);
    random_conditions(&d, &s);
    random_rest(&d, &s);
    if (chance(&d, 60))
        random_select(&d, &s);
    random_events(&d, &s, size);
    random_room(&s);
    return s;
}
