"""What the figures mean: bars, the table, the files under bench-results/."""

import json
import statistics

import plot

# key, what it says, at least or at most, the bar, the aim
BARS = [
    ("ack_ratio", "durable acknowledgements/s, delivery paused ÷ A", "min", 0.6, 0.8),
    ("through_ratio", "accepted and delivered/s ÷ B", "min", 0.7, None),
    ("backlog_seconds", "backlog at the end, in seconds' worth", "max", 1.0, None),
    ("ack_p99_ms", "p99 of the acknowledgement at full load, ms", "max", 20.0, None),
    ("alone_ratio", "one request at a time: p50 ÷ append with fdatasync", "max", 4.0, None),
    ("backlog_ratio", "delivered/s from a backlog ÷ B, 10 connections each", "min", 0.7, None),
    ("hung_ratio", "p99 of nine lanes' delivery, the tenth hung ÷ healthy", "max", 1.2, None),
]
# How far off a bar means broken, where it isn't twice: a p99 of a short round jumps about.
FAR = {"hung_ratio": 10}


def judge(results):
    """Adds `bars`, `broken` and `passed`. A quick run passes unless something is broken: errors,
    lost events, or a ratio that misses its bar by a factor of two (a busy machine may do less)."""
    quick = results["machine"]["quick"]
    figures = results["figures"]
    results["bars"] = []
    broken = ledger_faults(results)
    for key, title, kind, bar, aim in BARS:
        value = figures[key]
        met = value >= bar if kind == "min" else value <= bar
        factor = FAR.get(key, 2)
        far = value < bar / factor if kind == "min" else value > bar * factor
        results["bars"].append({"key": key, "title": title, "kind": kind, "bar": bar, "aim": aim,
                                "value": value, "met": met})
        # Milliseconds say more about who else uses the machine than about us.
        if quick and far and not key.endswith("_ms"):
            broken.append(f"{title}: {value:.2f}, bar {bar}")
    results["broken"] = broken
    results["passed"] = not broken and (quick or all(each["met"] for each in results["bars"]))


def ledger_faults(results):
    ledger = results["ledger"]
    totals, app = ledger["totals"], ledger["app"]
    accepted = totals["accepted"]
    most = ledger["acknowledged"] + ledger["under_way_at_most"]
    faults = []
    if ledger["errors"]:
        faults.append(f"{ledger['errors']} errors or answers other than 2xx")
    if accepted < ledger["acknowledged"]:
        faults.append(f"{ledger['acknowledged']} acknowledged, but only {accepted} accepted")
    if accepted > most:
        faults.append(f"{accepted} accepted, but at most {most} sent")
    if app["distinct"] != accepted:
        faults.append(f"{accepted} accepted, but {app['distinct']} arrived at the app")
    if app["events"] != app["distinct"]:
        faults.append(f"{app['events'] - app['distinct']} deliveries were repeated without need")
    if totals.get("delivered", 0) != accepted:
        faults.append(f"{accepted} accepted, but {totals.get('delivered', 0)} marked delivered")
    if app["body_bytes"] != app["requests"] * results["machine"]["body_bytes"]:
        faults.append("bodies did not arrive whole")
    if not results["ended_cleanly"]:
        faults.append("Envoy did not end cleanly")
    return faults


def rows(results):
    f = results["figures"]
    alone = results["one_at_a_time"]
    return [
        ("A: buffer filter, direct answer", f"{f['a_per_second']:,.0f}/s",
         f"p99 {f['a_p99_ms']:.1f} ms"),
        ("Forebay, delivery paused", f"{f['acks_per_second']:,.0f}/s",
         f"p50 {f['ack_p50_ms']:.1f} ms, p99 {f['ack_p99_ms']:.1f} ms"),
        ("B: proxied straight to the app", f"{f['b_per_second']:,.0f}/s", ""),
        ("Forebay, accepted and delivered", f"{f['through_per_second']:,.0f}/s",
         f"backlog at the end {f['backlog_seconds']:.2f} s"),
        ("Forebay, draining a backlog", f"{f['drain_per_second']:,.0f}/s",
         f"{results['drain']['events']:,} events"),
        ("B with 10 connections", f"{f['b_ten_per_second']:,.0f}/s", ""),
        ("Forebay, from a backlog, 10 at once", f"{f['backlog_per_second']:,.0f}/s",
         f"{results['backlog_events']:,} events"),
        ("nine lanes, all apps healthy", f"p99 {f['healthy_p99_ms']:.2f} ms",
         "from capture to arrival"),
        ("nine lanes, the tenth app hung", f"p99 {f['hung_p99_ms']:.2f} ms", ""),
        ("one request at a time", f"p50 {f['alone_p50_ms']:.3f} ms",
         f"p99 {alone['request']['p99_ms']:.3f} ms"),
        ("4 KiB append with fdatasync", f"p50 {f['append_p50_ms']:.3f} ms",
         f"p99 {alone['append']['p99_ms']:.3f} ms"),
    ]


def verdict(bar):
    text = "PASS" if bar["met"] else "MISS"
    if bar["aim"] is not None and bar["met"]:
        text += f" (aim {bar['aim']:g} {'met' if bar['value'] >= bar['aim'] else 'not met'})"
    return text


def limit(bar):
    return f"{'at least' if bar['kind'] == 'min' else 'at most'} {bar['bar']:g}"


def closing(results):
    ledger = results["ledger"]
    lines = [f"{ledger['totals']['accepted']:,} events accepted, "
             f"{ledger['app']['distinct']:,} arrived, {ledger['errors']} errors"]
    if results["foreign_share"] > 0.1:
        lines.append(f"noisy: other processes had up to {results['foreign_share']:.0%} of the "
                     "machine")
    lines += [f"BROKEN: {fault}" for fault in results["broken"]]
    return lines


def table(results):
    lines = [""]
    for name, figure, note in rows(results):
        lines.append(f"  {name:<34} {figure:>16}   {note}")
    lines.append("")
    for bar in results["bars"]:
        lines.append(f"  {bar['title']:<52} {bar['value']:>7.2f}   {limit(bar):<13} {verdict(bar)}")
    lines.append("")
    return "\n".join(lines + ["  " + line for line in closing(results)])


def threads(results):
    """What a request costs each thread of Envoy: where to look next. Unlike throughput it hardly
    depends on who else uses the machine."""
    kinds = results["rounds"]
    names = sorted({name for rounds in kinds.values() for each in rounds
                    for name in each["cpu_us"]})
    lines = ["| Thread | " + " | ".join(kinds) + " |", "| --- |" + " --- |" * len(kinds)]
    costs = {name: [statistics.median(each["cpu_us"].get(name, 0) for each in rounds)
                    for rounds in kinds.values()] for name in names}
    costs["all"] = [sum(costs[name][kind] for name in names) for kind in range(len(kinds))]
    for name, by_kind in costs.items():
        if max(by_kind) >= 0.1:
            lines.append(f"| {name} | " + " | ".join(f"{cost:.1f}" for cost in by_kind) + " |")
    return lines


def summary(results):
    about, figures = results["machine"], results["figures"]
    lines = [
        "# Benchmark", "",
        f"{about['started']}, {about['cores']} cores ({about['cpu']}), Linux {about['kernel']}, "
        f"Envoy {about['envoy']}, one worker. {about['rounds']} rounds of {about['seconds']:g} s "
        f"of each kind, alternating; medians. {about['connections']} connections, POSTs of "
        f"{about['body_bytes']} bytes, `concurrency_max` {about['concurrency_max']}. Other "
        f"processes had at most {results['foreign_share']:.0%} of the machine.", "",
        "| What | Figure | |", "| --- | --- | --- |",
    ]
    lines += [f"| {name} | {figure} | {note} |" for name, figure, note in rows(results)]
    lines += ["", "| Bar | Measured | Wanted | |", "| --- | --- | --- | --- |"]
    lines += [f"| {bar['title']} | {bar['value']:.2f} | {limit(bar)} | {verdict(bar)} |"
              for bar in results["bars"]]
    low, high = figures["ack_ratio_spread"]
    through_low, through_high = figures["through_ratio_spread"]
    lines += ["", f"Round by round the first ratio lies between {low:.2f} and {high:.2f}, the "
              f"second between {through_low:.2f} and {through_high:.2f}; that of the backlog "
              f"between {figures['backlog_ratio_spread'][0]:.2f} and "
              f"{figures['backlog_ratio_spread'][1]:.2f}, that of the nine lanes between "
              f"{figures['hung_ratio_spread'][0]:.2f} and {figures['hung_ratio_spread'][1]:.2f}.",
              ""]
    lines += [line + ".  " for line in closing(results)]
    lines += ["", "![measured against the bars](plot.svg)", "",
              "CPU by thread of Envoy, in µs per request:", ""]
    return "\n".join(lines + threads(results)) + "\n"


def write(results, directory):
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (directory / "summary.md").write_text(summary(results))
    (directory / "plot.svg").write_text(plot.svg(results))
    print(f"\n  written to {directory}: summary.md, results.json, plot.svg")
