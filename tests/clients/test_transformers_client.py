"""A local model scores answers as it would without batches, padding and cached keys."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

import topshap  # noqa: E402
from topshap.clients import TransformersClient, plain_template  # noqa: E402

pytestmark = pytest.mark.heavy
DOCUMENTS = ["Vienna lies on the Danube.", "Bananas are yellow.", "Paris lies on the Seine.", "It rains."]
ANSWER = " On the Danube."


@pytest.fixture(scope="module")
def tokenizer():
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<end>"], initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()
    )
    model.train_from_iterator(DOCUMENTS * 5, trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=model, eos_token="<end>")  # noqa: S106


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def model(request, tokenizer):
    torch.manual_seed(0)
    size = {"vocab_size": len(tokenizer)}
    if request.param == "gpt2":
        config = transformers.GPT2Config(n_layer=2, n_head=2, n_embd=32, n_positions=512, **size)
        return transformers.GPT2LMHeadModel(config)
    config = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, **size
    )
    return transformers.LlamaForCausalLM(config)


def prompt(*documents):
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "\n".join(documents) + "\nWhere?"}]


def directly(model, tokenizer, messages):
    prompt_ids = tokenizer(plain_template(messages))["input_ids"]
    answer_ids = tokenizer(ANSWER, add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        logits = model(torch.tensor([prompt_ids + answer_ids])).logits[0]
    log_probs = torch.log_softmax(logits, dim=-1)
    return [log_probs[len(prompt_ids) + i - 1, token].item() for i, token in enumerate(answer_ids)]


def test_scores_of_a_batch_are_those_of_single_prompts(model, tokenizer):
    client = TransformersClient(model, tokenizer)
    prompts = [prompt(*DOCUMENTS), prompt(), prompt(DOCUMENTS[0]), prompt(*DOCUMENTS[2:])]
    for messages, scored in zip(prompts, client.score_batch(prompts, ANSWER), strict=True):
        assert scored.logprobs == pytest.approx(directly(model, tokenizer, messages), abs=1e-4)
        assert "".join(scored.tokens) == ANSWER
    assert client.cached_tokens > 10


def test_a_kept_start_gets_shorter_if_prompts_differ_earlier(model, tokenizer):
    client = TransformersClient(model, tokenizer)
    client.score_batch([prompt(*DOCUMENTS), prompt(*DOCUMENTS[:1])], ANSWER)
    before = client.cached_tokens
    other = [{"role": "user", "content": "Where?"}]
    assert client.score(prompt(DOCUMENTS[2]), ANSWER).logprobs == pytest.approx(
        directly(model, tokenizer, prompt(DOCUMENTS[2])), abs=1e-4
    )
    assert 0 < client.cached_tokens < before
    assert client.score(other, ANSWER).logprobs == pytest.approx(directly(model, tokenizer, other), abs=1e-4)


def test_a_local_model_is_attributed(model, tokenizer):
    client = TransformersClient(model, tokenizer, batch_size=4)
    found = topshap.attribute(client, "Where is Vienna?", documents=DOCUMENTS, k=2, params={"max_tokens": 5})
    assert found.top.stopped == "exact"
    game = topshap.games.PromptGame(client, "Where is Vienna?", documents=DOCUMENTS, answer=found.answer)
    np.testing.assert_allclose(found.top.estimates, topshap.identify(game, k=2).estimates, atol=1e-3)
    assert found.usage.requests == 17


def test_the_fingerprint_covers_the_weights_of_a_model_without_a_name(model, tokenizer):
    before = TransformersClient(model, tokenizer).fingerprint
    assert TransformersClient(model, tokenizer).fingerprint == before
    with torch.no_grad():
        next(model.parameters()).add_(1.0)
    assert TransformersClient(model, tokenizer).fingerprint != before
