"""odd-gp for pairs of players: a Gaussian process on the even part of the game.

The Shapley interaction index of two players depends only on the even part e(x) = (v(x) + v(-x)) / 2, as the Shapley
values depend on the odd part, and the complement pairs that odd-gp evaluates inform both. The steps are those of
`topshap.algorithms.odd_gp`:

1. `weights`: the weight B of a complement pair in the interaction of two players; `player_pairs`: the pairs of players.
2. `kernel`, `fitting`: the prior of e, and the fit of its hyper-parameters, with relevances from the joint fit of the
   odd and the even part; `strong_pairs`: variances of their own for the strongest pairs of many players.
3. `posterior`, `integrals`: the mean of all interactions and the covariance of up to 600 *watched* ones in closed form.
4. `contrasts`: the border of the top k pairs, by value or by magnitude, at which the next complement pairs are aimed.
5. `surrogate`, `spread`: widened standard errors, and the correction by complement pairs beyond the learned ones;
   `logits`: surrogates on logit values.

`rounds` plays a race of order 2. `afterwards` estimates interactions after a race for single players.
"""
