"""Random jobs and markets, as hypothesis draws them."""

from hypothesis import strategies as st

from spotproof.economics.outcome import Job

GAPS = (195, 600)


@st.composite
def capacity(draw: st.DrawFn, ticks: int) -> str:
    """Spells of capacity and of none, of lengths that occur."""
    spells = draw(st.lists(st.integers(1, 30), min_size=1, max_size=12))
    first = draw(st.integers(0, 1))
    text = "".join(str((first + number) % 2) * length for number, length in enumerate(spells))
    return (text * (ticks // len(text) + 1))[:ticks]


@st.composite
def cases(draw: st.DrawFn, most_tiers: int = 1) -> tuple[Job, int, tuple[str, ...]]:
    """A job that on-demand alone finishes in time, the seconds of a tick, and a market that outlasts the deadline."""
    gap = draw(st.sampled_from(GAPS))
    changeover = draw(st.sampled_from((0, 180, 600, 720, 1800)) | st.integers(0, 2000))
    work = draw(st.integers(1, 40_000))
    least = -(-(work + changeover) // gap) * gap
    deadline = least + draw(st.integers(0, 30_000))
    prices = draw(st.lists(st.floats(0.1, 3), min_size=1, max_size=most_tiers))
    ticks = deadline // gap + 3
    market = tuple(draw(capacity(ticks)) for _ in prices)
    return Job(work, deadline, changeover, 3.06, tuple(prices), draw(st.integers(1, 3))), gap, market
