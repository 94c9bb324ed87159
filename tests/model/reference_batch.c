/* Batch and lookup: semantics.md section 5, interface.md section 5. */
#include "reference_parts.h"

static bool is_row(const struct ref_kept *k)
{
    return k->stored && k->record.side == REF_SIDE_RIGHT;
}

/* True: the left record needs no more. */
static bool meet(struct reference *r, struct ref_kept *left, struct ref_kept *right)
{
    bool one_sided = ref_is_one_sided(r), decided = one_sided && left->fate == REF_MATCHED;
    if (decided && !ref_broken(r, REF_ALL_ARE_DECIDED))
        return true;
    if (!ref_keys_equal(r, left, right) || !ref_on(r, left, right))
        return false;
    ref_has_matched(left);
    ref_has_matched(right);
    if (!one_sided)
        ref_add(r, REF_PAIR, left, right);
    else if (r->plan.type == REF_SEMI && !decided)
        ref_add(r, REF_SEMI_ROW, left, NULL);
    return ref_broken(r, REF_ONE_ROW_OF_A_KEY);
}

void ref_batch_take(struct reference *r, size_t kept)
{
    struct ref_kept *k = &r->kept[kept];
    ref_next_section(r);
    if (k->record.side == REF_SIDE_RIGHT) {
        k->stored = true;
        return;
    }
    for (size_t n = 0; n < r->kept_count; n++) {
        size_t i = ref_broken(r, REF_LAST_ROW_FIRST) ? r->kept_count - 1 - n : n;
        if (is_row(&r->kept[i]) && meet(r, k, &r->kept[i]))
            break;
    }
    if (k->fate == REF_HELD)
        ref_pad(r, k);
    ref_has_left(k);
}

static void leave(struct reference *r, struct ref_kept *k)
{
    if (k->fate == REF_HELD && !ref_broken(r, REF_ROWS_ARE_NOT_PADDED))
        ref_pad(r, k);
    ref_has_left(k);
}

/* The end: what nobody matched. Each key's rows are a group, in order; nothing says that they
 * come together. */
void ref_batch_advance(struct reference *r)
{
    if (r->time != REF_END_OF_TIME)
        return;
    ref_next_section(r);
    for (size_t i = 0; i < r->kept_count; i++) {
        if (!is_row(&r->kept[i]))
            continue;
        ref_next_group(r);
        leave(r, &r->kept[i]);
        for (size_t j = i + 1; j < r->kept_count; j++)
            if (is_row(&r->kept[j]) && ref_keys_equal(r, &r->kept[i], &r->kept[j]))
                leave(r, &r->kept[j]);
    }
}

bool ref_takes(const struct reference *r, enum ref_side side)
{
    return r->plan.match != REF_BATCH || side == REF_SIDE_RIGHT || r->side[REF_SIDE_RIGHT].ended;
}

/* --- tables --- */

void ref_table_row(struct reference *r, const struct ref_record *record)
{
    r->rows = ref_room_for_one(r->rows, r->row_count, &r->row_capacity, sizeof(*r->rows));
    r->rows[r->row_count++] = *record;
}

/* Is there a row of its key among those from `from` on, but before `to`? */
static struct ref_kept *find(const struct reference *r, size_t from, size_t to,
                             const struct ref_kept *key)
{
    for (size_t i = from; i < to; i++)
        if (r->kept[i].fate == REF_HELD && ref_keys_equal(r, &r->kept[i], key))
            return &r->kept[i];
    return NULL;
}

/* If anything in it is wrong, it is not taken. */
static bool is_wrong(const struct reference *r, size_t from)
{
    for (size_t i = from; i < r->kept_count; i++) {
        const struct ref_kept *k = &r->kept[i];
        if (k->fate == REF_REJECTED && !ref_broken(r, REF_WRONG_TABLES_ARE_TAKEN))
            return true;
        if (r->plan.duplicates == REF_DUPLICATES_ERROR && k->fate == REF_HELD &&
            find(r, from, i, k) != NULL)
            return true;
    }
    return false;
}

static void swap(struct reference *r, size_t from)
{
    for (size_t i = 0; i < from; i++)
        if (is_row(&r->kept[i]) && !ref_broken(r, REF_OLD_TABLES_STAY))
            ref_has_left(&r->kept[i]);
    for (size_t i = from; i < r->kept_count; i++)
        r->kept[i].stored = r->kept[i].fate == REF_HELD;
    for (size_t i = from; i < r->kept_count; i++) {
        struct ref_kept *k = &r->kept[i];
        bool last = r->plan.duplicates == REF_DUPLICATES_LAST;
        struct ref_kept *earlier = last && is_row(k) ? find(r, from, i, k) : NULL;
        if (earlier != NULL)
            ref_has_left(ref_broken(r, REF_FIRST_ROW_WINS) ? k : earlier);
    }
}

bool ref_table_swap(struct reference *r, bool fits)
{
    size_t from = r->kept_count;
    for (size_t i = 0; i < r->row_count; i++) {
        r->kept = ref_room_for_one(r->kept, r->kept_count, &r->kept_capacity, sizeof(*r->kept));
        struct ref_kept *k = &r->kept[r->kept_count++];
        *k = (struct ref_kept){.record = r->rows[i], .time = r->time, .fate = REF_REJECTED};
        if (!k->record.bad)
            ref_judge(r, k);
    }
    r->row_count = 0;
    bool wrong = is_wrong(r, from);
    if (wrong || !fits)
        r->kept_count = from;
    else
        swap(r, from);
    return !wrong;
}
