"""A script that measures the overhead of the topshap version on its path; `topshap_bench.overhead` runs it.

It uses only `topshap.identify` and `topshap.algorithms.ALGORITHMS`, so that it can measure other versions. It prints
the path of the package and the names of its algorithms. It then reads lines "ALGORITHM SEED", and answers each with the
CPU time per access in microseconds, or "ALGORITHM SEED PLAYERS BUDGET", and answers with the CPU time of the run in
milliseconds, on a game with interactions and with distinct coalitions counted.
"""

import gc
import sys
import time
import warnings
from functools import partial
from importlib.util import find_spec

import numpy as np

N_PLAYERS, K, BUDGET = 14, 5, 2000
IN_A_ROW = 3
"""The number of runs per request. The fastest counts, since caches are cold after a wait and a garbage collection."""
KERNEL_EXPLAINER = "shap:kernel"
WEIGHTS = np.random.default_rng(0).random(N_PLAYERS)


def game(coalitions):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - as a user would write it
    """Return sums of weights."""
    return coalitions @ WEIGHTS


def interacting(n: int):  # type: ignore[no-untyped-def]  # noqa: ANN201 - as a user would write it
    """Return a game like a predicted probability: the sigmoid of a sum of weights, of single players and of pairs."""
    rng = np.random.default_rng(n)
    single, pairs = rng.normal(size=n), rng.normal(size=(n, n)) / n

    def probability(coalitions):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        inside = coalitions.astype(np.float64)
        return 1.0 / (1.0 + np.exp(-(inside @ single + np.einsum("mi,mi->m", inside @ pairs, inside)) / n**0.25))

    return probability


def measure_size(algorithm: str, n: int, budget: int, seed: int) -> float:
    """Return the CPU seconds of one run with this number of players and budget."""
    import topshap  # noqa: PLC0415 - the version on the path

    probability = interacting(n)
    start = time.process_time()
    topshap.identify(probability, n, min(K, n - 1), budget=budget, algorithm=algorithm, random_state=seed, n_jobs=1)
    return time.process_time() - start


def measure(algorithm: str, seed: int) -> float:
    """Return the CPU seconds per access of one run."""
    import topshap  # noqa: PLC0415 - the version on the path

    start = time.process_time()
    top = topshap.identify(
        game, N_PLAYERS, K, budget=BUDGET, algorithm=algorithm, counting="calls", random_state=seed, n_jobs=1
    )
    return (time.process_time() - start) / top.calls


def measure_kernel_explainer(seed: int) -> float:
    """Return the CPU seconds per access of shap's KernelExplainer, with one background row."""
    import shap  # type: ignore[import-untyped]  # noqa: PLC0415 - measured only if it is installed

    np.random.seed(seed)  # noqa: NPY002 - the state that shap uses
    explainer = shap.KernelExplainer(game, np.zeros((1, N_PLAYERS)))
    start = time.process_time()
    explainer.shap_values(np.ones((1, N_PLAYERS)), nsamples=BUDGET, silent=True, l1_reg=False)
    return (time.process_time() - start) / BUDGET


def main() -> None:
    """Answer requests until the input ends."""
    import topshap  # noqa: PLC0415 - the version on the path

    warnings.simplefilter("ignore")
    print(topshap.__file__)
    print(*([KERNEL_EXPLAINER] if find_spec("shap") else []), *topshap.algorithms.ALGORITHMS)
    for line in sys.stdin:
        algorithm, seed, *size = line.split()
        run = measure_kernel_explainer if algorithm == KERNEL_EXPLAINER else partial(measure, algorithm)
        if size:
            run = partial(measure_size, algorithm, *map(int, size))
        gc.collect()
        print((1e3 if size else 1e6) * min(run(int(seed)) for _ in range(IN_A_ROW)))


if __name__ == "__main__":
    main()
