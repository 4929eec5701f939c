"""Which fonts a figure is drawn with: one that comes with matplotlib, then installed ones.

Chinese, Japanese and Korean names need a font that the machine may or may not have.
"""

from __future__ import annotations

from functools import cache

from tunewright.errors import need

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
