"""A quotation occurs after white-space folding, and nowhere else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pegas_assets.distill.quotations import occurs, span_of


def test_white_space_is_folded_and_nothing_else() -> None:
    text = "The dam\n  was finished\tin 1936."
    assert occurs("The dam was finished in 1936.", text)
    assert not occurs("the dam was finished in 1936.", text)
    assert not occurs("", text)
    assert not occurs(" \n", text)
    assert span_of("dam was finished", text) == (4, 22)
    assert span_of("no dam", text) is None


@given(st.text(max_size=60), st.data())
def test_every_stretch_of_a_text_occurs_in_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    quotation = text[start:end]
    assert occurs(quotation, text) == bool(quotation.strip())
    span = span_of(" ".join(quotation.split()), text)
    assert (span is not None) == bool(quotation.split())
    if span:
        assert text[span[0] : span[1]].split() == quotation.split()
