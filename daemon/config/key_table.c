#include "config/keys.h"

#include "codec/encoder.h"
#include "config/config.h"
#include "core/plan.h"

/* --- words --- */

static const struct key_word input_format_words[] = {
    {"csv", INPUT_CSV, false},
    {"json", INPUT_JSON, false},
    {NULL, 0, false},
};
static const struct key_word output_format_words[] = {
    {"csv", OUTPUT_CSV, false},
    {"json", OUTPUT_JSON, false},
    {NULL, 0, false},
};
static const struct key_word framing_words[] = {
    {"line", 0, false},
    {"octet", 0, true},
    {"auto", 0, true},
    {NULL, 0, false},
};
static const struct key_word envelope_words[] = {
    {"none", 0, false},
    {"syslog", 0, true},
    {NULL, 0, false},
};
static const struct key_word type_words[] = {
    {"inner", JOIN_INNER, false},
    {"left", JOIN_LEFT, false},
    {"right", JOIN_RIGHT, false},
    {"full", JOIN_FULL, false},
    {"semi", JOIN_SEMI, false},
    {"anti", JOIN_ANTI, false},
    {NULL, 0, false},
};
static const struct key_word match_words[] = {
    {"tumbling", MATCH_TUMBLING, false}, {"sliding", MATCH_SLIDING, false},
    {"session", MATCH_SESSION, false},   {"interval", MATCH_INTERVAL, false},
    {"latest", MATCH_LATEST, false},     {"lookup", MATCH_LOOKUP, false},
    {"batch", MATCH_BATCH, false},       {NULL, 0, false},
};
static const struct key_word time_words[] = {
    {"processing", TIME_PROCESSING, false},
    {"event", TIME_EVENT, false},
    {NULL, 0, false},
};
static const struct key_word duplicates_words[] = {
    {"keep", DUPLICATES_KEEP, false},
    {"last", DUPLICATES_LAST, false},
    {"error", DUPLICATES_ERROR, false},
    {NULL, 0, false},
};
static const struct key_word absent_words[] = {
    {"wait", ABSENT_WAIT, false},
    {"discard", ABSENT_DISCARD, false},
    {NULL, 0, false},
};
static const struct key_word slow_words[] = {
    {"wait", SLOW_WAIT, false},
    {"disconnect", SLOW_DISCONNECT, false},
    {"discard", SLOW_DISCARD, false},
    {NULL, 0, false},
};
static const struct key_word thread_words[] = {
    {"auto", 0, false},
    {"1", 1, false},
    {"2", 2, false},
    {NULL, 0, false},
};

/* --- keys --- */

#define IN(section) (1u << SECTION_##section)
#define SIDES_IN    (IN(LEFT) | IN(RIGHT))
#define FATES_IN    (IN(LATE) | IN(REJECTS))
#define OUTPUTS_IN  (IN(OUTPUT) | FATES_IN)
#define ENDS_IN     (SIDES_IN | OUTPUTS_IN)

#define IS(match) USE_MATCH(MATCH_##match)

#define AT_CONFIG(member)   .part = PART_CONFIG, .offset = offsetof(struct config, member)
#define AT_PLAN(member)     .part = PART_PLAN, .offset = offsetof(struct plan, member)
#define AT_SIDE(member)     .part = PART_SIDE, .offset = offsetof(struct plan_side, member)
#define AT_ENDPOINT(member) .part = PART_ENDPOINT, .offset = offsetof(struct endpoint, member)
#define AT_INPUT(member)    .part = PART_INPUT, .offset = offsetof(struct input_format, member)
#define AT_OUTPUT(member)   .part = PART_OUTPUT, .offset = offsetof(struct output_config, member)
#define AT_ROWS(member)     .part = PART_ROWS, .offset = offsetof(struct output_format, member)

#define SECOND       INT64_C(1000)
#define DAY          (86400 * SECOND)
#define DURATION_MAX (36500 * DAY)
#define KIB          INT64_C(1024)
#define MIB          (1024 * KIB)
#define GIB          (1024 * MIB)

/* Limits of the system's own: TCP_KEEPIDLE takes 32767 s, TCP_USER_TIMEOUT 2^31 ms. */
#define KEEPALIVE_MAX  (9 * 3600 * SECOND)
#define DEAD_AFTER_MAX (24 * DAY)

#define TLS "TLS"

#define IN_EVENT_TIME USE_TIME(TIME_EVENT)
#define OF_WINDOWS    (IS(TUMBLING) | IS(SLIDING) | IS(SESSION))
#define OF_TIME       (OF_WINDOWS | IS(INTERVAL) | IS(LATEST)) /* the others know none */

/* The order is that of interface.md section 2, of --check and of the manual. */
const struct key keys[] = {
    {.name = "name",
     .sections = IN(LEFT),
     .type = KEY_NAME,
     .preset = "left",
     .help = "What expressions, the output's columns and the Flink export call this side."},
    {.name = "name",
     .sections = IN(RIGHT),
     .type = KEY_NAME,
     .preset = "right",
     .help = "What expressions, the output's columns and the Flink export call this side."},
    {.name = "listen",
     .sections = ENDS_IN,
     .type = KEY_ADDRESS,
     .help = "HOST:PORT or [V6]:PORT: wait there for connections, any number at once; port 0 "
             "takes a free one. (unix:PATH and systemd:NAME are not in this version.)"},
    {.name = "listen",
     .sections = IN(HTTP),
     .type = KEY_ADDRESS,
     .example = "127.0.0.1:8790",
     .help = "HOST:PORT or [V6]:PORT of /, /status, /metrics and /healthz."},
    {.name = "connect",
     .sections = ENDS_IN,
     .type = KEY_ADDRESS,
     .later = "",
     .help = "HOST:PORT or unix:PATH: connect there, and again with back-off."},
    {.name = "file",
     .sections = ENDS_IN,
     .type = KEY_PATH,
     .help = "A path (a FIFO too), or - for standard input or output. A relative path starts at "
             "the configuration's own folder, with --set at the current one. A path with odd "
             "characters may stand in double quotes (one inside is doubled)."},
    {.name = "format",
     .sections = SIDES_IN,
     .type = KEY_WORD,
     .preset = "csv",
     .words = input_format_words,
     AT_INPUT(kind),
     .help = "How records are written: as RFC 4180, or one JSON object a line."},
    {.name = "format",
     .sections = OUTPUTS_IN,
     .type = KEY_WORD,
     .preset = "csv",
     .words = output_format_words,
     AT_ROWS(kind),
     .help = "How rows are written: as RFC 4180, or one JSON object a line."},
    {.name = "fields",
     .sections = SIDES_IN,
     .type = KEY_FIELDS,
     .example = "id bigint, name",
     .help = "csv: `name [type], ...` in the order of the columns. json: `path [type] [as name], "
             "...`, where a path is a member's name, or several with dots between them, which "
             "reach into objects. Types: string (the default), "
             "bigint, double, boolean, timestamp (RFC 3339), timestamp_s, timestamp_ms, "
             "timestamp_us, timestamp_ns (numbers since the epoch). Odd names stand in double "
             "quotes."},
    {.name = "header",
     .sections = SIDES_IN,
     .type = KEY_SWITCH,
     .use = {.formats = USE_CSV},
     .preset = "no",
     AT_INPUT(header),
     .help = "Each connection or file starts with a line that names its columns: fields are "
             "found by name, other columns are passed over."},
    {.name = "delimiter",
     .sections = SIDES_IN,
     .type = KEY_DELIMITER,
     .use = {.formats = USE_CSV},
     .preset = ",",
     AT_INPUT(delimiter),
     .help = "What parts the columns: one character, or a word: comma, tab, semicolon, pipe, "
             "space."},
    {.name = "null",
     .sections = SIDES_IN,
     .type = KEY_NULL,
     .use = {.formats = USE_CSV},
     .preset = "",
     AT_INPUT(null_text),
     .help = "The unquoted text that means NULL; the empty one by default. It may stand in "
             "double quotes, which keep spaces."},
    {.name = "multiline",
     .sections = SIDES_IN,
     .type = KEY_SWITCH,
     .use = {.formats = USE_CSV},
     .preset = "no",
     .preset_file = "yes",
     AT_INPUT(multiline),
     .help = "A quoted field may hold line ends."},
    {.name = "framing",
     .sections = SIDES_IN,
     .type = KEY_WORD,
     .preset = "line",
     .words = framing_words,
     .help = "How records are cut out of the bytes: by line ends. (octet and auto, the counts "
             "of RFC 6587, are not in this version.)"},
    {.name = "envelope",
     .sections = SIDES_IN,
     .type = KEY_WORD,
     .preset = "none",
     .words = envelope_words,
     .help = "What is round a record. (syslog is not in this version.)"},
    {.name = "key",
     .sections = SIDES_IN,
     .type = KEY_EXPRESSIONS,
     .help = "`expr, ...`: records belong together where these are equal, first with first. "
             "Left out on both sides: all records have the same key."},
    {.name = "where",
     .sections = SIDES_IN,
     .type = KEY_EXPRESSION,
     AT_SIDE(where),
     .help = "Only records for which this is true take part; the others are counted as "
             "filtered. In event time they move time on all the same."},
    {.name = "timestamp",
     .sections = SIDES_IN,
     .type = KEY_EXPRESSION,
     .use = {.matches = OF_TIME, .times = IN_EVENT_TIME},
     .example = "at",
     AT_SIDE(timestamp),
     .help = "The time of a record: an expression of a timestamp type (timestamp, timestamp_s, "
             "timestamp_ms, timestamp_us or timestamp_ns). A record for which it is NULL is "
             "rejected."},
    {.name = "delay",
     .sections = SIDES_IN,
     .type = KEY_DURATION,
     .use = {.matches = OF_TIME, .times = IN_EVENT_TIME},
     .preset = "0s",
     .high = DURATION_MAX,
     AT_SIDE(delay_ms),
     .help = "How far out of order records may come on this side: time is taken to be this far "
             "behind the newest record. Longer means fewer late records, and results that come "
             "later."},
    {.name = "idle",
     .sections = SIDES_IN,
     .type = KEY_DURATION,
     .use = {.matches = OF_TIME, .times = IN_EVENT_TIME},
     .preset = "2m",
     .high = DURATION_MAX,
     .off = "off",
     .off_ms = PLAN_OFF,
     AT_SIDE(idle_ms),
     .help = "After so long without a record this side (or a connection of it) no longer holds "
             "time back; off: it always does. A regular file is never idle."},
    {.name = "max_ahead",
     .sections = SIDES_IN,
     .type = KEY_DURATION,
     .use = {.matches = OF_TIME, .times = IN_EVENT_TIME},
     .preset = "1h",
     .preset_file = "off",
     .high = DURATION_MAX,
     .off = "off",
     .off_ms = PLAN_OFF,
     AT_SIDE(max_ahead_ms),
     .help = "A record whose time is further than this ahead of the machine's clock is rejected, "
             "for it alone would make all that follow late; off: any time is believed."},
    {.name = "max_line",
     .sections = SIDES_IN,
     .type = KEY_SIZE,
     .preset = "64K",
     .low = 1,
     .high = 256 * MIB,
     AT_INPUT(max_line),
     .help = "A longer record (its line end not counted) is rejected whole."},
    {.name = "duplicates",
     .sections = IN(RIGHT),
     .type = KEY_WORD,
     .use = {.matches = IS(LOOKUP)},
     .preset = "keep",
     .words = duplicates_words,
     AT_PLAN(duplicates),
     .help = "What it means that a key has several rows in the table. keep: a left record meets "
             "all of them. last: the last one in the file is the only one. error: the table is "
             "wrong."},
    {.name = "select",
     .sections = IN(OUTPUT),
     .type = KEY_COLUMNS,
     .help = "`expr [as name], ...`: the columns of a result. Left out: all fields, left then "
             "right (semi and anti joins: the left ones, which are all they know). A column is "
             "called by its field, and by SIDE.field where that comes a second time; with json "
             "or header, an expression needs an `as`. Besides fields there are left_time and "
             "right_time (the records' times), and in window joins window_start and "
             "window_end."},
    {.name = "header",
     .sections = OUTPUTS_IN,
     .type = KEY_SWITCH,
     .use = {.formats = USE_CSV},
     .preset = "no",
     AT_ROWS(header),
     .help = "Start each connection or file with the names of the columns."},
    {.name = "delimiter",
     .sections = OUTPUTS_IN,
     .type = KEY_DELIMITER,
     .use = {.formats = USE_CSV},
     .preset = ",",
     AT_ROWS(delimiter),
     .help = "What parts the columns: one character, or a word: comma, tab, semicolon, pipe, "
             "space."},
    {.name = "null",
     .sections = OUTPUTS_IN,
     .type = KEY_NULL,
     .use = {.formats = USE_CSV},
     .preset = "",
     AT_ROWS(null_text),
     .help = "The text for NULL; a string that equals it is quoted. It may stand in double "
             "quotes, which keep spaces."},
    {.name = "absent",
     .sections = IN(OUTPUT),
     .type = KEY_WORD,
     .use = {.endpoints = USE_LISTEN},
     .preset = "wait",
     .words = absent_words,
     AT_OUTPUT(absent),
     .help = "While there is no subscriber: wait (results are kept; inputs are held back when "
             "state is full) or discard (they are counted)."},
    {.name = "absent",
     .sections = FATES_IN,
     .type = KEY_WORD,
     .use = {.endpoints = USE_LISTEN},
     .preset = "discard",
     .words = absent_words,
     AT_OUTPUT(absent),
     .help = "While there is no subscriber: discard (rows are counted) or wait."},
    {.name = "slow",
     .sections = IN(OUTPUT),
     .type = KEY_WORD,
     .use = {.endpoints = USE_LISTEN},
     .preset = "wait",
     .words = slow_words,
     AT_OUTPUT(slow),
     .help = "A subscriber whose buffer is full and that took no byte for 5s: wait for it, "
             "disconnect it, or discard its results (counted) until it reads again."},
    {.name = "slow",
     .sections = FATES_IN,
     .type = KEY_WORD,
     .use = {.endpoints = USE_LISTEN},
     .preset = "discard",
     .words = slow_words,
     AT_OUTPUT(slow),
     .help = "A subscriber whose buffer is full and that took no byte for 5s: discard its rows "
             "(counted) until it reads again, disconnect it, or wait for it."},
    {.name = "buffer",
     .sections = OUTPUTS_IN,
     .type = KEY_SIZE,
     .use = {.endpoints = USE_LISTEN | USE_CONNECT},
     .preset = "4M",
     .low = KIB,
     .high = 16 * GIB,
     AT_OUTPUT(buffer_bytes),
     .help = "What may wait unwritten for one subscriber."},
    {.name = "dead_after",
     .sections = OUTPUTS_IN,
     .type = KEY_DURATION,
     .use = {.endpoints = USE_LISTEN | USE_CONNECT},
     .preset = "5m",
     .low = SECOND,
     .high = DEAD_AFTER_MAX,
     .off = "off",
     AT_OUTPUT(dead_after_ms),
     .help = "A peer that takes no byte for so long is gone (TCP_USER_TIMEOUT); off: never."},
    {.name = "mode",
     .sections = OUTPUTS_IN,
     .type = KEY_MODE,
     .use = {.endpoints = USE_UNIX | USE_FILE},
     .preset = "0660",
     .high = 0777,
     AT_OUTPUT(mode),
     .help = "The rights of a file that joind makes, octal."},
    {.name = "allow",
     .sections = ENDS_IN,
     .type = KEY_NETWORKS,
     .use = {.endpoints = USE_LISTEN},
     .part = PART_ENDPOINT,
     .help = "The addresses or networks (CIDR) that may connect, and the word loopback; left "
             "out: all."},
    {.name = "allow",
     .sections = IN(HTTP),
     .type = KEY_NETWORKS,
     .preset = "loopback",
     .part = PART_ENDPOINT,
     .help = "The addresses or networks (CIDR) that may read them."},
    {.name = "max_connections",
     .sections = ENDS_IN,
     .type = KEY_NUMBER,
     .use = {.endpoints = USE_LISTEN},
     .preset = "1024",
     .low = 1,
     .high = 1000000,
     AT_ENDPOINT(max_connections),
     .help = "How many may be connected at once."},
    {.name = "keepalive",
     .sections = ENDS_IN,
     .type = KEY_DURATION,
     .use = {.endpoints = USE_LISTEN | USE_CONNECT},
     .preset = "60s",
     .low = SECOND,
     .high = KEEPALIVE_MAX,
     AT_ENDPOINT(keepalive_ms),
     .help = "A dead peer is found within about twice this."},
    {.name = "tls_certificate",
     .sections = ENDS_IN,
     .type = KEY_PATH,
     .use = {.endpoints = USE_LISTEN | USE_CONNECT},
     .later = TLS,
     .help = "The certificate that peers are shown."},
    {.name = "tls_key",
     .sections = ENDS_IN,
     .type = KEY_PATH,
     .use = {.endpoints = USE_LISTEN | USE_CONNECT},
     .later = TLS,
     .help = "The certificate's private key."},
    {.name = "tls_ca",
     .sections = ENDS_IN,
     .type = KEY_PATH,
     .use = {.endpoints = USE_LISTEN | USE_CONNECT},
     .later = TLS,
     .help = "Who must have signed a peer's certificate."},
    {.name = "type",
     .sections = IN(JOIN),
     .type = KEY_WORD,
     .preset = "inner",
     .words = type_words,
     AT_PLAN(type),
     .help = "inner: pairs. left, right, full: also the records of that side (of both) that "
             "have no partner, with NULLs. semi: left records that have a partner. anti: those "
             "that have none."},
    {.name = "match",
     .sections = IN(JOIN),
     .type = KEY_WORD,
     .preset = "tumbling",
     .words = match_words,
     AT_PLAN(match),
     .help = "Which records can meet. tumbling: those of the same window, one window after the "
             "other. sliding: the same, with windows that overlap. session: those of a burst, "
             "which a pause ends. interval: those whose times are near each other. latest: a left "
             "record and the newest right one of its key. lookup: a left record and the rows of "
             "its key in a file, the right side. batch: all, of two sides that end; the right one "
             "is read first."},
    {.name = "time",
     .sections = IN(JOIN),
     .type = KEY_WORD,
     .use = {.matches = OF_TIME},
     .preset = "processing",
     .words = time_words,
     AT_PLAN(time),
     .help = "processing: a record's time is when it was read. event: it is what the record says "
             "(see timestamp), and time goes on as the records' times do."},
    {.name = "size",
     .sections = IN(JOIN),
     .type = KEY_DURATION,
     .use = {.matches = IS(TUMBLING) | IS(SLIDING)},
     .example = "5s",
     .low = 1,
     .high = DURATION_MAX,
     AT_PLAN(size_ms),
     .help = "How long a window is."},
    {.name = "offset",
     .sections = IN(JOIN),
     .type = KEY_DURATION,
     .use = {.matches = IS(TUMBLING) | IS(SLIDING)},
     .preset = "0s",
     .low = -DURATION_MAX,
     .high = DURATION_MAX,
     AT_PLAN(offset_ms),
     .help = "Windows start this much later (or earlier, if negative) than multiples of their "
             "size (sliding: of slide) since 1970 in UTC."},
    {.name = "slide",
     .sections = IN(JOIN),
     .type = KEY_DURATION,
     .use = {.matches = IS(SLIDING)},
     .example = "1s",
     .low = 1,
     .high = DURATION_MAX,
     AT_PLAN(slide_ms),
     .help = "How long after a window the next one starts. A record lies in size / slide windows, "
             "at most 10,000, and meets its partners in each that holds both."},
    {.name = "gap",
     .sections = IN(JOIN),
     .type = KEY_DURATION,
     .use = {.matches = IS(SESSION)},
     .example = "30s",
     .low = 1,
     .high = DURATION_MAX,
     AT_PLAN(gap_ms),
     .help = "A session ends after so long without a record of its key on either side."},
    {.name = "lower",
     .sections = IN(JOIN),
     .type = KEY_DURATION,
     .use = {.matches = IS(INTERVAL)},
     .example = "-5s",
     .low = -DURATION_MAX,
     .high = DURATION_MAX,
     AT_PLAN(lower_ms),
     .help = "How much later than a left record its first partner on the right may be; negative: "
             "how much earlier."},
    {.name = "upper",
     .sections = IN(JOIN),
     .type = KEY_DURATION,
     .use = {.matches = IS(INTERVAL)},
     .example = "5s",
     .low = -DURATION_MAX,
     .high = DURATION_MAX,
     AT_PLAN(upper_ms),
     .help = "How much later than a left record its last partner on the right may be."},
    {.name = "grace",
     .sections = IN(JOIN),
     .type = KEY_DURATION,
     .use = {.matches = OF_WINDOWS | IS(INTERVAL), .times = IN_EVENT_TIME},
     .preset = "0s",
     .high = DURATION_MAX,
     AT_PLAN(grace_ms),
     .help = "How long after its end a window (or interval) still takes late records. What has "
             "no partner is written, or dropped, only then."},
    {.name = "wait",
     .sections = IN(JOIN),
     .type = KEY_DURATION,
     .use = {.matches = IS(LATEST), .times = USE_TIME(TIME_PROCESSING)},
     .preset = "0s",
     .high = DURATION_MAX,
     .off = "forever",
     .off_ms = PLAN_FOREVER,
     AT_PLAN(wait_ms),
     .help = "How long a left record that finds no right one waits for one to come; then it has no "
             "partner. forever: until one comes."},
    {.name = "ttl",
     .sections = IN(JOIN),
     .type = KEY_DURATION,
     .use = {.matches = IS(LATEST), .times = USE_TIME(TIME_PROCESSING)},
     .preset = "off",
     .high = DURATION_MAX,
     .off = "off",
     .off_ms = PLAN_OFF,
     AT_PLAN(ttl_ms),
     .help = "A right record that no newer one of its key replaces for so long is forgotten; off: "
             "it stays."},
    {.name = "on",
     .sections = IN(JOIN),
     .type = KEY_EXPRESSION,
     AT_PLAN(on),
     .help = "A further condition over both sides, part of the match: records for which it is "
             "not true for any partner have none."},
    {.name = "memory",
     .sections = IN(STATE),
     .type = KEY_SIZE,
     .preset = "1G",
     .low = 16,
     .high = 1024 * 1024 * GIB,
     AT_PLAN(state_bytes_max),
     .help = "The most bytes of held records. At the limit inputs are held back; nothing is "
             "dropped. At least 16 times max_line."},
    {.name = "directory",
     .sections = IN(STATE),
     .type = KEY_PATH,
     .later = "",
     .help = "Keep held records on disk, there."},
    {.name = "sync",
     .sections = IN(STATE),
     .type = KEY_DURATION,
     .preset = "1s",
     .later = "",
     .help = "How often the disk is synced."},
    {.name = "threads",
     .sections = IN(PROCESS),
     .type = KEY_WORD,
     .preset = "auto",
     .words = thread_words,
     AT_CONFIG(threads),
     .help = "How many threads do the work. A second one fires windows and formats results; it "
             "is of use to tumbling windows without grace. auto: 2 where there are two cores."},
    {.name = "hash_seed",
     .sections = IN(PROCESS),
     .type = KEY_SEED,
     .preset = "random",
     .part = PART_CONFIG,
     .help = "random, or a number, which makes the order of results the same from run to run."},
    {.name = "left",
     .sections = IN(FLINK),
     .type = KEY_TEXT,
     .later = "",
     .help = "Options of the left table's connector."},
    {.name = "right",
     .sections = IN(FLINK),
     .type = KEY_TEXT,
     .later = "",
     .help = "Options of the right table's connector."},
    {.name = "output",
     .sections = IN(FLINK),
     .type = KEY_TEXT,
     .later = "",
     .help = "Options of the results' connector."},
};
const size_t key_count = sizeof(keys) / sizeof(keys[0]);
