#include "unit.h"

#include <stdio.h>

#include "base/mem.h"
#include "codec/json_paths.h"
#include "fixture.h"

struct side {
    struct schema schema;
    struct json_paths *paths;
};

static void open_side(struct side *s, const char *fields)
{
    schema_init(&s->schema, "left");
    fixture_add_fields(&s->schema, fields);
    s->paths = fixture_paths(&s->schema);
}

static void close_side(struct side *s)
{
    json_paths_free(s->paths);
    schema_done(&s->schema);
}

static const struct json_member *find(const struct json_paths *p, uint32_t node, const char *name)
{
    uint32_t m = json_paths_find(p, node, bytes_of(name));

    return m != JSON_NONE ? &p->members[m] : NULL;
}

static void assert_field(const struct json_paths *p, const struct json_member *m, size_t field)
{
    assert_non_null(m);
    assert_int_equal(m->fields, 1);
    assert_int_equal(p->fields[m->first_field], field);
}

static void members_are_found_in_their_object_only(void **state)
{
    const struct json_member *user, *home;
    struct side s;

    (void)state;
    open_side(&s, "user.name, id, user.home.city, user.id");
    assert_int_equal(s.paths->node_count, 3);
    user = find(s.paths, JSON_ROOT, "user");
    assert_int_equal(user->fields, 0);
    assert_field(s.paths, find(s.paths, JSON_ROOT, "id"), 1);
    assert_int_equal(find(s.paths, JSON_ROOT, "id")->node, JSON_NONE);
    assert_null(find(s.paths, JSON_ROOT, "name"));
    assert_null(find(s.paths, JSON_ROOT, "i"));
    assert_null(find(s.paths, JSON_ROOT, "idd"));
    assert_null(find(s.paths, JSON_ROOT, ""));
    assert_field(s.paths, find(s.paths, user->node, "name"), 0);
    assert_field(s.paths, find(s.paths, user->node, "id"), 3);
    home = find(s.paths, user->node, "home");
    assert_int_equal(home->fields, 0);
    assert_field(s.paths, find(s.paths, home->node, "city"), 2);
    assert_null(find(s.paths, home->node, "id"));
    close_side(&s);
}

static void a_member_may_be_a_field_and_hold_others(void **state)
{
    const struct json_member *user;
    struct side s;

    (void)state;
    open_side(&s, "user.id, user, user.id, user");
    user = find(s.paths, JSON_ROOT, "user");
    assert_int_equal(user->fields, 2);
    assert_int_equal(s.paths->fields[user->first_field], 1);
    assert_int_equal(s.paths->fields[user->first_field + 1], 3);
    assert_int_equal(find(s.paths, user->node, "id")->fields, 2);
    assert_int_equal(json_paths_field_below(s.paths, user->node), 0);
    close_side(&s);
}

static void a_field_below_is_found_at_any_depth(void **state)
{
    struct side s;

    (void)state;
    open_side(&s, "x, a.b.c.d.e, a.b.c.d.f");
    assert_int_equal(json_paths_field_below(s.paths, find(s.paths, JSON_ROOT, "a")->node), 1);
    close_side(&s);
}

static void every_one_of_many_is_found(void **state)
{
    enum { FIELDS = 500 };
    struct json_paths *p = json_paths_new();
    char texts[2][20];
    const struct bytes names[2] = {{texts[0], 0}, {texts[1], 0}};

    (void)state;
    for (int i = 0; i < FIELDS; i++) {
        struct bytes path[2] = {names[0], names[1]};

        path[0].n = (size_t)sprintf(texts[0], "o%d", i * 31 % 17);
        path[1].n = (size_t)sprintf(texts[1], "m%d", i * 7919 % 1009);
        json_paths_add(p, path, 2);
    }
    json_paths_finish(p);
    assert_int_equal(p->count, FIELDS);
    assert_int_equal(p->node_count, 1 + 17);
    for (int i = 0; i < FIELDS; i++) {
        sprintf(texts[0], "o%d", i * 31 % 17);
        sprintf(texts[1], "m%d", i * 7919 % 1009);
        assert_field(p, find(p, find(p, JSON_ROOT, texts[0])->node, texts[1]), (size_t)i);
    }
    json_paths_free(p);
}

static void without_fields_nothing_is_found(void **state)
{
    struct json_paths *p = json_paths_new();

    (void)state;
    json_paths_finish(p);
    assert_int_equal(json_paths_find(p, JSON_ROOT, BYTES_LIT("a")), JSON_NONE);
    json_paths_free(p);
    json_paths_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_found_in_their_object_only),
        cmocka_unit_test(a_member_may_be_a_field_and_hold_others),
        cmocka_unit_test(a_field_below_is_found_at_any_depth),
        cmocka_unit_test(every_one_of_many_is_found),
        cmocka_unit_test(without_fields_nothing_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
