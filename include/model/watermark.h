/*
 * model/watermark: event time, as the records of many connections tell it.
 *
 * Each connection (a feed) has its own watermark, `highest time seen - delay - 1`. A
 * side's is the lowest of its feeds that are open, have sent a record and are not idle;
 * it never goes back. The join's is the lower of the two sides'. A side that has ended
 * is at the end of time. A side that is idle does not count; when no side is left that
 * counts and has not ended, time goes to the highest watermark that a side had reached by
 * its own records, and from then on moves with the monotonic clock. The rules are
 * semantics.md section 1's.
 *
 * Idle time counts only while a feed is read and nothing is found: whoever reads says
 * which feeds have something unread, and when they are read again.
 */
#ifndef MODEL_WATERMARK_H
#define MODEL_WATERMARK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "lang/side.h"
#include "model/instant.h"

/* A connection. Embedded in what reads it. */
struct feed {
    struct list_link link;
    enum side side;
    struct stream_time highest; /* time seen; STREAM_TIME_MIN: none yet */
    struct mono_time last;      /* when its last record came */
    bool unread;                /* watermark_unread() */
    bool idle;
};

struct watermark_side {
    struct list feeds; /* the open ones */
    int64_t delay_ms;
    int64_t idle_ms;        /* WATERMARK_NEVER: never idle */
    struct stream_time own; /* its watermark; STREAM_TIME_MIN: none yet. Never goes back */
    struct stream_time
        others;            /* the lowest of all feeds that count but `pushing`; STREAM_TIME_MAX */
    struct feed *pushing;  /* whose records come at the moment */
    struct mono_time last; /* when its last record came */
    struct mono_time busy; /* until then something was unread */
    struct mono_time gone; /* when it became idle, or ended */
    bool idle, ended;
};
#define WATERMARK_NEVER (-1)

struct watermark {
    struct watermark_side side[SIDES];
    struct stream_time reached;    /* the join's; STREAM_TIME_MIN: none yet. Never goes back */
    struct mono_time now;          /* as told last */
    struct mono_time count_from;   /* idle time counts from here at the earliest */
    struct mono_time check;        /* before this nobody becomes idle */
    bool drifting;                 /* no side counts that has not ended ... */
    struct mono_time drift_from;   /* ... since the monotonic clock was here ... */
    struct stream_time drift_base; /* ... and time there */
};

/* `idle_ms` WATERMARK_NEVER: off. */
void watermark_init(struct watermark *w, const int64_t delay_ms[SIDES],
                    const int64_t idle_ms[SIDES]);

/* The ready line: idle time counts from now. */
void watermark_count_anew(struct watermark *w, struct mono_time now);

void watermark_open(struct watermark *w, struct feed *f, enum side side);
void watermark_close(struct watermark *w, struct feed *f);
void watermark_never_idle(struct watermark *w, enum side side); /* a regular file */
void watermark_end(struct watermark *w, enum side side);

/* Something has arrived, or may have, that is not read yet: the feed cannot become idle. */
void watermark_unread(struct watermark *w, struct feed *f);
/* Now it was read. If it had been held back, idle time counts anew, for it and its side. */
void watermark_read(struct watermark *w, struct feed *f, bool held);

/* A record of time `t` came from `f`: its side is not idle, and time may go on. */
void watermark_record(struct watermark *w, struct feed *f, struct stream_time t);

/* Records of `f` whose times are all below this one let the join's time come to less than
 * `until`, which it has not reached yet, and leave the answers of watermark_has_turn() and
 * watermark_holds_back() about the feed and its side as they are. STREAM_TIME_MIN: there may be
 * none. */
struct stream_time watermark_calm(const struct watermark *w, const struct feed *f,
                                  struct stream_time until);

/* Looks who is idle by now, and lets time go on that moves with the clock. */
void watermark_clock(struct watermark *w, struct mono_time now);

/* When watermark_clock() will have something to do, given that `due` is the next time
 * that matters; MONO_TIME_MAX: never, without a record. */
struct mono_time watermark_wake(const struct watermark *w, struct stream_time due);

/* Replay: does this side's record come next? It does where the side's own watermark is
 * the lower one (none yet is the lowest; equal: left), or the other side does not count. */
bool watermark_has_turn(const struct watermark *w, enum side side);

/* Does the join's time wait for this feed? NULL: for this side. */
bool watermark_holds_back(const struct watermark *w, enum side side, const struct feed *f);

#endif
