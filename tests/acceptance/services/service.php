<?php
// A service in PHP: without credentials, and each read continues in its own way.

const ACCOUNT = 'konto';
define('CHANGED', (bool) getenv('CHANGED'));

function items(int $count, string $prefix, callable $more): array
{
    return array_map(
        fn (int $n) => ['id' => "{$prefix}_$n", 'name' => "Nr. $n", 'status' => 'ENABLED', ...$more($n)],
        range(1, $count)
    );
}

// For each read: the parameter that continues it, the size of a page, and the items.
$reads = [
    '/v1/beta-ads/list-beta-campaigns' => ['last_id', 25, items(83, 'cmp', fn ($n) => [
        'name' => "Sömmer „{$n}“",
        'status' => $n % 3 ? 'ENABLED' : 'PAUSED',
        'budget' => $n * 1.5,
        'times' => ['start' => "2026-0" . ($n % 9 + 1) . '-01 00:00:00', 'end' => false],
    ])],
    '/v1/gamma-ads/search-gamma-targeting' => ['page', 8, items(30, 'opt', fn ($n) => [
        'type' => $n % 2 ? 'interest' : 'place', 'size' => "$n", 'tree' => ['a' => ['b' => $n]],
    ])],
    '/v1/beta-ads/detect-beta-creative-fatigue' => ['lastKey', 7, items(20, 'fat', fn ($n) => [
        'tired' => (bool) ($n % 2), 'scores' => [$n, $n / 2, null],
    ])],
    '/v1/gamma-ads/list-gamma-ads' => ['page', 30, items(91, 'ad', fn ($n) => [
        'cost_micros' => $n * 12_000_000, 'url' => 'https://shop.example/ä', 'emoji' => '🛒',
    ] + ($n % 4 ? ['reviewed' => '2026-09-09'] : []))],
    '/v1/alpha-ads/explain-alpha-objectives' => ['page', 50, items(10, 'obj', fn ($n) => ['text' => "Ziel $n"])],
    '/v1/delta-ads/analyze-wasted-spend' => ['page', 10, items(21, 'kw', fn ($n) => [
        'waste' => 0.01 * $n, 'queries' => [['q' => 'gratis', 'n' => $n]],
    ])],
    '/v1/delta-ads/infer-business-profile' => ['page', 50, items(8, 'fact', fn ($n) => [
        'value' => $n % 2 ? $n : "text $n",
    ])],
];
// For each write: the method, the field that changes, what it needs besides the account.
$writes = [
    '/v1/alpha-ads/update-alpha-campaign-targeting' => ['POST', 'targeting', 'campaign_id'],
    '/v1/alpha-ads/update-alpha-campaign-budget' => ['POST', 'daily_budget', 'campaign_id'],
    '/v1/beta-ads/create-beta-video-campaign' => ['POST', 'fields', 'fields'],
    '/v1/alpha-ads/update-alpha-creative' => ['POST', 'fields', 'account_id'],
    '/v1/gamma-ads/create-gamma-image-campaign' => ['POST', 'fields', 'fields'],
    '/v1/delta-ads/update-keyword' => ['POST', 'keywords', 'keywords'],
    '/v1/gamma-ads/create-gamma-dco-ad' => ['POST', 'fields', 'fields'],
    '/v1/beta-ads/pause-beta-campaign' => ['POST', 'status', 'campaign_id'],
    '/v1/delta-ads/remove-delta-auto-search-themes' => ['DELETE', 'themes', 'account_id'],
];

function send(int $status, array $body): never
{
    http_response_code($status);
    header('Content-Type: application/json; charset=utf-8');
    // Escapes all letters beyond ASCII, as PHP does by default.
    exit(json_encode($body));
}

function refuse(int $status, string $message): never
{
    send($status, ['message' => $message, 'code' => $status]);
}

function read(array $read): never
{
    [$name, $size, $items] = $read;
    if (($_GET['account_id'] ?? '') === '') {
        refuse(400, 'account_id fehlt');
    }
    if ($_GET['account_id'] !== ACCOUNT) {
        CHANGED ? refuse(404, 'account_id unbekannt') : send(200, ['data' => [], 'page' => ['next' => false]]);
    }
    $wanted = is_array($_GET['targeting'] ?? 0) ? $_GET['targeting'] : [];
    $only = $_GET['campaign_id'] ?? $_GET['creative_id'] ?? null;
    $items = array_values(array_filter($items, fn ($item) =>
        ($only === null || $item['id'] === $only) && array_intersect_assoc($wanted, array_filter($item, 'is_string')) == $wanted));
    $ids = array_column($items, 'id');
    $given = $_GET[$name] ?? null;
    if ($name === 'page') {
        $number = max(1, (int) $given);
        $start = ($number - 1) * $size;
    } else {
        // An id that is not there begins at the start, as `false + 1` would not.
        $place = array_search($given, $ids, true);
        $start = $place === false ? 0 : $place + 1;
    }
    $more = $start + $size < count($items);
    $next = $name === 'page' ? ($number ?? 1) + 1 : ($ids[$start + $size - 1] ?? false);
    $page = ['next' => $more ? $next : false];
    if ($name === 'page') {
        $page += ['page' => $number ?? 1, 'pages' => (int) ceil(count($items) / $size)];
    }
    send(200, ['data' => array_slice($items, $start, $size), 'page' => $page]);
}

function stage(array $write, array $campaigns): never
{
    [$method, $field, $needed] = $write;
    $text = file_get_contents('php://input');
    $body = json_decode($text, true);
    if ($_SERVER['REQUEST_METHOD'] !== $method) {
        refuse(405, "nur $method");
    }
    if (!is_array($body) || !isset($body['account_id'], $body[$needed])) {
        refuse(400, "account_id oder $needed fehlt");
    }
    if ($body['account_id'] !== ACCOUNT) {
        refuse(404, 'account_id unbekannt');
    }
    $before = $field === 'daily_budget' ? 60 : null;
    $after = $body[$field] ?? null;
    if ($field === 'status') {
        $before = array_column($campaigns, 'status', 'id')[$body['campaign_id']] ?? null;
        $after = 'PAUSED';
    }
    send(201, [
        'draft_id' => 'draft_' . crc32($_SERVER['REQUEST_URI'] . $text),
        'status' => 'pending_approval',
        'diff' => ['field' => $field, 'before' => $before, 'after' => $after],
        'requires' => 'human_two_step_approve',
    ]);
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($_SERVER['REQUEST_METHOD'] === 'GET' && isset($reads[$path])) {
    read($reads[$path]);
}
if (isset($writes[$path])) {
    stage($writes[$path], $reads['/v1/beta-ads/list-beta-campaigns'][2]);
}
refuse(404, 'kein solcher Pfad');
