const python = new Worker("worker.js", { type: "module" });
const approval = document.getElementById("approval");
const state = document.getElementById("state");
const status = document.getElementById("status");

function ask(target, message) {
  const { port1, port2 } = new MessageChannel();
  const reply = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
  target.postMessage(message, [port2]);
  return reply;
}

// The approval page is served from the Python of this page, by way of the service worker.
const { serviceWorker } = navigator;
const root = serviceWorker.register("service-worker.js").then(async () => {
  const { active } = await serviceWorker.ready;
  return `fake/${await ask(active, "id")}`;
});
serviceWorker.addEventListener("message", async ({ data, ports: [port] }) => {
  port.postMessage(await ask(python, data));
  showState();
});
serviceWorker.startMessages();

async function showState() {
  const { result } = await ask(python, ["states"]);
  if (result?.length) state.textContent = result.join(", ");
}

async function run(form) {
  const output = form.querySelector("output");
  const button = form.querySelector("button");
  button.disabled = true;
  output.setAttribute("aria-busy", "true");
  // It uses the names of those above it.
  form.dataset.wasRun = "true";
  for (const above of document.forms) {
    if (above === form) break;
    if (!above.dataset.wasRun) await run(above);
  }
  const { result, error } = await ask(python, ["run", form.elements.code.value]);
  output.innerHTML = result?.html ?? "";
  if (error) output.textContent = error;
  output.classList.toggle("failed", Boolean(error) || result.failed);
  output.removeAttribute("aria-busy");
  button.disabled = false;
  const expected = form.querySelector("details");
  if (expected) {
    const asExpected = output.textContent.trim() === expected.lastElementChild.textContent.trim();
    expected.classList.toggle("as-expected", asExpected);
    expected.firstElementChild.textContent = asExpected ? "The output is as expected" : "Expected output";
    expected.open = !asExpected;
  }
  if (result?.staged && !approval.src) approval.src = `${await root}/approval`;
  showState();
}

for (const form of document.forms) {
  const { code } = form.elements;
  code.rows = code.value.split("\n").length;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run(form);
  });
  code.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
}

ask(python, ["run", ""]).then(({ error }) => {
  status.textContent = error ? `Python did not start: ${error}` : "Python is ready.";
});
