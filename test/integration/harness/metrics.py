"""Reads Prometheus text, as far as Envoy writes it."""

import re

_LINE = re.compile(r"^(?P<name>[A-Za-z_:][\w:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def parse(text):
    """Samples of our own metrics: name below `forebay.`, labels, value."""
    samples = []
    for line in text.splitlines():
        match = _LINE.match(line)
        if not match or "forebay_" not in match["name"]:
            continue
        # Envoy puts its own prefix and the module's namespace before the name.
        name = match["name"].split("forebay_", 1)[1]
        samples.append((name, dict(_LABEL.findall(match["labels"] or "")), float(match["value"])))
    return samples


def value(samples, name, **labels):
    """The one sample with exactly these labels; 0 when there is none."""
    found = [v for n, ls, v in samples if n == name and ls == labels]
    assert len(found) <= 1, f"{name} {labels}: {len(found)} samples"
    return found[0] if found else 0


def label_sets(samples, name):
    return [labels for n, labels, _ in samples if n == name]
