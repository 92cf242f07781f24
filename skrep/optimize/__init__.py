"""Steps on curved spaces, and the draws that stochastic fits need."""

from skrep.optimize._ball import ball_step
from skrep.optimize._negatives import NegativeSampler
from skrep.optimize._pairs import PairSet
from skrep.optimize._schedule import learning_rates

__all__ = ["NegativeSampler", "PairSet", "ball_step", "learning_rates"]
