"""``python -m zwang``: the command line where no script of that name is at hand."""

from zwang.cli.app import main

if __name__ == "__main__":
    main()
