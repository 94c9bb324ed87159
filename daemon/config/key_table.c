#include "config/key_table.h"

#include "config/config.h"
#include "config/key_words.h"
#include "model/plan.h"

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

/* TCP_KEEPIDLE takes 32767 s; a time of 2^31 ms was TCP_USER_TIMEOUT's limit, and is a good one. */
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
     .help = "The name of this side in expressions, in the output's columns and in the Flink "
             "export: with name = orders, orders.id is the field id of this side."},
    {.name = "name",
     .sections = IN(RIGHT),
     .type = KEY_NAME,
     .preset = "right",
     .help = "The name of this side in expressions, in the output's columns and in the Flink "
             "export: with name = orders, orders.id is the field id of this side."},
    {.name = "listen",
     .sections = ENDS_IN,
     .type = KEY_ADDRESS,
     .help = "Waits for connections, any number at once: HOST:PORT or [V6]:PORT (port 0: one "
             "that is free, which the ready line names), unix:PATH (a socket that is made "
             "there), or systemd:NAME (a socket that the service manager passes under that "
             "name). An input reads from all who connect. An output sends every row to each of "
             "them, from when it connected."},
    {.name = "listen",
     .sections = IN(HTTP),
     .type = KEY_ADDRESS,
     .example = "127.0.0.1:8790",
     .help = "Where a browser finds the status page (/), and programs find /status, /metrics "
             "and /healthz: HOST:PORT, [V6]:PORT, unix:PATH or systemd:NAME."},
    {.name = "connect",
     .sections = ENDS_IN,
     .type = KEY_ADDRESS,
     .help = "Connects to HOST:PORT, [V6]:PORT or unix:PATH, and again whenever that fails or "
             "the connection ends, each time after a rest, which grows from a quarter of a "
             "second to ten. An input reads what comes. An output sends its rows there; while it "
             "is not connected they wait, as with absent = wait, and after a break it begins "
             "with the first one that was not sent whole."},
    {.name = "file",
     .sections = ENDS_IN,
     .type = KEY_PATH,
     .help = "A path (a FIFO too), or - for standard input or output. An input ends where the "
             "file does; an output is appended to. A relative path starts at the configuration's "
             "own folder, with --set at the current one. A path with odd characters may stand in "
             "double quotes (one inside is doubled)."},
    {.name = "format",
     .sections = SIDES_IN,
     .type = KEY_WORD,
     .preset = "csv",
     .words = input_format_words,
     AT_INPUT(kind),
     .help = "How records are written: csv, as RFC 4180 has it, or json, one object a line."},
    {.name = "format",
     .sections = OUTPUTS_IN,
     .type = KEY_WORD,
     .preset = "csv",
     .words = output_format_words,
     AT_ROWS(kind),
     .help = "How rows are written: csv, as RFC 4180 has it, or json, one object a line."},
    {.name = "fields",
     .sections = SIDES_IN,
     .type = KEY_FIELDS,
     .example = "id bigint, name",
     .help = "What a record consists of. csv: `name [type], ...` in the order of the columns. "
             "json: `path [type] [as name], ...`, where a path is a member's name, or several "
             "with dots between them, which reach into objects. Types: string (the default), "
             "bigint, double, boolean, timestamp (RFC 3339), timestamp_s, timestamp_ms, "
             "timestamp_us, timestamp_ns (numbers since 1970). Odd names stand in double quotes."},
    {.name = "header",
     .sections = SIDES_IN,
     .type = KEY_SWITCH,
     .use = {.formats = USE_CSV},
     .preset = "no",
     AT_INPUT(header),
     .help = "Each connection or file starts with a line that names its columns: fields are "
             "found by name, other columns are passed over. Where that line lacks a field, or "
             "has one twice, all lines of its connection are rejected; a file ends the start."},
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
     .help = "The unquoted text that means NULL; by default a field with nothing in it. A "
             "quoted one is always a string, \"\" the empty one. The text may stand in double "
             "quotes, which keep spaces."},
    {.name = "multiline",
     .sections = SIDES_IN,
     .type = KEY_SWITCH,
     .use = {.formats = USE_CSV, .envelopes = USE_ENVELOPE(ENVELOPE_NONE)},
     .preset = "no",
     .preset_file = "yes",
     AT_INPUT(multiline),
     .help = "A quoted field may hold line ends. Where its quotes are not closed within "
             "max_line, the first line alone is rejected, and reading goes on at the second one."},
    {.name = "framing",
     .sections = SIDES_IN,
     .type = KEY_WORD,
     .preset = "line",
     .words = framing_words,
     AT_INPUT(framing),
     .help = "How records are cut out of the bytes. line: each ends with LF or CR LF. octet: "
             "before each stands how many bytes it has, and a space (octet counting, RFC 6587). "
             "auto: told apart for each record; a count is taken for one only where digits and a "
             "space stand before < or {."},
    {.name = "envelope",
     .sections = SIDES_IN,
     .type = KEY_WORD,
     .preset = "none",
     .words = envelope_words,
     AT_INPUT(envelope),
     .help = "What stands round a record and is taken off. none: nothing does. syslog: the "
             "header of a syslog message, RFC 5424 or RFC 3164; the record is the message behind "
             "it, and a line without such a header is rejected."},
    {.name = "key",
     .sections = SIDES_IN,
     .type = KEY_EXPRESSIONS,
     .help = "`expr, ...`: records belong together where these are equal, the first of one side "
             "with the first of the other, and so on. NULL equals nothing. Left out on both "
             "sides: all records have the same key."},
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
             "behind the newest record. A longer one means fewer late records, and results that "
             "come later."},
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
             "time back, so that a silent sender does not stop the results of all others; off: "
             "it always does. A regular file is never idle."},
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
     .help = "A record whose time is further than this ahead of the machine's clock is "
             "rejected, for it alone would make all that follow late; off: any time is believed."},
    {.name = "max_line",
     .sections = SIDES_IN,
     .type = KEY_SIZE,
     .preset = "64K",
     .low = 1,
     .high = 256 * MIB,
     AT_INPUT(max_line),
     .help = "A longer record (its line end not counted) is rejected whole; the connection goes "
             "on with the next one."},
    {.name = "duplicates",
     .sections = IN(RIGHT),
     .type = KEY_WORD,
     .use = {.matches = IS(LOOKUP)},
     .preset = "keep",
     .words = duplicates_words,
     AT_PLAN(duplicates),
     .help = "What it means that a key has several rows in the table. keep: a left record meets "
             "all of them. last: the last one in the file is the only one. error: the table is "
             "wrong, and is not taken."},
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
     .help = "Starts each connection or file with the names of the columns."},
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
     .help = "The text for NULL; a string that equals it is quoted, so by default the empty "
             "string is \"\". The text may stand in double quotes, which keep spaces."},
    {.name = "absent",
     .sections = IN(OUTPUT),
     .type = KEY_WORD,
     .use = {.endpoints = USE_LISTEN},
     .preset = "wait",
     .words = absent_words,
     AT_OUTPUT(absent),
     .help = "What happens while nobody is connected. wait: results stay in state, and inputs "
             "are held back when that is full. discard: results are dropped and counted."},
    {.name = "absent",
     .sections = FATES_IN,
     .type = KEY_WORD,
     .use = {.endpoints = USE_LISTEN},
     .preset = "discard",
     .words = absent_words,
     AT_OUTPUT(absent),
     .help = "What happens while nobody is connected. discard: rows are dropped and counted. "
             "wait: up to buffer of them is kept, then inputs are held back."},
    {.name = "slow",
     .sections = IN(OUTPUT),
     .type = KEY_WORD,
     .use = {.endpoints = USE_LISTEN},
     .preset = "wait",
     .words = slow_words,
     AT_OUTPUT(slow),
     .help = "What happens when a subscriber's buffer is full and it took no byte for 5s. wait: "
             "all wait for it, and inputs are held back when state is full. disconnect: it is "
             "cut off, and what it had not taken is counted as discarded. discard: its rows are "
             "dropped and counted until it reads again. Before those 5s all wait for it."},
    {.name = "slow",
     .sections = FATES_IN,
     .type = KEY_WORD,
     .use = {.endpoints = USE_LISTEN},
     .preset = "discard",
     .words = slow_words,
     AT_OUTPUT(slow),
     .help = "What happens when a subscriber's buffer is full and it took no byte for 5s. "
             "discard: its rows are dropped and counted until it reads again. disconnect: it is "
             "cut off. wait: inputs are held back until it reads."},
    {.name = "buffer",
     .sections = OUTPUTS_IN,
     .type = KEY_SIZE,
     .use = {.endpoints = USE_LISTEN | USE_CONNECT},
     .preset = "4M",
     .low = KIB,
     .high = 16 * GIB,
     AT_OUTPUT(buffer_bytes),
     .help = "How many bytes may wait for one peer that reads more slowly than rows come; with "
             "listen, slow says what happens beyond that."},
    {.name = "dead_after",
     .sections = OUTPUTS_IN,
     .type = KEY_DURATION,
     .use = {.endpoints = USE_LISTEN | USE_CONNECT},
     .preset = "5m",
     .low = SECOND,
     .high = DEAD_AFTER_MAX,
     .off = "off",
     AT_OUTPUT(dead_after_ms),
     .help = "A peer that takes no byte for so long is given up; off: never."},
    {.name = "mode",
     .sections = SIDES_IN | IN(HTTP),
     .type = KEY_MODE,
     .use = {.endpoints = USE_UNIX},
     .preset = "0660",
     .high = 0777,
     AT_ENDPOINT(mode),
     .help = "Who may use the unix socket that joind makes: its rights, in octal, whatever the "
             "umask."},
    {.name = "mode",
     .sections = OUTPUTS_IN,
     .type = KEY_MODE,
     .use = {.endpoints = USE_UNIX | USE_FILE},
     .preset = "0660",
     .high = 0777,
     AT_ENDPOINT(mode),
     .help = "Who may use the file, or the unix socket, that joind makes: its rights, in octal, "
             "whatever the umask."},
    {.name = "allow",
     .sections = ENDS_IN,
     .type = KEY_NETWORKS,
     .use = {.endpoints = USE_TCP | USE_SYSTEMD},
     .part = PART_ENDPOINT,
     .help = "Who may connect: addresses, networks (such as 10.0.0.0/8 or fd00::/8), and the "
             "word loopback, which means this machine. Left out: everybody."},
    {.name = "allow",
     .sections = IN(HTTP),
     .type = KEY_NETWORKS,
     .use = {.endpoints = USE_TCP | USE_SYSTEMD},
     .preset = "loopback",
     .part = PART_ENDPOINT,
     .help = "Who may read the status page and the metrics: addresses, networks (such as "
             "10.0.0.0/8 or fd00::/8), and the word loopback, which means this machine."},
    {.name = "max_connections",
     .sections = ENDS_IN,
     .type = KEY_NUMBER,
     .use = {.endpoints = USE_LISTEN},
     .preset = "1024",
     .low = 1,
     .high = 1000000,
     AT_ENDPOINT(max_connections),
     .help = "How many may be connected at once; those beyond that are closed at once, with a "
             "line in the log."},
    {.name = "keepalive",
     .sections = ENDS_IN,
     .type = KEY_DURATION,
     .use = {.endpoints = USE_TCP | USE_SYSTEMD | USE_CONNECT_TCP},
     .preset = "60s",
     .low = SECOND,
     .high = KEEPALIVE_MAX,
     AT_ENDPOINT(keepalive_ms),
     .help = "A connection that is silent for so long is probed, so that a peer that has "
             "vanished without a word is found out within about twice this."},
    {.name = "tls_certificate",
     .sections = ENDS_IN,
     .type = KEY_PATH,
     .use = {.endpoints = USE_LISTEN | USE_CONNECT},
     .later = TLS,
     .help = "The file with the certificate that peers are shown."},
    {.name = "tls_key",
     .sections = ENDS_IN,
     .type = KEY_PATH,
     .use = {.endpoints = USE_LISTEN | USE_CONNECT},
     .later = TLS,
     .help = "The file with the certificate's private key."},
    {.name = "tls_ca",
     .sections = ENDS_IN,
     .type = KEY_PATH,
     .use = {.endpoints = USE_LISTEN | USE_CONNECT},
     .later = TLS,
     .help = "The file with the certificates of those who must have signed a peer's."},
    {.name = "type",
     .sections = IN(JOIN),
     .type = KEY_WORD,
     .preset = "inner",
     .words = type_words,
     AT_PLAN(type),
     .help = "What is written. inner: pairs. left, right, full: also the records of that side "
             "(of both) that have no partner, with NULLs in place of one. semi: left records "
             "that have a partner. anti: those that have none."},
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
     .help = "How long a window is. It holds its start, and not its end."},
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
     .help = "A partner's time on the right is at least the left record's plus this; a negative "
             "one looks back."},
    {.name = "upper",
     .sections = IN(JOIN),
     .type = KEY_DURATION,
     .use = {.matches = IS(INTERVAL)},
     .example = "5s",
     .low = -DURATION_MAX,
     .high = DURATION_MAX,
     AT_PLAN(upper_ms),
     .help = "A partner's time on the right is at most the left record's plus this. Both bounds "
             "are included."},
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
     .help = "A further condition over the fields of both sides, part of the match as in SQL's "
             "ON: records are partners only where it is true."},
    {.name = "memory",
     .sections = IN(STATE),
     .type = KEY_SIZE,
     .preset = "1G",
     .low = 16,
     .high = 1024 * 1024 * GIB,
     AT_PLAN(state_bytes_max),
     .help = "How many bytes held records may take. At the limit inputs are held back; nothing "
             "is dropped. At least 16 times max_line."},
    {.name = "directory",
     .sections = IN(STATE),
     .type = KEY_PATH,
     .later = "",
     .help = "The folder where held records are kept, so that they survive a restart and a "
             "crash."},
    {.name = "sync",
     .sections = IN(STATE),
     .type = KEY_DURATION,
     .preset = "1s",
     .later = "",
     .help = "How often what is kept there is brought safely to the disk."},
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
     .help = "What keys are hashed with: random, or a number, which makes the order of results "
             "the same from run to run."},
    {.name = "left",
     .sections = IN(FLINK),
     .type = KEY_TEXT,
     .later = "",
     .help = "Options of the left table's connector in the exported script, in place of the "
             "usual ones."},
    {.name = "right",
     .sections = IN(FLINK),
     .type = KEY_TEXT,
     .later = "",
     .help = "Options of the right table's connector in the exported script, in place of the "
             "usual ones."},
    {.name = "output",
     .sections = IN(FLINK),
     .type = KEY_TEXT,
     .later = "",
     .help = "Options of the results' connector in the exported script, in place of the usual "
             "ones."},
};
const size_t key_count = sizeof(keys) / sizeof(keys[0]);
