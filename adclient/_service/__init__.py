"""The service file: what is known about one service, kept in a file that people may edit."""
