"""/metrics, read and checked."""

import re

FATES = ("rejected", "filtered", "late", "matched", "unmatched")
SIDES = ("left", "right")


class Metrics:
    """One scrape of /metrics."""

    SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
    LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')

    def __init__(self, text):
        self.text = text
        self.samples = {}
        for line in text.splitlines():
            if not line or line.startswith("#"):
                continue
            match = self.SAMPLE.match(line)
            assert match, f"not a line of the exposition format: {line!r}"
            name, labels, value = match.groups()
            key = (name, frozenset(self.LABEL.findall(labels or "")))
            assert key not in self.samples, f"there twice: {line!r}"
            self.samples[key] = float(value)

    def value(self, name, **labels):
        key = (name, frozenset(labels.items()))
        assert key in self.samples, f"no sample {name} {labels} in:\n{self.text}"
        return self.samples[key]

    def books(self, side):
        books = {fate: self.value("joind_records_total", side=side, fate=fate) for fate in FATES}
        books["received"] = self.value("joind_records_received_total", side=side)
        books["held"] = self.value("joind_records_held", side=side)
        return {name: int(count) for name, count in books.items()}

    def assert_books_balance(self):
        for side in SIDES:
            books = self.books(side)
            rest = sum(books[name] for name in (*FATES, "held"))
            assert books["received"] == rest, f"the books of {side} do not balance: {books}"
