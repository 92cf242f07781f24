"""Pictures of a representation, in the form of scikit-learn's displays."""

from skrep.inspection._index import IndexDisplay
from skrep.inspection._poincare_disk import PoincareDiskDisplay
from skrep.inspection._prefix_curve import PrefixCurveDisplay

__all__ = ["IndexDisplay", "PoincareDiskDisplay", "PrefixCurveDisplay"]
