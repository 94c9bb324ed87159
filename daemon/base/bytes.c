#include "base/bytes.h"

int bytes_compare(struct bytes a, struct bytes b)
{
    size_t common = a.n < b.n ? a.n : b.n;
    int order = common > 0 ? memcmp(a.p, b.p, common) : 0;

    if (order != 0)
        return order;
    return (a.n > b.n) - (a.n < b.n);
}
