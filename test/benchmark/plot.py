"""The bars as a picture: each figure against its bar, by hand in SVG."""

from xml.sax.saxutils import escape

WIDTH = 860
LEFT, RIGHT = 330, 100  # room for the labels, and for the figures
ROW = 44
GOOD, BAD, LINE, TEXT, SOFT = "#2f7d4f", "#b3402f", "#1f2933", "#1f2933", "#6b7785"

LABELS = {
    "ack_ratio": ("durable acknowledgements ÷ A", "delivery paused"),
    "through_ratio": ("accepted and delivered ÷ B", "delivery on"),
    "backlog_seconds": ("backlog at the end", "in seconds' worth"),
    "ack_p99_ms": ("p99 of the acknowledgement", "full load, delivery paused"),
    "alone_ratio": ("one request at a time, p50", "÷ 4 KiB append with fdatasync"),
    "backlog_ratio": ("delivered from a backlog ÷ B", "10 at once each"),
    "hung_ratio": ("p99 of nine lanes, the tenth hung", "÷ the same with ten healthy apps"),
}
UNITS = {"backlog_seconds": " s", "ack_p99_ms": " ms", "alone_ratio": " ×", "hung_ratio": " ×"}


def text(x, y, content, size=13, anchor="start", colour=TEXT, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{colour}" font-weight="{weight}">{escape(content)}</text>')


def rule(x1, y1, x2, y2, colour=LINE, width=1.0, dash=""):
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"{dashes}/>')


class Panel:
    """Rows of horizontal bars over one axis, from 0 to `top`."""

    def __init__(self, y, title, axis, ticks, tick_format):
        self.y = y
        self.ticks = ticks
        self.top = ticks[-1]
        self.axis = axis
        self.tick_format = tick_format
        self.parts = [text(24, y, title, 15, weight="bold")]
        self.bottom = y + 16

    def at(self, value):
        return LEFT + min(value, self.top) / self.top * (WIDTH - LEFT - RIGHT)

    def row(self, bar, share, marks):
        """`share` is the bar's length on the axis; `marks` are (place, label, dash)."""
        y = self.bottom
        label, below = LABELS[bar["key"]]
        colour = GOOD if bar["met"] else BAD
        figure = f"{bar['value']:.2f}{UNITS.get(bar['key'], '')}"
        self.parts += [
            text(LEFT - 12, y + 19, label, anchor="end"),
            text(LEFT - 12, y + 34, below, 11, "end", SOFT),
            f'<rect x="{LEFT}" y="{y + 10}" width="{max(1.0, self.at(share) - LEFT):.1f}" '
            f'height="24" fill="{colour}"/>',
            text(WIDTH - RIGHT + 12, y + 21, figure, 14, colour=colour, weight="bold"),
            text(WIDTH - RIGHT + 12, y + 35, "met" if bar["met"] else "missed", 11, colour=colour),
        ]
        for place, mark, dash in marks:
            x = self.at(place)
            self.parts.append(rule(x, y + 5, x, y + 40, width=2, dash=dash))
            self.parts.append(f'<rect x="{x - 30:.1f}" y="{y - 8}" width="60" height="11" '
                              'fill="#ffffff"/>')
            self.parts.append(text(x, y + 1, mark, 10, "middle", SOFT))
        self.bottom += ROW + 10

    def close(self):
        for tick in self.ticks:
            x = self.at(tick)
            self.parts.insert(0, rule(x, self.y + 14, x, self.bottom, "#dde2e7"))
            self.parts.append(text(x, self.bottom + 16, self.tick_format(tick), 11, "middle", SOFT))
        self.parts.append(rule(LEFT, self.bottom, WIDTH - RIGHT, self.bottom))
        middle = (LEFT + WIDTH - RIGHT) / 2
        self.parts.append(text(middle, self.bottom + 34, self.axis, 12, "middle"))
        return self.bottom + 34


def svg(results):
    about = results["machine"]
    higher = Panel(82, "Throughput: more is better", "share of the reference's throughput",
                   [0, 0.2, 0.4, 0.6, 0.8, 1.0], lambda tick: f"{tick:.1f}")
    lowers = [bar for bar in results["bars"] if bar["kind"] == "max"]
    for bar in results["bars"]:
        if bar["kind"] == "min":
            marks = [(bar["bar"], f"bar {bar['bar']:g}", "")]
            if bar["aim"] is not None:
                marks.append((bar["aim"], f"aim {bar['aim']:g}", "4 3"))
            higher.row(bar, bar["value"], marks)
    next_y = higher.close() + 46
    lower = Panel(next_y, "Delay: less is better", "share of what is allowed (longer is cut off)",
                  [0, 0.25, 0.5, 0.75, 1.0, 1.25], lambda tick: f"{tick:.0%}")
    for bar in lowers:
        unit = UNITS.get(bar["key"], "")
        lower.row(bar, bar["value"] / bar["bar"], [(1.0, f"bar {bar['bar']:g}{unit}", "")])
    height = lower.close() + 24
    subtitle = (f"{about['started'][:10]}, {about['cores']} cores, Envoy {about['envoy']}, "
                f"one worker, {about['connections']} connections, {about['body_bytes']} B events, "
                f"{about['rounds']} × {about['seconds']:g} s")
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}" font-family="Helvetica, Arial, sans-serif">',
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="#ffffff"/>',
        text(24, 30, "Forebay against the Envoy that it runs in", 18, weight="bold"),
        text(24, 50, subtitle, 12, colour=SOFT),
    ]
    return "\n".join(head + higher.parts + lower.parts + ["</svg>"]) + "\n"
