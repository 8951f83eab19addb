"""Each page of the built site in Chromium, and what the site promises there."""

import re

import pytest
from built import ADDRESSES, PAGES, document
from chromium import emulated, violations
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

WIDE, NARROW = 1280, 390
SCHEMES = {"light": "default", "dark": "slate"}

# Thousands of tokens with two dozen styles: axe takes four times as long to look at each of them.
# All tabs are shown, and colours change at once.
PREPARE = """
    const style = document.createElement("style");
    style.textContent = `* { transition: none !important }
      .md-typeset .tabbed-block { display: block !important }`;
    document.head.append(style);
    const seen = new Set();
    for (const token of document.querySelectorAll("pre > code span:not(:has(*))")) {
      if (seen.has(token.className)) token.replaceWith(token.textContent);
      seen.add(token.className);
    }
"""
CODE_THAT_IS_CUT = """
    return [...document.querySelectorAll("pre > code")]
      .filter((code) => code.scrollWidth > code.clientWidth || !code.clientWidth)
      .map((code) => code.textContent);
"""
RESULTS = """
    const roots = [...document.body.children].map((element) => element.shadowRoot);
    const results = roots.map((root) => root?.querySelector("ol")).find(Boolean);
    return results?.innerText ?? "";
"""


def until(browser: webdriver.Chrome, script: str) -> object:
    return WebDriverWait(browser, 30).until(lambda _: browser.execute_script(f"return {script}"))


@pytest.mark.parametrize("address", ADDRESSES)
def test_page_is_accessible_and_fits(browser, url, address) -> None:
    browser.get(url + address)
    browser.execute_script(PREPARE)
    for width, scheme in [(WIDE, "light"), (WIDE, "dark"), (NARROW, "light"), (NARROW, "dark")]:
        with emulated(browser, width=width, scheme=scheme):
            until(browser, f"document.body.dataset.mdColorScheme === '{SCHEMES[scheme]}'")
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width
            # What is not about colours is the same in both schemes.
            rules = ["color-contrast"] if scheme == "dark" else None
            assert violations(browser, rules=rules) == [], (width, scheme)
            if width == WIDE:
                assert browser.execute_script(CODE_THAT_IS_CUT) == []


PAGES_WITH_PICTURES = [
    page.removesuffix("index.html")
    for page in PAGES
    if any("#only-" in link for link in document(page).loaded)
]


@pytest.mark.parametrize("address", PAGES_WITH_PICTURES)
def test_pictures_are_those_of_the_theme(browser, url, address) -> None:
    assert "" in PAGES_WITH_PICTURES
    for scheme in SCHEMES:
        with emulated(browser, width=WIDE, scheme=scheme):
            browser.get(url + address)
            until(browser, f"document.body.dataset.mdColorScheme === '{SCHEMES[scheme]}'")
            pictures = browser.find_elements(By.CSS_SELECTOR, "article img[src*='/images/']")
            pictures += browser.find_elements(By.CSS_SELECTOR, "article img[src^='images/']")
            shown = [each.get_attribute("src") for each in pictures if each.is_displayed()]
            assert 2 * len(shown) == len(pictures)
            assert all(src.endswith(f"-{scheme}.png#only-{scheme}") for src in shown)


def test_home_page_shows_what_matters_above_the_fold(browser, url) -> None:
    with emulated(browser, width=WIDE):
        browser.get(url)
        bottoms = {}
        for selector, text in {
            ".hero .language-sh": "pip install git+",
            ".hero .md-button--primary": "Start the tutorial",
            ".hero .md-button:not(.md-button--primary)": "Try it in your browser",
            ".hero .tabbed-labels": "Sync\nAsync",
            ".hero .language-python": "FakeAdService().client()",
            ".hero .language-text": "daily_budget: 100 → 120",
            ".hero img[src$='only-light']": "",
        }.items():
            found = browser.find_element(By.CSS_SELECTOR, selector)
            assert found.is_displayed()
            assert text in found.text
            bottoms[selector] = found.rect["y"] + found.rect["height"]
        assert [name for name, bottom in bottoms.items() if bottom > 800] == []
        cards = browser.find_elements(By.CSS_SELECTOR, ".grid.cards li")
        places = [(card.rect["x"], card.rect["y"]) for card in cards]
        columns, rows = {x for x, _ in places}, {y for _, y in places}
        assert (len(cards), len(columns), len(rows)) == (4, 2, 2)  # none is alone in its row
        links = browser.find_elements(By.CSS_SELECTOR, ".hero .md-button")
        addresses = [link.get_attribute("href") for link in links]
        assert addresses == [f"{url}tutorial/", f"{url}playground/"]


def test_tab_that_is_chosen_stays_chosen_on_the_next_page(browser, url) -> None:
    with emulated(browser, width=WIDE):
        browser.get(url)
        browser.find_element(By.LINK_TEXT, "Async").click()
        until(
            browser, "document.querySelector('.hero .tabbed-content').innerText.includes('await')"
        )
        browser.get(f"{url}how-to/stage-and-wait/")
        until(browser, "document.querySelector('.tabbed-content').innerText.includes('await')")
        browser.execute_script("localStorage.clear()")


def test_missing_page_searches_for_the_words_of_its_address(browser, url) -> None:
    with emulated(browser, width=NARROW):
        browser.get(f"{url}old/wasted-spend.html")
        [complaint] = browser.get_log("browser")
        assert "404 (Not Found)" in complaint["message"]
        field = browser.find_element(By.CSS_SELECTOR, ".find input")
        assert field.get_attribute("value") == "wasted spend"
        field.submit()
        WebDriverWait(browser, 30).until(
            lambda _: "The Monday waste sweep" in browser.execute_script(RESULTS)
        )


@pytest.mark.parametrize(
    ("word", "first"), [("ledger", "Ledger"), ("waste", "Waste of all accounts, in a warehouse")]
)
def test_search_finds_what_a_word_names_first(browser, url, word, first) -> None:
    with emulated(browser, width=WIDE):
        browser.get(f"{url}404.html")
        browser.execute_script("search(arguments[0])", word)
        browser.execute_script("document.querySelector('.md-search__button').click()")
        WebDriverWait(browser, 30).until(
            lambda _: browser.execute_script(RESULTS).partition("\n")[0] == first
        )


def test_excerpts_of_the_search_are_plain(browser, url) -> None:
    with emulated(browser, width=WIDE):
        browser.get(f"{url}404.html")
        for words in ("Failure", "Items", "->", "report", "<"):
            browser.execute_script("search(arguments[0])", words)
            browser.execute_script("document.querySelector('.md-search__button').click()")
            WebDriverWait(browser, 30).until(
                lambda _, words=words: words.lower() in browser.execute_script(RESULTS).lower()
            )
            assert not re.search(r"&#?\w+;", browser.execute_script(RESULTS))
