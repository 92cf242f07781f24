"""A classifier head that is not learned: the vertices of a regular simplex."""

import torch
from torch import Tensor, nn

from skrep.geometry import simplex_vertices
from skrep.nn.losses._rows import check_size, mean_over_rows, read_classes

__all__ = ["SimplexLoss"]


class SimplexLoss(nn.Module):
    r"""Cross-entropy of a fixed head: each class has a vertex of a regular simplex.

    .. math:: -\log \operatorname{softmax}(V z_i)_{y_i}

    with the C unit vertices in C - 1 dimensions as rows of V, all equally far from
    each other [1]_. The classes have their places before the training starts: so two
    networks, or a network before and after further training, put them in the same
    places, and vertices may be reserved for classes to come by a larger `n_classes`
    [2]_. Embeddings are not normalized, as two classes, on a line, would leave
    nothing to learn.

    Parameters
    ----------
    n_classes : int
        Number of vertices, 2 or more, and at least the number of classes. Embeddings
        have ``n_classes - 1`` columns.
    contrast : float, default=0.0
        Weight of a term that pulls rows of a class together and away from all others,
        by their cosines, which the cross-entropy leaves loose [3]_; 0 or more. With
        two classes, where a cosine is a sign, it has no gradient.
    temperature : float, default=0.1
        Divisor of the cosines in that term, above 0: small ones look at the nearest
        rows.

    Attributes
    ----------
    vertices : Tensor of shape (n_classes, n_classes - 1)
        The head, a buffer and no parameter.

    See Also
    --------
    skrep.geometry.simplex_vertices : The vertices.
    LDACrossEntropy : A head for any number of columns, fitted to each batch.

    Notes
    -----
    The term of weight `contrast` is, over the rows that share their class with
    another row of the batch, the mean of

    .. math:: -\frac{1}{|P_i|} \sum_{p \in P_i} \log
              \frac{\exp(\cos(z_i, z_p) / t)}{\sum_{a \ne i} \exp(\cos(z_i, z_a) / t)}

    with :math:`P_i` those others and t the temperature. A row of weight w stands for
    w rows, which are others of each other.

    References
    ----------
    .. [1] Pernici, F., Bruni, M., Baecchi, C. and Del Bimbo, A. (2022). "Regular
       polytope networks". IEEE Transactions on Neural Networks and Learning Systems,
       33(9), 4373-4387.
    .. [2] Biondi, N., Pernici, F., Ricci, S. and Del Bimbo, A. (2024). "Stationary
       representations: optimally approximating compatibility and implications for
       improved model replacements". CVPR.
    .. [3] Khosla, P., Teterwak, P., Wang, C., Sarna, A., Tian, Y., Isola, P.,
       Maschinot, A., Liu, C. and Krishnan, D. (2020). "Supervised contrastive
       learning". NeurIPS 33.

    Examples
    --------
    >>> import torch
    >>> from skrep.nn.losses import SimplexLoss
    >>> loss = SimplexLoss(3)
    >>> y = torch.tensor([0, 1, 2])
    >>> at_vertices, at_zero = loss.vertices, torch.zeros(3, 2)
    >>> print(f"{loss(5 * at_vertices, y):.3f} {loss(at_zero, y):.3f}")
    0.001 1.099
    """

    vertices: Tensor

    def __init__(
        self, n_classes: int, *, contrast: float = 0.0, temperature: float = 0.1
    ) -> None:
        super().__init__()
        who = "SimplexLoss"
        self.n_classes = check_size(who, "n_classes", n_classes, 2, "n_classes=2")
        if not contrast >= 0:
            raise ValueError(
                f"{who}: 'contrast' is {contrast!r}. It must be 0 or more. Use "
                f"{who}({n_classes}, contrast=0.1)."
            )
        if not temperature > 0:
            raise ValueError(
                f"{who}: 'temperature' is {temperature!r}. It must be above 0. Use "
                f"{who}({n_classes}, temperature=0.1)."
            )
        self.contrast = contrast
        self.temperature = temperature
        head = torch.from_numpy(simplex_vertices(self.n_classes))
        self.register_buffer("vertices", head)

    def forward(
        self, embeddings: Tensor, y: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch.

        Parameters
        ----------
        embeddings : Tensor of shape (n_samples, n_classes - 1)
            Outputs of the network, of a floating type.
        y : Tensor of shape (n_samples,)
            Class of each row: an integer from 0 to ``n_classes - 1``.
        sample_weight : Tensor of shape (n_samples,), default=None
            Weight 2 stands for the row twice, weight 0 for its absence; by default
            each is 1.

        Returns
        -------
        Tensor of shape ()
            The loss, in the dtype of `embeddings`.
        """
        who = type(self).__name__
        rows, codes, weight = read_classes(
            who, embeddings, y, sample_weight, self.n_classes
        )
        if rows.shape[1] != self.n_classes - 1:
            raise ValueError(
                f"{who}: 'embeddings' has {rows.shape[1]} columns, and 'n_classes' is "
                f"{self.n_classes}. A simplex of so many vertices has "
                f"{self.n_classes - 1} dimensions: end the network in "
                f"torch.nn.LazyLinear({self.n_classes - 1}), or use "
                f"{who}({max(rows.shape[1], 1) + 1})."
            )
        rows = rows.double()
        scores = rows @ self.vertices.to(rows).T
        surprise = nn.functional.cross_entropy(scores, codes, reduction="none")
        loss = mean_over_rows(surprise, weight)
        if self.contrast:
            apart = class_contrast(rows, codes, weight, self.temperature)
            loss = loss + self.contrast * apart
        return loss.to(embeddings.dtype)

    def extra_repr(self) -> str:
        """Give the options, for the repr of the module.

        Returns
        -------
        str
            The options as they are written in a call.
        """
        return (
            f"{self.n_classes}, contrast={self.contrast}, "
            f"temperature={self.temperature}"
        )


def class_contrast(
    rows: Tensor, codes: Tensor, weight: Tensor, temperature: float
) -> Tensor:
    """Cross-entropy of finding the rows of one's class by the cosine.

    Parameters
    ----------
    rows : Tensor of shape (n, k), float64
        Rows of any norm; zero rows have cosine 0 with all others.
    codes : Tensor of shape (n,)
        Their classes.
    weight : Tensor of shape (n,), float64
        Positive weights: a row stands for so many, which are others of each other.
    temperature : float
        Divisor of the cosines.

    Returns
    -------
    Tensor of shape ()
        Mean over the rows that have others of their class; 0 where none has.
    """
    norms = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    units = rows / torch.where(norms > 0, norms, 1)
    others = weight.repeat(len(rows), 1)
    others.diagonal().copy_(weight - weight.clamp(max=1))
    same = others * (codes[:, None] == codes)
    told = same.sum(1) > 0
    others, same = others[told], same[told]
    scores = units[told] @ units.T / temperature
    total = torch.logsumexp(scores + others.log(), dim=1)
    own = (same * scores).sum(1) / same.sum(1)
    return mean_over_rows(total - own, weight[told])
