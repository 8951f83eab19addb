// Runs repack.py in Pyodide, on the folder that is its argument.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const read = (...path) => new Uint8Array(readFileSync(join(...path)));
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide", "pyodide.mjs")));
const pyodide = await loadPyodide();
pyodide.unpackArchive(read(folder, "packages.zip"), "zip");
pyodide.FS.writeFile("repack.py", read(import.meta.dirname, "repack.py"));
pyodide.FS.mkdir("/built");
pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: folder }, "/built");
const { repack } = pyodide.pyimport("repack");
await repack("/built/pyodide/python_stdlib.zip", "/built/packages.zip");
