"""What a program of PyInstaller needs beside the code: the data files of the fake."""

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]

datas = [
    (str(path), str(path.parent.relative_to(_PACKAGE.parent)))
    for path in _PACKAGE.joinpath("testing").rglob("*.*")
    if not path.suffix.startswith(".py")
]
