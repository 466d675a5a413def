"""Reports are read as texts and tables, and the figures of the README and the site are those of the reports."""

import re
from pathlib import Path

import pytest

from sitetools import charts, figures, readme
from sitetools.figures import FIGURES, Cell, Cells, Count, Largest, Line, fill
from sitetools.reports import ReportError, Table, Text, as_html, parse, tables
from topshap_bench.summary import as_text

ROOT = Path(__file__).parent.parent
BENCHMARKS = ROOT / "docs" / "benchmarks"
REPORT = """2026-01-02, Python 3.11.1, topshap 0.1.0, Linux x86_64, 2 cores

all games: 2 games, k in [1, 3], budgets [50, 100], 2 runs
algorithm     error     odd-gp / it [95%]  losses
odd-gp         1.50
shap:kernel    3.00  0.455 [0.250, 1.100]       2
cmcs           12.5  0.100 [0.010, 0.200]       4
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "race.txt").write_text(REPORT, encoding="utf-8")
    return tmp_path


def test_a_table_that_the_benchmarks_print_is_read_as_it_was():
    header = ["game", "error of it", "right [95%]"]
    rows = [
        ["wine", "0.5 ± 0.1", "3 of 4 [0.1, 0.9]"],
        ["bank marketing", "nan", ""],
        ["adult", "-12", "10 of 40 [0, 1]"],
    ]
    for left in (1, 2, 3):
        (table,) = tables(as_text(header, rows, left=left))
        assert (table.header, table.rows) == (header, rows)


def test_lines_directly_around_a_table_are_text():
    title, table, below = parse("a title\nof two lines\ngame   error\nwine     0.5\nadult     12\nkept in all of them")
    assert title == Text(["a title", "of two lines"])
    assert (table.header, table.rows) == (["game", "error"], [["wine", "0.5"], ["adult", "12"]])
    assert table.about == ["a title", "of two lines"]
    assert below == Text(["kept in all of them"])


def test_rows_after_an_empty_line_belong_to_the_table_above():
    (table,) = parse("game   error\nwine     0.5\n\nadult     12")
    assert table.rows == [["wine", "0.5"], ["adult", "12"]]


def test_a_sentence_after_an_empty_line_is_not_a_row():
    first, text, second = parse("a wide column  error\nwine             0.5\n\nall right\n\ngame   error\nadult     12")
    assert isinstance(first, Table)
    assert text == Text(["all right"])
    assert second.about == ["all right"]


def test_a_column_without_a_name_belongs_to_the_one_before():
    (table,) = tables(
        "game   wrong                      s\nwine   0 of 100  [0.0, 0.1]     2.5\nadult  1 of 20   [0.0, 0.2]  3"
    )
    assert table.header == ["game", "wrong", "s"]
    assert table.rows[0] == ["wine", "0 of 100 [0.0, 0.1]", "2.5"]


def test_names_of_columns_may_be_one_space_apart():
    (table,) = tables("data    points budget\ndigits    1000    500\nadult    10000    500")
    assert table.header == ["data", "points", "budget"]
    assert table.rows[1] == ["adult", "10000", "500"]


def test_sentences_and_lists_are_not_tables():
    report = "one: 1, two: 2\ntwo: 3, one: 4\n\n- an item of 3\n- another of 4\n\nA title\nnone"
    assert [type(part) for part in parse(report)] == [Text, Text, Text]


def test_a_table_with_columns_that_are_not_aligned_is_an_error():
    with pytest.raises(ReportError, match=r"columns are not aligned: 'wine   0.5  1'"):
        parse("some text\n\nwine   0.5  1")


def test_a_column_is_numeric_if_at_least_half_of_its_cells_are():
    (table,) = tables(
        "game   a       b         c\nwine   1.5     too long  nan\nadult  cannot  too long\nbank   > 128   3"
    )
    assert [table.is_numeric(column) for column in range(4)] == [False, True, False, True]


def test_html_has_the_circumstances_the_tables_and_what_follows_the_first_is_folded():
    second = REPORT.partition("\n\n")[2].replace("all games", "<local> & other")
    shown = as_html(f"{REPORT}\n{second}", "race")
    assert '<p class="printed">2026-01-02, Python 3.11.1, topshap 0.1.0, Linux x86_64, 2 cores</p>' in shown
    assert shown.count('<table class="sortable">') == 2
    assert "<pre>&lt;local&gt; &amp; other: 2 games" in shown
    assert shown.index("</table>") < shown.index("<details><summary>The rest of the report: 1 more table</summary>")
    assert '<td class="number">0.455 [0.250, 1.100]</td>' in shown
    assert "<details>" not in as_html(REPORT, "race")


def test_figures_are_read_from_cells_rows_and_lines(folder):
    where = ("race", "^all games: ")
    kernel = {"algorithm": "shap:kernel"}
    assert Cell(*where, "error", kernel).read(folder) == "3.00"
    assert Cell(*where, r"odd-gp / it .*", kernel, decimals=2).read(folder) == "0.46"  # half is rounded up
    assert Largest(*where, "error", {"algorithm": "(?!odd-gp).*"}).read(folder) == "12.5"
    assert Count(*where, "error").read(folder) == "3"
    assert Line("race", r"budgets \[.*?(\d+)\]").read(folder) == "100"
    assert fill("on {{ race-games }} games, {{ race-kernel }}", folder) == "on 2 games, 0.46"


@pytest.mark.parametrize(
    ("figure", "message"),
    [
        (Cell("race", "^all games: ", "errors", {}), r"no column 'errors' under .* only \['algorithm', 'error', "),
        (Cell("race", "^all games: ", "error", {"algorithm": "bus"}), "no row with {'algorithm': 'bus'}"),
        (Cell("race", "^all games: ", "error", {"algorithm": ".*"}), "has 3 rows with"),
        (Cell("race", "^all games: ", "losses", {"algorithm": "odd-gp"}), "no number in the column 'losses': ''"),
        (Cell("race", "^no games: ", "error", {}), "no table under '\\^no games: '"),
        (Cell("other", "", "error", {}), "there is no report other.txt"),
        (Line("race", "in all (.*)"), "no line that matches 'in all"),
    ],
)
def test_a_figure_that_a_report_does_not_have_is_an_error(folder, figure, message):
    with pytest.raises(ReportError, match=message):
        figure.read(folder)


def test_a_bound_is_not_a_figure(folder):
    (folder / "race.txt").write_text(REPORT.replace(" 3.00", ">3.00"), encoding="utf-8")
    with pytest.raises(ReportError, match=r"no number in the column 'error': '>3\.00'"):
        Cell("race", "^all games: ", "error", {"algorithm": "shap:kernel"}).read(folder)


def test_an_error_names_the_placeholder_and_says_what_to_do(folder):
    with pytest.raises(ReportError, match=r"^docs/sitetools/figures.py has no figure \{\{ nothing \}\}$"):
        fill("{{ nothing }}", folder)
    with pytest.raises(ReportError, match=r"^\{\{ race-oddshap \}\}: race.txt has no row .*; publish a report"):
        fill("{{ race-oddshap }}", folder)


def test_the_race_may_be_printed_by_number_of_players(folder):
    header = ["algorithm", "error", "rms", "error: odd-gp / it [95%]", "losses", "failed"]
    rows = [["odd-gp", "1.5", "2.5", "", "", "0"], ["shap:kernel", "3.0", "4.5", "0.455 [0.250, 1.100]", "2", "0"]]
    title = "all {} games: {} games of 10 to 100 players, k in [1, 3], budgets [50, 100], 2 runs"
    groups = [f"{title.format(size, n)}\n{as_text(header, rows)}" for size, n in (("small", 2), ("very large", 7))]
    (folder / "race.txt").write_text("\n\n".join(["2026", *groups]), encoding="utf-8")
    assert fill("{{ race-games }} {{ race-most }} {{ race-losses }} {{ race-kernel }}", folder) == "2 100 2 0.46"
    assert [bar.shown for bar in charts.race(folder)] == ["1.5", "3.0"]


def test_every_figure_is_in_its_report_and_shown_somewhere():
    shown = readme.TEXT + "".join((ROOT / "docs" / f"{page}.md").read_text("utf-8") for page in ("index", "benchmarks"))
    for name, figure in FIGURES.items():
        value = figure.read()
        assert value
        assert f"{{{{ {name} }}}}" in shown, name
        report = (BENCHMARKS / f"{figure.report}.txt").read_text(encoding="utf-8")
        printed = {float(number) for number in figures.NUMBER.findall(report)}
        if figures.NUMBER.fullmatch(value) and not isinstance(figure, Count):
            decimals = len(value.partition(".")[2])
            assert any(abs(number - float(value)) <= 0.5 * 10.0**-decimals + 1e-9 for number in printed), name


def test_a_chart_has_a_bar_for_every_row_with_a_number(folder):
    bars = charts.race(folder)
    assert [(bar.label, bar.shown, bar.strong) for bar in bars] == [
        ("odd-gp", "1.50", True),
        ("shap:kernel", "3.00", False),
    ]
    drawn = charts.chart("race", folder)
    assert re.findall(r"width:(.*?)%", drawn) == ["50.0", "100.0"]
    with pytest.raises(ReportError, match="no chart 'pie'"):
        charts.chart("pie", folder)


def test_the_charts_of_the_site_have_a_strong_bar_of_topshap_and_several_others():
    for name, of_name in charts.CHARTS.items():
        strong = [bar for bar in of_name() if bar.strong]
        assert 1 <= len(strong) < len(of_name()) - 2, name


def test_cells_tell_which_conditions_they_satisfy(folder):
    (row,) = Cells("race", "^all games: ", "error", {"losses": "2", "algorithm": "s.*"}).find(folder)
    assert row == (["2", "shap:kernel"], "3.00")
