"""Documents that support an answer: the context of a prompt as players, and the sentences of the answer.

A mock stands for the language model, so that the script runs anywhere. Replace it with
`topshap.clients.HTTPClient(base_url, model)` or another client.
"""

from typing import Any

import topshap

QUESTION = "Which river connects two capitals, and which one flows through Paris?"
ANSWER = "The Danube connects Vienna and Budapest. The Seine flows through Paris."
DOCUMENTS = {
    "rivers": "The Danube flows through ten countries.",
    "vienna": "Vienna lies on the Danube.",
    "budapest": "The Danube divides Budapest.",
    "bananas": "Bananas grow in the tropics.",
    "alps": "The Alps are mountains in Europe.",
    "seine": "The Seine flows through Paris.",
}


def log_prob(messages: list[dict[str, Any]], answer: str) -> list[float]:
    """Return a log probability for each word of the answer, higher if a document has it."""
    context = set(messages[-1]["content"].removesuffix(QUESTION).replace(".", " ").split())
    return [-0.2 if word.strip(".") in context else -3.0 for word in answer.split()]


client = topshap.clients.MockClient(lambda _: ANSWER, log_prob)
found = topshap.attribute(client, QUESTION, documents=DOCUMENTS, k=3, prices=(0.15, 0.60), random_state=0)
print(found)
print("\nBy sentence:")
for top in found.sentences:
    print(f"  {top.output_name} {', '.join(top.names[:2])}")
picture = topshap.show.text_map(found.top, pieces=found.game.pieces, player_of=found.game.player_of)
picture.figure.savefig("documents_of_a_prompt.png", dpi=150)
