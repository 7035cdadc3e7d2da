from __future__ import annotations

import pytest

from pegas_assets.text.language import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The bridge opens at noon and the ferryman waits.", "en"),
        ("bread and water", "en"),
        ("Prune pears in late winter, before the buds swell.", "en"),
        ("Мост открывается в полдень", "ru"),
        ("вода", "ru"),
        ("Запустите pip install numpy и откройте README.md в VS Code", "ru"),
        ("Міст відкривається опівдні, вода їде", "uk"),
        ("Мост адкрываецца, ён і вада", "be"),
        ("Мостът се отваря на обяд и водата тече надолу по реката към града", "bg"),
        ("Мост се отвара у подне, љубав", "sr"),
        ("Die Brücke öffnet mittags und die Fähre wartet.", "de"),
        ("Le pont ouvre à midi et le bac attend.", "fr"),
        ("El puente abre al mediodía y el barco espera.", "es"),
        ("Most otwiera się w południe.", "pl"),
        ("שלום עולם", "he"),
        ("مرحبا بالعالم الميناء مفتوح", "ar"),
        ("می‌خواهم بلیت بخرم", "fa"),
        ("桥在中午开放", "zh"),
        ("今日はいい天気ですね", "ja"),
        ("다리는 정오에 열립니다", "ko"),
        ("Γέφυρα", "el"),
        ("123 456 — 7.5 %", "und"),
        ("", "und"),
        ("https://example.org/ru/index.html", "und"),
    ],
)
def test_languages(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_a_short_stretch_takes_the_language_of_its_surroundings() -> None:
    assert detect_language("Pears", hint="en") == "en"
    assert detect_language("4 × 5", hint="ru") == "ru"
    assert detect_language("Мост открыт.", hint="en") == "ru"
