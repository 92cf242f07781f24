"""Noisy images of two regions, whose border is known."""

from numbers import Integral, Real
from typing import Any, Final

import numpy as np
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from skrep.datasets._draws import RandomSource
from skrep.typing import FloatArray, IntArray

__all__ = ["make_region_images"]

N_WAVES: Final = 5
"""How often the radius of a region may rise and fall around its center."""

_CONSTRAINTS: dict[str, list[Any]] = {
    "n_images": [Interval(Integral, 1, None, closed="left")],
    "size": [Interval(Integral, 8, None, closed="left")],
    "noise": [Interval(Real, 0, np.inf, closed="left")],
    "blur": [Interval(Real, 0, np.inf, closed="left")],
    "random_state": ["random_state", np.random.Generator],
}


def make_region_images(
    n_images: int = 100,
    *,
    size: int = 48,
    noise: float = 0.5,
    blur: float = 1.5,
    random_state: int | RandomSource | None = None,
) -> tuple[FloatArray, IntArray]:
    r"""Draw images of one bright region each, with its mask, for segmentation.

    A region is star-shaped: all that lies closer to a center than
    :math:`\rho\,(1 + \sum_{j=1}^5 a_j \cos(j\varphi + \varphi_j))` in the direction
    :math:`\varphi`. Its edge is blurred, the light differs from image to image, and
    noise is added to every pixel. The mask is that of the sharp region: where the
    border runs must be told from blurred and noisy pixels.

    Parameters
    ----------
    n_images : int, default=100
        Number of images.
    size : int, default=48
        Height and width of an image in pixels; at least 8.
    noise : float, default=0.5
        Standard deviation of the Gaussian noise in each pixel, in units of the mean
        difference of the two regions.
    blur : float, default=1.5
        Standard deviation of the Gaussian blur of the edge in pixels; 0 leaves it
        sharp.
    random_state : int, Generator, RandomState or None, default=None
        An int gives the same images at every call, with masks that depend on neither
        `noise` nor `blur`. None draws anew; numpy's global random state is neither
        read nor changed.

    Returns
    -------
    images : ndarray of shape (n_images, 1, size, size), float32
        Intensities, with the axis of channels that convolutions ask for.
    masks : ndarray of shape (n_images, size, size), int64
        1 in the region, 0 around it; both occur in every image.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside the values above. It is a `ValueError` and a
        `TypeError`.

    See Also
    --------
    make_index_model : Rows whose response depends on a few directions.
    skrep.nn.losses.DDALoss : A loss that tells regions apart by their features.

    Notes
    -----
    The difference of the two regions is uniform between 0.5 and 1.5, and the level
    of the darker one uniform between -1 and 1: neither a threshold nor a contrast
    serves all images. The mean radius is between 0.2 and 0.3 of the size, the center
    within 0.1 of the size of that of the image, and regions stay inside.

    Examples
    --------
    >>> from skrep.datasets import make_region_images
    >>> images, masks = make_region_images(20, size=32, random_state=0)
    >>> images.shape, masks.shape
    ((20, 1, 32, 32), (20, 32, 32))
    >>> bool(images[0, 0][masks[0] == 1].mean() > images[0, 0][masks[0] == 0].mean())
    True
    """
    validate_parameter_constraints(
        _CONSTRAINTS,
        {
            "n_images": n_images,
            "size": size,
            "noise": noise,
            "blur": blur,
            "random_state": random_state,
        },
        caller_name="make_region_images",
    )
    from scipy.ndimage import gaussian_filter

    rng: RandomSource
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        rng = random_state
    else:
        rng = np.random.default_rng(random_state)
    masks = _draw_regions(n_images, size, rng)
    level = rng.uniform(-1, 1, (n_images, 1, 1))
    contrast = rng.uniform(0.5, 1.5, (n_images, 1, 1))
    soft = gaussian_filter(masks.astype(np.float64), (0, blur, blur), mode="nearest")
    images = level + contrast * soft + noise * rng.standard_normal(masks.shape)
    return images.astype(np.float32)[:, None], masks


def _draw_regions(n_images: int, size: int, rng: RandomSource) -> IntArray:
    """Star-shaped regions: 1 inside, 0 outside."""
    each = n_images, 1, 1
    top, left = (size * rng.uniform(0.4, 0.6, (2, n_images)))[..., None, None]
    radius = size * rng.uniform(0.2, 0.3, each)
    axis = np.arange(size) + 0.5
    down, right = axis[:, None] - top, axis - left
    angle = np.arctan2(down, right)
    # Amplitudes that sum to 1/3 keep every radius under 0.4 of the size.
    sizes = rng.dirichlet(np.ones(N_WAVES), n_images).T / 3
    phases = rng.uniform(0, 2 * np.pi, (N_WAVES, n_images))
    reach = np.ones(angle.shape)
    for j, (a, phase) in enumerate(zip(sizes, phases, strict=True), start=1):
        reach += a[:, None, None] * np.cos(j * angle + phase[:, None, None])
    inside = np.hypot(down, right) < radius * reach
    return np.asarray(inside, dtype=np.int64)
