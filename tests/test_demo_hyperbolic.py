"""What the demo says of taxonomies."""

from skrep._demo import hyperbolic


def test_hyperbolic_space_leads_and_the_conclusion_says_so():
    answer = hyperbolic.answer()
    maps = {tuple(row[:2]): tuple(map(float, row[2:])) for row in answer.table[1:]}
    for columns, least in (("2", 0.9), ("5", 0.93)):
        known, new = maps["hyperbolic", columns]
        assert known >= least
        assert known > maps["Euclidean", columns][0] + 0.5
        assert new > maps["Euclidean", columns][1] + 0.3
        assert f"{known:.2f} in {columns} columns" in answer.conclusion
    assert maps["hyperbolic", "5"][1] >= 0.97
    assert f"with {maps['hyperbolic', '5'][1]:.2f} in 5" in answer.conclusion
