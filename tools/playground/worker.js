// Runs Python: a busy example does not block the page.
import { loadPyodide } from "./pyodide/pyodide.mjs";

async function start() {
  const packages = fetch("packages.zip.zst").then((response) => response.arrayBuffer());
  const pyodide = await loadPyodide();
  const { decompress } = pyodide.pyimport("compression.zstd");
  pyodide.unpackArchive(decompress(pyodide.toPy(await packages)).toJs(), "zip");
  return pyodide.pyimport("session");
}

const session = start();

onmessage = async ({ data: [name, ...values], ports: [port] }) => {
  try {
    port.postMessage({ result: JSON.parse(await (await session)[name](...values)) });
  } catch (error) {
    port.postMessage({ error: String(error) });
  }
};
