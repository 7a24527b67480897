"""Every check of the audit: what it looks for, what a metric does about it, and how to mend it stand on the pages of checks."""

from __future__ import annotations

from recframe.audit import (
    checks_of_ids,
    checks_of_models,
    checks_of_ranks,
    checks_of_samples,
    checks_of_segments,
    checks_of_sides,
    checks_of_truth,
    checks_of_users,
)
from recframe.audit.rule import Check

PAGES = (
    checks_of_ids,
    checks_of_ranks,
    checks_of_truth,
    checks_of_samples,
    checks_of_users,
    checks_of_segments,
    checks_of_models,
    checks_of_sides,
)
CHECKS = [one for page in PAGES for one in vars(page).values() if isinstance(one, Check)]
"""Every check, page by page, in the order of each page."""
