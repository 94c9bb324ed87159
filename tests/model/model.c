/*
 * The model test: random joins against a reference in nested loops.
 *
 *     model [--plans N] [--seed S] [--long] [--brief] [--match M]
 *           [--sabotage N | all]
 *
 * Plan i is made from seed S + i alone; --long: with ten times as many events;
 * --brief: a failure is told as it is; --match: plans of other matches are passed over. Plans run
 * in a process of their own, so that an assertion, a sanitizer's report or an endless loop are
 * failures like any other: the scene is made smaller while it still fails, and printed as a
 * scenario script.
 *
 * --sabotage: the reference breaks rule N (enum ref_sabotage) on purpose, and that has to be
 * noticed within so many plans. That is the test of this test.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "shrink.h"
#include "story.h"

#define PLANS_DEFAULT   10000
#define SECONDS_A_PLAN  20 /* then it is taken for an endless loop; */
#define SECONDS_A_TRIAL 3  /* the same for one of a few hundred events */
#define SECONDS_SHRINK  60 /* then it is small enough */
#define PROGRESS_EVERY  100000
#define LONG            10

/* Shared with the process that runs the plans: which one is at hand. */
static uint64_t *progress;

static time_t shrink_until;

static struct {
    uint64_t seed, plans;
    int size;          /* of scenes */
    int sabotage;      /* of the reference */
    bool all;          /* kinds of it, one after the other */
    bool brief;        /* failures are not made smaller, and no story is written */
    const char *match; /* NULL: all */
} options = {.plans = PLANS_DEFAULT, .size = 1};

static bool is_wanted(const struct scene *scene)
{
    static const char *const matches[] = {"tumbling", "sliding", "session", "interval",
                                          "latest",   "batch",   "lookup"};
    return options.match == NULL || strcmp(options.match, matches[scene->plan.match]) == 0;
}

static bool run_scene(const struct scene *scene, unsigned seconds, bool tell)
{
    struct buf why = BUF_EMPTY;
    alarm(seconds);
    bool fine = check_scene(scene, options.sabotage, &why);
    if (!fine && tell)
        printf("  %s\n", buf_text(&why));
    buf_done(&why);
    return fine;
}

static void run_plans(void)
{
    for (uint64_t i = 0; i < options.plans; i++) {
        *progress = i;
        struct scene scene = scene_random(options.seed + i, options.size);
        bool fine = !is_wanted(&scene) || run_scene(&scene, SECONDS_A_PLAN, false);
        scene_done(&scene);
        if (!fine)
            _exit(1);
        if ((i + 1) % PROGRESS_EVERY == 0)
            printf("model: %" PRIu64 " plans\n", i + 1);
    }
}

/* True: it was left in order, with 0. */
static bool ends_well(pid_t child)
{
    int status;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The child goes the usual way out, so that leaks are looked for too. */
static pid_t start(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(1);
    }
    return child;
}

static bool fails(const struct scene *scene)
{
    pid_t child = start();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(2);
        _exit(run_scene(scene, SECONDS_A_TRIAL, false) ? 0 : 1);
    }
    return !ends_well(child);
}

static bool fails_in_time(const struct scene *scene)
{
    return time(NULL) < shrink_until && fails(scene);
}

static void tell_failure(struct scene *scene)
{
    struct buf story = BUF_EMPTY;
    printf("model: plan of seed %" PRIu64 " fails (model --seed %" PRIu64 " --plans 1%s)\n",
           scene->seed, scene->seed, options.size > 1 ? " --long" : "");
    if (!fails(scene)) {
        printf("model: but not when it runs alone\n");
        return;
    }
    shrink_until = time(NULL) + SECONDS_SHRINK;
    if (!options.brief)
        shrink(scene, fails_in_time);
    pid_t child = start();
    if (child == 0) {
        run_scene(scene, SECONDS_A_PLAN, true);
        fflush(stdout);
        _exit(0);
    }
    if (!ends_well(child))
        printf("  it ends the process\n");
    if (!options.brief) {
        story_write(scene, &story);
        printf("\n%s", buf_text(&story));
    }
    buf_done(&story);
}

static bool read_option(const char *name, const char *value)
{
    if (value == NULL)
        return false;
    if (strcmp(name, "--seed") == 0)
        options.seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "--plans") == 0)
        options.plans = strtoull(value, NULL, 10);
    else if (strcmp(name, "--match") == 0)
        options.match = value;
    else if (strcmp(name, "--sabotage") == 0 && strcmp(value, "all") == 0)
        options.all = true;
    else if (strcmp(name, "--sabotage") == 0)
        options.sabotage = atoi(value);
    else
        return false;
    return true;
}

static bool read_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--long") == 0)
            options.size = LONG;
        else if (strcmp(argv[i], "--brief") == 0)
            options.brief = true;
        else if (read_option(argv[i], i + 1 < argc ? argv[i + 1] : NULL))
            i++;
        else
            return false;
    }
    return true;
}

/* In a process of their own; true: all of them are as they should be. */
static bool all_fine(void)
{
    pid_t child = start();
    if (child == 0) {
        run_plans();
        exit(0);
    }
    return ends_well(child);
}

/* Each broken rule is noticed. */
static int sabotage_all(void)
{
    int unnoticed = 0;
    for (int rule = 1; rule < REF_SABOTAGES; rule++) {
        options.sabotage = rule;
        bool noticed = !all_fine();
        printf("model: sabotage %d is %s %" PRIu64 "\n", rule,
               noticed ? "noticed in plan" : "NOT NOTICED in plans up to", *progress);
        unnoticed += !noticed;
    }
    return unnoticed == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    options.seed = (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
    if (!read_arguments(argc, argv)) {
        fprintf(stderr, "usage: model [--plans N] [--seed S] [--long] [--brief] [--match M]\n"
                        "             [--sabotage N | --sabotage all]\n");
        return 64;
    }
    progress =
        mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    printf("model: seed %" PRIu64 ", %" PRIu64 " plans\n", options.seed, options.plans);
    if (options.all)
        return sabotage_all();
    if (all_fine())
        return 0;
    struct scene scene = scene_random(options.seed + *progress, options.size);
    tell_failure(&scene);
    scene_done(&scene);
    return 1;
}
