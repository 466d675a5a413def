"""NeuronGame: the units of torch networks, compared with networks whose activations are changed by hand."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import topshap
from topshap.core.errors import AnswerShapeError, GameError, ParameterError
from topshap.games import NeuronGame

torch = pytest.importorskip("torch", reason="torch is in the extra 'torch'")
nn: Any = torch.nn
functional: Any = torch.nn.functional


class Residual(nn.Module):
    """A network with residual connections, operations in place, functional parts and a shared module."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(inplace=True))
        self.conv1 = nn.Conv2d(6, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 6, 3, padding=1)
        self.act = nn.ReLU(inplace=True)
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(6, 5)
        self.out = nn.Linear(5, 3)

    def forward(self, x):
        x = self.stem(x)
        y = self.act(self.conv1(x))
        x = x + functional.relu(self.conv2(y), inplace=True)
        x = self.act(x).mean(dim=(2, 3))
        return self.out(torch.tanh(self.fc(self.drop(x))))


class Tokens(nn.Module):
    """A transformer over the rows of an image."""

    def __init__(self, *, batch_first=True):
        super().__init__()
        self.batch_first = batch_first
        self.embed = nn.Linear(8, 12)
        block = nn.TransformerEncoderLayer(12, 3, dim_feedforward=10, batch_first=batch_first)
        self.encoder = nn.TransformerEncoder(block, 2, enable_nested_tensor=False)
        self.head = nn.Linear(12, 3)

    def forward(self, x):
        x = self.embed(x)
        x = self.encoder(x if self.batch_first else x.transpose(0, 1))
        return self.head(x.mean(dim=1 if self.batch_first else 0))


class OwnAttention(nn.Module):
    """Attention that returns its concatenated heads and the weights."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(8, 12)

    def forward(self, x, *, scale):
        heads = self.project(x).unflatten(-1, (4, 3)).transpose(1, 2)
        weights = torch.softmax(heads @ heads.transpose(2, 3) * scale[:, None, None, None], dim=-1)
        return (weights @ heads).transpose(1, 2).flatten(2), weights


class WithOwnAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = OwnAttention()
        self.out = nn.Linear(12, 3)

    def forward(self, x, scale):
        return (self.out(self.attention(x, scale=scale)[0].mean(dim=1)),)


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def images():
    return torch.randn(11, 1, 8, 8, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def targets():
    return torch.arange(11) % 3


def coalitions(game, m=9, seed=0):
    return np.random.default_rng(seed).random((m, game.n_players)) < 0.6


def log_prob(output, targets):
    return functional.log_softmax(output.double(), dim=-1)[torch.arange(len(targets)), targets].mean().item()


def by_hand(module, changes, *inputs):
    """Return the output of a module in evaluation mode whose submodules' outputs are changed by functions."""
    handles = [
        module.get_submodule(name).register_forward_hook(lambda _, __, output, change=change: change(output))
        for name, change in changes.items()
    ]
    modes = [(each, each.training) for each in module.modules()]
    module.eval()
    with torch.no_grad():
        output = module(*inputs)
    for handle in handles:
        handle.remove()
    for each, training in modes:
        each.training = training
    return output


def keeping(row, axis=1, absent=0.0):
    """Return a function that keeps some entries of an axis."""
    row = torch.as_tensor(row)

    def change(output):
        mask = row.reshape([-1 if i == axis % output.ndim else 1 for i in range(output.ndim)])
        return torch.where(mask, output, absent)

    return change


CHANNELS = {"conv1": 6, "conv2": 6}


@pytest.mark.parametrize("layers", [["conv1"], ["conv2"], ["conv2", "conv1"], ["stem.0", "conv2"], ["stem"]])
@pytest.mark.parametrize("cache_bytes", [0, 2**30])
@pytest.mark.parametrize("batch_bytes", [1, 2**14, 2**24])
def test_absent_channels_are_zero(layers, cache_bytes, batch_bytes, images, targets):
    module = Residual()
    game = NeuronGame(
        module, layers, images, targets, score="log-prob", cache_bytes=cache_bytes, batch_bytes=batch_bytes
    )
    assert game.n_players == 6 * len(layers)
    rows = coalitions(game)
    expected = [
        log_prob(
            by_hand(module, dict(zip(layers, map(keeping, np.split(row, len(layers))), strict=True)), images), targets
        )
        for row in rows
    ]
    np.testing.assert_allclose(game(rows), expected, atol=1e-5)


def test_channels_and_neurons_are_players_of_one_game(images, targets):
    module = Residual()
    game = NeuronGame(module, ["conv2", module.fc], images, targets, unit=["channel", "neuron"], score="log-prob")
    assert game.player_names[5:8] == ("conv2[5]", "fc[0]", "fc[1]")
    row = coalitions(game, 1)
    changes = {"conv2": keeping(row[0, :6]), "fc": keeping(row[0, 6:])}
    assert game(row)[0] == pytest.approx(log_prob(by_hand(module, changes, images), targets), abs=1e-5)


def test_what_comes_before_the_first_layer_is_not_run_again(images, targets):
    module = Residual()
    game = NeuronGame(module, ["fc", "conv2"], images, targets, unit=["neuron", "channel"])
    assert game._network.skipped == ["stem", "conv1", "conv2"]
    assert set(game._network._replay.kept) == {"stem", "conv2"}  # the residual connection, and the layer itself
    called = []
    for name in ("stem", "conv1", "conv2", "fc"):
        module.get_submodule(name).register_forward_hook(lambda *_, name=name: called.append(name))
    forward = type(module.conv1).forward
    run = []
    type(module.conv1).forward = lambda self, x: run.append(self) or forward(self, x)
    try:
        game(coalitions(game))
    finally:
        type(module.conv1).forward = forward
    assert called == ["stem", "conv1", "conv2", "fc"]  # one forward pass for nine coalitions
    assert run == []


@pytest.mark.parametrize("layers", [["conv2"], ["conv1", "fc"]])
def test_the_mean_is_that_of_all_inputs_and_positions(layers, images, targets):
    module, means = Residual(), {}
    for name in layers:

        def note(output, name=name):
            means[name] = output.transpose(0, 1).flatten(1).mean(dim=1)

        by_hand(module, {name: note}, images)
    units = ["neuron" if name == "fc" else "channel" for name in layers]
    game = NeuronGame(module, layers, images, targets, unit=units, ablation="mean", score="log-prob", subset=[1, 2, 7])
    row = coalitions(game, 1)
    parts = np.split(row[0], [6])
    changes = {
        name: keeping(part, absent=means[name].reshape(-1, *(1,) * (0 if name == "fc" else 2)))
        for name, part in zip(layers, parts, strict=False)
    }
    expected = log_prob(by_hand(module, changes, images[[1, 2, 7]]), targets[[1, 2, 7]])
    assert game(row)[0] == pytest.approx(expected, abs=1e-5)


def test_resampled_units_come_from_another_input(images, targets):
    module = Residual()
    options = {"ablation": "resample", "score": lambda outputs, _: outputs.flatten()}
    game = NeuronGame(module, "stem", images, targets, **options)
    none = game(np.zeros((1, 6), dtype=bool)).reshape(11, 3)
    full = game(np.ones((1, 6), dtype=bool)).reshape(11, 3)
    # Without its own channels, every input has the output of another one.
    distances = np.abs(none[:, None] - full[None]).max(axis=2)
    assert (distances.min(axis=1) < 1e-5).all()
    assert (distances.argmin(axis=1) != np.arange(11)).all()
    same, other = (NeuronGame(module, "stem", images, targets, random_state=seed, **options) for seed in (0, 1))
    np.testing.assert_array_equal(same(np.zeros((1, 6), dtype=bool))[0], none.ravel())
    assert not np.allclose(other(np.zeros((1, 6), dtype=bool))[0], none.ravel())


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("ablation", ["zero", "mean", "resample"])
def test_heads_of_multi_head_attention_are_players(batch_first, ablation, images, targets):
    module, tokens = Tokens(batch_first=batch_first).eval(), images[:, 0]
    names = ["encoder.layers.1.self_attn", "encoder.layers.0.self_attn"]
    game = NeuronGame(module, names, tokens, targets, unit="head", ablation=ablation, score="log-prob")
    assert game.n_players == 6
    assert game.player_names[0] == "encoder.layers.1.self_attn[0]"
    with torch.no_grad():
        assert game(np.ones((1, 6), dtype=bool))[0] == pytest.approx(log_prob(module(tokens), targets), abs=1e-5)
    if ablation == "zero":
        rows = coalitions(game, 4)
        for row, value in zip(rows, game(rows), strict=True):
            assert value == pytest.approx(self_attention_without_columns(module, names, row, tokens, targets), abs=1e-5)


def self_attention_without_columns(module, names, row, tokens, targets):
    """Return the score of a copy whose output projections ignore the absent heads, which is the same as zero heads."""
    copy = pickle.loads(pickle.dumps(module))
    with torch.no_grad():
        for name, heads in zip(names, np.split(row, 2), strict=True):
            copy.get_submodule(name).out_proj.weight *= torch.as_tensor(np.repeat(heads, 4))
        return log_prob(copy(tokens), targets)


def test_neurons_of_a_feed_forward_layer_are_the_same_for_all_tokens(images, targets):
    module, tokens = Tokens(batch_first=False), images[:, 0]
    name = "encoder.layers.0.linear1"
    game = NeuronGame(module, name, tokens, targets, unit="neuron", score="log-prob")
    rows = coalitions(game, 4)
    expected = [log_prob(by_hand(module, {name: keeping(row, axis=-1)}, tokens), targets) for row in rows]
    np.testing.assert_allclose(game(rows), expected, atol=1e-5)


def test_modules_that_concatenate_heads_need_their_number(images, targets):
    module, given = WithOwnAttention(), {"x": images[:, 0].double().numpy(), "scale": torch.linspace(0.1, 1.0, 11)}
    game = NeuronGame(module, "attention", given, targets, unit="head", n_heads=4, score="log-prob")
    rows = coalitions(game, 4)
    tensors = images[:, 0], given["scale"]
    for row, value in zip(rows, game(rows), strict=True):
        change = keeping(np.repeat(row, 3), axis=-1)
        output = by_hand(module, {"attention": lambda output, change=change: (change(output[0]), output[1])}, *tensors)
        assert value == pytest.approx(log_prob(output[0], targets), abs=1e-5)
    positional = NeuronGame(module, "attention", tensors, targets, unit="head", n_heads=4, score="log-prob")
    np.testing.assert_allclose(positional(rows), game(rows), atol=1e-6)
    with pytest.raises(ParameterError, match="'n_heads' parameter of NeuronGame must be given for 'attention'"):
        NeuronGame(module, "attention", given, targets, unit="head")
    with pytest.raises(ParameterError, match="a divisor of 12, the width of the output of 'attention'"):
        NeuronGame(module, "attention", given, targets, unit="head", n_heads=5)


def test_scores(images, targets):
    module = Residual()
    rows = coalitions(NeuronGame(module, "conv1", images, targets), 3)
    outputs = [by_hand(module, {"conv1": keeping(row)}, images) for row in rows]
    values = NeuronGame(module, "conv1", images, targets)(rows)
    np.testing.assert_allclose(values, [(output.argmax(1) == targets).double().mean().item() for output in outputs])
    wanted = torch.ones(11, 3)
    values = NeuronGame(module, "conv1", images, wanted, score="neg-mse")(rows)
    np.testing.assert_allclose(values, [-((output - 1.0) ** 2).mean().item() for output in outputs], atol=1e-5)
    value = NeuronGame(module, "conv1", images, targets, score=lambda outputs, _: outputs.mean())(rows)
    np.testing.assert_allclose(value, [output.mean().item() for output in outputs], atol=1e-5)


def test_a_score_may_return_several_numbers(images, targets):
    def per_class(outputs, targets):
        right = (outputs.argmax(dim=1) == targets).double()
        return torch.stack([right[targets == label].mean() for label in range(3)])

    game = NeuronGame(Residual(), "conv1", images, targets, score=per_class)
    rows = coalitions(game, 5)
    assert game(rows).shape == (5, 3)
    for label in range(3):
        one = NeuronGame(game._setting.module, "conv1", images, targets, subset=targets == label)
        np.testing.assert_allclose(game(rows)[:, label], one(rows), atol=1e-12)
    assert len(topshap.identify(game, k=2, budget=40)) == 3


def test_a_subset_is_scored_alone(images, targets):
    module = Residual()
    one = NeuronGame(module, "conv1", images[targets == 1], targets[targets == 1], score="log-prob")
    rows = coalitions(one)
    for subset in ((targets == 1).numpy(), np.flatnonzero(targets == 1)):
        game = NeuronGame(module, "conv1", images, targets, subset=subset, score="log-prob")
        np.testing.assert_allclose(game(rows), one(rows), atol=1e-6)
        assert game.fingerprint != one.fingerprint


def test_groups_and_units_that_are_always_present(images, targets):
    module = Residual()
    plain = NeuronGame(module, "conv1", images, targets, score="log-prob")
    groups = {"even": ["conv1[0]", "conv1[2]", "conv1[4]"]}
    game = NeuronGame(module, "conv1", images, targets, score="log-prob", groups=groups, always=["conv1[5]"])
    assert game.player_names == ("even", "conv1[1]", "conv1[3]")
    value = plain(np.array([[True, False, True, True, True, True]]))
    np.testing.assert_allclose(game(np.array([[True, False, True]])), value, atol=1e-6)


def test_the_module_is_left_as_it_was(images, targets):
    module = Residual().train()
    module.stem.eval()  # as for frozen statistics
    weights = {name: value.clone() for name, value in module.state_dict().items()}
    attention, tokens = Tokens(), images[:, 0]
    projections = [block.self_attn.out_proj for block in attention.encoder.layers]
    games = [
        NeuronGame(module, ["conv1", "fc"], images, targets, unit=["channel", "neuron"], ablation="mean"),
        NeuronGame(attention, "encoder.layers.0.self_attn", tokens, targets, unit="head"),
    ]
    for game in games:
        game(coalitions(game))
    assert module.training
    assert module.drop.training
    assert not module.stem.training
    assert not module.stem[0].training
    assert all(torch.equal(value, weights[name]) for name, value in module.state_dict().items())
    for each in (*module.modules(), *attention.modules()):
        assert not each._forward_hooks
        assert "forward" not in vars(each)
    assert [block.self_attn.out_proj for block in attention.encoder.layers] == projections
    assert torch.backends.mha.get_fastpath_enabled()
    assert torch.is_grad_enabled()


def test_the_module_is_left_as_it_was_after_an_error(images, targets):
    module, tokens = Tokens(), images[:, 0]

    def fails(outputs, _):
        raise ZeroDivisionError

    game = NeuronGame(module, "encoder.layers.0.self_attn", tokens, targets, unit="head", score=fails)
    with pytest.raises(ZeroDivisionError):
        game(np.ones((1, 3), dtype=bool))
    module.head.forward = fails
    with pytest.raises((ZeroDivisionError, TypeError)):
        game(np.ones((1, 3), dtype=bool))
    assert module.head.forward is fails
    assert module.training
    assert not any(each._forward_hooks for each in module.modules())


@pytest.mark.parametrize("ablation", ["zero", "mean", "resample"])
def test_a_pickled_game_has_the_same_values_and_fingerprint(ablation, images, targets):
    game = NeuronGame(Residual(), "conv2", images, targets, ablation=ablation, score="log-prob")
    copy = pickle.loads(pickle.dumps(game))
    rows = coalitions(game)
    np.testing.assert_array_equal(copy(rows), game(rows))
    assert copy.fingerprint == game.fingerprint
    assert copy.player_names == game.player_names


def test_the_fingerprint_depends_on_what_the_values_depend_on(images, targets):
    module = Residual()

    def fingerprint(module=module, layers="conv1", inputs=images, targets=targets, **options):
        return NeuronGame(module, layers, inputs, targets, **options).fingerprint

    same = fingerprint()
    assert len(same) == 64
    assert fingerprint(module.eval()) == same
    assert fingerprint(cache_bytes=0, batch_bytes=1, random_state=1) == same
    different = [
        fingerprint(layers="conv2"),
        fingerprint(inputs=images + 1.0),
        fingerprint(targets=(targets + 1) % 3),
        fingerprint(score="log-prob"),
        fingerprint(ablation="mean"),
        fingerprint(ablation="resample"),
        fingerprint(ablation="resample", random_state=1),
        fingerprint(subset=[1, 2]),
        fingerprint(always=["conv1[0]"]),
        fingerprint(fingerprint="mine"),
        fingerprint(fingerprint="mine", score="log-prob"),
    ]
    with torch.no_grad():
        module.fc.weight += 1.0
    different.append(fingerprint())
    assert len({same, *different}) == 1 + len(different)
    assert len(fingerprint(module.bfloat16())) == 64


def test_changed_weights_are_an_error(images, targets):
    module = Residual()
    game = NeuronGame(module, "conv1", images, targets)
    game(np.ones((1, 6), dtype=bool))
    with torch.no_grad():
        module.fc.weight += 1.0
    with pytest.raises(GameError, match="weights of the module have changed"):
        game(np.ones((1, 6), dtype=bool))


def test_the_values_are_the_same_from_several_threads(images, targets):
    game = NeuronGame(Residual(), "conv1", images, targets, score="log-prob")
    rows = [coalitions(game, seed=seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(game, rows))
    np.testing.assert_allclose(found, [game(each) for each in rows], atol=1e-12)


def test_identify_finds_the_channel_that_matters(images):
    module = nn.Sequential(nn.Conv2d(1, 8, 1), nn.Flatten(), nn.Linear(8 * 64, 3))
    with torch.no_grad():
        module[2].weight[:] = 0.0
        module[2].weight[1, 5 * 64 : 6 * 64] = 1.0  # class 1 depends on channel 5 alone
        module[0].weight[:] = 0.0
        module[0].bias[:] = 1.0
        module[2].bias[:] = 0.0
    game = NeuronGame(module, "0", images, torch.ones(11, dtype=torch.long))
    assert topshap.identify(game, k=1, budget=60).names == ("0[5]",)


WRONG = [
    ({"module": lambda x: x}, "'module' parameter of NeuronGame must be a torch.nn.Module"),
    ({"layers": "conv3"}, "names of submodules, such as 'stem', 'stem.0'.*Got 'conv3' instead. Did you mean 'conv"),
    ({"layers": []}, "must be at least one layer"),
    ({"layers": nn.Linear(2, 2)}, "layers of the module, by name or as modules"),
    ({"layers": ["conv1", "conv1"]}, "must be different layers"),
    ({"layers": "act"}, "calls once; 'act' is called 2 times"),
    ({"unit": "filter"}, "'unit' parameter of NeuronGame must be 'channel', 'neuron' or 'head'"),
    ({"unit": ["channel", "neuron"]}, "one for each of the 1 layers"),
    ({"unit": "neuron"}, "'channel' for the convolution 'conv1'"),
    ({"ablation": "noise"}, "'ablation' parameter of NeuronGame must be 'zero', 'mean' or 'resample'"),
    ({"score": "accurate"}, "Did you mean 'accuracy'"),
    ({"score": None}, "a name or a function of the network's outputs and the targets"),
    ({"targets": np.zeros(4, dtype=int)}, "one target for each of the 11 inputs. Got an array of shape \\(4,\\)"),
    ({"targets": np.full(11, 7)}, "ints in \\[0, 2\\], the positions of the network's outputs. Got torch.int64"),
    ({"targets": np.full(11, 0.5)}, "ints in \\[0, 2\\]"),
    ({"targets": ["a"] * 11}, "must be numbers: a tensor or an array"),
    ({"targets": np.zeros((11, 2), dtype=int)}, "'accuracy' needs one output for each class"),
    ({"score": "neg-mse"}, "one number for each output, shape \\(11, 3\\)"),
    ({"subset": [20]}, "positions of inputs"),
    ({"subset": [False] * 11}, "at least one input"),
    ({"always": ["conv1[6]"]}, "existing units only"),
    ({"groups": {"a": ["conv1[17]"]}}, "existing units only"),
    ({"inputs": np.zeros((0, 1, 8, 8))}, "at least one row"),
    ({"inputs": (np.zeros((11, 1, 8, 8)), np.zeros(3))}, "equally many rows"),
    ({"inputs": np.zeros((11, 2, 8, 8))}, "tensors that the module accepts, with one row per input. Got RuntimeError"),
    ({"inputs": "digits"}, "numbers: a tensor or an array"),
    ({"random_state": -1}, "'random_state' parameter of NeuronGame must be an int of at least 0"),
    ({"batch_bytes": 0}, "'batch_bytes' parameter"),
    ({"n_heads": 0}, "'n_heads' parameter"),
    ({"fingerprint": ""}, "'fingerprint' parameter"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_a_wrong_call_says_what_is_wrong(wrong, message, images, targets):
    given = {"module": Residual(), "layers": "conv1", "inputs": images, "targets": targets} | wrong
    with pytest.raises(ParameterError, match=message):
        NeuronGame(**given)


def test_coalitions_of_other_players_are_refused(images, targets):
    with pytest.raises(ParameterError, match=r"must be a bool array of shape \(m, 6\)"):
        NeuronGame(Residual(), "conv1", images, targets)(np.ones((2, 7), dtype=bool))


def test_layers_that_do_not_fit_are_refused(images, targets):
    tokens = images[:, 0]
    with pytest.raises(ParameterError, match=r"'neuron' for the linear layer 'encoder\.layers\.0\.linear1'"):
        NeuronGame(Tokens(), "encoder.layers.0.linear1", tokens, targets)
    with pytest.raises(ParameterError, match=r"'neuron' or 'head' for 'encoder\.layers\.0', whose output"):
        NeuronGame(Tokens(batch_first=False), "encoder.layers.0", tokens, targets)
    with pytest.raises(ParameterError, match="at least two inputs with ablation='resample'"):
        NeuronGame(Residual(), "conv1", images[:1], targets[:1], ablation="resample")
    folded = nn.Sequential(nn.Flatten(0, 1), nn.Unflatten(0, (-1, 8)), nn.Flatten(1), nn.Linear(64, 3))
    with pytest.raises(ParameterError, match="an axis with one entry per input; that of '0' has shape \\(8, 8\\)"):
        NeuronGame(folded, "0", tokens, targets, unit="neuron")
    with pytest.raises(ParameterError, match="a module that returns a tensor with one row per input"):
        NeuronGame(nn.Sequential(nn.Flatten(), nn.Linear(64, 3), nn.Flatten(0)), "1", tokens, targets, unit="neuron")
    unused = Residual()
    unused.spare = nn.Linear(2, 2)
    with pytest.raises(ParameterError, match="'spare' is called 0 times"):
        NeuronGame(unused, "spare", images, targets, unit="neuron")


def test_a_score_of_every_input_is_refused(images, targets):
    game = NeuronGame(Residual(), "conv1", images, targets, score=lambda outputs, _: outputs)
    with pytest.raises(AnswerShapeError, match=r"one number for all inputs.*Got float32 of shape \(11, 3\)"):
        game(np.ones((1, 6), dtype=bool))
