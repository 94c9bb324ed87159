#include "watch/http.h"

#include <assert.h>
#include <event2/event_struct.h>
#include <string.h>

#include "base/mem.h"
#include "base/object.h"
#include "io/link.h"

/* A request's head is read, its answer written, then the peer's end awaited: bytes
 * that nobody read would turn our FIN into a reset, and cost the client its answer. */
enum client_step { CLIENT_READ, CLIENT_WRITE, CLIENT_LINGER };

#define CLIENT_MAGIC 0x544e4c43u /* CLNT */

struct client {
    uint32_t magic;
    struct list_link among;
    struct http *http;
    struct link link;
    enum client_step step;
    struct buf in, out;
    struct event deadline;
};

static struct client *client_of(struct link *l)
{
    return object_of(LIST_MEMBER(l, struct client, link), CLIENT_MAGIC);
}

static const struct timeval deadline_after = {.tv_sec = HTTP_DEADLINE_MS / 1000};

static void client_free(struct client *c)
{
    listener_gone(&c->http->listener);
    event_del(&c->deadline);
    list_remove(&c->among);
    link_done(&c->link);
    buf_done(&c->in);
    buf_done(&c->out);
    c->magic = 0;
    mem_free(c);
}

/* --- the answer --- */

static const char *status_text(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 431:
        return "Request Header Fields Too Large";
    case 503:
        return "Service Unavailable";
    default:
        return "Internal Server Error";
    }
}

static void write_reply(struct client *c, const struct http_reply *r, bool body)
{
    buf_printf(&c->out,
               "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
               "Cache-Control: no-store\r\n%sConnection: close\r\n\r\n",
               r->status, status_text(r->status), r->type, buf_length(&r->body),
               r->status == 405 ? "Allow: GET, HEAD\r\n" : "");
    if (body)
        buf_append_bytes(&c->out, buf_bytes(&r->body));
}

static void refuse(struct client *c, int status)
{
    struct http_reply r = {.status = status, .type = "text/plain; charset=utf-8"};

    buf_printf(&r.body, "%d %s\n", status, status_text(status));
    write_reply(c, &r, true);
    buf_done(&r.body);
}

/* `METHOD PATH HTTP/1.x`: cut in place. */
static bool cut_request_line(char *line, char **ret_method, char **ret_path)
{
    char *path = strchr(line, ' '), *version;

    if (path == NULL)
        return false;
    *path++ = '\0';
    version = strchr(path, ' ');
    if (version == NULL || strncmp(version, " HTTP/1.", 8) != 0 || path[0] != '/')
        return false;
    *version = '\0';
    path[strcspn(path, "?#")] = '\0';
    *ret_method = line;
    *ret_path = path;
    return true;
}

static void answer(struct client *c)
{
    struct http_reply r = {.status = 404, .type = "text/plain; charset=utf-8"};
    char *head = mem_strndup(buf_data(&c->in), buf_length(&c->in));
    char *method, *path;
    bool head_only;

    head[strcspn(head, "\r\n")] = '\0';
    if (!cut_request_line(head, &method, &path)) {
        refuse(c, 400);
    } else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        refuse(c, 405);
    } else {
        head_only = strcmp(method, "HEAD") == 0;
        c->http->answer(c->http->owner, path, &r);
        write_reply(c, &r, !head_only);
    }
    buf_done(&r.body);
    mem_free(head);
}

/* --- a client --- */

static void on_writable(struct link *l)
{
    struct client *c = client_of(l);
    ssize_t n = link_write(l, buf_data(&c->out), buf_length(&c->out));

    assert(c->step == CLIENT_WRITE);
    if (n < 0) {
        client_free(c);
        return;
    }
    buf_eat(&c->out, (size_t)n);
    if (buf_length(&c->out) > 0) {
        link_await_room(l);
        return;
    }
    link_half_close(l);
    c->step = CLIENT_LINGER;
}

static bool head_is_whole(const struct buf *in)
{
    return memmem(buf_data(in), buf_length(in), "\r\n\r\n", 4) != NULL ||
           memmem(buf_data(in), buf_length(in), "\n\n", 2) != NULL;
}

static void take(struct client *c, const char *p, size_t n)
{
    if (c->step != CLIENT_READ)
        return;
    buf_append(&c->in, p, n);
    if (head_is_whole(&c->in))
        answer(c);
    else if (buf_length(&c->in) > HTTP_HEAD_MAX)
        refuse(c, 431);
    else
        return;
    c->step = CLIENT_WRITE;
    link_await_room(&c->link);
}

static void on_readable(struct link *l)
{
    struct client *c = client_of(l);
    char bytes[4096];
    ssize_t n = link_read(l, bytes, sizeof(bytes));

    if (n > 0)
        take(c, bytes, (size_t)n);
    else if (n == LINK_ENDED && c->step == CLIENT_WRITE)
        link_unwatch(l); /* half-closed: it still wants its answer */
    else if (n < 0)
        client_free(c);
}

static const struct link_owner link_owner = {.readable = on_readable, .writable = on_writable};

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    client_free(object_of(arg, CLIENT_MAGIC));
}

static void on_client(void *owner, int fd, const char *peer)
{
    struct http *h = object_of(owner, HTTP_MAGIC);
    struct client *c = mem_alloc_zeroed(1, sizeof(*c));

    (void)peer;
    c->magic = CLIENT_MAGIC;
    c->http = h;
    link_init(&c->link, h->base, fd, &link_owner);
    list_append(&h->clients, &c->among);
    event_assign(&c->deadline, h->base, -1, 0, on_deadline, c);
    link_watch(&c->link);
    event_add(&c->deadline, &deadline_after);
}

bool http_open(struct http *h, struct event_base *base, const struct endpoint *e,
               http_answer *answer_function, void *owner)
{
    *h =
        (struct http){.magic = HTTP_MAGIC, .base = base, .answer = answer_function, .owner = owner};
    list_init(&h->clients);
    if (e->kind == ENDPOINT_NONE)
        return true;
    h->endpoint = *e;
    h->endpoint.max_connections = HTTP_CLIENTS_MAX;
    h->endpoint.keepalive_ms = HTTP_DEADLINE_MS;
    h->listening = listener_open(&h->listener, base, &h->endpoint, "http", on_client, h);
    return h->listening;
}

void http_close(struct http *h)
{
    LIST_EACH (&h->clients, struct client, among, c)
        client_free(c);
    if (h->listening)
        listener_close(&h->listener);
}
