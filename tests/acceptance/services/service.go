// A service in Go: plain text for errors, and a limit of requests.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
)

const next = "exclusiveStartKey"

type object = map[string]any

type read struct {
	size  int
	own   string // the parameters besides the account, and `next`
	items []object
}

var (
	accounts = map[string]string{"alpha": "urn:account:1", "beta": "urn:account:2",
		"gamma": "urn:account:3", "delta": "urn:account:4"}
	requests atomic.Int64
	changed  = os.Getenv("CHANGED") != ""
)

func items(count int, kind string, more func(n int) object) (made []object) {
	for n := 1; n <= count; n++ {
		item := more(n)
		item["id"], item["name"] = fmt.Sprintf("urn:%s:%d", kind, n), fmt.Sprintf("%s № %d", kind, n)
		if item["status"] == nil {
			item["status"] = "ENABLED"
		}
		made = append(made, item)
	}
	return
}

// A number with two places, also where the last is 0.
func money(n int) json.Number { return json.Number(fmt.Sprintf("%d.%d0", n, n%10)) }

var reads = map[string]read{
	"beta-ads/list-beta-campaigns": {40, "campaign_id date_range", items(90, "campaign", func(n int) object {
		return object{"dailyBudget": money(n), "status": []string{"PAUSED", "ENABLED"}[n%2], "owners": []string{"a", "ö"}[:n%3%2]}
	})},
	"gamma-ads/search-gamma-targeting": {15, "targeting", items(50, "option", func(n int) object {
		return object{"type": []string{"city", "job"}[n%2], "geo": object{"lat": 52.5, "lng": float64(n)}, "reach": nil}
	})},
	"beta-ads/detect-beta-creative-fatigue": {40, "creative_id", items(14, "creative", func(n int) object {
		return object{"status": "Fatigued", "since": fmt.Sprintf("2026-07-%02d", n), "daily": []json.Number{money(n), "0.10"}}
	})},
	"gamma-ads/list-gamma-ads": {33, "date_range", items(99, "ad", func(n int) object {
		return object{"Spend": money(n), "Impressions": n * 1e6, "Approved": n%8 != 0, "Parent": object{"id": n / 10}}
	})},
	"alpha-ads/explain-alpha-objectives": {40, "", items(5, "objective", func(n int) object {
		return object{"explanation": "Más alcance", "examples": []object{{"name": "x", "cost": money(n)}}}
	})},
	"delta-ads/analyze-wasted-spend": {8, "", items(29, "term", func(n int) object {
		found := object{"status": "Wasteful", "wasted": money(n * 3)}
		if n%4 > 0 {
			found["conversions"] = 0
		}
		return found
	})},
	"delta-ads/infer-business-profile": {40, "", items(6, "fact", func(n int) object {
		return object{"value": object{"text": "Fahrräder 🚲", "rank": n}, "confirmed": nil}
	})},
}

// For each write: the field that changes, and what it needs besides the account.
var writes = map[string][2]string{
	"alpha-ads/update-alpha-campaign-targeting": {"targeting", "campaign_id"},
	"alpha-ads/update-alpha-campaign-budget":    {"daily_budget", "campaign_id"},
	"beta-ads/create-beta-video-campaign":       {"fields", "fields"},
	"alpha-ads/update-alpha-creative":           {"fields", ""},
	"gamma-ads/create-gamma-image-campaign":     {"fields", "fields"},
	"delta-ads/update-keyword":                  {"keywords", "keywords"},
	"gamma-ads/create-gamma-dco-ad":             {"fields", "fields"},
	"beta-ads/pause-beta-campaign":              {"status", "campaign_id"},
	"delta-ads/remove-delta-auto-search-themes": {"themes", ""},
}

func send(w http.ResponseWriter, status int, body object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, text string) {
	if changed {
		send(w, status, object{"error": text})
	} else {
		http.Error(w, text, status)
	}
}

func account(w http.ResponseWriter, path string, given any) bool {
	if given == nil || given == "" {
		refuse(w, 400, "account_id: required")
	} else if given != accounts[strings.SplitN(path, "-", 2)[0]] {
		refuse(w, 401, "this key has no access to the account")
	} else {
		return true
	}
	return false
}

func list(w http.ResponseWriter, path string, query url.Values) {
	read, wanted := reads[path], object{}
	for name := range query {
		if !strings.Contains(" account_id "+next+" "+read.own+" ", " "+name+" ") {
			refuse(w, 400, fmt.Sprintf("%s: unknown parameter (to continue a listing, use %s)", name, next))
			return
		}
	}
	if !account(w, path, query.Get("account_id")) {
		return
	}
	if text := query.Get("targeting"); text != "" && json.Unmarshal([]byte(text), &wanted) != nil {
		refuse(w, 400, "targeting: not a JSON object")
		return
	}
	if only := query.Get("campaign_id") + query.Get("creative_id"); only != "" {
		wanted["id"] = only
	}
	after, last, data := query.Get(next), "", []object{}
	begun := after == ""
	for _, item := range read.items {
		fits := true
		for name, value := range wanted {
			fits = fits && reflect.DeepEqual(item[name], value)
		}
		if fits && begun && len(data) == read.size {
			last = data[read.size-1]["id"].(string)
			break
		} else if fits && begun {
			data = append(data, item)
		}
		begun = begun || item["id"] == after
	}
	send(w, 200, object{"data": data, "page": object{"next": last}})
}

func stage(w http.ResponseWriter, path string, r *http.Request) {
	body, write := object{}, writes[path]
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		refuse(w, 400, "body: not a JSON object")
	} else if _, there := body[write[1]]; write[1] != "" && !there {
		refuse(w, 400, write[1]+": required")
	} else if account(w, path, body["account_id"]) {
		diff := object{"field": write[0], "before": nil, "after": body[write[0]]}
		if write[0] == "daily_budget" {
			diff["before"] = money(48)
		}
		for _, item := range reads["beta-ads/list-beta-campaigns"].items {
			if write[0] == "status" && item["id"] == body["campaign_id"] {
				diff["before"], diff["after"] = item["status"], "PAUSED"
			}
		}
		send(w, 201, object{"draft_id": fmt.Sprintf("draft_%d", requests.Load()), "diff": diff,
			"status": "pending_approval", "requires": "human_two_step_approve"})
	}
}

func handle(w http.ResponseWriter, r *http.Request) {
	number, path := requests.Add(1), strings.TrimPrefix(r.URL.Path, "/v1/")
	w.Header().Set("X-Trace-Id", fmt.Sprintf("%016x", number))
	_, isWrite := writes[path]
	method := "POST"
	if strings.Contains(path, "remove") {
		method = "DELETE"
	}
	if number%9 == 0 {
		w.Header().Set("Retry-After", "1")
		refuse(w, 429, "slow down")
	} else if r.Header.Get("Authorization") != "Bearer go-token" {
		refuse(w, 401, "no valid key")
	} else if r.Method == "GET" && reads[path].items != nil {
		list(w, path, r.URL.Query())
	} else if isWrite && r.Method == method {
		stage(w, path, r)
	} else {
		refuse(w, 404, "no such operation")
	}
}

func main() {
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(handle)))
}
