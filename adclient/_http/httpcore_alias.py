"""httpcore, which no other module imports: another package with its names could take its place.

`httpcore_of_httpx` stays the engine of httpx, below which other tools look for our requests.
"""

import httpcore as httpcore
import httpcore as httpcore_of_httpx

__all__ = ["httpcore", "httpcore_of_httpx"]
