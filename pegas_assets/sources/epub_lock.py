"""Tells a book that is locked (DRM) from one that only hides its fonts."""

from __future__ import annotations

from collections.abc import Collection

from pegas_assets.errors import Refused
from pegas_assets.sources.archive import Archive, shown_name
from pegas_assets.sources.book_markup import attribute, local_name
from pegas_assets.sources.epub_package import read_xml, resolve

_FONT_METHODS = frozenset(
    ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#rc", "http://ns.adobe.com/pdf/enc#RC")
)
_RIGHTS = ("META-INF/rights.xml", "META-INF/sinf.xml", "META-INF/license.lcpl")


def refuse_locked(archive: Archive, paths: Collection[str], *, shown: str) -> None:
    """Refuses a book whose rights a shop guards, or of whose files in `paths` (names in the archive) any is encrypted.

    Fonts made unreadable outside the book (`META-INF/encryption.xml` with one of two methods for fonts) are no lock.
    """
    for name in _RIGHTS:
        if archive.find(name) is not None:
            raise _locked(shown, f"it comes with {name}")
    listing = archive.find("META-INF/encryption.xml")
    root = read_xml(archive, listing, []) if listing is not None else None
    if root is None:
        return
    for data in (element for element in root.iter() if local_name(element) == "encrypteddata"):
        methods = [
            attribute(element, "algorithm") for element in data.iter() if local_name(element) == "encryptionmethod"
        ]
        if methods and methods[0] in _FONT_METHODS:
            continue
        for reference in (element for element in data.iter() if local_name(element) == "cipherreference"):
            path = resolve(archive, "", attribute(reference, "uri"))
            if path in paths:
                raise _locked(shown, f"its file {shown_name(path)} is encrypted")


def _locked(shown: str, why: str) -> Refused:
    return Refused(
        f"{shown} is locked by DRM: {why}.",
        hint="Give a copy without DRM; only its shop can unlock this one.",
        item=shown,
    )
