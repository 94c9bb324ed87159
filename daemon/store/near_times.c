#include "store/near_times.h"

bool near_times_fit(struct near_times *n, int64_t t)
{
    if (n->count[0] + n->count[1] == 0)
        n->base = t < INT64_MIN + NEAR_TIMES_HALF_MS ? INT64_MIN : t - NEAR_TIMES_HALF_MS;
    if (t < n->base)
        return false;
    if (n->count[0] == 0 && near_times_half(n, t) > 1) {
        n->base += NEAR_TIMES_HALF_MS;
        n->count[0] = n->count[1];
        n->count[1] = 0;
    }
    return near_times_half(n, t) <= 1;
}
