/*
 * The model test: random joins against a reference in nested loops.
 *
 *     model [--plans N] [--seed S]
 *
 * Plan i is made from seed S + i alone. Plans run in a process of their own, so
 * that an assertion, a sanitizer's report or an endless loop are failures like
 * any other: the scene is made smaller while it still fails, and printed as a
 * scenario script.
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

/* Shared with the process that runs the plans: which one is at hand. */
static uint64_t *progress;

static time_t shrink_until;

static bool run_scene(const struct scene *scene, unsigned seconds, bool tell)
{
    struct buf why = BUF_EMPTY;
    alarm(seconds);
    bool fine = check_scene(scene, &why);
    if (!fine && tell)
        printf("  %s\n", buf_text(&why));
    buf_done(&why);
    return fine;
}

static void run_plans(uint64_t seed, uint64_t plans)
{
    for (uint64_t i = 0; i < plans; i++) {
        *progress = i;
        struct scene scene = scene_random(seed + i);
        bool fine = run_scene(&scene, SECONDS_A_PLAN, false);
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
    printf("model: plan of seed %" PRIu64 " fails (model --seed %" PRIu64 " --plans 1)\n",
           scene->seed, scene->seed);
    if (!fails(scene)) {
        printf("model: but not when it runs alone\n");
        return;
    }
    shrink_until = time(NULL) + SECONDS_SHRINK;
    shrink(scene, fails_in_time);
    pid_t child = start();
    if (child == 0) {
        run_scene(scene, SECONDS_A_PLAN, true);
        fflush(stdout);
        _exit(0);
    }
    if (!ends_well(child))
        printf("  it ends the process\n");
    story_write(scene, &story);
    printf("\n%s", buf_text(&story));
    buf_done(&story);
}

static bool read_arguments(int argc, char **argv, uint64_t *seed, uint64_t *plans)
{
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            return false;
        if (strcmp(argv[i], "--seed") == 0)
            *seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--plans") == 0)
            *plans = strtoull(argv[i + 1], NULL, 10);
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    uint64_t seed = (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid(), plans = PLANS_DEFAULT;
    if (!read_arguments(argc, argv, &seed, &plans)) {
        fprintf(stderr, "usage: model [--plans N] [--seed S]\n");
        return 64;
    }
    progress =
        mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    printf("model: seed %" PRIu64 ", %" PRIu64 " plans\n", seed, plans);
    pid_t child = start();
    if (child == 0) {
        run_plans(seed, plans);
        return 0;
    }
    if (ends_well(child))
        return 0;
    struct scene scene = scene_random(seed + *progress);
    tell_failure(&scene);
    scene_done(&scene);
    return 1;
}
