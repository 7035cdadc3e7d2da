"""Numbers, in digits and in words, with their units: what a quantity is, however it is written."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

_EN_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_EN_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth"
)
_EN_TEN_ORDINALS = "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"

CARDINALS: dict[str, Decimal] = {word: Decimal(i) for i, word in enumerate(_EN_UNITS.split())}
CARDINALS |= {word: Decimal(20 + 10 * i) for i, word in enumerate(_EN_TENS.split())}
CARDINALS["dozen"] = Decimal(12)
ORDINALS: dict[str, Decimal] = {word: Decimal(1 + i) for i, word in enumerate(_EN_ORDINALS.split())}
ORDINALS |= {word: Decimal(20 + 10 * i) for i, word in enumerate(_EN_TEN_ORDINALS.split())}
ORDINALS["hundredth"] = Decimal(100)

_RU_FORMS = """
0 ноль ноля нуль нуля нулю
1 один одна одно одну одного одной одному одним одном
2 два две двух двум двумя двое двоих
3 три трех трем тремя трое троих
4 четыре четырех четырем четырьмя четверо четверых
40 сорок сорока
50 пятьдесят пятидесяти
60 шестьдесят шестидесяти
70 семьдесят семидесяти
80 восемьдесят восьмидесяти
90 девяносто девяноста
100 сто ста
200 двести двухсот двумстам двумястами двухстах
300 триста трехсот тремстам тремястами трехстах
400 четыреста четырехсот четыремстам четырьмястами четырехстах
500 пятьсот пятисот пятистам пятьюстами пятистах
600 шестьсот шестисот
700 семьсот семисот
800 восемьсот восьмисот
900 девятьсот девятисот
1.5 полтора полторы полутора
8 восемь восьми восемью восьмью
"""
_RU_SOFT = (
    "5 пят 6 шест 7 сем 9 девят 10 десят 11 одиннадцат 12 двенадцат 13 тринадцат 14 четырнадцат 15 пятнадцат "
    "16 шестнадцат 17 семнадцат 18 восемнадцат 19 девятнадцат 20 двадцат 30 тридцат"
)
_RU_ORDINAL_ROOTS = (
    "1 перв 2 втор 4 четверт 5 пят 6 шест 7 седьм 8 восьм 9 девят 10 десят 11 одиннадцат 12 двенадцат 13 тринадцат "
    "14 четырнадцат 15 пятнадцат 16 шестнадцат 17 семнадцат 18 восемнадцат 19 девятнадцат 20 двадцат 30 тридцат "
    "40 сороков 50 пятидесят 60 шестидесят 70 семидесят 80 восьмидесят 90 девяност 100 сот"
)
_RU_ORDINAL_ENDINGS = ("ый", "ой", "ая", "ое", "ые", "ого", "ому", "ым", "ом", "ую", "ых", "ыми")

for _line in _RU_FORMS.strip().splitlines():
    _value, *_forms = _line.split()
    CARDINALS |= dict.fromkeys(_forms, Decimal(_value))
_pairs = _RU_SOFT.split()
for _value, _root in zip(_pairs[::2], _pairs[1::2], strict=True):
    CARDINALS |= {_root + ending: Decimal(_value) for ending in ("ь", "и", "ью")}
_pairs = _RU_ORDINAL_ROOTS.split()
for _value, _root in zip(_pairs[::2], _pairs[1::2], strict=True):
    ORDINALS |= {_root + ending: Decimal(_value) for ending in _RU_ORDINAL_ENDINGS}
_THIRD = ("ий", "ья", "ье", "ьи", "ьего", "ьей", "ьему", "ьим", "ьем")
ORDINALS |= {"трет" + ending: Decimal(3) for ending in _THIRD}

SCALES: dict[str, Decimal] = {}
_SCALE_FORMS = """
100 hundred hundreds
1000 thousand тыс тысяча тысячи тысяч тысячу тысячей тысячам тысячами тысячах
1000000 million mln млн миллион миллиона миллионов миллиону миллионом миллионам миллионами
1000000000 billion bln млрд миллиард миллиарда миллиардов миллиарду миллиардом миллиардами
1000000000000 trillion трлн триллион триллиона триллионов
"""
for _line in _SCALE_FORMS.strip().splitlines():
    _value, *_forms = _line.split()
    SCALES |= dict.fromkeys(_forms, Decimal(_value))

_UNIT_LINES = """
length m 0.001 mm millimetre millimeter мм миллиметр миллиметра миллиметров миллиметрах миллиметрам
length m 0.01 cm centimetre centimeter см сантиметр сантиметра сантиметров сантиметрах
length m 1 m metre meter м метр метра метров метрах метрам метре
length m 1000 km kilometre kilometer км километр километра километров километрах километре
length mile 1 mi mile миля мили миль милях
length foot 1 ft foot фут фута футов футах
length inch 1 inch дюйм дюйма дюймов
length knot 1 knot узел узла узлов узлах
mass g 0.001 mg milligram milligramme мг миллиграмм миллиграмма миллиграммов
mass g 1 g gram gramme г грамм грамма граммов граммах
mass g 1000 kg kilogram kilogramme kilo кг килограмм килограмма килограммов килограммах кило
mass g 1000000 t tonne т тонна тонны тонн тоннах
mass pound 1 lb lbs pound фунт фунта фунтов
mass ounce 1 oz ounce унция унции унций
time s 0.001 ms millisecond мс миллисекунда миллисекунды миллисекунд
time s 1 s sec second сек секунда секунды секунд секунду секундах
time s 60 min minute мин минута минуты минут минуту минутах
time s 3600 h hr hrs hour ч час часа часов часах часам
time s 86400 day сут сутки суток день дня дней днях
time s 604800 week нед неделя недели недель неделю неделях
time month 1 month мес месяц месяца месяцев
time year 1 yr year год года году лет годах годов годам
time century 1 century век века веке веков
volume l 0.001 ml millilitre milliliter мл миллилитр миллилитра миллилитров
volume l 1 l litre liter л литр литра литров литрах
volume gallon 1 gal gallon галлон галлона галлонов
temperature celsius 1 celsius °c °с
temperature fahrenheit 1 fahrenheit °f
temperature degree 1 ° degree градус градуса градусов градусах градусе градусам
power w 1 w watt вт ватт ватта
power w 1000 kw kilowatt квт киловатт киловатта
energy wh 1000 kwh
share percent 1 % percent per-cent процент процента процентов процентах проценту
share permille 1 ‰ промилле
money dollar 1 $ usd dollar доллар доллара долларов
money euro 1 € eur euro евро
money pound 1 £ gbp sterling
money rouble 1 ₽ rub ruble rouble руб рубль рубля рублей рублях
data byte 1 byte b байт байта байтов
data byte 1000 kb кб килобайт килобайта
data byte 1000000 mb мб мегабайт мегабайта мегабайтов
data byte 1000000000 gb гб гигабайт гигабайта гигабайтов
data byte 1000000000000 tb тб терабайт терабайта
frequency hz 1 hz гц герц
frequency hz 1000 khz кгц
frequency hz 1000000 mhz мгц
frequency hz 1000000000 ghz ггц
"""
UNITS: dict[str, tuple[str, Decimal]] = {}
for _line in _UNIT_LINES.strip().splitlines():
    _, _base, _factor, *_forms = _line.split()
    UNITS |= {form: (_base, Decimal(_factor)) for form in _forms}

MONEY_BEFORE = {"$": "dollar", "€": "euro", "£": "pound", "₽": "rouble"}

_EN_MONTHS = "january february march april may june july august september october november december"
_RU_MONTHS = "январ феврал март апрел ма июн июл август сентябр октябр ноябр декабр"
MONTHS: dict[str, int] = {name: i + 1 for i, name in enumerate(_EN_MONTHS.split())}
MONTHS |= {name[:3]: i for name, i in list(MONTHS.items()) if name != "may"}
for _i, _root in enumerate(_RU_MONTHS.split()):
    _endings = (
        ("й", "я", "е", "ю")
        if _root == "ма"
        else ("", "а", "е", "у")
        if _root in ("март", "август")
        else ("ь", "я", "е", "ю")
    )
    MONTHS |= {_root + ending: _i + 1 for ending in _endings}

_ROMAN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def parse_number(text: str, language: str) -> Decimal | None:
    """The value of a number in digits; None where its separators can be read in more than one way.

    A comma parts thousands in English (`1,200`) and decimals in Russian (`2,5`).
    """
    text = text.replace(" ", "")
    if text.count(",") + text.count(".") > 1:
        text = text.replace(",", "") if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", text) else ""
    elif "," in text:
        thousands = re.fullmatch(r"-?[1-9]\d{0,2},\d{3}", text) is not None
        text = text.replace(",", "" if thousands and language == "en" else ".")
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def parse_roman(text: str) -> int | None:
    """The value of a Roman numeral in capitals of at least two letters; None for any other word."""
    if len(text) < 2 or not text.isascii() or not _ROMAN.fullmatch(text):
        return None
    values = [_ROMAN_VALUES[letter] for letter in text]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))


def compose(values: list[tuple[Decimal, bool]]) -> Decimal:
    """The number that a run of number words says: (value, whether it is a scale), as `two thousand five hundred`."""
    total = current = Decimal(0)
    for value, scale in values:
        if scale and value == 100:
            current = (current or Decimal(1)) * value
        elif scale:
            total += (current or Decimal(1)) * value
            current = Decimal(0)
        else:
            current += value
    return total + current


def continues(before: Decimal, value: Decimal) -> bool:
    """Whether a number word may follow another within one number: `twenty five`, never `five twenty`."""
    if value <= 0 or value >= 1000:
        return False
    size = Decimal(10) if value < 10 else Decimal(100) if value < 100 else Decimal(1000)
    return before >= size and before % size == 0 and (before >= 20)


def plain(value: Decimal) -> str:
    """A value as digits, without an exponent or trailing zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
