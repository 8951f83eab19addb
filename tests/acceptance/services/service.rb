# A service in Ruby: parameters in brackets, a Link header, and errors as JSON:API has them.
require "digest"
require "json"
require "socket"
require "uri"

AFTER = ENV["CHANGED"] ? "cursor" : "after"
ACCOUNTS = { "alpha" => "a_31", "beta" => "b_32", "gamma" => "g_33", "delta" => "d_34" }.freeze

def items(count, slug, status = "ENABLED")
  (1..count).map do |n|
    { id: "#{n}-#{slug}", name: "#{slug.capitalize} #{n}", status: }.merge(yield(n))
  end
end

# For each read: the size of a page, and the items.
READS = {
  "beta-ads/list-beta-campaigns" => [12, items(47, "kampagne") { |n|
    { status: n.odd? ? "ENABLED" : "PAUSED", "budget-cents": n * 999, "starts-on": "2026-04-%02d" % (n % 30 + 1),
      "ends-on": nil, meta: { created_by: "Jürgen", versions: [1, n] } }
  }],
  "gamma-ads/search-gamma-targeting" => [6, items(19, "option") { |n|
    { kind: %w[interest place][n % 2], parents: (1..n % 3).to_a, popularity: n / 19.0 }
  }],
  "beta-ads/detect-beta-creative-fatigue" => [4, items(15, "clip", "tired") { |n|
    { signals: { ctr: -0.5, frequency: n }, since: n.even? ? nil : "2026-08-01T00:00:00+09:00" }
  }],
  "gamma-ads/list-gamma-ads" => [50, items(101, "anzeige") { |n|
    { approved: n % 7 != 0, text: "Für #{n} Leute 🎉", price: "%.2f" % (n * 1.1) }.compact
  }],
  "alpha-ads/explain-alpha-objectives" => [99, items(6, "objective") { |n| { advice: "…", level: n } }],
  "delta-ads/analyze-wasted-spend" => [9, items(10, "term", "wasted") { |n|
    n % 3 == 0 ? { cost_micros: n * 1_500_000 } : { cost_micros: n, keyword: { text: "x", type: "BROAD" } }
  }],
  "delta-ads/infer-business-profile" => [99, items(5, "trait", "guess") { |n| { values: [["n", n], ["ok", true]] } }],
}.freeze
# For each write: the method, the field that changes, what it needs besides the account.
WRITES = {
  "alpha-ads/update-alpha-campaign-targeting" => ["POST", "targeting", "campaign_id"],
  "alpha-ads/update-alpha-campaign-budget" => ["POST", "daily_budget", "campaign_id"],
  "beta-ads/create-beta-video-campaign" => ["POST", "fields", "fields"],
  "alpha-ads/update-alpha-creative" => ["POST", "fields", "account_id"],
  "gamma-ads/create-gamma-image-campaign" => ["POST", "fields", "fields"],
  "delta-ads/update-keyword" => ["POST", "keywords", "keywords"],
  "gamma-ads/create-gamma-dco-ad" => ["POST", "fields", "fields"],
  "beta-ads/pause-beta-campaign" => ["POST", "status", "campaign_id"],
  "delta-ads/remove-delta-auto-search-themes" => ["DELETE", "themes", "account_id"],
}.freeze

class Refused < StandardError
  attr_reader :status

  def initialize(status, title)
    @status = status
    super(title)
  end
end

# `a[b]=1&c=2` as {"a" => {"b" => "1"}, "c" => "2"}.
def parse(query)
  URI.decode_www_form(query.to_s).each_with_object({}) do |(name, value), parsed|
    outer, inner = name.match(/\A(\w+)\[(\w*)\]\z/)&.captures
    outer ? (parsed[outer] = {} unless parsed[outer].is_a?(Hash)) : parsed[name] = value
    parsed[outer][inner] = value if outer
  end
end

def check(values, path, required)
  required.each { |name| raise Refused.new(400, "#{name} is missing") unless values.key?(name) }
  return if values["account_id"] == ACCOUNTS[path[/\A\w+/]]

  raise Refused.new(422, "account_id does not exist")
end

def read(path, query, host)
  check(query, path, ["account_id"])
  size, found = READS[path]
  wanted = query.fetch("targeting", {})
  paging = query.fetch("page", {})
  raise Refused.new(400, "targeting and page are objects") unless wanted.is_a?(Hash) && paging.is_a?(Hash)

  only = query["campaign_id"] || query["creative_id"]
  found = found.select { |item| only.nil? || item[:id] == only }
  found = found.select { |item| wanted.all? { |name, value| item[name.to_sym].to_s == value } }
  start = paging[AFTER] ? found.index { |item| item[:id] == paging[AFTER].tr("~", "-") } : -1
  raise Refused.new(400, "page[#{AFTER}] is stale") unless start

  data = found[start + 1, size]
  return [200, { data:, page: { size: } }, {}] if start + 1 + size >= found.size

  token = data.last[:id].tr("-", "~")
  again = URI.encode_www_form(query.except("page", "targeting").merge("page[#{AFTER}]" => token))
  link = "<http://#{host}/v1/#{path}?#{again}>; rel=\"next\""
  [200, { data:, page: { size:, next: token } }, { "Link" => link }]
end

def stage(path, method, text)
  expected, field, needed = WRITES[path]
  raise Refused.new(405, "not #{method}") unless method == expected

  body = JSON.parse(text)
  check(body, path, ["account_id", needed])
  campaign = READS["beta-ads/list-beta-campaigns"][1].find { |item| item[:id] == body["campaign_id"] }
  before = { "status" => campaign&.fetch(:status), "daily_budget" => 0.5, "themes" => [{ text: "zelte" }] }[field]
  after = { "status" => "PAUSED", "themes" => [] }.fetch(field) { body[field] }
  id = "draft_#{Digest::MD5.hexdigest(path + text)[0, 12]}"
  draft = { draft_id: id, status: "pending_approval", diff: { field:, before:, after: } }
  [201, draft.merge(requires: "human_two_step_approve"), {}]
rescue JSON::ParserError
  raise Refused.new(400, "the body is not JSON")
end

def respond(method, target, headers, text)
  path, query = target.delete_prefix("/v1/").split("?", 2)
  raise Refused.new(401, "Api-Token is wrong or missing") if headers["api-token"] != "ruby-token"
  return read(path, parse(query), headers["host"]) if method == "GET" && READS.key?(path)
  return stage(path, method, text) if WRITES.key?(path)

  raise Refused.new(404, "no such path")
rescue Refused => e
  [e.status, { errors: [{ status: e.status.to_s, title: e.message }] }, {}]
end

def serve(socket)
  while (line = socket.gets)
    method, target, = line.split
    headers = {}
    while (line = socket.gets.chomp) != ""
      name, value = line.split(/:\s*/, 2)
      headers[name.downcase] = value
    end
    text = socket.read(headers.fetch("content-length", 0).to_i).force_encoding("UTF-8")
    status, body, more = respond(method, target, headers, text)
    body = JSON.generate(body)
    more = more.merge("Content-Type" => "application/vnd.api+json", "Transfer-Encoding" => "chunked",
                      "X-Request-Id" => Digest::MD5.hexdigest(target + text))
    head = more.map { |name, value| "#{name}: #{value}\r\n" }.join
    socket.write("HTTP/1.1 #{status} -\r\n#{head}\r\n#{body.bytesize.to_s(16)}\r\n#{body}\r\n0\r\n\r\n")
  end
ensure
  socket.close
end

server = TCPServer.new("127.0.0.1", ENV.fetch("PORT").to_i)
loop { Thread.new(server.accept) { |socket| serve(socket) } }
