"""``python -m calque``."""

from calque.cli.app import main

if __name__ == "__main__":
    main()
