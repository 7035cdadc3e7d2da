"""Tells pages that hold no text of their own: drawn by scripts, behind a check or a sign-in, an error, a frame, a signpost."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from pegas_assets.sources.page_hidden import drop, drop_hidden
from pegas_assets.sources.page_text import main_element, page_markdown, visible_text

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_SHELL_CHARS = 250
_SHORT_CHARS = 1200
"""A page with more text of its own than this says something, whatever else it asks for."""
_ERROR_CHARS = 600
_SHELL_ROOTS = frozenset(
    (
        "root",
        "app",
        "__next",
        "__nuxt",
        "___gatsby",
        "svelte",
        "main-app",
        "react-root",
        "app-root",
        "ember-app",
        "q-app",
    )
)
_NEEDS_SCRIPT = re.compile(
    r"(?:enable|requires?|need|turn on|activate)\W+(?:\w+\W+){0,4}javascript|javascript\W+(?:is|must|to|needs)\b"
    r"|включит[ье]\W+(?:\w+\W+){0,3}javascript|loading(?:\.\.\.|…)$",
    re.IGNORECASE,
)
_CHECK = re.compile(
    r"\bjust a moment\b(?:\.\.\.|…)|check(?:ing|s)? (?:if the site connection is secure|your browser)"
    r"|review the security of your connection|verif(?:y|ying) (?:that )?you(?: are|'re|’re) (?:a |not a )?(?:human|robot|bot)"
    r"|are you (?:a |not a )?(?:human|robot)\b|i(?: am|'m|’m) not a robot|javascript and cookies to continue"
    r"|access to this page has been denied|ddos[- ](?:protection by|guard)|attention required! \| cloudflare"
    r"|unusual traffic from your computer|you have been blocked|please complete the (?:security check|captcha)"
    r"|press (?:&|and) hold to confirm|подтвердите,? что вы не робот|(?:вы|я) не робот|проверка (?:вашего )?браузера"
    r"|доступ ограничен[^.]*автоматическ",
    re.IGNORECASE,
)
_CHECK_MARK = re.compile(
    r"_cf_chl_opt|challenge-platform|px-captcha|/_Incapsula_Resource|ddos-guard/|captcha-delivery\.com|awsWafCookieDomainList"
)
_CONSENT = re.compile(r"\bcookies?\b|consent|согласи[ея]|файл\w+ cookie", re.IGNORECASE)
_SIGN_IN = re.compile(
    r"\b(?:sign|log)[ -]?in\b|password|create an account|войти|вход\b|парол|авториз|зарегистрир|anmelden|connexion",
    re.IGNORECASE,
)
_NOT_FOUND = re.compile(
    r"^\W*(?:(?:error|ошибка|erreur|fehler)\W*)?404\b|\b(?:page|file|document|article)\b[\w ’']{0,20}\b(?:not (?:be )?found|doesn.t exist|does not exist)"
    r"|^\W*(?:not found|nothing found)\W*$|(?:страниц[аы]|документ|запись) не (?:найден|существует)|seite (?:wurde )?nicht gefunden|page introuvable"
    r"|página no encontrada",
    re.IGNORECASE,
)
_REFRESH = re.compile(r"^\s*(\d{1,3})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?\s*([^\"'\s]+)", re.IGNORECASE)
_SOON_S = 10


def why_no_text(root: HtmlElement, url: str = "") -> str:
    """Why a page has no text of its own, as the end of a sentence; empty where it has some.

    Told by what it says and how little that is: an article about sign-ins or errors is an article.
    """
    bare = deepcopy(root)
    markup = "".join(element.text or element.get("src") or "" for element in bare.iter("script"))[:200_000]
    plea = any(_NEEDS_SCRIPT.search(element.text_content()) for element in bare.iter("noscript"))
    scripts = any(element.get("src") or len(element.text or "") > 500 for element in bare.iter("script"))
    password = any((field.get("type") or "").lower() == "password" for field in bare.iter("input"))
    framed = [frame.get("src") or "" for frame in bare.iter("frame", "iframe") if frame.get("src")]
    whole = visible_text(bare)
    drop_hidden(bare)
    # The parser gives a page of frames no body.
    text = visible_text(bare) if bare.find("body") is not None else ""
    title = " ".join(" ".join((element.text_content() or "").split()) for element in list(bare.iter("title"))[:1])
    if not text and next(root.iter("frameset"), None) is not None and framed:
        return f"it is a frame around others; give the address of the one that you want, such as {_shown(framed, _base(root, url))}"
    if (
        len(text) < _SHORT_CHARS
        and (_CHECK.search(f"{title}\n{text}") or _CHECK_MARK.search(markup))
        and not _wordy(bare)
    ):
        return "it needs a browser, since the site checks for a person at one before it shows the page"
    if _is_shell(bare, text, scripts=scripts, plea=plea):
        return "it needs a browser, since its scripts draw the text"
    if password and len(_own(bare)) < _ERROR_CHARS and _SIGN_IN.search(f"{title}\n{text}"):
        return "it needs a browser and a sign-in, which is all that it asks for"
    if _is_error(bare, title):
        return "it says that there is no such page"
    if len(text) < _SHELL_CHARS and _target(root, url):
        return f"it only leads on to {_target(root, url)}"
    if not text and framed:
        return f"its text is that of another page, {_shown(framed, _base(root, url))}"
    if not text and _CONSENT.search(whole):
        return "it needs a browser, since it asks about cookies before it shows the page"
    if (
        len(text) < 4000
        and len(_CONSENT.findall(text)) >= 8
        and len(_CONSENT.findall(text)) * 60 > len(text.split()) * 2
    ):
        return "it needs a browser, since it asks about cookies before it shows the page"
    return ""


def leads_on_to(body: bytes, url: str) -> str:
    """Where a page that is only a signpost (`meta refresh`) leads; empty for any other."""
    if b"http-equiv" not in body[:20_000].lower() or len(body) > 50_000:
        return ""
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    try:
        root = document_fromstring(body, parser=HTMLParser(encoding="iso-8859-1"))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return ""
    target = _target(root, url)
    if not target:
        return ""
    drop_hidden(root)
    return target if len(visible_text(root)) < _SHELL_CHARS else ""


def open_noframes(root: HtmlElement) -> None:
    """Puts what a page of frames says to whoever shows none in the place of the frames, where that is a text."""
    from lxml import etree
    from lxml.html import fromstring

    frames = next(root.iter("frameset"), None)
    for inner in list(root.iter("noframes")):
        # The parser leaves it as one string of markup.
        try:
            told = fromstring(f"<div>{inner.text or ''}</div>")
        except (etree.ParserError, etree.XMLSyntaxError, ValueError):
            told = None
        parent = frames.getparent() if frames is not None else None
        if told is not None and parent is not None and len(visible_text(told)) >= _SHELL_CHARS:
            parent.replace(frames, told)
            return
        drop(inner)


def _is_shell(bare: HtmlElement, text: str, *, scripts: bool, plea: bool) -> bool:
    """An empty frame that scripts fill: too little text, and a script's root or a plea for one."""
    if len(text) >= _SHELL_CHARS:
        return False
    rooted = any(
        (
            (element.get("id") or "").lower() in _SHELL_ROOTS
            or element.tag == "app-root"
            or element.get("data-reactroot") is not None
        )
        and len(element.text_content().strip()) < 40
        for element in bare.iter("div", "main", "section", "app-root")
    )
    return scripts and (plea or bool(_NEEDS_SCRIPT.search(text)) or rooted or not text)


def _is_error(bare: HtmlElement, title: str) -> bool:
    headings = [" ".join(element.text_content().split()) for element in bare.iter("h1", "h2")][:2]
    named = any(_NOT_FOUND.search(heading) for heading in headings if len(heading) < 80)
    titled = any(_NOT_FOUND.search(part) for part in re.split(r"\s[|–—·-]\s|:", title) if len(part) < 60)
    return (named or titled) and len(_own(bare)) < _ERROR_CHARS


def _own(bare: HtmlElement) -> str:
    """The text of a page without what stands around it."""
    return page_markdown(main_element(bare))


def _wordy(bare: HtmlElement) -> bool:
    """Whether it has an article that is more than the words of a check."""
    return sum(len(element.text_content()) > 200 for element in bare.iter("p")) >= 2


def _target(root: HtmlElement, url: str) -> str:
    for meta in root.iter("meta"):
        if (meta.get("http-equiv") or "").strip().lower() == "refresh":
            match = _REFRESH.match(meta.get("content") or "")
            if match and int(match.group(1)) <= _SOON_S:
                try:
                    target = urljoin(_base(root, url), match.group(2))
                except ValueError:
                    return ""
                return target if target.split("#")[0] != url.split("#")[0] and target.startswith("http") else ""
    return ""


def _base(root: HtmlElement, url: str) -> str:
    for base in root.iter("base"):
        if base.get("href"):
            return str(urljoin(url, base.get("href").strip()))
    return url


def _shown(framed: list[str], url: str) -> str:
    try:
        return str(urljoin(url, framed[-1]))[:200]
    except ValueError:
        return "the frame's"
