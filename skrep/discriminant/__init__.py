"""Few dimensions in which classes come apart: closed forms, and networks."""

from skrep.discriminant._distractors import DistractorRemoval
from skrep.discriminant._encoder import DiscriminantEncoder
from skrep.discriminant._projection import LinearDiscriminantProjection
from skrep.discriminant._simplex_classifier import SimplexClassifier
from skrep.discriminant._simplex_code import SimplexCode

__all__ = [
    "DiscriminantEncoder",
    "DistractorRemoval",
    "LinearDiscriminantProjection",
    "SimplexClassifier",
    "SimplexCode",
]
