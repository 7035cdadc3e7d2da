"""Pages that hold no text of their own are refused with the reason; pages about such things are read."""

from __future__ import annotations

import pytest

from pegas_assets.errors import Refused
from pegas_assets.sources.page_shell import leads_on_to
from pegas_assets.sources.registry import parse

URL = "https://www.example.org/docs/weir"
LINE = "The weir at Larch was rebuilt in 1954 and has nine gates, each of which lifts alone when the river rises. "
SCRIPT = "<script src=/a.js></script>"
PLEA = "This application requires JavaScript. Please enable it in your browser and load the page again. " * 6


def page(inside: str, title: str = "Weir") -> bytes:
    return f"<!doctype html><html lang=en><head><title>{title}</title></head><body>{inside}</body></html>".encode()


@pytest.mark.parametrize(
    "body",
    [
        page(f"<app-root></app-root>{SCRIPT}"),
        page(f"<div id=app></div>{SCRIPT}"),
        page(f"<noscript><p>{PLEA}</p></noscript><div id=root></div>{SCRIPT}"),
        page(
            "<h1>example.org</h1><h2>Checking if the site connection is secure</h2><div>example.org needs to review the "
            "security of your connection before proceeding.</div><script>window._cf_chl_opt={}</script>",
            "Just a moment...",
        ),
        page("<h1>Checking your browser before accessing example.org.</h1><p>This process is automatic.</p>"),
        page("<h1>Are you a robot?</h1><p>Access to this page has been denied.</p><div id=px-captcha></div>"),
        page("<p>Подтвердите, что вы не робот</p>"),
        page("<div class=cookie-consent><p>We use cookies. Accept all?</p><button>OK</button></div>"),
        page(
            "<div><h2>Before you continue</h2><p>" + "Accept all to consent to the use of cookies. " * 12 + "</p></div>"
        ),
        page("<h1>Sign in</h1><form>Email <input>Password <input type=password></form><a>Forgot your password?</a>"),
        page("<h1>Вход</h1><form>Логин <input>Пароль <input type=password></form>", "Вход"),
    ],
)
def test_a_page_that_shows_itself_only_to_a_browser_says_so(body: bytes) -> None:
    with pytest.raises(Refused, match="it needs a browser") as raised:
        parse(body, media_type="text/html", uri=URL)
    assert "Save the page" in raised.value.hint


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (page("<main><h1>404</h1><p>Sorry, nothing here.</p></main>", "404 Not Found"), "no such page"),
        (page("<h1>Страница не найдена</h1><p>Она была удалена.</p>", "Ошибка 404"), "no such page"),
        (
            page("<nav>" + "<a href=/x>Menu item</a> " * 60 + "</nav><main><h1>Page not found</h1><p>Oh.</p></main>"),
            "no such page",
        ),
        (
            b"<html><head><title>Old</title></head><frameset cols='20%,80%'><frame src=menu.html><frame src=main.html>"
            b"<noframes><body>No frames? <a href=main.html>Main</a></body></noframes></frameset></html>",
            "such as https://www.example.org/docs/main.html",
        ),
        (page("<iframe src=/content.html></iframe>"), "another page, https://www.example.org/content.html"),
        (
            b"<html><head><base href=/new/><meta http-equiv=Refresh content='3; url=weir'></head><body>Moved</body></html>",
            "leads on to https://www.example.org/new/weir",
        ),
    ],
)
def test_a_page_that_is_only_a_sign_says_what_it_says(body: bytes, reason: str) -> None:
    with pytest.raises(Refused, match="no readable content") as raised:
        parse(body, media_type="text/html", uri=URL)
    assert reason in raised.value.message


@pytest.mark.parametrize(
    "body",
    [
        page(f"<main><h1>404 errors explained</h1><p>{LINE * 8}</p></main>", "404 Not Found: what it means"),
        page(f"<main><h1>Sign in with a key</h1><p>{LINE * 8}</p><form><input type=password></form></main>"),
        page(f"<main><h1>Are you a robot?</h1><p>{LINE * 6}</p><p>{LINE * 6}</p></main>"),
        page(f"<main><h1>Cookies</h1><p>{LINE * 8}</p><p>We use cookies with your consent.</p></main>"),
        page(f"<p>{LINE * 4}</p><form>Search <input></form>"),
        page(f"<meta http-equiv=refresh content='300'><p>{LINE}</p>"),
        page(f"<p>{LINE}</p><iframe src=/video></iframe>"),
    ],
)
def test_a_page_about_such_things_is_read(body: bytes) -> None:
    assert LINE.strip() in parse(body, media_type="text/html", uri=URL).text


def test_what_a_page_of_frames_says_without_them_is_read() -> None:
    body = f"<html><frameset><frame src=a><noframes><body><h1>Weir</h1><p>{LINE * 3}</p></body></noframes></frameset></html>"
    text = parse(body.encode(), media_type="text/html", uri=URL).text
    assert LINE.strip() in text
    assert "<p>" not in text


@pytest.mark.parametrize(
    ("head", "target"),
    [
        ("<meta http-equiv=refresh content='0;url=../b'>", "https://www.example.org/b"),
        ('<META HTTP-EQUIV="REFRESH" CONTENT="1; URL=\'/b\'">', "https://www.example.org/b"),
        ("<meta http-equiv=refresh content='600;url=/b'>", ""),
        ("<meta http-equiv=refresh content='5'>", ""),
        ("<meta http-equiv=refresh content='0;url=#top'>", ""),
        ("<meta http-equiv=refresh content='0;url=javascript:x()'>", ""),
        ("<meta http-equiv=content-type content='text/html'>", ""),
    ],
)
def test_a_signpost_leads_where_a_browser_would_go(head: str, target: str) -> None:
    assert leads_on_to(f"<html><head>{head}</head><body>Moved</body></html>".encode(), URL) == target
    assert leads_on_to(f"<html><head>{head}</head><body>{LINE * 5}</body></html>".encode(), URL) == ""
