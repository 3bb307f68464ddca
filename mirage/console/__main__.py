"""`python -m mirage.console`: the program `mirage`, where its script is not on the PATH."""
import sys

from mirage.console.main import main

sys.exit(main())
