"""odd-gp and odd-gp@k: a Gaussian process on the odd part of the game.

Written in signs, a coalition is a vector x in {-1, +1}^n, and its complement is -x. The Shapley values depend only on
the odd part of the game; the even part e(x) = (v(x) + v(-x)) / 2 cancels. odd-gp repeats the following steps:

1. Observe complement pairs x | -x (`pairs`, `designs`): g(x) = (v(x) - v(-x)) / 2.
2. Fit a Gaussian process to g (`odd_kernel`, `fitting`, `minimise`), with a relevance a_i for every player:
   Cov(g(x), g(y)) = linear x.y + smooth sinh(sum_i a_i x_i y_i) / sinh(sum_i a_i) + residual(|x|) [x = y].
3. Compute the posterior of the Shapley values in closed form (`posterior`, `integrals`). With K = Cov(g) of the
   observed pairs and A = Cov(phi, g): mean A K^-1 g, covariance prior - A K^-1 A'.
4. Choose the next pairs (`active`): for i in the top k and j in the rest, the contrast phi_i - phi_j with posterior
   mean d and deviation s has the weight pdf(d / s) / s. Add greedily the pair that reduces the weighted sum of the
   contrasts' variances most; observing g(x) reduces Cov(phi) by c c' / u, with c = Cov(phi, g(x)) and u = Var(g(x)).

At the end, other surrogates are stacked with the first one by their leave-one-out errors (`stacking`): on
logit((v - low) / (high - low)) (`logit_warp`, `logit_gp`), with strong terms (`strong_terms`), and for sums of
unanimity games (`unanimity_surrogate`), which also chooses the pairs in games of many players that are like that.
`regime` has the numbers, `small_budget` the case of fewer than 2 n + 2 evaluations, and `sparse_rounds` with
`active_sets` that of few important players among many.

`even` has the same steps for the interactions of pairs of players, which depend only on the even part.

odd-gp@k draws the pairs at random with known inclusion probabilities pi (`strata`, `poisson`, `block_weights`) and uses
the same process as a control variate (`control_variate`). With r_T the leave-one-out residual of a drawn pair T and A_T
its weight in the Shapley values, phi = Shapley values of the prediction + sum over drawn T of
A_T (g(T) - prediction(T)) + A_T r_T (1 / pi_T - 1). After each block of pairs it bounds the differences across the
border (`interim`, `bounds`).
"""

from topshap.algorithms.odd_gp.fixed_budget import OddGP
from topshap.algorithms.odd_gp.fixed_confidence import OddGPAtK

__all__ = ["OddGP", "OddGPAtK"]
