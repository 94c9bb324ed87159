#include "unit.h"

#include <event2/event.h>
#include <netdb.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "io/resolver.h"

/* --- names, as this test has them: every answer has to be allowed first --- */

static sem_t may_answer, freed;
static atomic_int asked;

int getaddrinfo(const char *restrict host, const char *restrict port,
                const struct addrinfo *restrict hints, struct addrinfo **restrict ret)
{
    (void)port;
    if (hints->ai_flags & AI_NUMERICHOST) {
        if (strcmp(host, "127.0.0.1") != 0)
            return EAI_NONAME;
    } else {
        atomic_fetch_add(&asked, 1);
        sem_wait(&may_answer);
        if (strcmp(host, "nobody.test") == 0)
            return EAI_NONAME;
    }
    *ret = calloc(1, sizeof(**ret));
    return 0;
}

void freeaddrinfo(struct addrinfo *found)
{
    free(found);
    sem_post(&freed);
}

/* --- a question --- */

struct question {
    struct event_base *base;
    struct resolver *resolver;
    unsigned answers;
    struct addrinfo *found;
    const char *error;
};

static void on_answer(void *owner, struct addrinfo *found, const char *error)
{
    struct question *q = owner;

    q->answers++;
    q->found = found;
    q->error = error;
}

static void ask(struct question *q, const char *host)
{
    *q = (struct question){.base = event_base_new()};
    q->resolver = resolver_ask(q->base, host, "9000", on_answer, q);
    assert_int_equal(q->answers, 0);
}

static void done(struct question *q)
{
    if (q->found != NULL)
        freeaddrinfo(q->found);
    event_base_free(q->base);
}

static int set_up(void **state)
{
    (void)state;
    atomic_store(&asked, 0);
    return sem_init(&may_answer, 0, 0) + sem_init(&freed, 0, 0);
}

/* --- tests --- */

static void a_numeric_address_needs_no_thread_and_is_answered_from_the_loop(void **state)
{
    struct question q;

    (void)state;
    ask(&q, "127.0.0.1");
    event_base_loop(q.base, EVLOOP_ONCE);
    assert_int_equal(q.answers, 1);
    assert_non_null(q.found);
    assert_int_equal(atomic_load(&asked), 0);
    done(&q);
}

static void the_loop_goes_on_while_a_name_is_looked_up(void **state)
{
    struct question q;

    (void)state;
    ask(&q, "somebody.test");
    event_base_loop(q.base, EVLOOP_NONBLOCK);
    assert_int_equal(q.answers, 0);
    sem_post(&may_answer);
    event_base_loop(q.base, EVLOOP_ONCE);
    assert_int_equal(q.answers, 1);
    assert_non_null(q.found);
    done(&q);
}

static void a_name_that_is_not_known_is_answered_with_why(void **state)
{
    struct question q;

    (void)state;
    ask(&q, "nobody.test");
    sem_post(&may_answer);
    event_base_loop(q.base, EVLOOP_ONCE);
    assert_int_equal(q.answers, 1);
    assert_null(q.found);
    assert_string_equal(q.error, gai_strerror(EAI_NONAME));
    done(&q);
}

static void what_nobody_waits_for_any_more_is_freed_by_who_finds_it(void **state)
{
    struct question q;

    (void)state;
    ask(&q, "somebody.test");
    resolver_forget(q.resolver);
    event_base_free(q.base); /* even the loop may be gone by then */
    sem_post(&may_answer);
    sem_wait(&freed);
    assert_int_equal(q.answers, 0);
}

static void an_answer_that_has_come_may_still_be_forgotten(void **state)
{
    struct question q;

    (void)state;
    ask(&q, "127.0.0.1");
    resolver_forget(q.resolver);
    event_base_loop(q.base, EVLOOP_NONBLOCK);
    assert_int_equal(q.answers, 0);
    sem_wait(&freed);
    done(&q);
}

static void several_questions_are_looked_up_at_once(void **state)
{
    struct question q[8];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(q); i++)
        ask(&q[i], i % 2 == 0 ? "somebody.test" : "nobody.test");
    for (size_t i = 0; i < COUNT_OF(q); i++)
        sem_post(&may_answer);
    for (size_t i = 0; i < COUNT_OF(q); i++) {
        if (i % 3 == 0)
            resolver_forget(q[i].resolver);
        else
            event_base_loop(q[i].base, EVLOOP_ONCE);
        assert_int_equal(q[i].answers, i % 3 == 0 ? 0 : 1);
        assert_int_equal(q[i].found != NULL, i % 3 != 0 && i % 2 == 0);
        done(&q[i]);
    }
    for (size_t i = 0; i < COUNT_OF(q) / 2; i++)
        sem_wait(&freed);
}

static void nobody_is_forgotten(void **state)
{
    (void)state;
    resolver_forget(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_numeric_address_needs_no_thread_and_is_answered_from_the_loop,
                               set_up),
        cmocka_unit_test_setup(the_loop_goes_on_while_a_name_is_looked_up, set_up),
        cmocka_unit_test_setup(a_name_that_is_not_known_is_answered_with_why, set_up),
        cmocka_unit_test_setup(what_nobody_waits_for_any_more_is_freed_by_who_finds_it, set_up),
        cmocka_unit_test_setup(an_answer_that_has_come_may_still_be_forgotten, set_up),
        cmocka_unit_test_setup(several_questions_are_looked_up_at_once, set_up),
        cmocka_unit_test(nobody_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
