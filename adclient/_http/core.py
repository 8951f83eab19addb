"""httpcore, which no other module imports: another package with its names could take its place.

`httpx_core` stays the engine of httpx, below which other tools look for our requests.
"""

import httpcore as core
import httpcore as httpx_core

__all__ = ["core", "httpx_core"]
