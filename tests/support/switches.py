"""Every switch of a profile of the fake and of its conventions, with its values."""

# What can be set, and to what. The names with a dot are of `Conventions`.
SWITCHES: dict[str, list] = {
    "errors": [
        *("error_object", "problem", "detail", "fastapi", "success_false", "errors_list"),
        *("text", "html", "empty", "truncated"),
    ],
    "continuation": ["text", "number", "url", "absolute_url", "object", "none"],
    "continuation_life": [None, 9.0],
    "read_parameters": ["query", "body", "either"],
    "page_size_parameter": [None, "limit"],
    "key_header": [None, "X-Api-Key"],
    "business_rules": [False, True],
    "two_reviewers": [False, True],
    "latency": [0.0, 2.0],
    "requests_a_minute": [None, 10],
    ".object_style": ["json", "deep_object"],
    ".cursor_parameter": ["cursor", "page_token", "after", "page", "startingAfter"],
    ".request_id_headers": [("x-request-id",), ("request-id",), ("Trace-Id",)],
    ".rate_limit_scope": ["account", "client"],
    ".idempotency_header": [None, "Idempotency-Key"],
}
SINGLY = [{name: value} for name, values in SWITCHES.items() for value in values]
