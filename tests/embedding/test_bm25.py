"""The lexical leg's vectors."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pegas_assets.embedding.bm25 import encode_document, encode_query, term_id


def overlap(query: str, document: str) -> int:
    return len(set(encode_query(query).indices) & set(encode_document(document).indices))


@given(st.text(max_size=80))
def test_ids_ascend_fit_32_bits_and_weights_are_positive(text: str) -> None:
    for vector in (encode_document(text), encode_query(text)):
        assert list(vector.indices) == sorted(set(vector.indices))
        assert len(vector.indices) == len(vector.values)
        assert all(0 <= index < 2**32 for index in vector.indices)
        assert all(0 < value < 2.2 for value in vector.values)


def test_a_query_finds_other_forms_of_its_words_in_both_languages() -> None:
    document = (
        "Ёлки стояли у вокзала. The lighthouses were painted. Про\u00adвод\u00adница разнесла чай, за\u0301мок закрыт."
    )
    assert overlap("елка", document) == 1
    assert overlap("painting lighthouse", document) == 2
    assert overlap("проводницы замка чая", document) == 2 + (term_id("замка") == term_id("замок"))
    assert overlap("сосна", document) == 0


def test_words_of_mixed_script_are_found() -> None:
    document = "Сocнa растёт у моста. ОСR прочитал вывеску."
    assert overlap("сосна", document) == 1
    assert overlap("OCR", document) == 1


def test_stop_words_count_for_nothing() -> None:
    assert encode_query("the of и в на").indices == ()
    assert encode_document("").indices == ()


def test_a_word_said_more_often_weighs_more_but_less_than_in_proportion() -> None:
    once, thrice = encode_document("маяк берег"), encode_document("маяк берег маяк маяк")
    weight = dict(zip(thrice.indices, thrice.values, strict=True))
    first = dict(zip(once.indices, once.values, strict=True))
    assert first[term_id("маяк")] < weight[term_id("маяк")] < 3 * first[term_id("маяк")]


def test_the_parts_of_a_camel_case_name_are_found() -> None:
    assert overlap("user name", "def getUserName(): ...") == 2
    assert overlap("getUserName", "call get_user_name first") >= 2
    assert overlap("http server", "class HTTPServer: ...") == 2


def test_ids_never_change() -> None:
    assert (term_id("маяк"), term_id("lighthouses"), term_id("the")) == (1364243818, 2867081077, -1)
