"""The generated parts of the site: the gallery with its pictures, the results of benchmarks, the recorded run."""

import html
import importlib.util
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from sitetools.figures import FIGURES, PLACEHOLDER
from topshap_bench.summary import circumstances

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGE = (DOCS / "benchmarks.md").read_text(encoding="utf-8").rpartition("---\n\n")[2]
COMMANDS = {
    "race": "topshap-bench race",
    "shapleig": "topshap-bench race",
    "clock": "topshap-bench clock",
    "confidence": "topshap-bench fixed-confidence",
    "stopping": "topshap-bench stopping",
    "guarantee": "topshap-bench guarantee",
    "calibration": "topshap-bench guarantee",
    "guarantee-kinds": "topshap-bench guarantee",
    "guarantee-goals": "topshap-bench guarantee-goals",
    "pairs": "topshap-bench pairs",
    "data-points": "topshap-bench data-points",
    "prompts": "topshap-bench prompts",
    "tables": "topshap-bench explain-tables",
    "tables-long": "topshap-bench explain-tables",
    "importance": "topshap-bench importance",
    "neurons": "topshap-bench neurons",
    "paper": "topshap-bench paper",
    "german-credit": "topshap-bench german-credit",
    "warm-up": "topshap-bench warm-up",
    "scale": "topshap-bench scale",
    "overhead": "topshap-bench overhead",
}
WITHOUT_RESULTS = ["How are these reports made and read?", "How do I race my own algorithm?"]
LANDING = (DOCS / "index.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hooks():
    spec = importlib.util.spec_from_file_location("hooks", DOCS / "hooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def results(tmp_path):
    """Return a function that writes a report and figures, and returns their folder."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()

    def write(name, text="odd-gp  1.00", figures=()):
        (folder / f"{name}.txt").write_text(f"{circumstances()}\n\n{text}\n", encoding="utf-8")
        for figure in figures:
            (folder / figure).write_bytes(b"a picture")
        return folder

    return write


def page_of(name):
    """Return what MkDocs passes to a hook as a page."""
    return SimpleNamespace(file=SimpleNamespace(src_uri=name))


def words(shown):
    """Return the words of HTML without its tags and what is added to a report."""
    without_label = re.sub(r"<summary>.*?</summary>", "", shown)
    return "".join(html.unescape(re.sub(r"<[^>]*>", " ", without_label)).split())


def headings(markdown):
    return re.findall(r"^## (.*)$", markdown, flags=re.MULTILINE)


def test_without_results_there_are_no_sections(hooks, tmp_path):
    page = hooks.with_results(PAGE, tmp_path / "nothing")
    assert headings(page) == WITHOUT_RESULTS
    assert page.startswith("# Benchmarks\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_section_shows_its_report_all_its_figures_and_a_link(hooks, results, name):
    text = "odd-gp  1.00 ± 0.5 <b> & * _it_ [95%] |\n\n    four spaces\n# no heading\n## nor this"
    figures = [f"{name}.png", f"{name}-a.png", f"{name}-e-local.png"]
    folder = results(name, text, figures)
    page = hooks.with_results(PAGE, folder)
    (shown,) = re.findall(r'<div class="report">.*?</div>', page, flags=re.DOTALL)
    assert words(shown) == "".join(f"{circumstances()}{text}".split())
    assert f"<pre>{html.escape('    four spaces')}\n# no heading" in shown
    linked = re.findall(r"\]\(benchmarks/(.*?)\)", page.partition(shown)[2])
    assert sorted(linked) == sorted([*figures, f"{name}.txt"])
    assert COMMANDS[name] in page
    assert len(headings(page.replace(shown, ""))) == 1 + len(WITHOUT_RESULTS)


def test_sections_are_in_the_order_of_the_page(hooks, results):
    for name in COMMANDS:
        folder = results(name, name)
    assert headings(hooks.with_results(PAGE, folder)) == headings(PAGE)


@pytest.mark.parametrize("stray", ["other.txt", "other.png", "guarantee.png"])
def test_a_file_that_no_section_shows_is_an_error(hooks, results, stray):
    folder = results("race", figures=["race.png"])
    (folder / stray).write_text(circumstances(), encoding="utf-8")
    with pytest.raises(RuntimeError, match=rf"no section of benchmarks.md shows {stray}"):
        hooks.with_results(PAGE, folder)


def test_a_report_without_its_date_and_versions_is_an_error(hooks, results):
    folder = results("race")
    (folder / "race.txt").write_text("odd-gp  1.00\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match="does not start with the date, the versions and the machine"):
        hooks.with_results(PAGE, folder)


def test_a_report_whose_table_cannot_be_read_is_an_error_that_names_file_and_line(hooks, results):
    folder = results("race", "algorithm  error  wins\nodd-gp    1.0  2")
    with pytest.raises(RuntimeError, match=r"race\.txt: .* columns are not aligned: 'algorithm  error  wins'"):
        hooks.with_results(PAGE, folder)


def test_all_published_results_are_on_the_page_with_all_their_words(hooks):
    page = hooks.on_page_markdown(PAGE, page_of("benchmarks.md"))
    published = {path.name for path in (DOCS / "benchmarks").glob("*.*")}
    assert set(re.findall(r"\]\(benchmarks/(.*?)\)", page)) == published
    for report in (DOCS / "benchmarks").glob("*.txt"):
        shown = hooks.html_of_a_report(report)
        assert shown in page
        assert words(shown) == "".join(report.read_text(encoding="utf-8").split())
        assert '<table class="sortable">' in shown


def test_the_benchmarks_page_starts_with_three_charts_and_five_sentences(hooks):
    page = hooks.on_page_markdown(PAGE, page_of("benchmarks.md"))
    start = page[: page.index("\n## ")]
    charts, _, sentences = start.rpartition("</div>")
    assert charts.count('<table class="chart">') == 3
    assert len(re.findall(r"[.](?=\s+\S|$)", sentences.strip())) == 5


def test_the_landing_page_has_a_picture_a_race_code_and_three_figures_with_their_reports(hooks):
    page = hooks.on_page_markdown(LANDING, page_of("index.md"))
    assert page.count("](images/leaderboard.png)") == 1
    assert page.count('<figure class="race"') == 1
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(code.split("\n")) - 2 == 5  # one line is empty, and the last one ends
    (numbers,) = re.findall(r'<div class="numbers" markdown>(.*?)</div>\n</div>', page, flags=re.DOTALL)
    for figure in numbers.split("<div markdown>")[1:]:
        (name,) = re.findall(r"\(benchmarks/(.*?\.txt)\)", figure)
        first = (DOCS / "benchmarks" / name).read_text(encoding="utf-8").partition("\n")[0]
        assert f"[{name}](benchmarks/{name}): {first}\n" in figure
        assert re.search(r"^\*\*\d[\d.]*", figure, flags=re.MULTILINE)
    assert numbers.count("<div markdown>") == 3
    assert "## Who it is for" in page


def test_every_number_on_the_landing_page_comes_from_a_report_that_is_linked_beside_it():
    """The other numbers are the options of the code, and those that say which row of a report is meant."""
    without_code = re.sub(r"```.*?```", "", PLACEHOLDER.sub("", LANDING), flags=re.DOTALL)
    assert sorted(re.findall(r"\d[\d.,%]*", without_code)) == ["200", "30", "500", "95%"]
    for figure in LANDING.split("<div markdown>"):
        used = {FIGURES[name].report for name in PLACEHOLDER.findall(figure)}
        assert used == set(re.findall(r"\(benchmarks/(.*?)\.txt\)", figure))


def test_only_pages_that_are_filled_have_placeholders_of_figures():
    pages = {page.relative_to(DOCS).as_posix(): page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")}
    assert {name for name, text in pages.items() if PLACEHOLDER.search(text)} == {"benchmarks.md", "index.md"}


def test_the_largest_loss_by_mean_squared_error_is_what_the_comparison_says():
    assert "more than 5% above that of the best" in (DOCS / "next-to-shap.md").read_text(encoding="utf-8")
    assert float(FIGURES["race-largest-mse"].read()) <= 1.05


def test_the_end_of_the_recorded_run_is_drawn_without_scripts(hooks):
    page = hooks.on_page_markdown(LANDING, page_of("index.md"))
    recorded = json.loads((DOCS / "images" / "recorded.json").read_text(encoding="utf-8"))
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', page)
    assert recorded.items() <= json.loads(data).items()
    last = dict(zip(recorded["names"], recorded["estimates"][-1], strict=True))
    best = sorted(last, key=last.get, reverse=True)[:8]
    assert re.findall(r"<li.*?><span>(.*?)</span>", page) == best
    shown = [float(value) for value in re.findall(r"<span>(0\.\d+)</span></li>", page)]
    assert shown == pytest.approx([last[name] * recorded["unit"] for name in best], abs=0.0005)
    assert page.count('<li class="inside"') == recorded["k"]
    assert f'<b class="race-count">{recorded["evaluations"][-1]:,}</b>' in page


def test_a_page_that_is_not_generated_is_left_as_it_is(hooks):
    assert hooks.on_page_markdown("{{ race-games }}", page_of("glossary.md")) == "{{ race-games }}"


def test_every_benchmark_has_a_section_that_says_what_was_run(hooks):
    assert hooks.RESULTS.findall(PAGE) == list(COMMANDS)
    assert len(headings(PAGE)) == len(COMMANDS) + len(WITHOUT_RESULTS)


def test_the_example_of_an_algorithm_is_shown(hooks):
    page = hooks.with_code(PAGE)
    for name in ("my_algorithm.py", "my_games.py"):
        assert (ROOT / "benchmarks" / "examples" / name).read_text(encoding="utf-8").rstrip() in page


def test_a_script_runs_in_its_own_folder_and_its_pictures_are_kept(hooks, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "x.py"
    script.write_text(
        '"""A title."""\nimport os, pathlib\nprint(os.listdir(), os.environ["MPLBACKEND"])\n'
        'pathlib.Path("x.png").write_bytes(b"a picture")\npathlib.Path("x.db").touch()\n',
        encoding="utf-8",
    )
    printed, pictures = hooks.run(script)
    assert printed == "[] Agg\n"
    assert pictures == {"x.png": b"a picture"}
    assert [path.name for path in tmp_path.iterdir()] == ["x.py"]


def test_a_script_that_fails_ends_the_build(hooks, tmp_path):
    script = tmp_path / "x.py"
    script.write_text("raise ValueError('no luck')", encoding="utf-8")
    with pytest.raises(RuntimeError, match="no luck"):
        hooks.run(script)


def test_the_section_of_a_script_has_its_code_its_output_and_its_pictures(hooks):
    script = DOCS / "gallery" / "words_of_a_text.py"
    section = hooks.section_of_a_script(script, "printed\n```\n", ["words_of_a_text.png"])
    assert section.startswith("## The words behind a score\n")
    assert script.read_text(encoding="utf-8").rstrip() in section
    assert "````text\nprinted\n```\n````" in section
    assert section.endswith("](words_of_a_text.png)")


def test_heavy_scripts_are_shown_and_not_run(hooks):
    for script in (DOCS / "gallery" / "heavy").glob("*.py"):
        section = hooks.section_of_a_script(script)
        assert script.read_text(encoding="utf-8").rstrip() in section
        assert "This page shows only the code" in section
        assert "Output:" not in section


def test_the_table_of_the_gallery_names_every_script():
    table = (DOCS / "gallery" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(.*?\.py)` \|", table, flags=re.MULTILINE))
    assert named == {path.relative_to(DOCS / "gallery").as_posix() for path in DOCS.glob("gallery/**/*.py")}
