"""Secrets stay out of the store: passwords of addresses, secret options, files that hold keys.

What is masked is masked for good: the store, its backups, messages and error traces are read by
more users than may know a password.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MASK = "***"
# user:password@ up to the last @ of the word: a password may hold any other character
_USERINFO = re.compile(r"(?i)([a-z][a-z0-9+.-]*:/{1,3}[^\s:@/?#]*:)[^\s]+@")
_PARAMETER = re.compile(
    r"(?i)(?<![a-z0-9])((?:ssl)?(?:password|passwd|passphrase|pwd|secret)=)[^&\s'\"]+"
)
_OPTION = re.compile(
    r"(?i)(?:.*[-_.])?(?:password|passwd|passphrase|pwd|secrets?|credentials?|api[-_]?key"
    r"|(?:secret|access|private)[-_]?key)"
    r"|(?:(?:auth|access|api|bearer|hf|github|wandb|session|refresh)[-_])?token"
)
# files whose uncommitted changes are left out, as patterns of git
SECRET_FILES = (
    *(".env", ".env.*", "*.env", ".envrc", ".netrc", ".pgpass", ".npmrc", ".pypirc"),
    *(
        "*.pem",
        "*.key",
        "*.p12",
        "*.pfx",
        "*.jks",
        "id_rsa*",
        "id_dsa*",
        "id_ecdsa*",
        "id_ed25519*",
    ),
    *("*secret*", "*credential*", "*password*", "*.kdbx"),
)


def masked(text: str) -> str:
    """Text with the password of every address in it masked.

    >>> masked("POSTGRESQL://me:geheim@db/x and postgresql://me@db/x?sslpassword=geheim&a=1")
    'POSTGRESQL://me:***@db/x and postgresql://me@db/x?sslpassword=***&a=1'
    """
    return _PARAMETER.sub(rf"\1{MASK}", _USERINFO.sub(rf"\1{MASK}@", text))


def masked_words(words: Sequence[str]) -> list[str]:
    """A command line without secrets: addresses, and the values of options that look secret.

    >>> masked_words(["train", "--api-key", "abc", "--password=abc", "--max_tokens=8"])
    ['train', '--api-key', '***', '--password=***', '--max_tokens=8']
    """
    shown: list[str] = []
    hide = False
    for word in words:
        name, equals, value = word.lstrip("-").partition("=")
        secret = bool(_OPTION.fullmatch(name))
        if hide and not word.startswith("-"):
            shown.append(MASK)
        elif secret and equals and value:
            shown.append(f"{word[: len(word) - len(value)]}{MASK}")
        else:
            shown.append(masked(word))
        hide = secret and not equals and word.startswith("-")
    return shown


def without_secrets() -> list[str]:
    """The pathspecs for git that leave out files that look secret, wherever they are."""
    return [":/", *(f":(top,exclude,icase,glob)**/{name}" for name in SECRET_FILES)]
