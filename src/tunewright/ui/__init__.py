"""The dashboard, `tunewright ui`: pages over a store that lead with the verdict.

`app` answers requests, `guard` decides who may ask, `pages` and `columns` read the store, `verdict`
runs the checklist in a separate process, `changes` reports what happens meanwhile. The pages
themselves are ES modules under `static/`, used as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.ui.site import export_site as export_site

offer(__name__, {"ui.site": ("export_site",)})
