"""Settings that must stand before SciPy is imported."""

import os

# Without it scikit-learn skips its check of estimators under array API dispatch.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Every worker has a core to itself: threads of BLAS would fight over it.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import settings
from threadpoolctl import threadpool_limits

# Plugins may have loaded NumPy before, with as many threads as there are cores.
threadpool_limits(1)

# Deadlines measure the machine, not the code; and a seed of its own per run would
# let a green commit turn red.
settings.register_profile("skrep", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("skrep")
