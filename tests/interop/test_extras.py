"""Optional libraries: not imported with topshap, and named with their extra where they are missing."""

import subprocess
import sys
import textwrap

import pytest

import topshap
from topshap.core.bindings import bound

GAME = topshap.games.UnanimityGame([[0, 1], [2, 3], [5]], [3.0, 1.0, 0.5], n_players=8)
TOP = topshap.identify(GAME, k=2, budget=60, algorithm="cmcs", random_state=0)


@pytest.mark.parametrize(
    ("library", "use", "extra"),
    [
        ("shap", TOP.to_shap, "shap"),
        ("shapiq", TOP.to_shapiq, "shapiq"),
        ("shapiq", lambda: topshap.interop.to_shapiq(GAME), "shapiq"),
        ("pandas", TOP.to_frame, "pandas"),
        ("sklearn", lambda: topshap.TopKSelector, "sklearn"),
        ("sklearn", lambda: topshap.games.RetrainingGame.random_forest([[1.0]], [1], task="regression"), "sklearn"),
        ("skimage", lambda: topshap.games.ImageGame(len, [[1.0]], segments=3), "image"),
        ("torch", lambda: topshap.games.NeuronGame(None, "conv1", [[1.0]], [1]), "torch"),
    ],
)
def test_the_error_about_a_missing_library_names_its_extra(library, use, extra, monkeypatch):
    for name in list(sys.modules):
        if name.startswith((f"{library}.", "topshap.selector", "topshap.interop.")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    bound.cache_clear()
    with pytest.raises(ImportError, match=rf"needs {library}: pip install 'topshap\[{extra}\]'"):
        use()


def test_importing_topshap_imports_no_extra():
    code = "import sys, topshap; print(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"sklearn", "pandas", "joblib", "shap", "shapiq", "torch", "tqdm", "matplotlib"} & set(
        run.stdout.split()
    )


def test_importing_topshap_does_not_import_the_slow_parts_of_scipy():
    code = "import sys, topshap; print(*{name for name in sys.modules if name.startswith('scipy.')})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"scipy.linalg", "scipy.ndimage", "scipy.optimize", "scipy.special"} & set(run.stdout.split())
    assert "algorithms" in dir(topshap)


def test_identify_and_aidentify_run_in_the_plain_install():
    code = textwrap.dedent(
        """
        import asyncio, sys
        OPTIONAL = {"tenacity", "joblib", "cloudpickle", "tqdm", "rich", "pandas", "narwhals", "sklearn"}

        class NotInstalled:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in OPTIONAL:
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)
                return None  # the finders after this one look for all other modules

        assert not OPTIONAL & sys.modules.keys()
        sys.meta_path.insert(0, NotInstalled())
        for name in OPTIONAL:
            try:
                __import__(name)
            except ModuleNotFoundError:
                continue
            raise AssertionError(f"{name} can be imported")
        import topshap

        attempts = []

        def worth(coalition):
            attempts.append(1)
            if len(attempts) == 5:
                raise ConnectionError("try again")
            return float(coalition[:3].sum())

        async def aworth(coalition):
            return worth(coalition)

        options = {"k": 3, "budget": 60, "random_state": 0}
        game = topshap.games.per_coalition(worth, n_players=8)
        print(sorted(topshap.identify(topshap.Oracle(game, backoff=0.0), **options).players.tolist()))
        attempts.clear()
        game = topshap.games.per_coalition(aworth, n_players=8)
        print(sorted(asyncio.run(topshap.aidentify(topshap.Oracle(game, backoff=0.0), **options)).players.tolist()))
        """
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["[0, 1, 2]", "[0, 1, 2]"]
