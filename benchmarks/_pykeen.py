"""ComplEx by PyKEEN, the peer that can be installed; run by an interpreter that has it.

    python benchmarks/_pykeen.py TRIPLES.npz SETTING.json OUT.npz

It needs nothing but PyKEEN, so that it may live in an environment of its own.
"""

import json
import sys
from pathlib import Path
from time import process_time

import numpy as np

__all__ = ["bundled", "train"]

SETS = ("nations", "kinships", "umls")


def bundled(name: str) -> dict[str, np.ndarray]:
    """Triples of a data set that PyKEEN brings, as codes, by split."""
    from pykeen.datasets import get_dataset

    found = get_dataset(dataset=name)
    parts = {"train": found.training, "valid": found.validation, "test": found.testing}
    return {split: part.mapped_triples.numpy() for split, part in parts.items()}


def train(triples: np.ndarray, setting: dict) -> dict[str, np.ndarray]:
    """Vectors of a ComplEx model and the CPU seconds of its training.

    With reciprocal relations, full cross-entropy ("lcwa") or drawn negatives ("slcwa"),
    and cubes as the regularizer: the recipe that its authors found best.
    """
    import torch
    from pykeen.models import ComplEx
    from pykeen.training import LCWATrainingLoop, SLCWATrainingLoop
    from pykeen.triples import CoreTriplesFactory

    torch.set_num_threads(1)
    codes = torch.from_numpy(triples.astype(np.int64))
    n_entities, n_relations = int(setting["n_entities"]), int(codes[:, 1].max()) + 1
    factory = CoreTriplesFactory(
        codes, n_entities, n_relations, create_inverse_triples=True
    )
    model = ComplEx(
        triples_factory=factory,
        embedding_dim=setting["n_components"] // 2,
        loss="crossentropy",
        regularizer="powersum",
        regularizer_kwargs={"p": 3.0, "weight": setting["regularization"]},
        random_seed=setting["seed"],
    )
    optimizer = torch.optim.Adam(model.get_grad_params(), lr=setting["lr"])
    common = {"model": model, "triples_factory": factory, "optimizer": optimizer}
    loop = (
        LCWATrainingLoop(**common)
        if setting["loop"] == "lcwa"
        else SLCWATrainingLoop(
            **common, negative_sampler_kwargs={"num_negs_per_pos": setting["negatives"]}
        )
    )
    start = process_time()
    loop.train(
        triples_factory=factory,
        num_epochs=setting["epochs"],
        batch_size=setting["batch_size"],
        use_tqdm=False,
        pin_memory=False,
    )
    seconds = process_time() - start
    tables = {
        name: part[0](indices=None).detach().numpy()
        for name, part in (
            ("entity", model.entity_representations),
            ("relation", model.relation_representations),
        )
    }
    return {**tables, "seconds": np.array(seconds)}


def main(argv: list[str]) -> None:
    if argv[0] == "bundled":
        parts = {name: bundled(name) for name in SETS}
        flat = {
            f"{n}-{s}": rows for n, part in parts.items() for s, rows in part.items()
        }
        np.savez(argv[1], **flat)
        return
    triples, setting, out = argv
    found = train(np.load(triples)["triples"], json.loads(Path(setting).read_text()))
    np.savez(out, **found)


if __name__ == "__main__":
    main(sys.argv[1:])
