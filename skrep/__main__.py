"""Command line: ``python -m skrep demo`` and ``python -m skrep info``."""

import argparse
import platform
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from skrep import __version__

_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "joblib",
    "threadpoolctl",
    "torch",
    "skorch",
    "matplotlib",
    "pandas",
    "polars",
)


def info() -> str:
    """Describe the installation for a bug report.

    Returns
    -------
    str
        One line for each package, aligned.
    """
    rows = [
        ("skrep", __version__),
        ("python", platform.python_version()),
        ("platform", platform.platform()),
    ]
    for package in _PACKAGES:
        try:
            rows.append((package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            rows.append((package, "not installed"))
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        The arguments; None takes those of the process.

    Returns
    -------
    int
        The exit status.
    """
    parser = argparse.ArgumentParser(
        prog="python -m skrep",
        description="Better representations inside scikit-learn.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser(
        "demo", help="answer each family's question on the bundled data"
    )
    demo.add_argument("--plot", metavar="FILE.png", help="draw the answers, too")
    commands.add_parser("info", help="print versions, for bug reports")
    options = parser.parse_args(arguments)
    if options.command == "demo" and options.plot:
        folder = Path(options.plot).absolute().parent
        if not folder.is_dir():
            parser.error(f"--plot: there is no folder {folder}")
    if options.command == "info":
        print(info())
    else:
        from skrep._demo import run

        run(print, plot=options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
