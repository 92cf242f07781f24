"""Where the benchmarks find the files of the encoders."""

import os
from pathlib import Path

__all__ = ["data_folder"]


def data_folder(argument: str | None = None) -> Path:
    """Folder of the encoder files: the argument, else the variable SKREP_DATA.

    Raises
    ------
    FileNotFoundError
        If neither names a folder that holds the files.
    """
    named = argument or os.environ.get("SKREP_DATA")
    if named is None or not (Path(named) / "wordnet_glosses_minilm.npz").exists():
        raise FileNotFoundError(
            f"folder {named!r} holds no wordnet_glosses_*.npz; pass the folder as the "
            "script's help says, or set SKREP_DATA=/folder"
        )
    return Path(named)
