#include "config/config.h"

#include "base/mem.h"

/* Has it all that its kind and family need? */
static bool endpoint_ok(const struct endpoint *e)
{
    bool socket = e->kind == ENDPOINT_LISTEN || e->kind == ENDPOINT_CONNECT;

    if (e->kind == ENDPOINT_NONE || e->text == NULL)
        return e->kind == ENDPOINT_NONE;
    if (!socket || e->family == FAMILY_UNIX)
        return e->kind == ENDPOINT_STANDARD || e->path != NULL;
    if (e->family == FAMILY_SYSTEMD)
        return e->kind == ENDPOINT_LISTEN && e->passed_name != NULL;
    return e->host != NULL && e->port != NULL;
}

bool config_ok(const struct config *c)
{
    const struct plan_side *left = &c->plan->side[SIDE_LEFT], *right = &c->plan->side[SIDE_RIGHT];

    for (int s = 0; s < SIDES; s++)
        if (!endpoint_ok(&c->input[s].endpoint) || c->input[s].endpoint.kind == ENDPOINT_NONE ||
            c->input[s].format.max_line == 0 || c->plan->side[s].schema.count == 0)
            return false;
    for (int o = 0; o < OUTPUTS; o++)
        if (!endpoint_ok(&c->output[o].endpoint))
            return false;
    return c->output[OUTPUT_RESULTS].endpoint.kind != ENDPOINT_NONE &&
           c->output[OUTPUT_RESULTS].format.select.count > 0 && endpoint_ok(&c->http) &&
           left->key.count == right->key.count && c->plan->state_bytes_max > 0;
}

static void endpoint_done(struct endpoint *e)
{
    mem_free(e->text);
    mem_free(e->host);
    mem_free(e->port);
    mem_free(e->path);
    mem_free(e->passed_name);
    mem_free(e->allow);
}

void config_free(struct config *c)
{
    if (c == NULL)
        return;
    for (int s = 0; s < SIDES; s++) {
        endpoint_done(&c->input[s].endpoint);
        mem_free((char *)c->input[s].format.null_text.p);
        json_paths_free(c->input[s].format.paths);
    }
    for (int o = 0; o < OUTPUTS; o++) {
        endpoint_done(&c->output[o].endpoint);
        mem_free((char *)c->output[o].format.null_text.p);
        expr_list_done(&c->output[o].format.select);
    }
    endpoint_done(&c->http);
    plan_free(c->plan);
    mem_free(c->name);
    mem_free(c->path);
    mem_free(c);
}
