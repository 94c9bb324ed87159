#include "unit.h"

#include "base/list.h"
#include "base/mem.h"

struct member {
    char name;
    struct list_link link;
};

struct fixture {
    struct list list;
    struct member a, b, c;
};

static void list_of_abc(struct fixture *f)
{
    *f = (struct fixture){.a = {.name = 'a'}, .b = {.name = 'b'}, .c = {.name = 'c'}};
    list_init(&f->list);
    list_append(&f->list, &f->a.link);
    list_append(&f->list, &f->b.link);
    list_append(&f->list, &f->c.link);
}

static void assert_names(const struct list *list, const char *expected)
{
    char names[8] = "";
    size_t n = 0;

    LIST_EACH (list, struct member, link, m)
        names[n++] = m->name;
    assert_string_equal(names, expected);
    n = strlen(expected);
    for (const struct list_link *l = list->ends.prev; l != &list->ends; l = l->prev)
        assert_int_equal(LIST_MEMBER(l, struct member, link)->name, expected[--n]);
    assert_int_equal(n, 0);
}

static void a_new_list_is_empty(void **state)
{
    struct list list;

    (void)state;
    list_init(&list);
    assert_true(list_empty(&list));
    assert_null(list_first(&list));
    assert_names(&list, "");
}

static void members_come_in_the_order_they_were_appended(void **state)
{
    struct fixture f;

    (void)state;
    list_of_abc(&f);
    assert_false(list_empty(&f.list));
    assert_ptr_equal(list_first(&f.list), &f.a.link);
    assert_names(&f.list, "abc");
}

static void a_link_knows_whether_it_is_in_a_list(void **state)
{
    struct fixture f;
    struct list_link alone;

    (void)state;
    list_link_init(&alone);
    assert_false(list_linked(&alone));
    list_of_abc(&f);
    assert_true(list_linked(&f.b.link));
    list_remove(&f.b.link);
    assert_false(list_linked(&f.b.link));
    list_remove(&f.b.link); /* twice does no harm */
    assert_names(&f.list, "ac");
}

static void any_member_can_be_removed(void **state)
{
    struct fixture f;

    (void)state;
    list_of_abc(&f);
    list_remove(&f.a.link);
    assert_names(&f.list, "bc");
    list_remove(&f.c.link);
    assert_names(&f.list, "b");
    list_remove(&f.b.link);
    assert_names(&f.list, "");
    list_append(&f.list, &f.b.link);
    assert_names(&f.list, "b");
}

static void a_walk_bears_removal_of_its_member(void **state)
{
    struct list list;

    (void)state;
    list_init(&list);
    for (int i = 0; i < 5; i++) {
        struct member *m = mem_alloc_zeroed(1, sizeof(*m));

        list_append(&list, &m->link);
    }
    LIST_EACH (&list, struct member, link, m) {
        list_remove(&m->link);
        mem_free(m);
    }
    assert_true(list_empty(&list));
}

static void a_walk_can_be_broken_off(void **state)
{
    struct fixture f;
    int seen = 0;

    (void)state;
    list_of_abc(&f);
    LIST_EACH (&f.list, struct member, link, m) {
        seen++;
        if (m->name == 'b')
            break;
    }
    assert_int_equal(seen, 2);
}

static void a_walk_can_go_on_early(void **state)
{
    struct fixture f;
    char names[4] = "";
    size_t n = 0;

    (void)state;
    list_of_abc(&f);
    LIST_EACH (&f.list, struct member, link, m) {
        if (m->name == 'b')
            continue;
        names[n++] = m->name;
    }
    assert_string_equal(names, "ac");
}

static void walks_can_be_nested(void **state)
{
    struct fixture f;
    int pairs = 0;

    (void)state;
    list_of_abc(&f);
    LIST_EACH (&f.list, struct member, link, left)
        LIST_EACH (&f.list, struct member, link, right)
            pairs += left->name < right->name;
    assert_int_equal(pairs, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_list_is_empty),
        cmocka_unit_test(members_come_in_the_order_they_were_appended),
        cmocka_unit_test(a_link_knows_whether_it_is_in_a_list),
        cmocka_unit_test(any_member_can_be_removed),
        cmocka_unit_test(a_walk_bears_removal_of_its_member),
        cmocka_unit_test(a_walk_can_be_broken_off),
        cmocka_unit_test(a_walk_can_go_on_early),
        cmocka_unit_test(walks_can_be_nested),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
