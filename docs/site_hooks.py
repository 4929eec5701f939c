"""Hooks of the documentation site: pages from outside docs/, and the reference from docstrings.

The pages in docs/ link to files of the repository as a reader on disk needs them. Here every file
that a page links to becomes a page or a file of the site, and the link leads there.
"""

from __future__ import annotations

import importlib.util
import inspect
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
OUTSIDE = "repository"  # where files from outside docs/ are on the site
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#]+)(#[^)\s]*)?(\))")
LANGUAGES = {".py": "python", ".toml": "toml", ".sh": "bash", ".yml": "yaml", ".json": "json"}
HOME = "README.md"
FIGURE = re.compile(r'<p>(<img alt="([^"]+)"[^>]*>)</p>')
CHINESE = "zh/", f"{OUTSIDE}/README.zh-CN.md"
LABELS = {  # of the theme, on Chinese pages; the language also chooses the shapes of characters
    '<html lang="en"': '<html lang="zh-Hans"',
    "Table of contents": "目录",
    'placeholder="Search"': 'placeholder="搜索"',
    'title="Permanent link"': 'title="永久链接"',
    "Back to top": "回到顶部",
}
SHIM = "https://unpkg.com/iframe-worker/shim"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages of the reference to the navigation."""
    pages: list[Any] = [name for name, _ in reference()]
    nav: list[Any] = config.nav or []
    for part in nav:
        if "Reference" in part:
            part["Reference"].append({"Python, name by name": sorted(pages)})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the home page, whatever pages link to outside docs/, and the reference."""
    known = {file.src_uri for file in files}
    waiting = [HOME, *(f"docs/{name}" for name in sorted(known) if name.endswith(".md"))]
    seen: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        if place_of(path) not in known:
            known.add(place_of(path))
            files.append(_generated(config, path))
        if path.endswith(".md"):
            waiting += [target for target in _targets(path) if (ROOT / target).is_file()]
    for name, text in reference():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links to files of the repository lead to their places on the site."""
    path = _path_of(page.file.src_uri)
    if path is None:
        return markdown

    def replaced(match: re.Match[str]) -> str:
        before, link, anchor, after = match.groups()
        target = _resolved(path, link)
        if target is None or not (ROOT / target).is_file():
            return match[0]
        there = posixpath.relpath(place_of(target), posixpath.dirname(page.file.src_uri) or ".")
        return f"{before}{there}{anchor or ''}{after}"

    return LINK.sub(replaced, markdown + rates_of(path))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Show the description of a picture that stands alone as its caption.

    >>> on_page_content('<p><img alt="A curve" src="a.png"></p>', None, None, None)
    '<figure><img alt="A curve" src="a.png"><figcaption>A curve</figcaption></figure>'
    """
    return FIGURE.sub(r"<figure>\1<figcaption>\2</figcaption></figure>", html)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Load the one script that the theme takes from another host from the site itself."""
    here = posixpath.dirname(page.url) or "."
    if page.file.src_uri.startswith(CHINESE):
        for english, chinese in LABELS.items():
            output = output.replace(english, chinese)
    return output.replace(SHIM, posixpath.relpath("assets/iframe-worker.js", here))


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    """The same for pages that the theme makes alone, such as 404."""
    return output.replace(SHIM, "/assets/iframe-worker.js")


def rates_of(path: str) -> str:
    """For the page of a check: its line of the measured error rates; else nothing.

    >>> print(rates_of("docs/checks/boundary.md").splitlines()[2])
    ## How often it is wrong
    >>> rates_of("docs/quickstart.md")
    ''
    """
    if posixpath.dirname(path) != "docs/checks":
        return ""
    lines = (ROOT / "docs/methods.md").read_text(encoding="utf-8").splitlines()
    row = next((one for one in lines if one.startswith(f"| [{Path(path).stem}]")), None)
    if row is None:  # its rates are those of a table that all questions about curves share
        return ""
    table = lines.index(next(one for one in lines if one.startswith("| question | false")))
    shown = [*lines[table : table + 2], row.replace("](#", "](methods.md#").replace("](", "](../")]
    return "\n\n## How often it is wrong\n\n" + "\n".join(shown) + "\n"


def place_of(path: str) -> str:
    """Where a file of the repository is among the sources of the site.

    >>> place_of("README.md"), place_of("docs/checks/boundary.md"), place_of("examples/a.py")
    ('index.md', 'checks/boundary.md', 'repository/examples/a.py.md')
    """
    if path == HOME:
        return "index.md"
    if path.startswith("docs/") and Path(path).suffix not in LANGUAGES:
        return path.removeprefix("docs/")
    shown = ".md" if Path(path).suffix in LANGUAGES else ""
    return f"{OUTSIDE}/{path}{shown}"


def _path_of(place: str) -> str | None:
    """The file of the repository that a source of the site is; None for a generated page."""
    if place == "index.md":
        return HOME
    if place.startswith("python/"):
        return None
    if not place.startswith(f"{OUTSIDE}/"):
        return f"docs/{place}"
    path = place.removeprefix(f"{OUTSIDE}/")
    return path if (ROOT / path).is_file() else None


def _resolved(path: str, link: str) -> str | None:
    """The file that a link of a page means, from the root; None for one that leads elsewhere."""
    if "://" in link or link.startswith(("mailto:", "/")):
        return None
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    return None if target.startswith("..") else target


def _targets(path: str) -> Iterator[str]:
    """The files of the repository that a page links to."""
    for match in LINK.finditer((ROOT / path).read_text(encoding="utf-8")):
        target = _resolved(path, match[2])
        if target is not None:
            yield target


def _generated(config: MkDocsConfig, path: str) -> File:
    """A file from outside docs/: a page as it is, a program as a page that shows it."""
    suffix = Path(path).suffix
    if suffix == ".md" or suffix not in LANGUAGES:
        return File.generated(config, place_of(path), abs_src_path=str(ROOT / path))
    text = (ROOT / path).read_text(encoding="utf-8")
    shown = f"# {path}\n\n````{LANGUAGES[suffix]}\n{text}\n````\n"
    return File.generated(config, place_of(path), content=shown)


def reference() -> Iterator[tuple[str, str]]:
    """Pages of every public name, by what a reader wants to do, filled from the docstrings."""
    maker = _maker()
    listed: list[str] = []
    shown: set[str] = set()  # a name that is in two namespaces has one entry
    for title, names in maker.GROUPS.items():
        slug = maker.slug(title)
        listed.append(f"- [{title}]({slug}.md)")
        parts = [f"# {title}"]
        for name in names:
            parts += list(_entries(maker, name, shown))
        yield f"python/{slug}.md", "\n\n".join(parts) + "\n"
    yield "python/index.md", "# Python, name by name\n\n" + "\n".join(listed) + "\n"


def _entries(maker: ModuleType, name: str, shown: set[str]) -> Iterator[str]:
    """The headings and directives of a name; of a namespace, those of what it holds."""
    found: Any = maker.tw
    for part in name.split("."):
        found = getattr(found, part)
    if inspect.ismodule(found):
        for inner in getattr(found, "__all__", ()):
            if not inspect.ismodule(getattr(found, inner)):
                yield from _entry(f"tw.{name}.{inner}", getattr(found, inner), shown)
    else:
        yield from _entry(f"tw.{name}", found, shown)


def _entry(name: str, found: Any, shown: set[str]) -> Iterator[str]:
    """One name: its heading, and where its docstring is."""
    module, inner = getattr(found, "__module__", None), getattr(found, "__qualname__", None)
    place = f"{module}.{inner}"
    if module and inner and module.startswith("tunewright") and place not in shown:
        shown.add(place)
        yield f"## `{name}`"
        yield f"::: {place}"


def _maker() -> ModuleType:
    """docs/make_reference.py, which has the groups."""
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs/make_reference.py")
    assert spec is not None and spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    return maker
