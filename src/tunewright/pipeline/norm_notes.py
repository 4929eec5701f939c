"""Does a model normalise over so few examples, or over so many processes, that it should not?

Batch norm trains another model at every batch size and number of hosts; layer norm does not
(playbook, "Batch normalization implementation details"). A note, never a refusal: a model that is
known to work may need its batch norm.
"""

from __future__ import annotations

from torch import nn

from tunewright.messages import Message

# Below 16 examples the error of batch norm rises steeply (group norm, arXiv:1803.08494, figure 1).
FEW = 16


def norm_notes(model: nn.Module, examples: int, world: int) -> tuple[Message, ...]:
    """What to know about the batch norm of a model that trains on `examples` per forward pass.

    `GhostBatchNorm` and `SyncBatchNorm` are silent over several processes: they fix how many
    examples normalise, or take them from all. Layer, group and instance norm always are.

    >>> [note.code for note in norm_notes(nn.BatchNorm1d(4), examples=8, world=1)]
    ['fit.note.batch_norm_few']
    >>> norm_notes(nn.BatchNorm1d(4), examples=64, world=1), norm_notes(nn.LayerNorm(4), 2, 8)
    ((), ())
    """
    plain = [m for m in model.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    apart = [m for m in plain if not isinstance(m, nn.SyncBatchNorm)]
    notes = []
    held = examples if apart else examples * world
    if plain and held < FEW:
        facts = {"layers": len(plain), "examples": held, "fewest": FEW}
        notes.append(Message("fit.note.batch_norm_few", facts))
    if apart and world > 1:
        facts = {"layers": len(apart), "examples": examples, "world": world}
        notes.append(Message("fit.note.batch_norm_apart", facts))
    return tuple(notes)
