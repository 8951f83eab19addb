"""Each page of the built site in Chromium, and what the site promises there."""

import re

import pytest
from built import ADDRESSES
from chromium import emulated, until, violations
from selenium import webdriver
from selenium.webdriver.common.by import By

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


def until_true(browser: webdriver.Chrome, script: str) -> None:
    until(browser, lambda: browser.execute_script(f"return {script}"))


@pytest.mark.parametrize("address", ADDRESSES)
def test_page_is_accessible_and_fits(browser, url, address) -> None:
    browser.get(url + address)
    browser.execute_script(PREPARE)
    for width, scheme in [(WIDE, "light"), (NARROW, "dark")]:
        with emulated(browser, width=width, scheme=scheme):
            until_true(browser, f"document.body.dataset.mdColorScheme === '{SCHEMES[scheme]}'")
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width
            assert violations(browser) == [], (width, scheme)
            if width == WIDE or address == "":
                assert browser.execute_script(CODE_THAT_IS_CUT) == []
            pictures = browser.find_elements(By.CSS_SELECTOR, "article img[src*='#only-']")
            shown = [each.get_attribute("src") for each in pictures if each.is_displayed()]
            assert 2 * len(shown) == len(pictures)
            assert all(src.endswith(f"-{scheme}.png#only-{scheme}") for src in shown)
            assert shown or address != ""


# The page of a word comes first; else it is only among the results.
FOUND = {
    "ledger": "Ledger: record what was staged\n",
    "waste": "Waste of all accounts, in a warehouse\n",
    "undo": "Undo a plan\n",
    "dry run": "Dry run\n",
    "approve": "Approve or reject: tell the reviewer\n",
    "retry": "Retry policy\n",
    "gate": "Gate of your own, for a shared rate limit\n",
    "notebook": "Notebooks and tables\n",
    "rate limit": "Rate limits",
}


@pytest.mark.parametrize("word", [*FOUND, "Failure", "Items", "->", "<"])
def test_search_finds_the_page_of_a_word_and_its_excerpts_are_plain(browser, url, word) -> None:
    with emulated(browser, width=WIDE):
        browser.get(f"{url}404.html")
        browser.execute_script("search(arguments[0])", word)
        browser.execute_script("document.querySelector('.md-search__button').click()")
        until(browser, lambda: word.lower() in browser.execute_script(RESULTS).lower())
        until(browser, lambda: browser.execute_script(RESULTS).startswith(FOUND.get(word, "")))
        assert not re.search(r"&#?\w+;", browser.execute_script(RESULTS))
