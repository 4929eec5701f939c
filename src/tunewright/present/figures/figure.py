"""A figure: what it shows as data, in words, and drawn: as a file, in a notebook, in a report."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from tunewright.errors import DesignError, need
from tunewright.present.figures.ticks import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Data = TypeVar("Data")
Drawing = Callable[["Canvas", Data], None]

ENDINGS = (".png", ".svg", ".pdf")
DOTS_PER_INCH = 110
STYLE = {
    "text.parse_math": False,  # a name with dollar signs is a name
    "svg.fonttype": "none",  # letters stay letters: small, searchable, read aloud
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#444444",
    "axes.axisbelow": True,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
}


@dataclass(frozen=True)
class Figure(Generic[Data]):
    """A figure that shows itself in a notebook; `data` is what it shows, `says` the same in words.

    Drawing needs matplotlib and happens when it is asked for, never before.
    """

    name: str  # of the kind of figure, such as `axis`
    data: Data
    says: str  # for those who cannot see it, and below it for those who can
    size: tuple[float, float] = (7.0, 4.0)  # inches
    drawing: Drawing[Data] = field(repr=False, kw_only=True)

    def __post_init__(self) -> None:
        # a name may hold anything; what is said of it goes to screens and pages
        object.__setattr__(self, "says", printable(self.says))

    def save(self, path: str | Path) -> Path:
        """Write a .png, .svg or .pdf file, as the path's ending says."""
        target = Path(path)
        if target.suffix.lower() not in ENDINGS:
            raise DesignError(
                "plot.bad_ending",
                what=self.name,
                target=target.name,
                first=", ".join(ENDINGS[:-1]),
                second=ENDINGS[-1],
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(self._drawn(target.suffix.lower()[1:]))
        return target

    def png(self) -> bytes:
        """The figure as pixels."""
        return self._drawn("png")

    def svg(self) -> str:
        """The figure as markup to stand inside a page: no script, no address, no shared names."""
        return inline(self._drawn("svg").decode(), self.says)

    def _repr_png_(self) -> bytes:
        return self.png()

    def _repr_html_(self) -> str:
        return f'<div style="max-width:{self.size[0]:.1f}in;background:#fff">{self.svg()}</div>'

    def _drawn(self, kind: str) -> bytes:
        with _canvas(self.name, self.size) as canvas:
            self.drawing(canvas, self.data)
            written = io.BytesIO()
            dated = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}[kind]
            canvas.savefig(written, format=kind, dpi=DOTS_PER_INCH, metadata={dated: None})
        if kind != "svg":
            return written.getvalue()
        # not every machine has the font; these are as wide
        return written.getvalue().replace(b"'DejaVu Sans'", b"'DejaVu Sans', Verdana, sans-serif")


@contextmanager
def _canvas(name: str, size: tuple[float, float]) -> Iterator[Canvas]:
    """An empty canvas in the one style, apart from any figure the user has open in pyplot."""
    matplotlib = need("matplotlib", extra="plots", purpose=f"plots.{name}()")
    made = need("matplotlib.figure", extra="plots", purpose=f"plots.{name}()")
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}), warnings.catch_warnings():
        # a sign that the font lacks is shown as a box
        warnings.filterwarnings("ignore", message="Glyph .* missing from font", category=Warning)
        yield made.Figure(figsize=size)


def inline(svg: str, says: str) -> str:
    """Markup of an SVG file made fit to stand in a page among others, named for screen readers."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r' id="[a-zA-Z0-9 .]+_\d+"', "", body)  # of groups that nothing refers to
    body = re.sub(r' xmlns(:\w+)?="[^"]*"', "", body)  # known to every page
    head, rest = body.split(">", 1)
    head = re.sub(r' (width|height|version)="[^"]*"', "", head)
    label = escape(says, quote=True)
    return f'{head} role="img" aria-label="{label}" width="100%">{rest.strip()}'


def nothing(axes: Axes, why: str) -> None:
    """Say why there is nothing to draw, in place of empty axes."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, why, ha="center", va="center", color="#555555", transform=axes.transAxes)
