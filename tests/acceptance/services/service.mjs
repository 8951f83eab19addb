// A service in Node: HTTPS, everything in JSON bodies, compressed; an object continues a listing.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { gzipSync } from "node:zlib";

const END = process.env.CHANGED ? false : undefined; // JSON has no undefined: the key is missing
const ACCOUNT = "acct-77";
let responses = 0;

const make = (count, build) => Array.from({ length: count }, (_, n) => build(n));
const key = (kind, n) => kind + (n + 4096).toString(16);
const date = (n) => new Date(Date.UTC(2026, n % 12, (n % 27) + 1));

const READS = {
  "/v1/beta-ads/list-beta-campaigns": [
    30,
    make(75, (n) => ({
      id: key("k", n),
      name: `Kampagne ${n} 🚀`,
      status: n % 4 ? "ENABLED" : "PAUSED",
      budget: { daily: n * 10 + 0.5, currency: "EUR" },
      createdAt: date(n).getTime(),
      endsAt: n % 2 ? null : date(n).toISOString(),
    })),
  ],
  "/v1/gamma-ads/search-gamma-targeting": [
    25,
    make(26, (n) => ({
      id: key("o", n),
      name: `Option ${n}`,
      status: "ENABLED",
      type: n % 2 ? "interest" : "job",
      estimate: [n * 100, n * 200],
    })),
  ],
  "/v1/beta-ads/detect-beta-creative-fatigue": [
    100,
    make(8, (n) => ({ id: key("f", n), name: `Clip ${n}`, status: "TIRED", decay: -n / 7, alert: n > 5 })),
  ],
  "/v1/gamma-ads/list-gamma-ads": [
    16,
    make(120, (n) => ({
      id: key("a", n),
      name: `Ad ${n}`,
      status: "ENABLED",
      priceMicros: n * 1_000_001,
      ...(n % 3 ? { media: { kind: "image", size: { w: 1080, h: 1350 } } } : {}),
    })),
  ],
  "/v1/alpha-ads/explain-alpha-objectives": [
    100,
    make(9, (n) => ({ id: key("g", n), name: `Goal ${n}`, status: "ENABLED", text: "…", seeAlso: [] })),
  ],
  "/v1/delta-ads/analyze-wasted-spend": [
    20,
    make(61, (n) => ({ id: key("w", n), name: `"${n}"`, status: "WASTE", cost: n * 0.1, day: date(n).toISOString().slice(0, 10) })),
  ],
  "/v1/delta-ads/infer-business-profile": [
    3,
    make(6, (n) => ({ id: key("p", n), name: `fact ${n}`, status: "INFERRED", data: { any: [n, null, true] } })),
  ],
};

// For each write: the field that changes, its value before, and the parameters that it needs.
const WRITES = {
  "POST /v1/alpha-ads/update-alpha-campaign-targeting": ["targeting", null, "campaign_id"],
  "POST /v1/alpha-ads/update-alpha-campaign-budget": ["daily_budget", 20, "campaign_id"],
  "POST /v1/beta-ads/create-beta-video-campaign": ["fields", null, "fields"],
  "POST /v1/alpha-ads/update-alpha-creative": ["fields", null],
  "POST /v1/gamma-ads/create-gamma-image-campaign": ["fields", null, "fields"],
  "POST /v1/delta-ads/update-keyword": ["keywords", [], "keywords"],
  "POST /v1/gamma-ads/create-gamma-dco-ad": ["fields", null, "fields"],
  "POST /v1/beta-ads/pause-beta-campaign": ["status", null, "campaign_id"],
  "DELETE /v1/delta-ads/remove-delta-auto-search-themes": ["themes", ["a", "b"]],
};

const refusal = (status, reason) => ({ status, body: { ok: false, errors: [{ reason }] } });

function read(path, body) {
  const [size, all] = READS[path];
  const wanted = { ...body.targeting };
  const only = body.campaign_id ?? body.creative_id;
  if (only !== undefined) wanted.id = only;
  const items = all.filter((item) => Object.entries(wanted).every(([name, value]) => item[name] === value));
  const limit = Math.min(body.limit ?? size, size);
  const start = body.cursor === undefined ? 0 : Number(Buffer.from(String(body.cursor), "hex").toString()) || -1;
  if (start < 0 || !(limit > 0)) return refusal(400, "BAD_CURSOR");
  const end = start + limit;
  const cursor = Buffer.from(String(end)).toString("hex");
  const next = end < items.length ? { cursor, limit } : END;
  return { status: 200, body: { data: items.slice(start, end), page: { next } } };
}

function stage(operation, body, text) {
  const [field, old, needed] = WRITES[operation];
  if (needed && body[needed] === undefined) return refusal(400, `MISSING_${needed.toUpperCase()}`);
  const campaigns = READS["/v1/beta-ads/list-beta-campaigns"][1];
  const stored = campaigns.find((item) => item.id === body.campaign_id);
  const pausing = field === "status";
  const draft = {
    draft_id: "draft_" + createHash("md5").update(operation + text).digest("hex"),
    status: "pending_approval",
    diff: {
      field,
      before: pausing ? (stored?.status ?? null) : old,
      after: pausing ? "PAUSED" : field === "themes" ? [] : (body[field] ?? null),
    },
    requires: "human_two_step_approve",
  };
  return { status: 201, body: draft };
}

function respond(operation, text) {
  const [method, path] = operation.split(" ");
  let body;
  try {
    body = JSON.parse(text || "{}");
  } catch {
    return refusal(400, "NOT_JSON");
  }
  if (!(method === "GET" && path in READS) && !(operation in WRITES)) return refusal(404, "NO_ROUTE");
  if (body.account_id === undefined) return refusal(400, "ACCOUNT_ID_NOT_IN_BODY");
  if (body.account_id !== ACCOUNT) return refusal(400, "UNKNOWN_ACCOUNT");
  return method === "GET" ? read(path, body) : stage(operation, body, text);
}

const pem = readFileSync(process.env.CERTIFICATE); // the key, too
createServer({ key: pem, cert: pem }, async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const path = request.url.split("?")[0];
  const { status, body } = respond(`${request.method} ${path}`, Buffer.concat(chunks).toString());
  const plain = JSON.stringify(body);
  const compressed = /gzip/.test(request.headers["accept-encoding"] ?? "");
  const headers = { "Content-Type": "application/json", "x-correlation-id": `n-${++responses}` };
  if (compressed) headers["Content-Encoding"] = "gzip";
  response.writeHead(status, headers).end(compressed ? gzipSync(plain) : plain);
}).listen(Number(process.env.PORT), "127.0.0.1");
