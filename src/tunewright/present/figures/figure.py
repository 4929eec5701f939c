"""A figure: what it shows as data, in words, and drawn: as a file, in a notebook, in a report."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tunewright.errors import DesignError, need
from tunewright.messages import Message
from tunewright.present.figures import style
from tunewright.present.figures.ticks import label_of, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


# ---- which fonts a figure is drawn with: one that comes with matplotlib, then installed ones.
#
# Chinese, Japanese and Korean names need a font that the machine may or may not have.


FIRST = "DejaVu Sans"  # comes with matplotlib
# families with Chinese, Japanese or Korean glyphs, as systems and distributions name them
EAST_ASIAN = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK TC", "Noto Sans CJK KR"),
    *("Noto Sans SC", "Noto Sans JP", "Noto Sans TC", "Noto Sans KR", "Noto Serif CJK SC"),
    *("Source Han Sans SC", "Source Han Sans CN", "Source Han Sans", "Sarasa Gothic SC"),
    *("WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback", "LXGW WenKai"),
    *("Microsoft YaHei", "SimHei", "SimSun", "Yu Gothic", "MS Gothic", "Malgun Gothic"),
    *("PingFang SC", "PingFang HK", "Hiragino Sans GB", "Hiragino Sans", "Heiti TC"),
    *("Apple SD Gothic Neo", "Arial Unicode MS", "IPAGothic", "TakaoGothic", "VL Gothic"),
    *("NanumGothic", "AR PL UMing CN", "AR PL UKai CN", "Unifont"),
)


@cache
def families() -> tuple[str, ...]:
    """The families to draw with: a glyph that the first lacks is looked for in the next ones."""
    manager = need("matplotlib.font_manager", extra="plots", purpose="figures").fontManager
    installed = {font.name for font in manager.ttflist}
    return (FIRST, *(name for name in EAST_ASIAN if name in installed))


# ---- figure


Data = TypeVar("Data")
Drawing = Callable[["Canvas", Data], None]

_ENDINGS = (".png", ".svg", ".pdf")
_DOTS_PER_INCH = 200  # of a file: enough for a slide
_SCREEN = 110  # in a notebook
HEAD, _QUESTION, _FOOT = 0.36, 0.26, 0.3  # inches: title of a file, the goal, a note below
_STYLE: dict[str, Any] = {
    "text.parse_math": False,  # a name with dollar signs is a name
    "svg.fonttype": "none",  # letters stay letters: small, searchable, read aloud
    "font.size": 9.0,
    "text.color": style.INK,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "axes.labelcolor": style.INK,
    "axes.titlecolor": style.INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": style.MUTED,
    "axes.axisbelow": True,
    "xtick.color": style.MUTED,
    "ytick.color": style.MUTED,
    "xtick.labelcolor": style.INK,
    "ytick.labelcolor": style.INK,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "figure.facecolor": style.PAPER,
    "axes.facecolor": style.PAPER,
    "figure.constrained_layout.use": True,
}
_NAMES = {light.lower(): name for name, (light, _) in style.VARIABLES.items()}
_COLOUR = re.compile(r"(fill|stroke): (#[0-9a-f]{6})")
_GLYPH = "Glyph .* missing from font"


@dataclass(frozen=True, repr=False)
class Figure(Generic[Data]):
    """A figure that shows itself in a notebook; `data` is what it shows, `says` the caption.

    Drawing needs matplotlib and happens when it is asked for, never before.
    """

    name: str  # of the kind of figure, such as `axis`
    data: Data  # what it shows
    _: KW_ONLY
    caption: tuple[Message, ...]  # for those who cannot see it, and below it for those who can
    size: tuple[float, float] = (style.SINGLE, style.HEIGHT)  # inches
    goal: str = ""  # the question of the round, below the title of a file
    drawing: Drawing[Data] = field(repr=False)  # draws the data on axes of matplotlib

    def __repr__(self) -> str:
        """The kind and the caption, without the data."""
        return f"<{self.name}: {label_of(self.says, 200)}>"

    @property
    def says(self) -> str:
        """The caption in words. A name may hold anything; this goes to screens and pages."""
        return printable(" ".join(message.text for message in self.caption))

    @property
    def title(self) -> str:
        """What the figure shows, in a few words."""
        return words_of(f"title.{self.name}")

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw; the caption explains why."""
        return self.caption[0].code == f"figure.{self.name}.nothing"

    @property
    def wide(self) -> bool:
        """Whether it takes a whole row of a report."""
        return self.size[0] > style.SINGLE

    def save(self, path: str | Path) -> Path:
        """Write a .png, .svg or .pdf file with its title; the path's ending selects the format."""
        target = Path(path)
        if target.suffix.lower() not in _ENDINGS:
            raise DesignError(
                "plot.bad_ending",
                what=self.name,
                target=target.name,
                first=", ".join(_ENDINGS[:-1]),
                second=_ENDINGS[-1],
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(self._render(target.suffix.lower()[1:], _DOTS_PER_INCH, titled=True))
        return target

    def png(self) -> bytes:
        """The figure as pixels, with its title."""
        return self._render("png", _DOTS_PER_INCH, titled=True)

    def svg(self) -> str:
        """The figure as markup to stand inside a page: no script, no address, no shared names."""
        return inline(self._render("svg", _SCREEN).decode(), self.says)

    def _repr_png_(self) -> bytes:
        return self._render("png", _SCREEN, titled=True)

    def _repr_html_(self) -> str:
        return f'<div style="max-width:{self.size[0]:.1f}in;background:#fff">{self.svg()}</div>'

    def _render(self, kind: str, dots: int, titled: bool = False) -> bytes:
        drawn, missing = self._draw(kind, dots, titled, note=False)
        if missing and kind != "svg":  # a browser has its own fonts
            drawn, _ = self._draw(kind, dots, titled, note=True)
        if kind != "svg":
            return drawn
        # not every machine has the font; these are as wide
        return drawn.replace(f"'{FIRST}'".encode(), f"'{FIRST}', Verdana, sans-serif".encode())

    def _draw(self, kind: str, dots: int, titled: bool, note: bool) -> tuple[bytes, bool]:
        """The figure as a file, and whether a glyph of it is missing from every font."""
        head = (HEAD + (_QUESTION if self.goal else 0.0)) if titled else 0.0
        foot = _FOOT if note else 0.0
        width, height = self.size
        with _canvas(self.name, (width, height + head + foot)) as canvas:
            heights = [part for part in (head, height, foot) if part]
            parts = canvas.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)
            places = [part[0] for part in parts]
            if titled:
                _headline(places.pop(0), self.title, self.goal, width)
            if note:
                _note(places.pop(), words_of("missing_glyphs"))
            self.drawing(places[0], self.data)
            written = io.BytesIO()
            dated = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}[kind]
            with warnings.catch_warnings(record=True) as caught:
                warnings.filterwarnings("always", message=_GLYPH, category=Warning)
                canvas.savefig(written, format=kind, dpi=dots, metadata={dated: None})
        return written.getvalue(), any("Glyph" in str(warning.message) for warning in caught)


def words_of(code: str, **facts: Any) -> str:
    """The words of a figure by their code: labels, legends, titles."""
    return printable(Message(f"figure.{code}", facts).text)


@contextmanager
def _canvas(name: str, size: tuple[float, float]) -> Iterator[Canvas]:
    """An empty canvas in the one style, apart from any figure the user has open in pyplot."""
    matplotlib = need("matplotlib", extra="plots", purpose=f"plots.{name}()")
    matplotlib_figure = need("matplotlib.figure", extra="plots", purpose=f"plots.{name}()")
    settings = {**_STYLE, "font.family": list(families()), "svg.hashsalt": name}
    with matplotlib.rc_context(settings):
        yield matplotlib_figure.Figure(figsize=size)


def _headline(place: Canvas, title: str, goal: str, width: float) -> None:
    longest, top = int(width * 13), (0.88 if goal else 0.8)
    place.text(0.012, top, label_of(title, longest), weight="bold", fontsize=12, va="top")
    if goal:
        question = label_of(goal, int(longest * 1.2))
        place.text(0.012, 0.40, question, color=style.MUTED, fontsize=9.5, va="top")


def _note(place: Canvas, text: str) -> None:
    place.text(0.012, 0.5, text, color=style.MUTED, fontsize=7.5, va="center")


def inline(svg: str, caption: str) -> str:
    """Markup of an SVG file made fit to stand in a page among others, named for screen readers.

    Every colour of the palette becomes a variable that the page may set; alone, it stays as it is.
    """
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r' id="[a-zA-Z0-9 .]+_\d+"', "", body)  # of groups that nothing refers to
    body = re.sub(r' xmlns(:\w+)?="[^"]*"', "", body)  # known to every page
    body = _COLOUR.sub(_variable, body)
    head, rest = body.split(">", 1)
    head = re.sub(r' (width|height|version)="[^"]*"', "", head)
    label = escape(caption, quote=True)
    return f'{head} role="img" aria-label="{label}" width="100%">{rest.strip()}'


def _variable(colour: re.Match[str]) -> str:
    name = _NAMES.get(colour[2])
    return colour[0] if name is None else f"{colour[1]}: var(--tw-{name},{colour[2]})"


def nothing(axes: Axes, why: str) -> None:
    """Explain why there is nothing to draw, in place of empty axes."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, why, ha="center", va="center", color=style.MUTED, transform=axes.transAxes)


def above(canvas: Canvas, handles: Sequence[Any] | None = None, most: int = 4) -> None:
    """A legend above the panels, where it covers no line; none without entries."""
    known = handles
    if known is None:
        legends = [axes.get_legend_handles_labels() for axes in canvas.axes]
        known = list(
            {label: h for hs, ls in legends for h, label in zip(hs, ls, strict=True)}.values()
        )
    if known:
        canvas.legend(handles=known, loc="outside upper left", ncols=min(len(known), most))
