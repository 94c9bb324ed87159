#include "watch/pages.h"

#include <string.h>

#include "base/object.h"
#include "watch/metrics.h"
#include "watch/status.h"

/* Needs nothing from elsewhere, and works where nothing can be loaded. */
static const char page[] =
    "<!doctype html>\n"
    "<html lang=\"en\"><head><meta charset=\"utf-8\"><title>joind</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:52em;padding:0 1em;"
    "color:#222;background:#fff}\n"
    "table{border-collapse:collapse;width:100%;margin:1em 0}\n"
    "th,td{border-bottom:1px solid #ddd;padding:.3em .6em;text-align:right}\n"
    "th:first-child,td:first-child{text-align:left}\n"
    "td{font-variant-numeric:tabular-nums}\n"
    ".bad{color:#b00}\n"
    "</style></head><body>\n"
    "<h1>joind <span id=\"name\"></span></h1>\n"
    "<p>Health: <strong id=\"health\">?</strong>. Up <span id=\"uptime\">?</span> s. "
    "State: <span id=\"state\">?</span>.</p>\n"
    "<table><thead><tr><th>records</th><th id=\"left\">left</th><th id=\"right\">right</th></tr>"
    "</thead><tbody id=\"sides\"></tbody></table>\n"
    "<p>The books balance when received = rejected + filtered + late + matched + unmatched + "
    "held.</p>\n"
    "<table><thead><tr><th>results</th><th>rows</th></tr></thead>"
    "<tbody id=\"results\"></tbody></table>\n"
    "<p id=\"pairs\"></p>\n"
    "<p><a href=\"/status\">/status</a> <a href=\"/metrics\">/metrics</a> "
    "<a href=\"/healthz\">/healthz</a></p>\n"
    "<script>\n"
    "const rows = ['received','rejected','filtered','late','matched','unmatched','held',"
    "'rate','connections','paused','watermark'];\n"
    "const put = (id, text) => { document.getElementById(id).textContent = text; };\n"
    "const table = (id, lines) => {\n"
    "  const body = document.getElementById(id);\n"
    "  body.replaceChildren(...lines.map(cells => {\n"
    "    const tr = document.createElement('tr');\n"
    "    tr.append(...cells.map(c => { const td = document.createElement('td'); "
    "td.textContent = c; return td; }));\n"
    "    return tr;\n"
    "  }));\n"
    "};\n"
    "const parted = p => p.lost === 0 ? '' : p.lost + (p.lost === 1 ? ' pair was' : ' pairs were') "
    "+\n"
    "  ' parted by window edges; match = interval with lower = ' + p.keep['99'].lower +\n"
    "  ', upper = ' + p.keep['99'].upper + ' would have kept 99 % of all pairs.';\n"
    "const show = s => {\n"
    "  put('name', s.name); put('health', s.health); put('uptime', s.uptime_seconds);\n"
    "  document.getElementById('health').className = s.health === 'ok' ? '' : 'bad';\n"
    "  put('state', s.state.bytes + ' of ' + s.state.limit + ' bytes');\n"
    "  put('left', s.left.name); put('right', s.right.name);\n"
    "  table('sides', rows.map(r => [r, s.left[r], s.right[r]]));\n"
    "  table('results', Object.entries(s.results));\n"
    "  put('pairs', parted(s.pairs));\n"
    "};\n"
    "const ask = () => fetch('/status').then(r => r.json()).then(show)\n"
    "  .catch(() => { put('health', 'no answer'); "
    "document.getElementById('health').className = 'bad'; });\n"
    "ask(); setInterval(ask, 1000);\n"
    "</script></body></html>\n";

static void answer(void *owner, const char *path, struct http_reply *ret)
{
    struct watch *w = object_of(owner, WATCH_MAGIC);

    results_count_written(&w->flow->pump.results); /* who has got a row finds it in the books */
    if (strcmp(path, "/metrics") == 0) {
        ret->status = 200;
        ret->type = "text/plain; version=0.0.4; charset=utf-8";
        metrics_write(w, &ret->body);
    } else if (strcmp(path, "/healthz") == 0) {
        ret->status = watch_trouble(w, &ret->body) ? 503 : 200;
        buf_append_text(&ret->body, ret->status == 200 ? "ok\n" : "\n");
    } else if (strcmp(path, "/status") == 0) {
        ret->status = 200;
        ret->type = "application/json";
        status_json(w, &ret->body);
        buf_append_char(&ret->body, '\n');
    } else if (strcmp(path, "/") == 0) {
        ret->status = 200;
        ret->type = "text/html; charset=utf-8";
        buf_append_text(&ret->body, page);
    } else {
        buf_append_text(&ret->body, "404: there are /, /status, /metrics and /healthz\n");
    }
}

bool pages_open(struct watch *w, const struct endpoint *e)
{
    return http_open(&w->http, w->flow->base, e, answer, w);
}
