from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegas_assets.text.decoding import decode, looks_binary

RUSSIAN = (
    "Паромщик поднимает якорь на рассвете. Утром река тихая, и лодка идёт сама, без вёсел. Яблоки везут в корзинах, "
    "а муку — в мешках; Юра считает их и пишет в тетрадь «принято»."
)
UKRAINIAN = "Міст відкривається опівдні, а пором чекає біля берега. Її човен стоїть поруч, і вода в річці висока."


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "cp866", "mac-cyrillic", "iso8859-5"])
def test_russian_without_a_mark_is_told_by_its_letters(encoding: str) -> None:
    body = RUSSIAN.encode(encoding, "ignore")
    decoded = decode(body)
    assert decoded.text == body.decode(encoding)
    assert decoded.encoding == encoding
    assert decoded.confidence > 0.8
    assert not decoded.warnings


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-u"])
def test_ukrainian_without_a_mark_is_told_by_its_letters(encoding: str) -> None:
    assert decode(UKRAINIAN.encode(encoding)).text == UKRAINIAN


def test_a_very_short_text_is_a_guess_and_says_so() -> None:
    decoded = decode("ЧАЙ И ХЛЕБ".encode("cp1251"))
    assert decoded.confidence < 0.5
    assert "guess" in decoded.warnings[-1]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Le café est fermé à midi, déjà.", "cp1252"),
        ("Most otwiera się w południe, a łódź czeka przy brzegu.", "cp1250"),
        ("The gate is 5° open — “yes”", "cp1252"),
        ("The word «мост» means bridge, and «паром» means ferry.", "cp1251"),
        ("桥在中午开放，渡船在等。水位很高，桥在中午开放。", "gb18030"),
        ("今日はいい天気ですね。橋は正午に開きます。", "cp932"),
    ],
)
def test_other_encodings_without_a_mark(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-8"])
@pytest.mark.parametrize("text", [RUSSIAN, "The weir has nine gates.\nIt was rebuilt in 1954.\n"])
def test_unicode_with_and_without_a_mark(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)).text == text


def test_one_damaged_byte_does_not_turn_the_text_into_another_encoding() -> None:
    body = bytearray((RUSSIAN * 3).encode())
    body[101] = 0xFF
    decoded = decode(bytes(body))
    assert decoded.encoding == "utf-8"
    assert 1 <= decoded.text.count("\ufffd") <= 2
    assert "U+FFFD" in decoded.warnings[0]


def test_a_declared_charset_is_taken_where_it_decodes() -> None:
    assert decode("ЧАЙ И ХЛЕБ".encode("koi8-r"), declared=["koi8-r"]).text == "ЧАЙ И ХЛЕБ"
    assert decode("Γέφυρα".encode("cp1253"), declared=["windows-1253"]).text == "Γέφυρα"


def test_a_declared_charset_that_plainly_lies_is_corrected_with_a_warning() -> None:
    decoded = decode(RUSSIAN.encode("cp1251", "ignore"), declared=["iso-8859-1"])
    assert decoded.text.startswith("Паромщик")
    assert "declared" in decoded.warnings[0]
    assert decode(RUSSIAN.encode(), declared=["windows-1251"]).text == RUSSIAN


def test_nonsense_for_a_charset_is_ignored() -> None:
    for name in ("", "none", "hex", "utf-7", "x" * 500, "unicode_escape", "utf-16"):
        assert decode("плата\n".encode(), declared=[name]).text == "плата\n"


def test_the_default_encoding_is_tried_before_guessing() -> None:
    assert decode("ЧАЙ".encode("cp866"), default="cp866").text == "ЧАЙ"


def test_binary_is_told_from_text() -> None:
    assert looks_binary(os.urandom(2000))
    assert looks_binary(b"\x7fELF\x02\x01\x01\x00" + bytes(64))
    assert not looks_binary(b"Pump\x00 one\x01 runs.\n\x1b[31mPump two\x1b[0m stops.")
    assert not looks_binary(RUSSIAN.encode("utf-16-le"))
    assert not looks_binary(RUSSIAN.encode("koi8-r", "ignore"))
    assert not looks_binary(b"")


@given(st.binary(max_size=300))
def test_any_bytes_decode_to_a_text(body: bytes) -> None:
    decoded = decode(body)
    assert 0.0 <= decoded.confidence <= 1.0
    assert isinstance(decoded.text, str)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=200))
def test_utf8_comes_out_as_it_went_in(text: str) -> None:
    if not text.startswith("\ufeff"):
        assert decode(text.encode()).text == text


JAPANESE = "灯台守は毎晩、雪で道が埋まっていても灯台に登った。漁師たちは光が見える限り岸が近いことを知っていた。" * 2
CHINESE = "灯塔看守人每天晚上都爬上灯塔，即使道路被大雪覆盖。渔民知道，只要能看到光，海岸就在附近。" * 2
KOREAN = "등대지기는 매일 저녁 눈이 길을 덮어도 등대에 올랐다. 어부들은 빛이 보이면 해안이 가깝다는 것을 알았다. " * 2
POLISH = "Latarnik wchodził na wieżę każdego wieczoru, nawet gdy śnieg zasypał drogę; źródło światła świeciło. "


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "iso2022_jp"),
        (CHINESE, "gbk"),
        (KOREAN, "euc_kr"),
        (POLISH, "iso8859_2"),
        (POLISH, "cp1250"),
    ],
)
def test_texts_without_a_charset_are_told_by_their_letters(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text
