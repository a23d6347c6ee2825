"""``python -m pytest_soulmem``: check, explain and start fixtures."""

from pytest_soulmem.cli import main

raise SystemExit(main())
