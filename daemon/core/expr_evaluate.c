#include "core/expr.h"

static void evaluate_field(const struct expr *e, const struct expr_input *in, struct value *ret)
{
    const struct bytes *fields = in->fields[e->side];

    *ret = value_read(e->type, fields == NULL ? BYTES_NULL : fields[e->field]);
}

enum expr_outcome expr_evaluate(const struct expr *e, const struct expr_input *in,
                                struct value *ret)
{
    switch (e->kind) {
    case EXPR_FIELD:
        evaluate_field(e, in, ret);
        return EXPR_OK;
    }
    return EXPR_FAILED;
}
