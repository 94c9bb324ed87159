#include "config/scalar.h"

#include <assert.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/time.h"
#include "config/address.h"
#include "lang/expr_lexer.h"

/* Slots are written by the type of their key. */
static_assert(sizeof(enum join_type) == sizeof(unsigned), "words are kept as unsigned");
static_assert(sizeof(enum framing) == sizeof(unsigned), "words are kept as unsigned");
static_assert(sizeof(enum envelope) == sizeof(unsigned), "words are kept as unsigned");
static_assert(sizeof(enum output_kind) == sizeof(unsigned), "words are kept as unsigned");
static_assert(sizeof(size_t) == sizeof(int64_t), "sizes are kept in 64 bits");

bool key_is_scalar(const struct key *k)
{
    return k->type <= KEY_NETWORKS;
}

/* --- slots --- */

struct endpoint *section_endpoint(struct config *c, enum section s)
{
    switch (s) {
    case SECTION_LEFT:
    case SECTION_RIGHT:
        return &c->input[section_side(s)].endpoint;
    case SECTION_OUTPUT:
    case SECTION_LATE:
    case SECTION_REJECTS:
        return &c->output[section_output(s)].endpoint;
    case SECTION_HTTP:
        return &c->http;
    default:
        return NULL;
    }
}

void *key_slot(struct config *c, enum section s, const struct key *k)
{
    char *part = NULL;

    switch (k->part) {
    case PART_NONE:
        return NULL;
    case PART_CONFIG:
        part = (char *)c;
        break;
    case PART_PLAN:
        part = (char *)c->plan;
        break;
    case PART_SIDE:
        part = (char *)&c->plan->side[section_side(s)];
        break;
    case PART_ENDPOINT:
        part = (char *)section_endpoint(c, s);
        break;
    case PART_INPUT:
        part = (char *)&c->input[section_side(s)].format;
        break;
    case PART_OUTPUT:
        part = (char *)&c->output[section_output(s)];
        break;
    case PART_ROWS:
        part = (char *)&c->output[section_output(s)].format;
        break;
    }
    assert(part != NULL); /* the section has what the key's value is in */
    return part + k->offset;
}

static void put(void *slot, const void *value, size_t size)
{
    if (slot != NULL)
        memcpy(slot, value, size);
}

/* --- words --- */

/* `inner, left or right`: those of this version. */
static void append_words(const struct key_word *words, struct buf *to)
{
    const char *last = NULL;
    bool any = false;

    for (const struct key_word *w = words; w->text != NULL; w++) {
        if (w->later)
            continue;
        if (last != NULL) {
            buf_printf(to, "%s%s", any ? ", " : "", last);
            any = true;
        }
        last = w->text;
    }
    buf_printf(to, "%s%s", any ? " or " : "", last);
}

/* `; did you mean "tumbling"?` */
static void append_hint(const struct key_word *words, struct bytes text, struct buf *to)
{
    struct nearest nearest = {.wanted = text};

    for (const struct key_word *w = words; w->text != NULL; w++)
        nearest_consider(&nearest, w->text);
    nearest_hint(&nearest, to);
}

static bool read_word(const struct key *k, struct bytes text, void *slot,
                      struct expr_fault *ret_fault)
{
    const struct key_word *w = k->words;
    struct buf words = BUF_EMPTY, hint = BUF_EMPTY;

    while (w->text != NULL && !bytes_equal(text, bytes_of(w->text)))
        w++;
    if (w->text != NULL && !w->later) {
        put(slot, &w->value, sizeof(w->value));
        return true;
    }
    append_words(k->words, &words);
    append_hint(k->words, text, &hint);
    if (w->text != NULL)
        expr_fault_at(ret_fault, 0, "%s is not in this version (write %s)", w->text,
                      buf_text(&words));
    else
        expr_fault_at(ret_fault, 0, "\"%.*s\" is not known here%s (write %s)", (int)text.n, text.p,
                      buf_text(&hint), buf_text(&words));
    buf_done(&words);
    buf_done(&hint);
    return false;
}

static void write_word(const struct key *k, const void *slot, struct buf *to)
{
    const struct key_word *w = k->words;
    unsigned value;

    if (slot == NULL) {
        buf_append_text(to, k->preset);
        return;
    }
    memcpy(&value, slot, sizeof(value));
    while (w->text != NULL && w->value != value)
        w++;
    assert(w->text != NULL);
    buf_append_text(to, w->text);
}

static bool read_switch(struct bytes text, bool *slot, struct expr_fault *ret_fault)
{
    bool yes = bytes_equal(text, BYTES_LIT("yes"));

    if (!yes && !bytes_equal(text, BYTES_LIT("no")))
        return expr_fault_at(ret_fault, 0, "\"%.*s\" is neither yes nor no", (int)text.n, text.p);
    put(slot, &yes, sizeof(yes));
    return true;
}

/* --- numbers --- */

static void write_number(int64_t value, struct buf *to)
{
    buf_printf(to, "%lld", (long long)value);
}

/* Only if it lies in [low, high]. */
static bool put_in_range(const struct key *k, struct bytes text, int64_t value,
                         void (*write)(int64_t, struct buf *), void *slot,
                         struct expr_fault *ret_fault)
{
    struct buf low = BUF_EMPTY, high = BUF_EMPTY;

    assert(k->low <= k->high);
    if (value >= k->low && value <= k->high) {
        put(slot, &value, sizeof(value));
        return true;
    }
    write(k->low, &low);
    write(k->high, &high);
    expr_fault_at(ret_fault, 0, "%.*s is out of range (%s to %s)", (int)text.n, text.p,
                  buf_text(&low), buf_text(&high));
    buf_done(&low);
    buf_done(&high);
    return false;
}

static bool read_duration(const struct key *k, struct bytes text, void *slot,
                          struct expr_fault *ret_fault)
{
    int64_t ms;

    if (k->off != NULL && bytes_equal(text, bytes_of(k->off))) {
        put(slot, &k->off_ms, sizeof(k->off_ms));
        return true;
    }
    if (!duration_read(text, true, &ms))
        return expr_fault_at(ret_fault, 0,
                             "\"%.*s\" is no duration of up to 36500d (write it as 250ms, 5s, 10m, "
                             "2h, 1d or 1h30m%s%s)",
                             (int)text.n, text.p, k->off != NULL ? ", or " : "",
                             k->off != NULL ? k->off : "");
    return put_in_range(k, text, ms, duration_write, slot, ret_fault);
}

static bool read_size(const struct key *k, struct bytes text, void *slot,
                      struct expr_fault *ret_fault)
{
    int64_t bytes;

    if (!size_read(text, &bytes))
        return expr_fault_at(ret_fault, 0, "\"%.*s\" is no size (write it as 512, 64K, 4M or 1G)",
                             (int)text.n, text.p);
    return put_in_range(k, text, bytes, size_write, slot, ret_fault);
}

static bool read_count(const struct key *k, struct bytes text, void *slot,
                       struct expr_fault *ret_fault)
{
    int64_t value;

    if (!number_read_bigint(text, &value))
        return expr_fault_at(ret_fault, 0, "\"%.*s\" is no number (%lld to %lld)", (int)text.n,
                             text.p, (long long)k->low, (long long)k->high);
    return put_in_range(k, text, value, write_number, slot, ret_fault);
}

static bool read_seed(struct bytes text, struct config *slot, struct expr_fault *ret_fault)
{
    bool random = bytes_equal(text, BYTES_LIT("random"));
    int64_t value = 0;

    if (!random && (!number_read_bigint(text, &value) || value < 0))
        return expr_fault_at(ret_fault, 0, "\"%.*s\" is neither random nor a number (0 to %lld)",
                             (int)text.n, text.p, (long long)INT64_MAX);
    if (slot != NULL) {
        slot->hash_seed_random = random;
        slot->plan->hash_seed = (uint64_t)value;
    }
    return true;
}

static bool read_mode(const struct key *k, struct bytes text, void *slot,
                      struct expr_fault *ret_fault)
{
    uint32_t mode = 0;
    bool ok = text.n == 3 || text.n == 4;

    for (size_t i = 0; i < text.n && ok; i++) {
        ok = text.p[i] >= '0' && text.p[i] <= '7';
        mode = mode * 8 + (uint32_t)(text.p[i] - '0');
    }
    if (!ok || mode > k->high)
        return expr_fault_at(
            ret_fault, 0,
            "\"%.*s\" is no mode: write three or four octal digits (000 to 0777), as 0660",
            (int)text.n, text.p);
    put(slot, &mode, sizeof(mode));
    return true;
}

/* --- texts --- */

static const struct {
    const char *word;
    char delimiter;
} delimiter_words[] = {
    {"comma", ','}, {"tab", '\t'}, {"semicolon", ';'}, {"pipe", '|'}, {"space", ' '},
};
#define DELIMITER_WORDS (sizeof(delimiter_words) / sizeof(delimiter_words[0]))

static bool read_delimiter(struct bytes text, char *slot, struct expr_fault *ret_fault)
{
    for (size_t i = 0; i < DELIMITER_WORDS; i++)
        if (bytes_equal(text, bytes_of(delimiter_words[i].word))) {
            put(slot, &delimiter_words[i].delimiter, 1);
            return true;
        }
    if (text.n != 1 || (unsigned char)text.p[0] >= 0x80)
        return expr_fault_at(ret_fault, 0,
                             "\"%.*s\" is no delimiter: write one ASCII character, or comma, tab, "
                             "semicolon, pipe or space",
                             (int)text.n, text.p);
    if (text.p[0] == '"')
        return expr_fault_at(ret_fault, 0, "a quote cannot part columns");
    put(slot, text.p, 1);
    return true;
}

/* By its word if it has one: that cannot be overlooked, or taken for a comment. */
static void write_delimiter(const char *slot, struct buf *to)
{
    for (size_t i = 0; i < DELIMITER_WORDS; i++)
        if (*slot == delimiter_words[i].delimiter) {
            buf_append_text(to, delimiter_words[i].word);
            return;
        }
    buf_append_char(to, *slot);
}

bool quoted_read(struct bytes text, struct buf *to, struct expr_fault *ret_fault)
{
    if (text.n == 0 || text.p[0] != '"') {
        buf_append_bytes(to, text);
        return true;
    }
    for (size_t i = 1; i < text.n; i++) {
        if (text.p[i] == '"') {
            i++;
            if (i == text.n)
                return true;
            if (text.p[i] != '"')
                return expr_fault_at(ret_fault, i,
                                     "something stands behind the closing quote (one inside is "
                                     "doubled)");
        }
        buf_append_char(to, text.p[i]);
    }
    return expr_fault_at(ret_fault, 0, "the closing quote is missing");
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool needs_quotes(struct bytes text)
{
    if (text.n == 0 || is_blank(text.p[0]) || is_blank(text.p[text.n - 1]) || text.p[0] == '"')
        return true;
    for (size_t i = 1; i < text.n; i++)
        if (text.p[i] == ';' && is_blank(text.p[i - 1]))
            return true;
    return false;
}

void quoted_write(struct bytes text, struct buf *to)
{
    if (!needs_quotes(text)) {
        buf_append_bytes(to, text);
        return;
    }
    buf_append_char(to, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"')
            buf_append_char(to, '"');
        buf_append_char(to, text.p[i]);
    }
    buf_append_char(to, '"');
}

#define NULL_MAX_BYTES 255

static bool read_null(struct bytes text, struct bytes *slot, struct expr_fault *ret_fault)
{
    struct buf null_text = BUF_EMPTY;
    bool ok = quoted_read(text, &null_text, ret_fault);

    if (ok && memchr(buf_data(&null_text), '"', buf_length(&null_text)) != NULL)
        ok = expr_fault_at(ret_fault, 0, "an unquoted text cannot hold a quote");
    if (ok && buf_length(&null_text) > NULL_MAX_BYTES)
        ok = expr_fault_at(ret_fault, 0, "a null text of more than %d bytes", NULL_MAX_BYTES);
    if (ok && slot != NULL) {
        mem_free((char *)slot->p);
        *slot = (struct bytes){mem_strndup(buf_data(&null_text), buf_length(&null_text)),
                               buf_length(&null_text)};
    }
    buf_done(&null_text);
    return ok;
}

static bool read_networks(struct bytes text, struct endpoint *slot, struct expr_fault *ret_fault)
{
    struct network *networks;
    size_t count;

    if (!networks_read(text, &networks, &count, ret_fault))
        return false;
    if (slot == NULL) {
        mem_free(networks);
        return true;
    }
    mem_free(slot->allow);
    slot->allow = networks;
    slot->allow_count = count;
    return true;
}

/* --- all --- */

bool scalar_read(const struct key *k, struct bytes text, void *slot, struct expr_fault *ret_fault)
{
    assert(key_is_scalar(k) && text.p != NULL);
    switch (k->type) {
    case KEY_WORD:
        return read_word(k, text, slot, ret_fault);
    case KEY_SWITCH:
        return read_switch(text, slot, ret_fault);
    case KEY_DURATION:
        return read_duration(k, text, slot, ret_fault);
    case KEY_SIZE:
        return read_size(k, text, slot, ret_fault);
    case KEY_NUMBER:
        return read_count(k, text, slot, ret_fault);
    case KEY_SEED:
        return read_seed(text, slot, ret_fault);
    case KEY_MODE:
        return read_mode(k, text, slot, ret_fault);
    case KEY_DELIMITER:
        return read_delimiter(text, slot, ret_fault);
    case KEY_NULL:
        return read_null(text, slot, ret_fault);
    case KEY_NETWORKS:
        return read_networks(text, slot, ret_fault);
    default:
        assert(false);
        return false;
    }
}

static int64_t number_in(const void *slot)
{
    int64_t value;

    memcpy(&value, slot, sizeof(value));
    return value;
}

static void write_duration(const struct key *k, int64_t ms, struct buf *to)
{
    if (k->off != NULL && ms == k->off_ms)
        buf_append_text(to, k->off);
    else
        duration_write(ms, to);
}

static void write_seed(const struct config *c, struct buf *to)
{
    if (c->hash_seed_random)
        buf_append_text(to, "random");
    else
        buf_printf(to, "%llu", (unsigned long long)c->plan->hash_seed);
}

static void write_networks(const struct endpoint *e, struct buf *to)
{
    networks_write(e->allow, e->allow_count, to);
}

void scalar_write(const struct key *k, const void *slot, struct buf *to)
{
    assert(key_is_scalar(k));
    switch (k->type) {
    case KEY_WORD:
        write_word(k, slot, to);
        break;
    case KEY_SWITCH:
        buf_append_text(to, *(const bool *)slot ? "yes" : "no");
        break;
    case KEY_DURATION:
        write_duration(k, number_in(slot), to);
        break;
    case KEY_SIZE:
        size_write(number_in(slot), to);
        break;
    case KEY_NUMBER:
        write_number(number_in(slot), to);
        break;
    case KEY_SEED:
        write_seed(slot, to);
        break;
    case KEY_MODE:
        buf_printf(to, "%04o", (unsigned)*(const uint32_t *)slot);
        break;
    case KEY_DELIMITER:
        write_delimiter(slot, to);
        break;
    case KEY_NULL:
        quoted_write(*(const struct bytes *)slot, to);
        break;
    case KEY_NETWORKS:
        write_networks(slot, to);
        break;
    default:
        assert(false);
    }
}
