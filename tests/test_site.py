"""The generated parts of the site: the gallery with its pictures, the results of benchmarks."""

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from topshap_bench.summary import circumstances

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGE = (DOCS / "benchmarks.md").read_text(encoding="utf-8").rpartition("---\n\n")[2]
COMMANDS = {
    "race": "topshap-bench race",
    "confidence": "topshap-bench fixed-confidence",
    "guarantee": "topshap-bench guarantee",
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
    "warm-up": "topshap-bench warm-up",
    "scale": "topshap-bench scale",
    "overhead": "topshap-bench overhead",
}
WITHOUT_RESULTS = ["How do I race my own algorithm?"]


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


def headings(markdown):
    return re.findall(r"^## (.*)$", markdown, flags=re.MULTILINE)


def test_without_results_there_are_no_sections(hooks, tmp_path):
    page = hooks.with_results(PAGE, tmp_path / "nothing")
    assert headings(page) == WITHOUT_RESULTS
    assert page.startswith("# Benchmarks\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_section_shows_its_report_unchanged_and_all_its_figures(hooks, results, name):
    text = "odd-gp  1.00 ± 0.5  <b> & * _it_ [95%] |\n\n    four spaces\n# no heading\n## nor this"
    figures = [f"{name}.png", f"{name}-a.png", f"{name}-e-local.png"]
    folder = results(name, text, figures)
    page = hooks.with_results(PAGE, folder)
    assert f"```text\n{circumstances()}\n\n{text}\n```" in page
    assert sorted(re.findall(r"\]\(benchmarks/(.*?)\)", page)) == sorted(figures)
    assert COMMANDS[name] in page
    assert len(headings(page.replace(text, ""))) == 1 + len(WITHOUT_RESULTS)


def test_sections_are_in_the_order_of_the_page(hooks, results):
    for name in COMMANDS:
        folder = results(name, name)
    assert headings(hooks.with_results(PAGE, folder)) == headings(PAGE)


def test_a_fence_inside_a_report_does_not_end_it(hooks, results):
    text = "before\n```\ninside\n````python\nafter"
    page = hooks.with_results(PAGE, results("race", text))
    assert f"\n`````text\n{circumstances()}\n\n{text}\n`````\n" in page


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


def test_all_published_results_are_on_the_page(hooks):
    page = hooks.on_page_markdown(PAGE, SimpleNamespace(file=SimpleNamespace(src_uri="benchmarks.md")))
    published = {path.name for path in (DOCS / "benchmarks").glob("*.png")}
    assert set(re.findall(r"\]\(benchmarks/(.*?)\)", page)) == published
    for report in (DOCS / "benchmarks").glob("*.txt"):
        assert report.read_text(encoding="utf-8").rstrip() in page


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
