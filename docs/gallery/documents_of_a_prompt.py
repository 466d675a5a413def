"""Documents that support an answer: the context of a prompt as players, with an asynchronous score.

The score counts words of the answer, so that the script runs anywhere. Replace it with a call to a language model that
returns the log probability of the answer given the prompt.
"""

import asyncio

import topshap

QUESTION = "Question: which river connects two capitals?"
ANSWER = {"danube", "flows", "vienna", "budapest"}  # the Danube, which flows through Vienna and Budapest
DOCUMENTS = {
    "rivers": "The Danube flows through ten countries.",
    "vienna": "Vienna lies on the Danube.",
    "budapest": "The Danube divides Budapest.",
    "bananas": "Bananas grow in the tropics.",
    "alps": "The Alps are mountains in Europe.",
    "seine": "The Seine flows through Paris.",
}


async def score(prompts: list[str]) -> list[float]:
    """Return the number of words of the answer in each prompt."""
    await asyncio.sleep(0.001)  # the request
    return [float(len(ANSWER & set(prompt.lower().replace(".", " ").split()))) for prompt in prompts]


game = topshap.games.TextGame(score, [*DOCUMENTS.values(), QUESTION], separator="\n", always=[QUESTION])


async def main() -> topshap.TopK:
    """Run a race with asynchronous scores."""
    race = topshap.Race(game.n_players, k=3, player_names=DOCUMENTS, random_state=0)
    while not race.done:
        race.tell(await game(race.ask()))
    return race.result()


top = asyncio.run(main())
print(top)
picture = topshap.show.text_map(top, pieces=game.pieces, player_of=game.player_of)
picture.figure.savefig("documents_of_a_prompt.png", dpi=150)
