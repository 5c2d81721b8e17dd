"""Run all papers: ``python examples/papers``; see `papers`."""

from papers import main

main()
