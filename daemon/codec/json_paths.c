#include "codec/json_paths.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct json_paths *json_paths_new(void)
{
    return mem_alloc_zeroed(1, sizeof(struct json_paths));
}

void json_paths_free(struct json_paths *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->count; i++) {
        for (size_t j = 0; j < p->paths[i].count; j++)
            mem_free((char *)p->paths[i].names[j].p);
        mem_free(p->paths[i].names);
    }
    mem_free(p->paths);
    mem_free(p->nodes);
    mem_free(p->members);
    mem_free(p->fields);
    mem_free(p);
}

void json_paths_add(struct json_paths *p, const struct bytes *names, size_t count)
{
    struct json_path path = {mem_alloc_zeroed(count, sizeof(*path.names)), count};

    assert(p->nodes == NULL && count > 0 && count <= JSON_DEPTH_MAX);
    assert(count > 0 && count <= JSON_DEPTH_MAX && p->nodes == NULL);
    for (size_t i = 0; i < count; i++)
        path.names[i] = (struct bytes){mem_strndup(names[i].p, names[i].n), names[i].n};
    p->paths = mem_realloc(p->paths, (p->count + 1) * sizeof(*p->paths));
    p->paths[p->count++] = path;
}

/* --- the tree --- */

/* Lengths tell most names apart. */
static int compare_names(struct bytes a, struct bytes b)
{
    if (a.n != b.n)
        return a.n < b.n ? -1 : 1;
    return a.n == 0 ? 0 : memcmp(a.p, b.p, a.n);
}

/* A path comes before those that go on from it; of equal ones, the first field does. */
static int compare_fields(const void *x, const void *y, void *paths)
{
    const uint32_t *fields[2] = {x, y};
    const struct json_path *a = (const struct json_path *)paths + *fields[0];
    const struct json_path *b = (const struct json_path *)paths + *fields[1];

    for (size_t i = 0; i < a->count && i < b->count; i++) {
        int order = compare_names(a->names[i], b->names[i]);
        if (order != 0)
            return order;
    }
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return *fields[0] < *fields[1] ? -1 : 1;
}

/* Fields [first, end) of the sorted ones, whose paths share their first `depth` names:
 * those that go through one node. */
struct range {
    size_t first, end, depth;
};

struct growing {
    struct json_paths *paths;
    struct range *ranges; /* of each node */
};

static const struct json_path *sorted_path(const struct json_paths *p, size_t i)
{
    return &p->paths[p->fields[i]];
}

static uint32_t add_node(struct growing *g, struct range range)
{
    size_t n = g->paths->node_count++;

    g->ranges[n] = range;
    return (uint32_t)n;
}

/* The member that `range` begins with; returns where the next one begins. */
static size_t add_member(struct growing *g, struct range range)
{
    struct json_paths *p = g->paths;
    struct json_member *m = &p->members[p->member_count++];
    size_t here = range.first, end = range.first;

    *m = (struct json_member){
        .name = sorted_path(p, range.first)->names[range.depth],
        .node = JSON_NONE,
        .first_field = (uint32_t)range.first,
    };
    while (end < range.end && compare_names(sorted_path(p, end)->names[range.depth], m->name) == 0)
        end++;
    while (here < end && sorted_path(p, here)->count == range.depth + 1)
        here++;
    m->fields = (uint32_t)(here - range.first);
    if (here < end)
        m->node = add_node(g, (struct range){here, end, range.depth + 1});
    return end;
}

static size_t count_names(const struct json_paths *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->count; i++)
        n += p->paths[i].count;
    return n;
}

/* Nodes are made from outside inwards, so that the members of one lie together. */
void json_paths_finish(struct json_paths *p)
{
    size_t most = count_names(p) + 1;
    struct growing g = {p, mem_alloc_zeroed(most, sizeof(*g.ranges))};

    assert(p->nodes == NULL);
    p->nodes = mem_alloc_zeroed(most, sizeof(*p->nodes));
    p->members = mem_alloc_zeroed(most, sizeof(*p->members));
    p->fields = mem_alloc_zeroed(p->count, sizeof(*p->fields));
    for (size_t i = 0; i < p->count; i++)
        p->fields[i] = (uint32_t)i;
    qsort_r(p->fields, p->count, sizeof(*p->fields), compare_fields, p->paths);
    add_node(&g, (struct range){0, p->count, 0});
    for (size_t n = 0; n < p->node_count; n++) {
        struct range rest = g.ranges[n];

        p->nodes[n].first = (uint32_t)p->member_count;
        while (rest.first < rest.end)
            rest.first = add_member(&g, rest);
        p->nodes[n].count = (uint32_t)p->member_count - p->nodes[n].first;
    }
    assert(p->node_count <= most && p->member_count <= most);
    mem_free(g.ranges);
}

uint32_t json_paths_find(const struct json_paths *p, uint32_t node, struct bytes name)
{
    uint32_t low = p->nodes[node].first, high = low + p->nodes[node].count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare_names(name, p->members[middle].name);

        if (order == 0)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return JSON_NONE;
}

size_t json_paths_field_below(const struct json_paths *p, uint32_t node)
{
    assert(node < p->node_count);
    for (;;) {
        const struct json_member *m = &p->members[p->nodes[node].first];

        if (m->fields > 0)
            return p->fields[m->first_field];
        node = m->node;
    }
}
