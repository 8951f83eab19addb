"""One client: its endpoints, its pages, and the engine that sends."""
