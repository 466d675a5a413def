"""The answer of a game: one number per coalition, in any form that has one meaning."""

import numpy as np
import pytest

from topshap.core.errors import GameError
from topshap.core.values import check_values, short_repr

TWO = np.array([[True, False], [True, True]])


class Tensor:
    """A tensor with a gradient, which like that of torch refuses to become an array."""

    def __init__(self, values, *, requires_grad=True):
        self.values, self.requires_grad = np.asarray(values), requires_grad

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return (Tensor(value, requires_grad=self.requires_grad) for value in self.values)

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return self.values

    def detach(self):
        return Tensor(self.values, requires_grad=False)


class Opaque:
    """An object that raises an exception whatever is asked of it."""

    def _fail(self, *arguments, **options):
        raise RuntimeError("not this way")

    __repr__ = __float__ = __len__ = __array__ = __iter__ = _fail


@pytest.mark.parametrize(
    "answer", [Tensor([1.0, 2.0]), [Tensor(1.0), Tensor(2.0)], (Tensor(1.0), 2.0)], ids=["one", "list", "tuple"]
)
def test_tensors_that_require_gradients_are_numbers(answer):
    assert check_values(answer, TWO).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("answer", [3.0, np.array(3.0), np.float32(3.0), np.array([3.0]), Tensor(3.0), [Tensor(3.0)]])
def test_the_value_of_one_coalition_may_have_no_dimension(answer):
    assert check_values(answer, TWO[:1]).tolist() == [3.0]


def test_one_number_for_several_coalitions_is_refused():
    for answer in (3.0, np.array(3.0), Tensor(3.0)):
        with pytest.raises(GameError, match=r"array of shape \(2,\).*of shape \(\) instead.*per_coalition"):
            check_values(answer, TWO)
    with pytest.raises(GameError, match=r"array of shape \(0,\)"):
        check_values(np.array(3.0), TWO[:0])


@pytest.mark.parametrize("answer", [Opaque(), [Opaque(), Opaque()]], ids=["object", "list"])
def test_an_object_without_numbers_is_refused_by_its_type(answer):
    message = f"Got <{type(answer).__name__} object> of type {type(answer).__name__} instead, .* RuntimeError: not this"
    with pytest.raises(GameError, match=message):
        check_values(answer, TWO)


def test_an_entry_without_a_repr_is_refused_by_its_type():
    class Silent:
        __repr__ = Opaque._fail

    with pytest.raises(GameError, match=r"must return real numbers.*<Silent object> for \{0\}"):
        check_values([Silent(), Silent()], TWO)
    with pytest.raises(GameError, match="<Silent object>, an object of type Silent, of shape"):
        check_values(Silent(), TWO)


def test_a_long_repr_is_cut():
    assert short_repr("x" * 100) == "'" + "x" * 56 + "..."
