"""The report as code, and as questions to the makers of the service."""

import re
from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, cast

from adclient._values.json_values import is_array, is_object
from adclient.conventions import Conventions, query_of_url
from adclient.models import JSON
from adclient.options import ENV_TOKEN
from adclient.survey.finding import Setting

if TYPE_CHECKING:
    from adclient.survey.report import Report

_QUESTIONS = {
    "credentials": "How does a caller authenticate: with which scheme, in which header?",
    "read parameters": "Are the parameters of the GET operations read from the query or the body?",
    "objects": "How is `targeting` written in a query: as JSON, or with brackets?",
    "continuation": "In which parameter, and in which form, is `page.next` sent back?",
    "end of listing": "What does the last page of a listing have as `page.next`?",
    "size parameter": "Which parameter sets how many items a page has, and what is the most?",
    "request id": "Which header of a response has the id of the request?",
    "limits": "What are the rate limits, what do they apply to, and how is a request refused?",
    "errors": "What do errors look like, and which statuses and codes are there?",
}


def code_of(report: "Report") -> str:
    """Code that makes a client with the settings of a report, and a first read."""
    arguments = _arguments(report)
    settings = [f"{name}={text}," for name, text in arguments.items()]
    found = [] if report.path is not None else _settings(report)
    if found:
        settings += ["conventions=Conventions(", *(f"    {line}" for line in found), "),"]
    lines = ["import os", ""] if "os.environ[" in str(arguments) else []
    lines += [f"from adclient import AdClient{', Conventions' * bool(found)}"]
    if query_of_url.__name__ in str(found):
        lines += ["from adclient.conventions import query_of_url"]
    call = "AdClient" if report.path is None else "AdClient.from_service"
    first = quoted(report.base_url if report.path is None else report.path)
    if settings:
        settings = [f"    {line}" for line in (f"{first},", *settings)]
        lines += ["", f"client = {call}(", *settings, ")"]
    else:
        lines += ["", f"client = {call}({first})"]
    if report.example is not None:
        name, account_id = report.example
        lines += [
            f"page = client.{name}(account_id={quoted(account_id)})",
            "print(list(page.data))",
        ]
    return "\n".join(lines)


def _arguments(report: "Report") -> dict[str, str]:
    """The arguments of the client that the code makes, besides its conventions."""
    service, auth = report.service, report.service.auth
    arguments = dict(report.arguments)
    if report.path is not None:  # the file has the others
        return arguments
    if auth is not None and (auth.env or auth.file):
        is_bearer = (auth.scheme, auth.header) == ("Bearer", "authorization")
        secret = f"os.environ[{quoted(auth.env or ENV_TOKEN)}]"
        arguments |= {"token": secret} if is_bearer else {"auth": "auth"}
    pairs = [f"{quoted(name)}: {quoted(value)}" for name, value in service.headers.items()]
    for name, variable in () if auth is None else auth.headers.items():
        pairs.append(f"{quoted(name)}: os.environ[{quoted(variable)}]")
    if pairs:
        arguments["headers"] = f"{{{', '.join(pairs)}}}"
    others = {"proxy": service.proxy, "verify": service.ca_file}
    return arguments | {name: quoted(value) for name, value in others.items() if value is not None}


def _settings(report: "Report") -> list[str]:
    """The settings that differ from the defaults, as arguments of `Conventions`."""
    default = Conventions()
    lines = [
        f"{name}={quoted(value)},{'  # likely' * (found.certainty == 'likely')}"
        for found in report.findings
        for name, value in found.settings.items()
        if found.read is None and value != getattr(default, name)
    ]
    own: list[str] = []
    for read, settings in report.service.conventions.reads.items():
        pairs = [f"{quoted(k)}: {quoted(cast(Setting, v))}" for k, v in settings.items()]
        own.append(f"    {quoted(read)}: {{{', '.join(pairs)}}},")
    return lines + (["reads={", *own, "},"] if own else [])


def markdown_of(report: "Report") -> str:
    """The questions that are left, the findings, and what was asked and received."""
    questions = [
        f"{_QUESTIONS[found.point]} ({found.certainty}: {span(str(found))})"
        for found in report.findings
        if found.certainty != "observed" and found.point in _QUESTIONS
    ]
    questions += [f"Why? {span(problem.rpartition('; ')[0])}" for problem in report.problems]
    findings = [(each.point, span(str(each)), span(each.observed)) for each in report.findings]
    return "\n".join(
        [
            f"# What adclient asked {report.base_url}, and what it received",
            *("", "## Questions", "", *_numbered(questions)),
            *("", "## What follows", "", *table(("point", "conclusion", "observed"), *findings)),
            *("", f"## The {report.sent} requests, all of them reads", ""),
            *_numbered([span(line) for line in report.requests]),
        ]
    )


def wrapped(lines: Iterable[str], indent: int = 0) -> list[str]:
    """Lines of at most 100 columns, whose continuations are indented."""
    return [fill(line, width=100, subsequent_indent=" " * indent) for line in lines]


def _numbered(lines: Sequence[str]) -> list[str]:
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def span(text: str) -> str:
    """A span of code, in which nothing of the service is a link, a mention or HTML."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    blank = " " * ("`" in text)
    return f"{fence}{blank}{text}{blank}{fence}" if text else ""


def table(title: Sequence[str], *rows: Sequence[str]) -> list[str]:
    """The lines of a table in Markdown."""
    cells = [
        [each.replace("|", "\\|") for each in row] for row in (title, ["---"] * len(title), *rows)
    ]
    return [f"| {' | '.join(row)} |" for row in cells]


def quoted(value: Setting) -> str:
    """A value as Python code, with the quotes of this project."""
    if is_array(value):
        return f"({', '.join(quoted(str(each)) for each in value)},)"
    if callable(value):
        return str(plain(value))
    text = repr(value)
    return f'"{text[1:-1]}"' if text.startswith("'") and '"' not in text else text


def plain(value: object) -> JSON:
    """A setting as a JSON value."""
    if callable(value):
        return str(getattr(value, "__name__", value))
    if is_object(value):
        return {str(name): plain(each) for name, each in value.items()}
    return list(cast("tuple[str, ...]", value)) if is_array(value) else cast(JSON, value)
