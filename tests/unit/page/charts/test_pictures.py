"""What holds for every picture, at both widths, with the names and figures that strain it most."""

from collections.abc import Sequence
from itertools import pairwise, product

import pytest

from spotproof.page.charts.bars import Bar, Bars
from spotproof.page.charts.lanes import Lane, Lanes, Phase, Place, Stretch
from spotproof.page.charts.line import Axis, Line
from spotproof.page.charts.scatter import Cloud, Scatter
from spotproof.page.charts.svg import NARROW, WIDE
from spotproof.page.charts.timeline import Band, Span, State, Timeline
from spotproof.page.sections import Chart
from tests.unit.page.reading import coordinates, drawn, faults, svg, view, words

LONG = "maxFailures -1, pendingTimeout 1h30m, return 2h, guard"
NAMES = [
    "as written",
    LONG,
    "漢字の名前がとても長いので切れるはず",
    "<b>&\"'",
    "W" * 40,
    *(f"policy {n}" for n in range(8)),
]
WIDTHS = [NARROW, WIDE]


def scatter(names: Sequence[str], *, crowd: float, deadline: float | None = 60.0) -> Scatter:
    clouds = [
        Cloud(
            name,
            [(50 + crowd * at + dot / 9, 800 + 90 * crowd * at + 13 * dot) for dot in range(20)],
            (52 + crowd * at, 900 + 90 * crowd * at),
            None if at == 1 else 56 + crowd * at,
            strong=at == 0,
        )
        for at, name in enumerate(names)
    ]
    at = None if deadline is None else (deadline, f"deadline {deadline:g} h")
    return Scatter(
        "Cost over finish time", "Words.", "Cost of a run", "USD", clouds, at, (2187.0, "on-demand: 2,187 USD")
    )


def timeline(names: Sequence[str]) -> Timeline:
    states = [State(f"a100-spot-{zone}", "spot") for zone in "abcde"]
    states += [State(LONG, "on-demand"), State("waiting", "waiting")]
    spans = [Span(at % 7, at * 3.5, at * 3.5 + 3.2) for at in range(16)]
    bands = [Band(name, "until 56 h", spans, strong=at == 0) for at, name in enumerate(names)]
    return Timeline("One run", "Words.", states, bands, (60.0, "deadline 60 h"))


PHASES: Sequence[Phase] = ["waiting", "starting", "up", "leaving", "closed"]


def lanes(names: Sequence[str], marks: Sequence[float], seconds: float = 60.0) -> Lanes:
    places = [Place(f"a100-spot-{zone}", "spot") for zone in "abcde"] + [Place(LONG, "on-demand")]
    rows = [
        Lane(
            name,
            f"{LONG}, us-west-2a",
            [
                Stretch(PHASES[(at + row) % 5], at * seconds / 12, (at + 1) * seconds / 12, at % 6 if at % 4 else None)
                for at in range(12)
            ],
        )
        for row, name in enumerate(names)
    ]
    return Lanes("What they did", "Words.", places, rows, marks, seconds)


def bars(names: Sequence[str], values: Sequence[float]) -> Bars:
    made = [
        Bar(name, value, (value - 4, value + 3), f"{value:g} %")
        for name, value in zip(names, [*values, *(0.0 for _ in names)], strict=False)
    ]
    return Bars("Saving", "Words.", "Saving against on-demand", "%", made)


def line(points: Sequence[tuple[float, float]], marks: Sequence[tuple[tuple[float, float], str]] = ()) -> Line:
    up = Axis("Saving against on-demand", "%")
    return Line(
        "Saving over evictions", "Words.", Axis("Evictions an hour"), up, points, marks, below="spot costs more"
    )


CURVE = [(at / 10, 60 - at * 3.0) for at in range(40)]
PICTURES: dict[str, Chart] = {
    "scatter, all on one spot": scatter(NAMES, crowd=0.0),
    "scatter, close": scatter(NAMES, crowd=0.1),
    "scatter, spread": scatter(NAMES, crowd=1.5),
    "scatter, beyond the deadline": scatter(NAMES, crowd=40.0),
    "scatter, no deadline": scatter(NAMES, crowd=1.0, deadline=None),
    "scatter, one": scatter(NAMES[:1], crowd=1.0),
    "timeline": timeline(NAMES),
    "timeline, one": timeline(NAMES[:1]),
    "bars": bars(NAMES, [56.0, 12.5, 0.0, 99.9]),
    "bars, losses": bars(NAMES, [-56.0, 12.5, -3.0]),
    "bars, nothing": bars(["on-demand"], [0.0]),
    "lanes": lanes(NAMES, [0.0, 0.1, 5.0, 5.2, 5.4, 17.0, 18.0, 33.0, 59.9, 60.0]),
    "lanes, one after another": lanes(NAMES[:2], [each * 0.61 for each in range(99)]),
    "lanes, an hour": lanes(NAMES[:3], [each * 40.0 for each in range(90)], 3600.0),
    "lanes, none": lanes([], []),
    "line": line(CURVE, [((0.3, 51.0), "this market: 51 %"), ((2.0, 0.0), "break-even: 2 an hour")]),
    "line, marks on one spot": line(CURVE, [((2.0, 0.0), LONG), ((2.0, 0.0), LONG), ((2.01, 0.1), "a")]),
    "line, all lost": line([(0.0, -10.0), (1.0, -300.0)]),
    "line, one point": line([(1.0, 0.0)]),
}
EVERY = list(product(PICTURES, WIDTHS))


@pytest.mark.parametrize(("name", "width"), EVERY)
def test_no_text_meets_another_or_leaves_the_picture(name: str, width: int) -> None:
    assert faults(PICTURES[name].draw(width)) == []


@pytest.mark.parametrize(("name", "width"), EVERY)
def test_a_picture_names_itself_and_scales_to_its_width(name: str, width: int) -> None:
    root = svg(PICTURES[name].draw(width))

    assert (root[0].tag, root[0].text) == ("title", PICTURES[name].title)
    assert (root[1].tag, root[1].text) == ("desc", "Words.")
    assert root.attrib["role"] == "img"
    assert view(PICTURES[name].draw(width)).right == width
    assert "width" not in root.attrib


@pytest.mark.parametrize(("name", "width"), EVERY)
def test_the_same_data_are_drawn_the_same(name: str, width: int) -> None:
    assert PICTURES[name].draw(width) == PICTURES[name].draw(width)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_series_is_named_beside_its_mark_or_in_the_legend(width: int) -> None:
    seen = [text for text, _ in words(scatter(NAMES, crowd=0.0).draw(width))]

    assert [
        name for name in NAMES if not any(text.rstrip("…") and name.startswith(text.rstrip("…")) for text in seen)
    ] == []


def test_forty_series_have_forty_pairs_of_form_and_colour() -> None:
    picture = scatter([str(at) for at in range(40)], crowd=0.0).draw(WIDE)
    marks = [
        (path.attrib["class"], path.attrib["d"].partition("L")[2][:12], len(path.attrib["d"]))
        for path in svg(picture).iter("path")
        if path.attrib.get("class", "").startswith("centre") and path.find("title") is not None
    ]

    assert len(set(marks)) == len(marks) == 40


@pytest.mark.parametrize("width", WIDTHS)
def test_a_mark_beyond_the_deadline_stands_at_the_edge_with_its_hour(width: int) -> None:
    chart = scatter(["near", "far"], crowd=100.0)

    assert chart.outside == 20
    assert "far, 152\u00a0h" in [text for text, _ in words(chart.draw(width))]


def test_dots_are_drawn_where_the_axes_say() -> None:
    chart = Scatter("T", "D", "Cost", "USD", [Cloud("a", [(50.0, 0.0), (60.0, 1000.0)], (55.0, 500.0), 60.0)])
    picture = chart.draw(WIDE)
    labels = {text: box for text, box in words(picture) if text in {"50", "60", "0", "1,000"}}
    (first, second) = coordinates(drawn(picture, "dots")[0].replace("h0", ""))

    assert first[0] == pytest.approx((labels["50"].left + labels["50"].right) / 2, abs=0.6)
    assert second[0] == pytest.approx((labels["60"].left + labels["60"].right) / 2, abs=0.6)
    assert labels["0"].top < first[1] < labels["0"].bottom
    assert labels["1,000"].top < second[1] < labels["1,000"].bottom


@pytest.mark.parametrize("width", WIDTHS)
def test_every_moment_has_its_number_or_shares_one_with_its_neighbours(width: int) -> None:
    marks = [each * 3.7 for each in range(17)]
    seen = [text for text, _ in words(lanes(NAMES, marks).draw(width))]
    numbers = [
        text for text in seen if text.replace("-", "").isdigit() and (text in map(str, range(1, 18)) or "-" in text)
    ]
    told = {number for text in numbers for number in range(int(text.split("-")[0]), int(text.split("-")[-1]) + 1)}

    assert set(range(1, 18)) <= told


@pytest.mark.parametrize("width", WIDTHS)
def test_a_lane_tells_its_phases_by_form_and_says_when_they_were(width: int) -> None:
    places = [Place("spot-a", "spot"), Place("paid", "on-demand")]
    stretches = [
        Stretch("waiting", 0, 10),
        Stretch("starting", 10, 20, 0),
        Stretch("up", 20, 40, 0),
        Stretch("leaving", 40, 50, 0),
        Stretch("up", 50, 60, 1),
    ]
    picture = Lanes("T", "D", places, [Lane("worker 0", "2 pods", stretches)], [40.0], 60.0).draw(width)
    classes = [path.attrib["class"] for path in svg(picture).iter("path") if path.find("title") is not None]
    titles = [each.text for each in svg(picture).iter("title")]

    assert classes == ["waiting", "starting s0", "up s0", "leaving", "up paid"]
    assert "is up on spot-a, 20\u00a0s to 40\u00a0s" in titles
    assert "waits for a node, 0\u00a0s to 10\u00a0s" in titles


@pytest.mark.parametrize("width", WIDTHS)
def test_a_timeline_puts_waiting_on_the_ground_spot_above_it_and_on_demand_on_top(width: int) -> None:
    states = [State("spot", "spot"), State("on-demand", "on-demand"), State("waiting", "waiting")]
    spans = [Span(0, 0.0, 20.0), Span(2, 20.0, 30.0), Span(1, 30.0, 60.0)]
    picture = Timeline("T", "D", states, [Band("job", "", spans)]).draw(width)
    spot, waiting, on_demand = (coordinates(drawn(picture, kind)[-1]) for kind in ("spot", "waiting", "on-demand"))

    assert on_demand[0][1] < spot[0][1] < waiting[0][1]
    assert spot[0][0] < waiting[0][0] < on_demand[0][0]
    assert len(drawn(picture, "notch")) == 2  # one of the band, one of the legend


def test_the_end_of_a_band_is_no_end_of_a_stay() -> None:
    picture = Timeline("T", "D", [State("spot", "spot")], [Band("job", "", [Span(0, 0.0, 9.0)])]).draw(WIDE)

    assert drawn(picture, "notch") == []


def test_a_block_says_where_it_stood_and_when() -> None:
    picture = Timeline("T", "D", [State("a100", "on-demand")], [Band("job", "", [Span(0, 1.5, 9.0)])]).draw(WIDE)
    titles = [each.text for each in svg(picture).iter("title")]

    assert "a100, 1.5\u00a0h to 9\u00a0h" in titles


def test_steps_hold_a_value_until_the_next_one() -> None:
    up = Axis("Nodes")
    points = [(0.0, 8.0), (5.0, 0.0), (9.0, 8.0)]
    (curve,) = drawn(Line("T", "D", Axis("Hours"), up, points, steps=True).draw(WIDE), "curve")
    corners = coordinates(curve)

    assert len(corners) == 5
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(corners))


def test_a_line_is_tinted_below_nothing_only_where_that_has_a_meaning() -> None:
    assert len(drawn(line([(0.0, 5.0), (1.0, -5.0)]).draw(WIDE), "loss")) == 1
    assert drawn(line([(0.0, 5.0), (1.0, 1.0)]).draw(WIDE), "loss") == []


def test_a_bar_starts_at_nothing_and_its_interval_goes_around_its_end() -> None:
    picture = bars(["a", "b"], [50.0, -20.0]).draw(WIDE)
    (zero,) = drawn(picture, "zero")
    gain, loss = (coordinates(path.replace("H", "L").replace("V", "L")) for path in drawn(picture, "bar"))

    assert zero.startswith(f"M{gain[0][0]:g} ")
    assert gain[0][0] == loss[0][0]
    assert [path.count("v10") for path in drawn(picture, "interval")] == [2, 2, 2, 2]
