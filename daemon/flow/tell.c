#include "flow/tell.h"

#include "codec/foreign.h"
#include "io/log.h"

static void tell_row(struct output *outputs, struct source *s, const struct row *row,
                     struct bytes detail, struct stream_time now)
{
    const char *side = side_word(s->group->side);

    output_fate(&outputs[row->late ? OUTPUT_LATE : OUTPUT_REJECTS],
                &(struct fate_row){
                    .side = side,
                    .reason = row->late ? "late" : reject_word(row->reject),
                    .detail = detail,
                    .time_ms = now.ms,
                    .line = row->line,
                });
    /* A useless header has been told once; its lines say nothing new. */
    if (!row->late && row->reject != REJECT_HEADER)
        log_limited(&s->group->bad_records, LOG_LEVEL_WARNING, "%s: record rejected: %.*s", side,
                    (int)detail.n, detail.p);
}

void tell_rows(struct output *outputs, struct source *s, const struct batch *b, size_t from,
               size_t to, struct stream_time now)
{
    struct buf detail = BUF_EMPTY;

    if (b->rejected + b->late == 0)
        return;
    for (size_t i = from; i < to; i++) {
        const struct row *row = &b->rows[i];
        if (row->reject == REJECT_NONE && !row->late)
            continue;
        buf_clear(&detail);
        buf_printf(&detail, "%s (from %s)", batch_detail(b, row), s->peer);
        tell_row(outputs, s, row, buf_bytes(&detail), now);
    }
    buf_done(&detail);
    output_commit(&outputs[OUTPUT_REJECTS]);
    output_commit(&outputs[OUTPUT_LATE]);
}

void tell_pair(struct output *outputs, struct log_limit *limit, struct bytes detail,
               struct bytes line, struct stream_time now)
{
    output_fate(&outputs[OUTPUT_REJECTS], &(struct fate_row){
                                              .side = "pair",
                                              .reason = reject_word(REJECT_EXPRESSION),
                                              .detail = detail,
                                              .time_ms = now.ms,
                                              .line = line,
                                          });
    log_limited(limit, LOG_LEVEL_WARNING, "result rejected: %.*s", (int)detail.n, detail.p);
    output_commit(&outputs[OUTPUT_REJECTS]);
}

void tell_header(struct source *s)
{
    const char *fault = decoder_header_fault(s->decoder);

    if (fault == NULL || s->header_told)
        return;
    s->header_told = true;
    log_error("%s: the header of %s cannot be used, all its lines are rejected: %s",
              side_word(s->group->side), s->peer, fault);
    if (s->group->config->endpoint.kind == ENDPOINT_FILE ||
        s->group->config->endpoint.kind == ENDPOINT_STANDARD)
        s->group->fault = true;
}

void tell_protocol(struct source *s, struct bytes start)
{
    const char *name;

    if (s->looked_at || start.n == 0)
        return;
    s->looked_at = true;
    name = foreign_name(start, &s->group->config->format);
    if (name == NULL)
        return;
    s->group->wrong_protocol++;
    log_warning("%s: from %s: %s", side_word(s->group->side), s->peer, name);
}
