"""Does a discriminant term on the features of pixels sharpen a segmentation?

    python benchmarks/discriminant_pixels.py [--seeds 5]

Two-region images of `make_region_images`, 32 x 32: noise of 0.4 of the mean contrast,
edges blurred by 1.5 pixels, light and contrast that differ between images. A net of two
levels, 8 and 16 channels, of convolutions and ReLU as in the first U-Net, and the same
with batch normalization. 150 steps of Adam on batches of 8 out of 30 images for every
method; the rate rises to 5e-3 and falls to 0. The loss is the cross-entropy of the
pixels, with or without Dice of the probabilities, with or without `DDALoss` on the last
feature map, the one that the 1 x 1 head reads.

The weight of `DDALoss` is the best of three by the boundary F-score on validation
images of other seeds, for each net and base loss; images of a test are seen by nothing
else. Methods of one seed share images, first weights and batches.

*Boundary F-score*: harmonic mean of the shares of the predicted border that lie within
one pixel of the true one, and the other way around, averaged over the test images; 0
where nothing is predicted. *IoU*: intersection over union of the regions.
"""

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from _report import Report
from scipy.ndimage import binary_erosion, distance_transform_edt
from torch import nn
from torch.nn import functional as F

from skrep.datasets import make_region_images
from skrep.nn.losses import DDALoss

SIZE, NOISE, BLUR = 32, 0.4, 1.5
N_TRAIN, N_TEST = 30, 60
N_STEPS, BATCH, RATE = 150, 8, 5e-3
WEIGHTS = (0.03, 0.1, 0.3)
CHOOSING_SEEDS = (100, 101)
TOLERANCE = 1.0

Images = tuple[torch.Tensor, torch.Tensor]
BaseLoss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class Score(NamedTuple):
    """Means over the test images."""

    boundary: float
    overlap: float


class SmallUNet(nn.Module):
    """One level down and up again; gives features and logits of every pixel."""

    def __init__(self, normalize: bool, width: int = 8) -> None:
        super().__init__()
        self.down = block(1, width, normalize)
        self.low = block(width, 2 * width, normalize)
        self.up = block(3 * width, width, normalize)
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        high = self.down(images)
        low = self.low(F.max_pool2d(high, 2))
        low = F.interpolate(low, scale_factor=2, mode="bilinear", align_corners=False)
        features = self.up(torch.cat([high, low], dim=1))
        return features, self.head(features)[:, 0]


def block(n_in: int, n_out: int, normalize: bool) -> nn.Sequential:
    layers: list[nn.Module] = []
    for n in (n_in, n_out):
        layers.append(nn.Conv2d(n, n_out, 3, padding=1))
        if normalize:
            layers.append(nn.BatchNorm2d(n_out))
        layers.append(nn.ReLU())
    return nn.Sequential(*layers)


def draw(n_images: int, seed: int) -> Images:
    images, masks = make_region_images(
        n_images, size=SIZE, noise=NOISE, blur=BLUR, random_state=seed
    )
    return torch.from_numpy(images), torch.from_numpy(masks)


def cross_entropy(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    return F.binary_cross_entropy_with_logits(logits, masks.to(logits))


def with_dice(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    p = torch.sigmoid(logits)
    shared, sizes = (p * masks).sum((1, 2)), p.sum((1, 2)) + masks.sum((1, 2))
    dice = 1 - ((2 * shared + 1) / (sizes + 1)).mean()
    return cross_entropy(logits, masks) + dice


BASES: dict[str, BaseLoss] = {
    "cross-entropy": cross_entropy,
    "cross-entropy + Dice": with_dice,
}


def trained(data: Images, base: BaseLoss, weight: float, normalize: bool, seed: int):
    """The net after all steps; a weight of 0 leaves the discriminant term out."""
    images, masks = data
    torch.manual_seed(seed)
    net, term = SmallUNet(normalize), DDALoss()
    optimizer = torch.optim.Adam(net.parameters(), RATE)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=N_STEPS)
    for _ in range(N_STEPS):
        rows = torch.randperm(len(images))[:BATCH]
        features, logits = net(images[rows])
        loss = base(logits, masks[rows])
        if weight:
            loss = loss + weight * term(features, masks[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rates.step()
    return net.eval()


def border(mask: np.ndarray) -> np.ndarray:
    return mask & ~binary_erosion(mask)


def boundary_score(found: np.ndarray, true: np.ndarray) -> float:
    found, true = border(found), border(true)
    if not found.any():
        return 0.0
    precision = np.mean(distance_transform_edt(~true)[found] <= TOLERANCE)
    recall = np.mean(distance_transform_edt(~found)[true] <= TOLERANCE)
    return float(2 * precision * recall / max(precision + recall, 1e-12))


@torch.no_grad()
def score(net: nn.Module, data: Images) -> Score:
    images, masks = data
    found, true = (net(images)[1] > 0).numpy(), masks.numpy() == 1
    shared, either = (found & true).sum((1, 2)), (found | true).sum((1, 2))
    borders = [boundary_score(*pair) for pair in zip(found, true, strict=True)]
    return Score(float(np.mean(borders)), float(np.mean(shared / either)))


def chosen_weight(base: BaseLoss, normalize: bool) -> tuple[float, list[float]]:
    """The best weight on validation images, and the scores of all."""
    scores = []
    for weight in WEIGHTS:
        found = [
            score(
                trained(draw(N_TRAIN, 3 * seed), base, weight, normalize, seed),
                draw(N_TEST, 3 * seed + 1),
            ).boundary
            for seed in CHOOSING_SEEDS
        ]
        scores.append(float(np.mean(found)))
    return WEIGHTS[int(np.argmax(scores))], scores


def measure(n_seeds: int, report: Report) -> None:
    bars = []
    for normalize in (False, True):
        net = f"net {'with' if normalize else 'without'} normalization"
        cells: dict[str, list[Score]] = {}
        for name, base in BASES.items():
            weight, scores = chosen_weight(base, normalize)
            pairs = zip(WEIGHTS, scores, strict=True)
            shown = ", ".join(f"{w:g}: {s:.3f}" for w, s in pairs)
            report.write(f"{net}, {name}: validation by weight of DDA {shown}")
            ways = {name: 0.0, f"{name} + {weight:g} DDA": weight}
            for way, value in ways.items():
                cells[way] = tested(base, value, normalize, n_seeds)
            bars.append(bar(net, cells, *ways))
        body = [
            [way, *(f"{m:.3f} ({s:.3f})" for m, s in summary(scores))]
            for way, scores in cells.items()
        ]
        report.table(
            f"{net}: mean over {n_seeds} seeds (standard deviation)",
            ["loss", "boundary F-score", "IoU"],
            body,
        )
    report.table(
        "Bars: boundary F-score ahead with DDA added",
        ["comparison", "without", "with", "difference (se)", "seeds ahead", "reached"],
        bars,
    )


def tested(base: BaseLoss, weight: float, normalize: bool, n_seeds: int) -> list[Score]:
    scores = []
    for seed in range(n_seeds):
        net = trained(draw(N_TRAIN, 3 * seed), base, weight, normalize, seed)
        scores.append(score(net, draw(N_TEST, 3 * seed + 2)))
    return scores


def summary(scores: list[Score]) -> list[tuple[float, float]]:
    table = np.array(scores)
    return list(zip(table.mean(axis=0), table.std(axis=0, ddof=1), strict=True))


def bar(net: str, cells: dict[str, list[Score]], plain: str, added: str) -> list[str]:
    before = np.array([found.boundary for found in cells[plain]])
    after = np.array([found.boundary for found in cells[added]])
    gain = after - before
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    return [
        f"{net}, {added}",
        f"{before.mean():.3f}",
        f"{after.mean():.3f}",
        f"{gain.mean():+.3f} ({error:.3f})",
        f"{np.sum(gain > 0)} of {len(gain)}",
        "yes" if gain.mean() > 0 else "no",
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    torch.set_num_threads(1)
    with Report("discriminant_pixels") as report:
        measure(parser.parse_args().seeds, report)
