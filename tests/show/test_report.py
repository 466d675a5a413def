"""The report is one small self-contained file, and names and titles are escaped."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import topshap
from topshap.show.report import render
from topshap.show.report.content import LISTED
from topshap.statistics.ranking import RANK_BY, rank_key

VOID = {"meta", "link", "input"}


class Page(HTMLParser):
    """A parser that checks that elements are balanced and collects the text of some."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text, self.scripts = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append(dict(attrs))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append(dict(attrs))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        (self.scripts if self.open and self.open[-1] in {"script", "style"} else self.text).append(data)


def data_of(page_text):
    found = re.search(r'<script type="application/json" id="topshap-data">(.*?)</script>', page_text, re.DOTALL)
    return json.loads(found.group(1))


@pytest.mark.parametrize(
    ("n", "options", "limit"),
    [
        (14, {"k": 4, "budget": 400}, 100_000),
        (1000, {"k": 10, "budget": 5000, "algorithm": "greedy-cmcs"}, 200_000),
        (1000, {"k": 100, "budget": 3000, "player_names": [f"{i:04d} " + "字" * 200 for i in range(1000)]}, 200_000),
        (3000, {"k": 5, "budget": 8000}, 200_000),
    ],
)
def test_the_file_is_small_and_self_contained(tmp_path, found, n, options, limit):
    found(n=n, **options).to_html(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(text.encode()) < limit
    page = Page(text)
    links = [value for each in page.attributes for name, value in each.items() if name in {"src", "href", "action"}]
    assert set(links) == {"data:,", "#table"}
    assert "@import" not in text
    assert "url(" not in text
    assert "default-src 'none'" in text
    assert page.tags.count("script") == 2


@pytest.mark.parametrize("case", [{}, {"n": 3, "k": 1, "budget": 8}, {"budget": 2}, {"n": 20, "budget": 4000}])
def test_only_the_style_sheet_and_the_script_with_known_hashes_are_allowed(found, case):
    text = render(found(**case), title="<b>", game="<b>")
    page = Page(text)
    policy = next(each["content"] for each in page.attributes if each.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for directive, tag in (("style-src", "style"), ("script-src", "script")):
        [content] = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy
    names = {name for each in page.attributes for name in each}
    assert "style" not in names
    assert not any(name.startswith("on") for name in names)


def test_each_shade_of_a_pair_is_in_the_style_sheet(found):
    text = render(found(n=20, budget=4000))
    shades = set(re.findall(r'<td class="(p\d+)', text))
    assert len(shades) > 5
    assert all(f".pairs .{shade} {{ --p: {int(shade[1:]) / 100:g}; }}" in text for shade in shades)


def test_names_and_titles_are_escaped(found):
    hostile = "</script><script>alert(1)</script><!-- \u2028 \ud800 ]]>"
    names = [hostile, '" onmouseover="alert(1)', "<img src=x onerror=alert(1)>", "&lt;b&gt;", "\x00"]
    top = found(n=5, k=2, budget=20, player_names=names)
    text = render(top, title=hostile, game=hostile)
    page = Page(text)
    assert page.tags.count("script") == 2
    assert "img" not in page.tags
    assert all("onmouseover" not in each for each in page.attributes)
    assert any("</script><script>alert(1)</script>" in piece for piece in page.text)
    assert data_of(text)["players"]["name"][0] == names[top.ranking[0]].replace("\ud800", "?")


def test_the_embedded_json_agrees_with_the_result(found):
    top = found(n=20, k=3, budget=300)
    data = data_of(render(top, title="Who?", game="a game"))
    assert (data["title"], data["run"]["game"]) == ("Who?", "a game")
    assert data["players"]["index"] == top.ranking.tolist()
    np.testing.assert_allclose(data["players"]["estimate"], top.estimates[top.ranking], rtol=1e-5)
    np.testing.assert_allclose(data["players"]["std_error"], top.std_errors[top.ranking], rtol=1e-5)
    np.testing.assert_allclose(data["players"]["p_top_k"], top.inclusion[top.ranking], atol=1e-4)
    for name in ("algorithm", "budget", "stopped", "evaluations", "calls", "promise", "counting", "empty"):
        assert data["run"][name] == getattr(top, name)
    assert data["run"]["random_state"] == 7
    assert data["run"]["versions"]["topshap"] == topshap.__version__
    assert data["race"]["evaluations"][-1] == top.evaluations
    np.testing.assert_allclose(
        [line[-1] for line in data["race"]["estimates"]], top.estimates[top.ranking[data["race"]["ranks"]]], rtol=1e-3
    )
    around = top.ranking[data["pairwise"]["ranks"]]
    np.testing.assert_allclose(
        data["pairwise"]["row_ahead_of_column"], top.pairwise()[around][:, around], rtol=1e-2, atol=1e-12
    )


@pytest.mark.parametrize("rank_by", RANK_BY)
def test_the_order_at_each_moment_is_in_the_data(found, rank_by):
    race = data_of(render(found(n=20, k=3, budget=2000, algorithm="cmcs", rank_by=rank_by)))["race"]
    estimates = np.array(race["estimates"])
    assert len(race["orders"]) == len(race["evaluations"])
    for moment, order in enumerate(race["orders"]):
        assert sorted(order) == list(range(len(estimates)))
        assert (np.diff(rank_key(estimates[order, moment], rank_by)) <= 0.0).all()


def test_the_page_shows_the_settings_and_the_promise(found):
    top = found(n=14, k=4, budget=300, epsilon=0.01, algorithm="swap@k", value_range=(-100.0, 100.0))
    written = " ".join(Page(render(top, game="the price of a flat")).text)
    for words in ("the price of a flat", "swap@k", "Seed 7", "epsilon = 0.01", "-100 to 100", "numpy", top.promise):
        assert words in re.sub(r"\s+", " ", written)


def test_the_page_says_how_many_players_the_race_and_the_pairs_show(found):
    for n, words in ((30, "12 of 30 players"), (12, "all 12 players")):
        written = re.sub(r"\s+", " ", " ".join(Page(render(found(n=n, k=4, budget=2000))).text))
        assert f"The plot and the list below it show {words}." in written
        assert f"for {words} around the border" in written


def test_without_anything_learned_the_page_ranks_no_player(found):
    text = render(found(n=20, k=3, budget=2))
    written = " ".join(Page(text).text)
    assert "No ranking: nothing distinguishes the players yet." in written
    assert '<section aria-labelledby="h-pairs" hidden>' in text
    assert data_of(text)["players"]["index"] == list(range(20))
    assert data_of(text)["run"]["learned"] is False


def test_the_page_explains_a_tie():
    top = topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 1.0, 0.0]), k=2, random_state=0)
    assert "Players 1 and 2 tie at the border. The choice between them is arbitrary." in " ".join(
        Page(render(top)).text
    )


def test_a_seed_is_kept_only_if_it_is_a_number(found):
    assert found(random_state=3).random_state == 3
    assert found(random_state=np.int64(3)).random_state == 3
    assert found(random_state=np.random.default_rng(3)).random_state is None
    assert found(random_state=None).random_state is None


@pytest.mark.parametrize(
    "case", [{"n": 3, "k": 1, "budget": 8}, {"n": 1, "k": 1, "budget": 2}, {"n": 14, "budget": 20}]
)
def test_degenerate_results_have_a_report(found, case):
    text = render(found(**case))
    Page(text)
    assert data_of(text)["race"] is None


def test_a_result_without_a_history_has_a_report_without_a_race(found):
    assert data_of(render(replace(found(), history=None)))["race"] is None


def test_the_data_say_how_many_players_there_are_beyond_those_listed(found):
    data = data_of(render(found(n=LISTED + 500, k=5, budget=4000)))
    assert len(data["players"]["name"]) == LISTED
    assert data["run"]["n_players"] == LISTED + 500


def test_the_same_result_gives_the_same_file(found):
    assert render(found()) == render(found())


def test_a_notebook_shows_the_leaderboard_without_a_script(found):
    top = found()
    page = Page(top._repr_html_())
    assert "script" not in page.tags
    assert all("style" not in each for each in page.attributes)
    assert page.tags.count("li") == 14
    assert top.promise in page.text
