/*
 * base/list: a doubly linked list of members that embed their link.
 *
 * No allocation, removal in O(1), a link that is in no list points at itself.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

struct list_link {
    struct list_link *next, *prev;
};

struct list {
    struct list_link ends;
};

#define LIST_MEMBER(link_pointer, type, member)                                                    \
    ((type *)((char *)(link_pointer)-offsetof(type, member)))

static inline void list_link_init(struct list_link *l)
{
    l->next = l->prev = l;
}

static inline void list_init(struct list *list)
{
    list_link_init(&list->ends);
}

static inline bool list_empty(const struct list *list)
{
    return list->ends.next == &list->ends;
}

static inline bool list_linked(const struct list_link *l)
{
    return l->next != l;
}

static inline void list_append(struct list *list, struct list_link *l)
{
    assert(list->ends.prev->next == &list->ends);
    l->prev = list->ends.prev;
    l->next = &list->ends;
    l->prev->next = l;
    list->ends.prev = l;
}

static inline void list_remove(struct list_link *l)
{
    assert(l->prev->next == l && l->next->prev == l);
    l->prev->next = l->next;
    l->next->prev = l->prev;
    list_link_init(l);
}

/* NULL when empty. */
static inline struct list_link *list_first(const struct list *list)
{
    return list_empty(list) ? NULL : list->ends.next;
}

/* Safe against removal of the member at hand. */
#define LIST_EACH(list, type, link, name)                                                          \
    for (type *name = LIST_MEMBER((list)->ends.next, type, link),                                  \
              *name##_next = LIST_MEMBER(name->link.next, type, link);                             \
         &name->link != &(list)->ends;                                                             \
         name = name##_next, name##_next = LIST_MEMBER(name##_next->link.next, type, link))

#endif
