#include "flow/tell.h"

#include "codec/foreign.h"
#include "flow/input.h"
#include "flow/pump.h"
#include "io/log.h"

static void tell_reject(struct pump *p, struct source *s, const struct row *row,
                        struct bytes detail, struct stream_time now)
{
    struct input *in = s->input;

    output_fate(&p->outputs[OUTPUT_REJECTS], &(struct fate_row){
                                                 .side = side_word(in->side),
                                                 .reason = reject_word(row->reject),
                                                 .detail = detail,
                                                 .time_ms = now.ms,
                                                 .line = row->line,
                                             });
    /* A useless header has been told once; its lines say nothing new. */
    if (row->reject != REJECT_HEADER)
        log_limited(&in->bad_records, LOG_LEVEL_WARNING, "%s: record rejected: %.*s",
                    side_word(in->side), (int)detail.n, detail.p);
}

static void tell_late(struct pump *p, struct source *s, const struct row *row, struct bytes detail,
                      struct stream_time now)
{
    output_fate(&p->outputs[OUTPUT_LATE], &(struct fate_row){
                                              .side = side_word(s->input->side),
                                              .reason = "late",
                                              .detail = detail,
                                              .time_ms = now.ms,
                                              .line = row->line,
                                          });
}

void tell_rows(struct pump *p, struct source *s, const struct batch *b, size_t from, size_t to,
               struct stream_time now)
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
        if (row->late)
            tell_late(p, s, row, buf_bytes(&detail), now);
        else
            tell_reject(p, s, row, buf_bytes(&detail), now);
    }
    buf_done(&detail);
    output_commit(&p->outputs[OUTPUT_REJECTS]);
    output_commit(&p->outputs[OUTPUT_LATE]);
}

void tell_pair_words(const struct plan *plan, const struct encoder *e, const struct result *r,
                     struct buf *detail, struct buf *line)
{
    if (r->kind == RESULT_FAILED)
        buf_append_text(detail, "on cannot be computed for this pair");
    else
        encoder_failure(e, detail);
    if (r->record[SIDE_RIGHT] != NULL) {
        buf_append_text(detail, "; right: ");
        fate_record(r->record[SIDE_RIGHT], &plan->side[SIDE_RIGHT].form, detail);
    }
    fate_record(r->record[SIDE_LEFT], &plan->side[SIDE_LEFT].form, line);
}

void tell_pair_rejected(struct pump *p, struct bytes detail, struct bytes line)
{
    output_fate(&p->outputs[OUTPUT_REJECTS], &(struct fate_row){
                                                 .side = "pair",
                                                 .reason = reject_word(REJECT_EXPRESSION),
                                                 .detail = detail,
                                                 .time_ms = clock_now(p->clock).ms,
                                                 .line = line,
                                             });
    log_limited(&p->inputs[SIDE_LEFT].bad_records, LOG_LEVEL_WARNING, "result rejected: %.*s",
                (int)detail.n, detail.p);
    output_commit(&p->outputs[OUTPUT_REJECTS]);
}

void tell_pair(struct pump *p, const struct result *r)
{
    struct buf detail = BUF_EMPTY, line = BUF_EMPTY;

    tell_pair_words(p->plan, p->outputs[OUTPUT_RESULTS].encoder, r, &detail, &line);
    tell_pair_rejected(p, buf_bytes(&detail), buf_bytes(&line));
    buf_done(&detail);
    buf_done(&line);
}

void tell_header(struct source *s)
{
    const char *fault = decoder_header_fault(s->decoder);

    if (fault == NULL || s->header_told)
        return;
    s->header_told = true;
    log_error("%s: the header of %s cannot be used, all its lines are rejected: %s",
              side_word(s->input->side), s->peer, fault);
    if (s->input->config->endpoint.kind == ENDPOINT_FILE ||
        s->input->config->endpoint.kind == ENDPOINT_STANDARD)
        s->input->fault = true;
}

void tell_protocol(struct source *s, struct bytes start)
{
    const char *name;

    if (s->looked_at || start.n == 0)
        return;
    s->looked_at = true;
    name = foreign_name(start, &s->input->config->format);
    if (name == NULL)
        return;
    s->input->wrong_protocol++;
    log_warning("%s: from %s: %s", side_word(s->input->side), s->peer, name);
}
