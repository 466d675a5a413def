"""Every script of the gallery runs, prints the expected text and saves a picture."""

import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

DOCS = Path(__file__).parent.parent / "docs"
SCRIPTS = sorted((DOCS / "gallery").glob("*.py"))

SAYS = {
    "documents_of_a_prompt": ["vienna", "budapest"],
    "ensemble_members": ["Top 2 of 5 players", "of the best 6 alone"],
    "explain_a_prediction": ["predict_proba of class 'malignant'", "Top 3 of 30 players"],
    "explain_a_table": ["40 explanations of 30 players", "Mean magnitude over 40 rows", "uncertain predictions"],
    "features_of_a_table": ["bmi", "s5", "depend most on each other: s1"],
    "global_importance": ["Top 3 of 11 players by loss", "players by mean magnitude", "rows: bmi, s5", "pairs that"],
    "in_context_models": ["missing values:", "fitted again:", "Top 3 of 10 players"],
    "regions_of_an_image": ["Top 4 of 16 players"],
    "select_features": ["selected: [ 0  1  2  3 16 17]"],
    "training_points": [
        "points with the lowest values: [ 4 11 23]",
        "lowest of 3000 points have a wrong label",
        "cover the most words",
        "learned incrementally: [25 33 41]",
    ],
    "with_shap_and_shapiq": ["largest difference from the exact values", "shapiq's explainer: [", "from a file"],
    "words_of_a_text": ["clever", "wonderful", "The cast is simply great!"],
}


def test_the_gallery_has_scripts():
    assert {path.stem for path in SCRIPTS} == set(SAYS)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_of_the_gallery_prints_the_expected_text_and_saves_a_picture(path, capsys, tmp_path, monkeypatch):
    if "shapiq" in path.stem:
        pytest.importorskip("shapiq", reason="shapiq is in the extra 'shapiq'")
    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    plt.close("all")
    printed = capsys.readouterr().out
    for words in SAYS[path.stem]:
        assert words in printed
    assert [left.name for left in tmp_path.iterdir()] == [f"{path.stem}.png"]
