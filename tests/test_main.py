"""The command line."""

import re

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
    assert "How short" in out
    assert "without retraining?" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_demo_scores_are_ordered(answers):
    for row in _about(answers, "retraining").table[1:]:
        floor, raw, aligned, relative, retrained = (
            float(cell.rstrip(" %")) for cell in row[2:]
        )
        assert max(floor, raw) + 20 < min(aligned, relative)
        assert max(aligned, relative) <= retrained


def _about(answers, word):
    (found,) = [answer for answer in answers if word in answer.question]
    return found


def _lengths(answer):
    _, _, *lengths = answer.table[0]
    return lengths


def _percent(answer):
    return {
        (task, way): [float(cell.rstrip(" %")) for cell in cells]
        for task, way, *cells in answer.table[1:]
    }


def test_demo_short_vectors_lose_least_with_the_nested_projection(answers):
    scores = _percent(_about(answers, "How short"))
    assert len({task for task, _ in scores}) == 2
    for (task, way), values in scores.items():
        nested = scores[task, "nested"]
        if way != "nested":
            assert all(
                ours > other for ours, other in zip(nested[:4], values[:4], strict=True)
            )
        assert values[0] < values[3]


def test_demo_conclusion_follows_from_the_table(answers):
    answer = _about(answers, "How short")
    scores, lengths = _percent(answer), _lengths(answer)
    said = re.findall(
        r"(\d+) numbers (tell the order|find the definition) with (\d+) %",
        answer.conclusion,
    )
    assert len(said) == 2
    for k, task, share in said:
        kept = scores[task, "nested"][lengths.index(k)] / scores[task, "truncation"][-1]
        assert float(share) == pytest.approx(100 * kept, abs=3)
    behind = re.search(r"behind in (\d+) of 25", answer.conclusion)
    lost = re.findall(r"(?:order|definition) at \d+ \(", answer.conclusion)
    assert len(lost) == int(behind[1])


def test_unknown_command(capsys):
    with pytest.raises(SystemExit):
        main(["dance"])
    assert "demo" in capsys.readouterr().err
