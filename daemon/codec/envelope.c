#include "codec/envelope.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PRIORITY_MAX  191
#define BOM           "\xEF\xBB\xBF"
#define CUT_TAG_BYTES 32 /* rsyslog cuts tags to this, and their colon off with the rest */

struct reader {
    const char *at, *end;
};

static bool at_end(const struct reader *r)
{
    return r->at == r->end;
}

static bool at_space_or_end(const struct reader *r)
{
    return at_end(r) || *r->at == ' ';
}

static bool pass(struct reader *r, char c)
{
    if (at_end(r) || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* How many digits, up to `most`. */
static size_t pass_digits(struct reader *r, size_t most)
{
    size_t n = 0;

    while (n < most && !at_end(r) && is_digit(*r->at)) {
        r->at++;
        n++;
    }
    return n;
}

/* `0` stands for any digit; all other bytes for themselves. */
static bool pass_shape(struct reader *r, const char *shape)
{
    struct reader at = *r;

    for (; *shape != '\0'; shape++) {
        if (at_end(&at) || (*shape == '0' ? !is_digit(*at.at) : *at.at != *shape))
            return false;
        at.at++;
    }
    *r = at;
    return true;
}

static struct bytes rest(const struct reader *r)
{
    return (struct bytes){r->at, (size_t)(r->end - r->at)};
}

/* --- priority, version, times --- */

static bool pass_priority(struct reader *r)
{
    const char *digits = r->at + 1;
    unsigned value = 0;

    if (!pass(r, '<') || pass_digits(r, 3) == 0)
        return false;
    for (; digits < r->at; digits++)
        value = value * 10 + (unsigned)(*digits - '0');
    return pass(r, '>') && value <= PRIORITY_MAX;
}

/* Only RFC 5424 has one. It could be more than 1, some day. */
static bool pass_version(struct reader *r)
{
    struct reader at = *r;

    if (at_end(r) || *r->at == '0' || pass_digits(&at, 3) == 0 || !pass(&at, ' '))
        return false;
    *r = at;
    return true;
}

static bool pass_fraction(struct reader *r)
{
    return !pass(r, '.') || pass_digits(r, SIZE_MAX) > 0;
}

static bool pass_time_3339(struct reader *r)
{
    struct reader at = *r;

    if (!pass_shape(&at, "0000-00-00T00:00:00") || !pass_fraction(&at))
        return false;
    if (!pass(&at, 'Z') && !pass_shape(&at, "+00:00") && !pass_shape(&at, "-00:00"))
        return false;
    *r = at;
    return true;
}

static bool pass_month(struct reader *r)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const size_t n = 3;

    if (rest(r).n < n)
        return false;
    for (const char *m = months; *m != '\0'; m += n) {
        if (memcmp(r->at, m, n) == 0) {
            r->at += n;
            return true;
        }
    }
    return false;
}

/* `Nov  9 17:41:27`, where a few write a zero or nothing before the 9, or a fraction. */
static bool pass_time_3164(struct reader *r)
{
    struct reader at = *r;

    if (!pass_month(&at) || !pass(&at, ' '))
        return false;
    pass(&at, ' ');
    if (pass_digits(&at, 2) == 0 || !pass_shape(&at, " 00:00:00") || !pass_fraction(&at))
        return false;
    *r = at;
    return true;
}

/* --- RFC 5424 --- */

/* A byte of a word: printable, whatever its language. 0xFF is telnet's. */
static bool is_word_byte(char c)
{
    unsigned char u = (unsigned char)c;
    return u > ' ' && u != 0x7f && u != 0xff;
}

static bool pass_word(struct reader *r)
{
    const char *start = r->at;

    while (!at_end(r) && is_word_byte(*r->at))
        r->at++;
    return r->at > start;
}

/* Of an element of structured data, or of a parameter in it. */
static bool pass_data_name(struct reader *r)
{
    const char *start = r->at;

    while (!at_end(r) && is_word_byte(*r->at) && strchr("=]\"", *r->at) == NULL)
        r->at++;
    return r->at > start;
}

/* `"value"`; a backslash in it takes the special meaning from the byte behind it. */
static bool pass_data_value(struct reader *r)
{
    if (!pass(r, '"'))
        return false;
    while (!at_end(r) && *r->at != '"')
        r->at += *r->at == '\\' && r->end - r->at > 1 ? 2 : 1;
    return pass(r, '"');
}

static bool pass_data_element(struct reader *r)
{
    if (!pass(r, '[') || !pass_data_name(r))
        return false;
    while (pass(r, ' ')) {
        if (!pass_data_name(r) || !pass(r, '=') || !pass_data_value(r))
            return false;
    }
    return pass(r, ']');
}

static bool pass_structured_data(struct reader *r)
{
    if (pass(r, '-'))
        return true;
    do {
        if (!pass_data_element(r))
            return false;
    } while (!at_end(r) && *r->at == '[');
    return true;
}

static const char *pass_header_5424(struct reader *r)
{
    static const char *const words[] = {"no host behind the time", "no name behind the host",
                                        "no process behind the name",
                                        "no message id behind the process"};

    if (!(pass(r, '-') || pass_time_3339(r)) || !pass(r, ' '))
        return "no time behind the version";
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!pass_word(r) || !pass(r, ' '))
            return words[i];
    }
    if (!pass_structured_data(r) || !at_space_or_end(r))
        return "no good structured data behind the message id";
    pass(r, ' ');
    if (rest(r).n >= strlen(BOM) && memcmp(r->at, BOM, strlen(BOM)) == 0)
        r->at += strlen(BOM);
    return NULL;
}

/* --- RFC 3164 --- */

/* A byte of a host's or program's name: records start in other ways, as `{"a":1}` or `a,b`. */
static bool is_name_byte(char c)
{
    return is_word_byte(c) && strchr("\"{},;|=<>", c) == NULL;
}

/* A name up to a space. False, and *r stays: there is none, or nothing follows. */
static bool pass_host(struct reader *r)
{
    struct reader at = *r;

    while (!at_end(&at) && is_name_byte(*at.at) && *at.at != '[')
        at.at++;
    if (at.at == r->at || !pass(&at, ' '))
        return false;
    *r = at;
    return true;
}

struct tag {
    size_t name_size;
    bool letters; /* in its name */
    bool process; /* behind it, in brackets */
    bool colon;
};

/* Reads what may be a tag, as far as it looks like one. */
static struct tag read_tag(struct reader *r)
{
    const char *start = r->at;
    struct tag t = {.name_size = 0};

    for (; !at_end(r) && is_name_byte(*r->at) && strchr(":[]", *r->at) == NULL; r->at++)
        t.letters |= !is_digit(*r->at) && strchr("-._/", *r->at) == NULL;
    t.name_size = (size_t)(r->at - start);
    if (!at_end(r) && *r->at == '[') {
        struct reader at = {r->at + 1, r->end};

        while (!at_end(&at) && is_word_byte(*at.at) && *at.at != ']')
            at.at++;
        t.process = at.at > r->at + 1 && pass(&at, ']');
        if (t.process)
            *r = at;
    }
    t.colon = pass(r, ':');
    return t;
}

/* Where no host is known to be before it: also a host can have colons, so one tells
 * little until a space follows. */
static bool pass_tag_alone(struct reader *r)
{
    struct reader at = *r;
    struct tag t = read_tag(&at);

    if (t.name_size == 0 || !t.colon || !at_space_or_end(&at))
        return false;
    *r = at;
    return true;
}

static bool pass_cut_tag(struct reader *r)
{
    struct reader at = *r;

    while (!at_end(&at) && is_name_byte(*at.at))
        at.at++;
    if (at.at - r->at != CUT_TAG_BYTES || at_end(&at) || *at.at != ' ')
        return false;
    *r = at;
    return true;
}

/* `tag:`, `tag[123]:`, `tag[123]`, and `tag:text` unless it might be a number or a time. */
static bool pass_tag_behind_host(struct reader *r)
{
    struct reader at = *r;
    struct tag t = read_tag(&at);
    bool apart = at_space_or_end(&at);

    if (t.name_size == 0 || !(t.colon ? apart || t.letters || t.process : apart && t.process))
        return pass_cut_tag(r);
    *r = at;
    return true;
}

static const char *pass_header_3164(struct reader *r)
{
    if (!(pass_time_3164(r) || pass_time_3339(r)) || !pass(r, ' '))
        return "neither a version nor a time behind the priority";
    if (pass_tag_alone(r)) {
        pass(r, ' ');
    } else if (pass_host(r)) {
        pass_tag_behind_host(r);
        pass(r, ' ');
    }
    return NULL;
}

/* --- */

const char *envelope_open(struct bytes line, struct bytes *ret_message)
{
    struct reader r = {line.p, line.p + line.n};
    const char *fault;

    assert(line.p != NULL);
    if (!pass_priority(&r))
        return "no priority such as <13> at its start";
    fault = pass_version(&r) ? pass_header_5424(&r) : pass_header_3164(&r);
    if (fault == NULL)
        *ret_message = rest(&r);
    return fault;
}

bool envelope_begins(struct bytes line)
{
    struct reader r = {line.p, line.p + line.n};

    return pass_priority(&r) && (pass_version(&r) || pass_time_3164(&r) || pass_time_3339(&r));
}
