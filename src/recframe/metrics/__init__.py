"""The metrics: one module per family; each is a method of `.rec`."""

from typing import TYPE_CHECKING

from recframe.metrics.accuracy import *
from recframe.metrics.accuracy_curves import *
from recframe.metrics.accuracy_ranks import *
from recframe.metrics.accuracy_readers import *
from recframe.metrics.calibration_metrics import *
from recframe.metrics.catalogue_metrics import *
from recframe.metrics.diversity_metrics import *
from recframe.metrics.exposure_metrics import *
from recframe.metrics.language.registry import registered
from recframe.metrics.personalization_metrics import *
from recframe.metrics.popularity_metrics import *
from recframe.metrics.reference_metrics import *
from recframe.metrics.sampled_metrics import *
from recframe.metrics.serendipity_metrics import *
from recframe.metrics.value_metrics import *

if not TYPE_CHECKING:  # checkers read the names off the pages
    __all__ = list(registered())
