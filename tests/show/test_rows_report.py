"""The report on many rows is one small self-contained file, and names and titles are escaped."""

import base64
import hashlib
import json
import re
from importlib import import_module

import numpy as np
import pytest

from topshap import Explanations
from topshap.show.rows_report import render

HOSTILE = ["<script>alert(1)</script>", "\x1b[2J", "</script><b>", "\u202egpj", "\ud800", "a\u2028b"]


def mixed(n_rows, n):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(n_rows, n)).astype(object)
    table[:, 1] = rng.choice(["Private", "Self-employed", "Government"], size=n_rows)
    table[:, 2] = rng.integers(17, 90, size=n_rows).tolist()
    return table


def data_of(text):
    found = re.search(r'<script type="application/json" id="topshap-data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found.group(1))


@pytest.mark.parametrize(("n_rows", "limit"), [(1000, 2_000_000), (10_000, 15_000_000)])
def test_the_file_is_small_and_has_all_rows(results_as_arrays, tmp_path, n_rows, limit):
    tops = Explanations(results_as_arrays(n_rows, n=30, k=5), data=mixed(n_rows, 30))
    tops.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < limit
    data = data_of((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert len(data["outputs"][0]["grand"]) == n_rows


def test_a_report_on_too_many_rows_says_which_it_lists(results_as_arrays, monkeypatch):
    monkeypatch.setattr(import_module("topshap.show.rows_report.content"), "MOST_NUMBERS", 600)
    tops = Explanations(results_as_arrays(200), output_names=["x", "y"])
    text = render(tops)
    assert "Listed are the first 50 of 100 rows." in text
    data = data_of(text)
    assert [len(output["grand"]) for output in data["outputs"]] == [50, 50]
    importance = tops.importance().values
    np.testing.assert_allclose([output["importance"] for output in data["outputs"]], importance, rtol=1e-3)


def test_of_many_outputs_the_first_are_listed(results_as_arrays):
    text = render(Explanations(results_as_arrays(120), output_names=[f"output {i}" for i in range(60)]))
    assert "The report has the first 50 of 60 outputs." in text
    assert len(data_of(text)["outputs"]) == 50


def test_the_numbers_are_those_of_the_rows(results_as_arrays):
    tops = Explanations(results_as_arrays(20), data=mixed(20, 6), row_names=[f"row {i}" for i in range(20)])
    data = data_of(render(tops, title="Title", game="Model"))
    (output,) = data["outputs"]
    estimates = np.array(output["estimates"], dtype=float).reshape(20, 6)
    np.testing.assert_allclose(estimates, tops.estimates, rtol=1e-3, atol=1e-5)
    np.testing.assert_array_equal(np.reshape(output["top"], (20, 2)), tops.players)
    np.testing.assert_allclose(output["confidence"], tops.confidence, rtol=1e-2)
    assert data["rows"][3] == "row 3"
    labels, codes = data["values"][1]["labels"], data["values"][1]["numbers"]
    assert [labels[code] for code in codes] == tops.data[:, 1].tolist()
    assert data["values"][2]["numbers"] == tops.data[:, 2].tolist()
    assert (data["title"], data["run"]["game"]) == ("Title", "Model")


def test_unknown_numbers_are_null(results_as_arrays):
    results = results_as_arrays(3)
    results.std_errors = np.full((3, 6), np.nan)
    results.confidence = np.full(3, np.nan)
    (output,) = data_of(render(Explanations(results)))["outputs"]
    assert set(output["std_errors"]) == set(output["confidence"]) == {None}


def test_names_values_and_titles_are_escaped(results_as_arrays):
    values = mixed(4, 6)
    values[:, 1] = HOSTILE[:4]
    tops = Explanations(results_as_arrays(4, names=HOSTILE), data=values, row_names=HOSTILE[:4])
    text = render(tops, title=HOSTILE[0], game=HOSTILE[2])
    assert [c for c in text if not c.isprintable() and c != "\n"] == []
    assert text.count("<script") == text.count("</script>") == 2
    data = data_of(text)
    assert data["players"][:2] == [HOSTILE[0], r"\x1b[2J"]
    assert data["rows"][3] == r"\u202egpj"


def test_only_its_own_style_sheet_and_script_are_allowed(results_as_arrays):
    text = render(Explanations(results_as_arrays(4)))
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', text).group(1)
    assert policy.startswith("default-src 'none'; ")
    for tag, kind in (("style", "style-src"), ("script", "script-src")):
        inline = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(inline) == 1
        digest = base64.b64encode(hashlib.sha256(inline[0].encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert "url(" not in text
    assert re.findall(r' (?:src|href|action)="(.*?)"', text) == ["data:,", "#table"]
