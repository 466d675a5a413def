"""The pages of the site are correct: their code blocks and commands run, in order, and their links work."""

import inspect
import pydoc
import re
import shlex
import subprocess
import sys
from itertools import takewhile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
HAVE_NOTHING_TO_RUN = {"algorithms.md", "architecture.md", "glossary.md", "reference.md"}
RUN_ELSEWHERE = {"benchmarks.md"}  # test_commands runs it with smaller settings
VOCABULARY = {
    "border",
    "call",
    "coalition",
    "complement pair",
    "contrast",
    "evaluation",
    "fingerprint",
    "guarantee",
    "look",
    "player",
    "residual",
    "retry",
    "standing",
    "value function",
}


def blocks(page):
    return re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def run_command(line):
    program, *arguments = shlex.split(line, comments=True)
    if program == "pip":
        assert arguments[0] == "install"
        return
    assert program == "topshap"
    result = subprocess.run(
        [Path(sys.executable).with_name(program), *arguments], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, f"{line}: {result.stderr}"
    assert result.stdout


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in HAVE_NOTHING_TO_RUN | RUN_ELSEWHERE], ids=lambda p: p.stem
)
def test_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    namespace = {}
    ran = 0
    for language, text in blocks(page):
        assert language in ("python", "bash")
        if language == "python":
            exec(compile(text, page.name, "exec"), namespace)  # noqa: S102 - our own text
        else:
            for line in text.splitlines():
                run_command(line)
        ran += 1
    assert ran > 0


def test_pages_with_nothing_to_run_have_no_code():
    for name in HAVE_NOTHING_TO_RUN:
        assert {language for language, _ in blocks(DOCS / name)} <= {"text"}


def test_links_lead_to_pages_and_headings_that_exist():
    for page in [*PAGES, *DOCS.glob("*/*.md")]:
        for link in re.findall(r"\]\((.*?)\)", page.read_text(encoding="utf-8")):
            name, _, heading = link.partition("#")
            assert (page.parent / name).exists(), f"{page}: {link}"
            assert not heading or heading in anchors(page.parent / name), f"{page}: {link}"


def anchors(page):
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-") for heading in headings}


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in [*PAGES, *DOCS.glob("*/*.md")]:
        assert f": {page.relative_to(DOCS).as_posix()}\n" in navigation


def rows_of_table(text, header):
    """Return the cells of the table that starts with a header."""
    lines = takewhile(lambda line: line.startswith("|"), text[text.index(header) :].splitlines())
    return [line.strip("| ").split(" | ") for line in lines][2:]


def test_the_table_of_algorithms_names_every_one():
    import topshap

    text = (DOCS / "algorithms.md").read_text(encoding="utf-8")
    named = [name for row in rows_of_table(text, "| name |") for name in re.findall(r"`([a-z@-]+)`", row[0])]
    assert sorted(named) == sorted(topshap.algorithms.ALGORITHMS)


def test_every_algorithm_has_a_source_or_is_topshaps_own():
    import topshap

    text = (DOCS / "algorithms.md").read_text(encoding="utf-8")
    published = {name for row in rows_of_table(text, "| topic |") for name in re.findall(r"`([a-z@-]+)`", row[0])}
    assert published >= set(topshap.algorithms.ALGORITHMS)


def test_the_glossary_is_sorted_and_has_the_vocabulary():
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    terms = [term.lower() for term in re.findall(r"^## (.*)$", text, flags=re.MULTILINE)]
    assert terms == sorted(terms)
    assert set(terms) >= VOCABULARY
    for definition in re.split(r"^## .*$", text, flags=re.MULTILINE)[1:]:
        assert definition.strip()


def test_the_architecture_names_files_that_exist():
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    package = ROOT / "src" / "topshap"
    names = re.findall(r"`([\w/]+(?:\.py|/))`", text)
    assert len(names) > 30
    for name in names:
        folders = [package, package / "evaluation", package / "algorithms", package / "algorithms" / "odd_gp"]
        assert any((folder / name).exists() for folder in [*folders, package / "algorithms" / "swap"]), name


def test_lines_wrap_at_100_characters_except_tables_commands_and_output():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")]:
        shell = re.compile(r"^```(?:bash|text).*?^```", flags=re.DOTALL | re.MULTILINE)
        for line in shell.sub("", page.read_text(encoding="utf-8")).splitlines():
            assert len(line) <= 100 or line.startswith("|"), f"{page.name}: {line}"


BUDGETS = {"a budget": 1000, "a budget below 5 per player": 5 * 12 - 1, "a budget below n/4": 2001 // 4}
"""Budgets for the texts in the table of which-algorithm.md."""


def test_the_table_of_which_algorithm_agrees_with_auto():
    from topshap.algorithms import choose
    from topshap.algorithms.auto import auto_guarantee

    text = (DOCS / "which-algorithm.md").read_text(encoding="utf-8")
    rows = rows_of_table(text, "| you give |")
    assert rows[0][0] == "a budget of all 2ⁿ coalitions or more"  # enumeration, which choose does not select
    for given, game, runs in rows[1:]:
        stated = re.search(r'guarantee="(\w+)"', given)
        players = re.search(r"up to (\d+)", game)
        n_players = int(players[1]) if players else 2001 if "more players" in game else 12
        chosen = choose(
            n_players=n_players,
            budget=BUDGETS.get(given),
            guarantee=stated[1] if stated else auto_guarantee(n_players) if "epsilon" in given else None,
            deterministic="otherwise" not in game,
            bounded="value_range" in given,
            informed="prior" in game,
        )
        name = re.match(r"`(.*?)`", runs)
        assert chosen.name == (name[1] if name else "enumeration"), given


def test_the_page_states_the_order_of_enumeration():
    from topshap.algorithms.enumeration import IDS_PER_ROUND

    text = " ".join((DOCS / "which-algorithm.md").read_text(encoding="utf-8").split())
    largest = re.search(r"games of up to (\d+) players start with small coalitions and their complements", text)
    assert 2 ** int(largest[1]) == IDS_PER_ROUND
    assert "larger games use the order of the coalitions' ids" in text


def test_the_page_about_one_prediction_ranks_by_magnitude():
    page = DOCS / "how-to" / "explain-a-prediction.md"
    assert any('rank_by="magnitude"' in text for language, text in blocks(page) if language == "python")
    for other in [page, DOCS / "next-to-shap.md"]:
        assert "its negative" not in other.read_text(encoding="utf-8")


def test_the_page_about_one_prediction_names_the_output_of_the_tree_explainer():
    """tests/interop/test_peers.py compares the values."""
    text = " ".join((DOCS / "how-to" / "explain-a-prediction.md").read_text(encoding="utf-8").split())
    assert "interventional TreeExplainer for the same output" in text
    assert "raw scores of boosted classifiers (explain `model.decision_function`)" in text


def reference():
    """Return the entries of the reference: the public name, the path it is read from, whether members are shown."""
    text = (DOCS / "reference.md").read_text(encoding="utf-8")
    entries = re.findall(r"^::: (\S+)\n((?: +.*\n)*)", text, flags=re.MULTILINE)
    for path, options in entries:
        heading = re.search(r"heading: (\S+)", options)
        yield heading[1] if heading else path, path, "members: false" not in options


def public_names(module):
    """Return the names that a module lists as public, or those of its own functions and classes."""
    listed = getattr(module, "__all__", None)
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return listed or [name for name in own if not name.startswith("_")]


def public_modules():
    import topshap

    return {name: value for name in topshap.__all__ if isinstance(value := getattr(topshap, name), ModuleType)}


def listed_in_reference():
    """Return every public name that the reference shows, in its own entry or as a member of a module."""
    names = set()
    for name, path, with_members in reference():
        value = pydoc.locate(path)
        names.add(name)
        if isinstance(value, ModuleType) and with_members:
            names |= {f"{name}.{member}" for member in public_names(value)}
    return names


def test_the_reference_has_every_public_name():
    import topshap

    listed = listed_in_reference()
    modules = public_modules()
    top_level = {f"topshap.{name}" for name in topshap.__all__ if name not in modules and name != "__version__"}
    members = {f"topshap.{name}.{member}" for name, module in modules.items() for member in public_names(module)}
    errors = {f"topshap.{name}" for name in topshap.__all__ if hasattr(topshap.errors, name)}  # as topshap.errors.X
    assert top_level - errors <= listed
    assert members <= listed


def test_the_reference_has_public_names_only():
    import topshap

    for name, path, _ in reference():
        package, *parents, last = name.split(".")
        assert package == "topshap"
        home = topshap
        for parent in parents:
            assert parent in public_names(home), name
            home = getattr(home, parent)
        assert last in public_names(home), name
        assert getattr(home, last) is pydoc.locate(path), name


@pytest.mark.parametrize("method", ["Explainer.explain_many", "Store.check", "Store.info"])
def test_the_result_of_a_public_method_is_in_the_reference(method):
    function = pydoc.locate(f"topshap.{method}")
    assert f"topshap.{function.__annotations__['return']}" in listed_in_reference()


def test_every_public_name_exists_and_has_a_docstring():
    for name in listed_in_reference():
        value = pydoc.locate(name)
        assert value is not None, name
        assert pydoc.getdoc(value) or not (isinstance(value, type) or inspect.isroutine(value)), name


def test_every_public_name_is_listed_once():
    import topshap

    for module in [topshap, *public_modules().values()]:
        names = public_names(module)
        assert len(names) == len(set(names))
        assert all(hasattr(module, name) for name in names)
