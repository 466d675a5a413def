"""The core: options, race, ledger, standing, result and stopping. It needs numpy and scipy only."""
