"""Within-class over between-class variance, of rows or of the pixels of images."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from skrep.nn.losses._dda_rows import TINY, slope_of_rows
from skrep.nn.losses._scatter import KnownSlope
from skrep.typing import FloatArray

__all__ = ["DDALoss"]

WHO = "DDALoss"


class _Entries(NamedTuple):
    """Memberships: a row (a pixel) is in a class of its image, with a weight."""

    row: Tensor
    side: Tensor
    weight: Tensor


class DDALoss(nn.Module):
    r"""Pull each class together and the classes apart: within over between variance.

    Deep discriminant analysis (DDA) [1]_ trains for segmentation by features of small
    variance within the regions and large variance between them. Here, for two classes
    *a* and *b* of an image, or of a batch of rows,

    .. math::

        L_{ab} = \log(w_{ab} + e) - \log(\lVert m_a - m_b \rVert^2 + e), \qquad
        w_{ab} = \frac{\sum_{i \in a} \lVert z_i - m_a \rVert^2
        + \sum_{i \in b} \lVert z_i - m_b \rVert^2}{n_a + n_b},

    where :math:`e` is `ridge` times :math:`w_{ab} + \lVert m_a - m_b \rVert^2`. The
    loss is the mean over the pairs of classes that an image holds, then over the
    images that hold a pair: those of one region alone are left out, and if none is
    left the loss is 0. Each image has means of its own, so that light which differs
    between images is no variance within a class; and the share of a region is divided
    out, so that images of equal halves are not preferred.

    Read more in the :ref:`User Guide <discriminant_pixels>`.

    Parameters
    ----------
    ridge : float, default=1.0
        Positive share of the variance that is added to both sides. It bounds the
        loss by :math:`\log(1 + 1 / r)` on either side of 0, for a ridge :math:`r`:
        what is apart is not pulled on without end, and untrained features, whose
        classes have nearly one mean, are not torn apart at once.

    See Also
    --------
    TraceRatioLoss : The ratio of the whole traces, with a divisor for all rows.
    skrep.datasets.make_region_images : Two-region images to try it on.

    Notes
    -----
    The loss does not change with translation, rotation and scale of the features. It
    does with scales of single columns.

    For more than two classes the ratio of the whole traces has its optimum in rank
    one: all classes on a line. The mean over pairs asks every two classes to be apart,
    and does not fall to a line where a plane is better; pairs that are apart leave the
    pull to those that are not. So there may be fewer columns than classes less one.

    The normalization, the layer and the weight of the published loss are *not
    confirmed*: of the paper, abstract and introduction alone were readable. What is
    here is what they describe, made invariant, bounded and safe.

    Variances are those of two passes in float64, whatever the type of the features.
    The gradient of rows is a closed form, computed on the CPU, so that second
    derivatives are those of maps alone.

    References
    ----------
    .. [1] Sztamborski, A. D., Pérez-Gonzalo, R. and Agudo, A. (2026). Deep image
       segmentation via discriminant feature learning. arXiv:2605.14609.

    Examples
    --------
    >>> import torch
    >>> from skrep.nn.losses import DDALoss
    >>> loss = DDALoss()
    >>> rows = torch.tensor([[0.0, 0], [0, 2], [4, 0], [4, 2]])
    >>> round(loss(rows, torch.tensor([0, 0, 1, 1])).item(), 3)
    -0.606

    Feature maps with masks, and with masks that are soft as they were made smaller:

    >>> features = torch.randn(5, 8, 16, 16, generator=torch.manual_seed(0))
    >>> masks = (features[:, 0] > 0).long()
    >>> loss(features, masks).shape
    torch.Size([])
    >>> smaller = torch.nn.functional.avg_pool2d(features, 2)
    >>> soft = torch.nn.functional.avg_pool2d(masks.float(), 2)
    >>> bool(loss(smaller, soft) < loss(smaller, soft.flip(0)))
    True
    """

    def __init__(self, *, ridge: float = 1.0) -> None:
        super().__init__()
        if not ridge > 0:
            raise ValueError(
                f"{WHO}: 'ridge' is {ridge!r}. It must be positive, or the loss has no "
                "bound. Pass ridge=1.0, say."
            )
        self.ridge = ridge

    def extra_repr(self) -> str:
        """Give the options, for the repr of the module.

        Returns
        -------
        str
            The options as they are written in a call.
        """
        return f"ridge={self.ridge!r}"

    def forward(
        self, embeddings: Tensor, y: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of rows or of feature maps.

        Parameters
        ----------
        embeddings : Tensor of shape (n_rows, n_columns) or \
                (n_images, n_columns, height, width)
            Rows, or feature maps, whose rows are their pixels.
        y : Tensor
            Classes. For rows, integer codes of shape (n_rows,). For maps, integer
            codes of shape (n_images, height, width), or floats between 0 and 1: the
            share of the foreground, of that shape, or the shares of the classes, of
            shape (n_images, n_classes, height, width).
        sample_weight : Tensor of shape (n_rows,), (n_images,) or \
                (n_images, height, width), default=None
            Weights: 2 is a row, pixel or image twice, 0 an absent one. Pixels that
            are not labeled get 0.

        Returns
        -------
        Tensor of shape ()
            The loss in the type of `embeddings`.

        Raises
        ------
        ValueError
            If shapes do not fit, a weight is negative, or shares are not within 0
            and 1.
        TypeError
            If the codes of rows are not integers.
        """
        n_images = _check_shapes(embeddings, y, sample_weight)
        if not embeddings.numel():
            return embeddings.sum()
        precision = torch.finfo(embeddings.dtype).eps
        if embeddings.ndim == 2:
            with np.errstate(all="ignore"):
                value, slope = slope_of_rows(
                    embeddings.detach().cpu().double().numpy(),
                    y.cpu().numpy(),
                    None if sample_weight is None else _on_host(sample_weight),
                    self.ridge,
                    precision,
                )
            return KnownSlope.apply(embeddings, value, slope)
        pixels = embeddings.double().flatten(2).mT
        image_weight, row_weight = _weights(sample_weight, pixels)
        # Away from one of the pixels, identical ones are exactly zero.
        origin = pixels.detach()[torch.arange(n_images), row_weight.argmax(1)]
        rows = (pixels - origin[:, None]).flatten(0, 1)
        entries, n_classes = _memberships(y, row_weight)
        counts, means, squares = _moments(rows, entries, n_images * n_classes)
        shape = n_images, n_classes
        counts, squares = counts.view(shape), squares.view(shape)
        means = means.view(*shape, -1)
        # Differences under the precision of the features are none.
        smallest = (precision * origin).square().sum(1)[:, None, None] + TINY
        values, found = _pairs(counts, means, squares, self.ridge, smallest)
        n_pairs = found.sum((1, 2))
        each = (values * found).sum((1, 2)) / n_pairs.clamp(min=1)
        weight = image_weight * (n_pairs > 0)
        total = weight.sum()
        loss = (weight * each).sum() / torch.where(total > 0, total, 1.0)
        return loss.to(embeddings.dtype)


def _check_shapes(embeddings: Tensor, y: Tensor, sample_weight: Tensor | None) -> int:
    """Return the number of images; rows are the pixels of one."""
    if embeddings.ndim == 2:
        n_images, places = 1, embeddings.shape[:1]
        if y.is_floating_point():
            raise TypeError(
                f"{WHO}: 'y' is of type {y.dtype}. Rows have classes: pass y.long()."
            )
        fits = y.shape == places
        expected = f"y of shape {tuple(places)}"
        weights = [places]
    elif embeddings.ndim == 4:
        n_images = embeddings.shape[0]
        places = embeddings.shape[:1] + embeddings.shape[2:]
        shares = y.is_floating_point() and y.ndim == 4 and y.shape[1] > 1
        fits = (y.shape[:1] + y.shape[2:] if shares else y.shape) == places
        expected = (
            f"codes or shares y of shape {tuple(places)}, such as y[:, 0], or "
            "adaptive_avg_pool2d(y.double(), embeddings.shape[2:]) of "
            "torch.nn.functional"
        )
        weights = [places[:1], places]
    else:
        raise ValueError(
            f"{WHO}: 'embeddings' has shape {tuple(embeddings.shape)}. It holds rows "
            "(n_rows, n_columns) or maps (n_images, n_columns, height, width): pass "
            "embeddings.flatten(1) for rows."
        )
    if not fits:
        raise ValueError(
            f"{WHO}: 'y' has shape {tuple(y.shape)}, and 'embeddings' "
            f"{tuple(embeddings.shape)}. Each row or pixel needs its class: pass "
            f"{expected}."
        )
    if y.is_floating_point() and not bool(((y >= 0) & (y <= 1)).all()):
        raise ValueError(
            f"{WHO}: 'y' lies between {y.min():g} and {y.max():g}. Soft masks are "
            "shares within 0 and 1: pass y.long() if these are codes, or y / 255."
        )
    if sample_weight is not None and sample_weight.shape not in weights:
        raise ValueError(
            f"{WHO}: 'sample_weight' has shape {tuple(sample_weight.shape)}. Pass one "
            f"of shape {' or '.join(str(tuple(shape)) for shape in weights)}."
        )
    if sample_weight is not None and not _are_weights(sample_weight):
        raise ValueError(
            f"{WHO}: 'sample_weight' lies between {sample_weight.min():g} and "
            f"{sample_weight.max():g}. Weights are finite and not negative: pass "
            "sample_weight.clamp(min=0)."
        )
    return n_images


def _on_host(weight: Tensor) -> FloatArray:
    found: FloatArray = weight.detach().cpu().double().numpy()
    return found


def _are_weights(given: Tensor) -> bool:
    return bool(((given >= 0) & (given < torch.inf)).all())


def _weights(sample_weight: Tensor | None, pixels: Tensor) -> tuple[Tensor, Tensor]:
    """Weights of the images, and of the pixels of each."""
    shape = pixels.shape[:2]
    image_weight, row_weight = pixels.new_ones(shape[0]), pixels.new_ones(shape)
    if sample_weight is None:
        return image_weight, row_weight
    given = sample_weight.to(pixels)
    if given.numel() == row_weight.numel():
        return image_weight, given.view(shape)
    return given, row_weight


def _memberships(y: Tensor, row_weight: Tensor) -> tuple[_Entries, int]:
    """Which rows are in which class of which image, by how much; and the classes."""
    n_images, n_pixels = row_weight.shape
    if not y.is_floating_point():
        codes, inverse = torch.unique(y, return_inverse=True)
        inverse = inverse.view(n_images, n_pixels)
        image = torch.arange(n_images, device=y.device)[:, None]
        side = (image * len(codes) + inverse).flatten()
        row = torch.arange(side.numel(), device=y.device)
        return _Entries(row, side, row_weight.flatten()), len(codes)
    shares = y.to(row_weight)
    shares = torch.stack([1 - shares, shares], 1) if y.ndim == 3 else shares
    n_classes = shares.shape[1]
    shares = shares.flatten(2).mT
    image, pixel, label = shares.nonzero(as_tuple=True)
    weight = row_weight[image, pixel] * shares[image, pixel, label]
    row, side = image * n_pixels + pixel, image * n_classes + label
    return _Entries(row, side, weight), n_classes


def _moments(
    rows: Tensor, entries: _Entries, n_sides: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Weights, means and squared distances to the mean, by side, in two passes."""
    row, side, weight = entries
    # Its derivative is much faster than that of rows[row].
    members = rows.index_select(0, row)
    counts = rows.new_zeros(n_sides).index_add(0, side, weight)
    divisors = torch.where(counts > 0, counts, 1.0)[:, None]
    sums = rows.new_zeros(n_sides, rows.shape[1])
    means = sums.index_add(0, side, weight[:, None] * members) / divisors
    distances = (members - means.index_select(0, side)).square().sum(1)
    squares = rows.new_zeros(n_sides).index_add(0, side, weight * distances)
    return counts, means, squares


def _pairs(
    counts: Tensor, means: Tensor, squares: Tensor, ridge: float, smallest: Tensor
) -> tuple[Tensor, Tensor]:
    """Losses of all pairs of classes of each image, and which pairs there are."""
    sizes = counts[:, :, None] + counts[:, None, :]
    within = squares[:, :, None] + squares[:, None, :]
    within = within / torch.where(sizes > 0, sizes, 1.0)
    present = counts > 0
    heart = (means * present[:, :, None]).sum(1, keepdim=True)
    centered = means - heart / present.sum(1).clamp(min=1)[:, None, None]
    norms = centered.square().sum(2)
    between = norms[:, :, None] + norms[:, None, :] - 2 * centered @ centered.mT
    between = between.clamp(min=0)
    added = ridge * (within + between) + smallest
    values = torch.log(within + added) - torch.log(between + added)
    found = (present[:, :, None] & present[:, None, :]).triu(1)
    return values, found
