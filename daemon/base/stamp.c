#include "base/stamp.h"

bool stamp_enter(struct stamp_era *era, uint64_t first)
{
    uint64_t eight = first | EIGHT('0') >> 40; /* three zeroes before them */

    if (!eight_are_digits(eight) || (first >> 24 & 0xff) == '0')
        return false;
    *era = (struct stamp_era){first, eight_number(eight) * 100000000};
    return true;
}
