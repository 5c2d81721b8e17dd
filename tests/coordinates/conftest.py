"""A run that dies on the way, for comparisons of what is resumed."""

import pytest

from zwang.results.store import Store

#: So few steps and rows at a stretch that short runs have many chunks.
SHORT_CHUNKS = {"FIRST_STEPS": 20, "GROWTH": 1.0, "SMALLEST_ROWS": 16, "LARGEST_BUFFER": 64}


@pytest.fixture
def died(tmp_path, monkeypatch):
    """Simulate a mechanism into a store and die before its third commit; the store's path."""

    def simulate(m, **choices):
        commit, path = Store.commit, tmp_path / "run"

        def dying(self, *arguments):
            if self._commits == 2:
                raise KeyboardInterrupt
            commit(self, *arguments)

        with monkeypatch.context() as patch:
            for name, value in SHORT_CHUNKS.items():
                patch.setattr(f"zwang.integrators.chunk_size.{name}", value)
            patch.setattr(Store, "commit", dying)
            with pytest.raises(KeyboardInterrupt):
                m.simulate(store=path, store_every=0.0, **choices)
        return path

    return simulate
