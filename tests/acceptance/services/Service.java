// A service in Java: newest rows first, and an old `offset` that skips rows.

import com.sun.net.httpserver.*;
import java.io.IOException;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.Executors;
import java.util.function.IntFunction;

public class Service {
    static final boolean CHANGED = System.getenv("CHANGED") != null;
    static final Map<String, String> ACCOUNTS =
        Map.of("alpha", "900100", "beta", "900200", "gamma", "900300", "delta", "900400");

    record Row(int number, String id, String type, String status, String json) {}
    record Read(int size, List<Row> rows) {}
    record Write(String field, String before, String needed) {}
    static class Refused extends RuntimeException {
        final int status;
        Refused(int status, String detail) { super(detail); this.status = status; }
    }

    /** Rows from the newest to the oldest. */
    static Read read(int size, int count, String kind, String[] statuses, IntFunction<String> more) {
        List<Row> rows = new ArrayList<>();
        for (int n = count; n >= 1; n--) {
            String status = statuses[n % statuses.length], type = n % 2 == 0 ? "hobby" : "region";
            String head = "{\"id\": \"%s%d\", \"name\": \"%s %d ✓\", \"status\": \"%s\", \"row\": %d, "
                .formatted(kind, n, type, n, status, n);
            rows.add(new Row(n, kind + n, type, status, head + more.apply(n) + "}"));
        }
        return new Read(size, rows);
    }

    static String cents(int n) { return "%d.%d0".formatted(n, n % 10); }

    static final String[] ON = {"ENABLED"};
    static final Map<String, Read> READS = Map.of(
        "beta-ads/list-beta-campaigns", read(26, 130, "r", new String[] {"ENABLED", "PAUSED", "ENDED"}, n ->
            "\"budget\": %s, \"start\": \"2026-11-%02d\", \"bids\": [%s, null]".formatted(cents(n), n % 30 + 1, cents(n))),
        "gamma-ads/search-gamma-targeting", read(11, 45, "s", ON, n ->
            "\"type\": \"%s\", \"reach\": {\"min\": %d, \"max\": null}".formatted(n % 2 == 0 ? "hobby" : "region", n)),
        "beta-ads/detect-beta-creative-fatigue", read(10, 13, "u", new String[] {"FRESH", "STALE"}, n ->
            "\"ratio\": %s, \"stale\": %b".formatted(n / 13.0, n % 2 == 1)),
        "gamma-ads/list-gamma-ads", read(19, 77, "v", ON, n ->
            "\"cost\": %s, \"micros\": %d000000%s".formatted(cents(n), n, n % 5 == 0 ? "" : ", \"grün\": true")),
        "alpha-ads/explain-alpha-objectives", read(99, 6, "w", ON, n -> "\"text\": \"Ziel %d 🎯\"".formatted(n)),
        "delta-ads/analyze-wasted-spend", read(13, 40, "x", new String[] {"WASTE"}, n ->
            "\"money\": {\"value\": %s, \"currency\": \"CHF\"}".formatted(cents(n * 2))),
        "delta-ads/infer-business-profile", read(99, 5, "y", ON, n -> "\"items\": [[%d], [], {}]".formatted(n)));
    // The value before the change is JSON.
    static final Map<String, Write> WRITES = Map.of(
        "POST alpha-ads/update-alpha-campaign-targeting", new Write("targeting", "{}", "campaign_id"),
        "POST alpha-ads/update-alpha-campaign-budget", new Write("daily_budget", "70.50", "campaign_id"),
        "POST beta-ads/create-beta-video-campaign", new Write("fields", "null", "fields"),
        "POST alpha-ads/update-alpha-creative", new Write("fields", "null", "account_id"),
        "POST gamma-ads/create-gamma-image-campaign", new Write("fields", "null", "fields"),
        "POST delta-ads/update-keyword", new Write("keywords", "[]", "keywords"),
        "POST gamma-ads/create-gamma-dco-ad", new Write("fields", "null", "fields"),
        "POST beta-ads/pause-beta-campaign", new Write("status", "null", "campaign_id"),
        "DELETE delta-ads/remove-delta-auto-search-themes", new Write("themes", "[\"alt\"]", "account_id"));

    /** The members of an object, each as its JSON text. */
    static Map<String, String> members(String json) {
        Map<String, String> members = new HashMap<>();
        boolean quoted = false;
        String name = null;
        for (int at = 0, from = 0, depth = 0; at < json.length(); at++) {
            char c = json.charAt(at);
            if (quoted && c == '\\') at++;
            else if (c == '"') quoted = !quoted;
            else if (quoted) continue;
            else if ("[{".indexOf(c) >= 0 && ++depth == 1) from = at + 1;
            else if (c == ':' && depth == 1) {
                name = text(json.substring(from, at));
                from = at + 1;
            } else if (c == ',' && depth == 1 || "]}".indexOf(c) >= 0 && --depth == 0) {
                if (name != null) members.put(name, json.substring(from, at).strip());
                from = at + 1;
            }
        }
        return members;
    }

    static String text(String json) { return json == null ? null : json.strip().replaceAll("^\"|\"$", ""); }

    static int number(Map<String, String> query, String name, int missing) {
        try {
            return query.containsKey(name) ? Integer.parseInt(query.get(name)) : missing;
        } catch (NumberFormatException error) {
            throw new Refused(400, name + " is a row number");
        }
    }

    static void check(String path, String account) {
        if (account == null) throw new Refused(400, "account_id is required");
        String platform = path.substring(0, path.indexOf('-'));
        if (!account.equals(ACCOUNTS.get(platform))) throw new Refused(403, "The account is not yours.");
    }

    static String list(String path, Map<String, String> query) {
        check(path, query.get("account_id"));
        int before = number(query, "before", Integer.MAX_VALUE), offset = number(query, "offset", 0);
        Map<String, String> wanted = members(query.getOrDefault("targeting", "{}"));
        String only = query.getOrDefault("campaign_id", query.get("creative_id"));
        Read read = READS.get(path);
        List<Row> rows = read.rows.stream()
            .filter(row -> row.number < before && (only == null || row.id.equals(only)))
            .filter(row -> !wanted.containsKey("type") || row.type.equals(text(wanted.get("type"))))
            .skip(offset).limit(read.size + 1).toList();
        List<Row> page = rows.subList(0, Math.min(read.size, rows.size()));
        String next = rows.size() > read.size ? String.valueOf(page.get(read.size - 1).number) : "null";
        if (CHANGED && !next.equals("null")) next = '"' + next + '"';
        String data = String.join(",\n", page.stream().map(Row::json).toList());
        return "{\"data\": [%s], \"page\": {\"size\": %d, \"before\": %s, \"next\": %s}}"
            .formatted(data, read.size, query.getOrDefault("before", "null"), next);
    }

    static String stage(String operation, String body) {
        Write write = WRITES.get(operation);
        Map<String, String> given = members(body);
        if (!given.containsKey(write.needed)) throw new Refused(400, write.needed + " is required");
        check(operation.split(" ")[1], text(given.get("account_id")));
        String before = write.before, after = given.getOrDefault(write.field, "null");
        if (write.field.equals("themes")) after = "[]";
        if (write.field.equals("status")) {
            after = "\"PAUSED\"";
            for (Row row : READS.get("beta-ads/list-beta-campaigns").rows)
                if (row.id.equals(text(given.get("campaign_id")))) before = '"' + row.status + '"';
        }
        return """
            {"draft_id": "draft_%08x", "status": "pending_approval",
             "diff": {"field": "%s", "before": %s, "after": %s}, "requires": "human_two_step_approve"}
            """.formatted((operation + body).hashCode(), write.field, before, after);
    }

    static String respond(HttpExchange exchange, String body) {
        if (!"Bearer java-token".equals(exchange.getRequestHeaders().getFirst("Authorization")))
            throw new Refused(401, "The token is missing or wrong.");
        if (!"acme".equals(exchange.getRequestHeaders().getFirst("X-Tenant")))
            throw new Refused(400, "The header X-Tenant is missing or wrong.");
        String method = exchange.getRequestMethod(), path = exchange.getRequestURI().getPath().substring(4);
        if (WRITES.containsKey(method + " " + path)) return stage(method + " " + path, body);
        if (!method.equals("GET") || !READS.containsKey(path)) throw new Refused(404, "There is nothing here.");
        Map<String, String> query = new HashMap<>();
        for (String pair : Objects.requireNonNullElse(exchange.getRequestURI().getRawQuery(), "").split("&")) {
            String[] parts = (pair + "=").split("=", 3);
            query.put(decode(parts[0]), decode(parts[1]));
        }
        return list(path, query);
    }

    static String decode(String text) { return URLDecoder.decode(text, StandardCharsets.UTF_8); }

    static void handle(HttpExchange exchange) throws IOException {
        int status = exchange.getRequestMethod().equals("GET") ? 200 : 201;
        String type = "application/json", json;
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        try {
            json = respond(exchange, body);
        } catch (Refused refused) {
            status = refused.status;
            type = "application/problem+json";
            json = "{\"type\": \"about:blank\", \"status\": %d, \"detail\": \"%s\"}"
                .formatted(status, refused.getMessage());
        }
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.getResponseHeaders().set("Request-Id", "req-" + json.hashCode());
        exchange.sendResponseHeaders(status, 0);
        try (var out = exchange.getResponseBody()) {
            out.write(json.getBytes(StandardCharsets.UTF_8));
        }
    }

    public static void main(String[] arguments) throws IOException {
        // Otherwise each chunked response waits for the peer's delayed acknowledgement.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        int port = Integer.parseInt(System.getenv("PORT"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/v1/", Service::handle);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
    }
}
