#include "config/config.h"

#include "base/mem.h"

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
