"""Reopen a campaign of `tune`: read it from its store, with what it chose and why."""

from __future__ import annotations

import os

from tunewright.campaigns.campaign import Campaign, read_campaign
from tunewright.campaigns.definition import read_definition
from tunewright.errors import NotFound
from tunewright.store.store import Store


def campaign(store: str | os.PathLike[str], name: str = "tune") -> Campaign:
    """A campaign as recorded: its rounds, its log, its choice; nothing is trained.

    `campaign.best` is the configuration it chose. `tw.tune` with the same space resumes it.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        name: the `name` that `tw.tune` was called with.
    """
    with Store.open(store, create=False) as opened:
        known = read_definition(opened, name)
        if known is None:
            others = ", ".join(one.name for one in opened.campaigns()) or "none"
            raise NotFound("campaign.not_found", name=name, url=opened.url, others=others)
        return read_campaign(opened, known)
