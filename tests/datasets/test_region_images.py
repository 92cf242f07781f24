"""Regions are stars in every image, under light, blur and noise of the size given."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import distance_transform_edt, label
from sklearn.utils import check_random_state

from skrep.datasets import make_region_images
from tests.strategies import seeds


@given(size=st.integers(8, 40), seed=seeds)
@settings(deadline=None)
def test_shapes_types_and_both_regions_in_every_image(size, seed):
    images, masks = make_region_images(6, size=size, random_state=seed)
    assert images.shape == (6, 1, size, size)
    assert masks.shape == (6, size, size)
    assert images.dtype == np.float32
    assert masks.dtype == np.int64
    assert_array_equal(np.unique(masks), [0, 1])
    share = masks.mean(axis=(1, 2))
    assert share.min() > 0.03
    assert share.max() < 0.45
    assert not masks[:, [0, 0, -1, -1], [0, -1, 0, -1]].any()


def test_regions_are_in_one_piece_and_not_round():
    _, masks = make_region_images(50, size=64, random_state=0)
    assert all(label(mask)[1] == 1 for mask in masks)
    reach = [distance_transform_edt(mask).max() for mask in masks]
    disk = np.sqrt(masks.sum(axis=(1, 2)) / np.pi)
    assert np.mean(reach / disk) < 0.92


def test_without_blur_and_noise_an_image_has_two_values():
    images, masks = make_region_images(200, noise=0, blur=0, random_state=0)
    light = []
    for image, mask in zip(images[:, 0], masks, strict=True):
        inside, outside = np.unique(image[mask == 1]), np.unique(image[mask == 0])
        assert len(inside) == len(outside) == 1
        light.append([outside[0], inside[0] - outside[0]])
    level, contrast = np.transpose(light)
    assert_allclose([level.min(), level.max()], [-1, 1], atol=0.05)
    assert_allclose([contrast.min(), contrast.max()], [0.5, 1.5], atol=0.05)


def test_noise_has_the_deviation_given_and_is_the_same_at_every_blur():
    clean, masks = make_region_images(noise=0, random_state=0)
    noisy, same = make_region_images(noise=0.7, random_state=0)
    other, _ = make_region_images(noise=0.7, blur=0, random_state=0)
    sharp, _ = make_region_images(noise=0, blur=0, random_state=0)
    assert_array_equal(masks, same)
    assert_allclose((noisy - clean).std(), 0.7, rtol=0.01)
    assert_allclose(noisy - clean, other - sharp, atol=1e-5)


def test_blur_is_of_the_edge_and_of_the_width_given():
    images, masks = make_region_images(30, size=96, noise=0, blur=3, random_state=0)
    sharp, _ = make_region_images(30, size=96, noise=0, blur=0, random_state=0)
    for image, clean, mask in zip(images[:, 0], sharp[:, 0], masks, strict=True):
        share = (image - clean.min()) / np.ptp(clean)
        depth = distance_transform_edt(mask) - distance_transform_edt(1 - mask)
        assert_allclose(share[depth < -10], 0, atol=1e-3)
        assert share[depth > 0].mean() > share[depth < 0].mean()
        # Straight edges have the share of a Gaussian: 0.84 one deviation inside.
        assert_allclose(share[np.abs(depth - 3) < 0.7].mean(), 0.81, atol=0.06)


def test_an_integer_draws_the_same_and_the_global_state_is_left_alone():
    before = check_random_state(None).get_state()
    first = make_region_images(4, random_state=3)
    for random_state in (3, np.random.default_rng(3)):
        again = make_region_images(4, random_state=random_state)
        for one, other in zip(first, again, strict=True):
            assert_array_equal(one, other)
    assert not np.array_equal(first[1], make_region_images(4, random_state=4)[1])
    images, _ = make_region_images(4, random_state=np.random.RandomState(3))
    assert images.shape == (4, 1, 48, 48)
    make_region_images(4)
    after = check_random_state(None).get_state()
    assert_array_equal(before[1], after[1])
    assert before[2] == after[2]


@pytest.mark.parametrize(
    "wrong",
    [{"n_images": 0}, {"size": 7}, {"noise": -0.1}, {"blur": -1}, {"noise": np.inf}],
)
def test_bad_parameters(wrong):
    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' parameter"):
        make_region_images(**wrong)
