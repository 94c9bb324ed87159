/* The latest-value join: semantics.md sections 4 and 5b. */
#include "reference_parts.h"

static bool is_left(const struct ref_kept *k)
{
    return k->record.side == REF_SIDE_LEFT;
}

static bool has_reached(const struct reference *r, long long time)
{
    return r->time == REF_END_OF_TIME || (r->time != REF_NO_TIME && r->time >= time);
}

/* True: they match. `on` is asked of the one version that is visible. */
static bool meet(struct reference *r, struct ref_kept *left, struct ref_kept *right)
{
    if (right == NULL || !ref_on(r, left, right))
        return false;
    ref_has_matched(left);
    ref_has_matched(right);
    if (ref_broken(r, REF_MATCHES_RENEW) && !r->plan.event_time)
        right->time = r->time;
    if (r->plan.type == REF_SEMI)
        ref_add(r, REF_SEMI_ROW, left, NULL);
    else if (r->plan.type != REF_ANTI)
        ref_add(r, REF_PAIR, left, right);
    return true;
}

static void give_up(struct reference *r, struct ref_kept *left)
{
    ref_pad(r, left);
    ref_has_left(left);
}

static void decide(struct reference *r, struct ref_kept *left, struct ref_kept *right)
{
    ref_next_section(r);
    if (meet(r, left, right))
        ref_has_left(left);
    else
        give_up(r, left);
}

/* --- processing time --- */

/* The one value of its key. */
static struct ref_kept *value_for(const struct reference *r, const struct ref_kept *k)
{
    for (size_t i = 0; i < r->kept_count; i++)
        if (r->kept[i].stored && &r->kept[i] != k && !is_left(&r->kept[i]) &&
            ref_keys_equal(r, &r->kept[i], k))
            return &r->kept[i];
    return NULL;
}

/* The instant at which its wait is over, or the value is forgotten; false: never. */
static bool leaves_at(const struct reference *r, const struct ref_kept *k, long long *ret)
{
    long long lasts = is_left(k) ? r->plan.wait : r->plan.ttl;
    bool longer = ref_broken(r, is_left(k) ? REF_WAITS_TOO_LONG : REF_TTL_TOO_LONG);
    *ret = k->time + lasts + (longer ? 1 : 0);
    return lasts != REF_OFF;
}

static bool has_lasted(const struct reference *r, const struct ref_kept *k)
{
    long long end;
    return r->time == REF_END_OF_TIME || (leaves_at(r, k, &end) && has_reached(r, end));
}

/* All waits are as long: they are over in order of arrival. */
static void advance_now(struct reference *r)
{
    for (size_t i = 0; i < r->kept_count; i++) {
        struct ref_kept *k = &r->kept[i];
        if (!k->stored || !has_lasted(r, k))
            continue;
        if (is_left(k))
            decide(r, k, NULL);
        else
            ref_has_left(k);
    }
}

static void take_left_now(struct reference *r, struct ref_kept *k)
{
    struct ref_kept *value = value_for(r, k);
    bool waits = r->plan.wait != 0 && (!k->key_is_null || ref_broken(r, REF_NULL_KEYS_WAIT));
    if (value == NULL && waits)
        k->stored = true;
    else
        decide(r, k, value);
}

/* Those that wait for it leave in order of arrival; one for which `on` says no, too. */
static void end_waits(struct reference *r, struct ref_kept *value)
{
    for (size_t n = 0; n < r->kept_count; n++) {
        size_t i = ref_broken(r, REF_LAST_HELD_FIRST) ? r->kept_count - 1 - n : n;
        struct ref_kept *k = &r->kept[i];
        if (!k->stored || !is_left(k) || !ref_keys_equal(r, k, value))
            continue;
        if (!ref_broken(r, REF_ON_ENDS_NO_WAIT))
            decide(r, k, value);
        else if (meet(r, k, value))
            ref_has_left(k);
    }
}

static void take_right_now(struct reference *r, struct ref_kept *k)
{
    struct ref_kept *old = value_for(r, k);
    if (old != NULL && ref_broken(r, REF_FIRST_VALUE_STAYS)) {
        ref_has_left(k);
        return;
    }
    if (old != NULL)
        ref_has_left(old);
    k->stored = true;
    end_waits(r, k);
    advance_now(r); /* a ttl of nothing */
}

/* --- event time: as-of --- */

static bool is_newer(const struct reference *r, const struct ref_kept *a, const struct ref_kept *b)
{
    if (a->time != b->time)
        return a->time > b->time;
    return (a > b) != ref_broken(r, REF_FIRST_OF_A_TIME_IS_NEWEST);
}

/* The version of that key with the highest time <= `time`, and older than `than` if that is not
 * NULL. */
static struct ref_kept *version_at(const struct reference *r, const struct ref_kept *key,
                                   long long time, const struct ref_kept *than)
{
    struct ref_kept *newest = NULL;
    for (size_t i = 0; i < r->kept_count; i++) {
        struct ref_kept *v = &r->kept[i];
        if (!v->stored || is_left(v) || v->time > time || !ref_keys_equal(r, v, key))
            continue;
        if ((newest == NULL || is_newer(r, v, newest)) && (than == NULL || is_newer(r, than, v)))
            newest = v;
    }
    return newest;
}

static void decide_as_of(struct reference *r, struct ref_kept *left)
{
    long long time = left->time - (ref_broken(r, REF_AS_OF_EXCLUSIVE) ? 1 : 0);
    struct ref_kept *version = version_at(r, left, time, NULL);
    if (!ref_broken(r, REF_OLDER_VERSIONS_ARE_TRIED)) {
        decide(r, left, version);
        return;
    }
    ref_next_section(r);
    while (version != NULL && !meet(r, left, version))
        version = version_at(r, left, time, version);
    if (version == NULL)
        ref_pad(r, left);
    ref_has_left(left);
}

/* In order of their times, then of arrival. */
static struct ref_kept *next_left(const struct reference *r)
{
    struct ref_kept *next = NULL;
    for (size_t i = 0; i < r->kept_count; i++) {
        struct ref_kept *k = &r->kept[i];
        if (k->stored && is_left(k) && (next == NULL || k->time < next->time))
            next = k;
    }
    return next;
}

/* Older than the newest version at or below the watermark. */
static bool is_past(const struct reference *r, const struct ref_kept *k)
{
    if (r->time == REF_NO_TIME)
        return false;
    struct ref_kept *newest = version_at(r, k, r->time, NULL);
    return newest != NULL && newest != k && is_newer(r, newest, k);
}

static void forget_versions(struct reference *r)
{
    for (size_t i = 0; i < r->kept_count; i++) {
        struct ref_kept *k = &r->kept[i];
        if (!k->stored || is_left(k))
            continue;
        if (r->time == REF_END_OF_TIME || (!ref_broken(r, REF_VERSIONS_STAY) && is_past(r, k)))
            ref_has_left(k);
    }
}

static void advance_as_of(struct reference *r)
{
    long long early = ref_broken(r, REF_AS_OF_TOO_SOON) ? 1 : 0;
    for (struct ref_kept *k = next_left(r); k != NULL; k = next_left(r)) {
        if (!has_reached(r, k->time - early))
            break;
        decide_as_of(r, k);
    }
    forget_versions(r);
}

static void take_as_of(struct reference *r, struct ref_kept *k)
{
    bool passed = r->time != REF_NO_TIME && k->time <= r->time;
    bool late = is_left(k) ? passed : passed && is_past(r, k);
    if (is_left(k) && ref_broken(r, REF_LATE_LEFTS_ARE_TAKEN))
        late = false;
    if (!is_left(k) && ref_broken(r, REF_OLD_VERSIONS_ARE_TAKEN))
        late = false;
    if (!is_left(k) && ref_broken(r, REF_LATE_VERSIONS_ARE_NOT_TAKEN))
        late = passed;
    if (late) {
        ref_is_late(r, k);
        return;
    }
    k->stored = true;
    advance_as_of(r);
}

/* --- */

void ref_latest_advance(struct reference *r)
{
    if (r->plan.event_time)
        advance_as_of(r);
    else
        advance_now(r);
}

void ref_latest_take(struct reference *r, size_t kept)
{
    struct ref_kept *k = &r->kept[kept];
    if (r->plan.event_time)
        take_as_of(r, k);
    else if (is_left(k))
        take_left_now(r, k);
    else
        take_right_now(r, k);
}

bool ref_latest_due(const struct reference *r, long long *ret_time)
{
    bool any = false;
    for (size_t i = 0; i < r->kept_count; i++) {
        const struct ref_kept *k = &r->kept[i];
        long long end = k->time;
        if (!k->stored || (r->plan.event_time ? !is_left(k) : !leaves_at(r, k, &end)))
            continue;
        if (!any || end < *ret_time)
            *ret_time = end;
        any = true;
    }
    return any;
}
