"""The command line."""

import pytest

from skrep import __version__, _demo
from skrep.__main__ import main


def test_info_names_versions(capsys):
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    assert __version__ in out
    assert "scikit-learn" in out


@pytest.fixture(scope="module")
def answers():
    return _demo.answers()


def test_demo_answers_and_draws(answers, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(_demo, "answers", lambda: answers)
    picture = tmp_path / "demo.png"
    assert main(["demo", "--plot", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "without retraining?" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_demo_scores_are_ordered(answers):
    relative = answers[0]
    for row in relative.table[1:]:
        floor, raw, aligned, relative, retrained = (
            float(cell.rstrip(" %")) for cell in row[2:]
        )
        assert max(floor, raw) + 20 < min(aligned, relative)
        assert max(aligned, relative) <= retrained


def test_unknown_command(capsys):
    with pytest.raises(SystemExit):
        main(["dance"])
    assert "demo" in capsys.readouterr().err
