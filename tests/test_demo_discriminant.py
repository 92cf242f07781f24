"""What the demo says of class separation."""

import importlib.util

import pytest

from skrep._demo import discriminant


def percent(answer):
    return {name: float(cell.rstrip(" %")) for name, cell in answer.table[1:]}


def test_the_network_leads_and_the_conclusion_says_so():
    answer = discriminant.answer()
    scores = percent(answer)
    pca, linear, network = scores.values()
    assert pca + 10 < linear
    assert linear + 5 < network
    assert answer.conclusion.startswith("DiscriminantEncoder keeps 6 classes")
    assert f"{network:.0f} %" in answer.conclusion
    assert f"{pca:.0f} %" in answer.conclusion


@pytest.mark.parametrize("absent", ["torch", "skorch"])
def test_without_torch_it_says_how_to_install_it(monkeypatch, absent):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == absent else found(name),
    )
    answer = discriminant.answer()
    assert set(percent(answer)) == {"PCA", "LinearDiscriminantProjection"}
    assert f"but needs {absent}: pip install 'skrep[torch]'" in answer.conclusion
