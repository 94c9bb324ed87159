#include "config/reading.h"

#include "base/mem.h"

void report_fault(const struct reading *r, const struct setting *s, struct expr_fault *fault)
{
    report_value(&r->report, s, fault->offset, "%s", fault->message);
    mem_free(fault->message);
}

const struct setting *reading_find(const struct reading *r, enum section section, const char *key)
{
    const struct setting *s = settings_find(&r->settings, section, key);

    return s != NULL && setting_text(s).n > 0 ? s : NULL;
}
