"""Names, sizes and times: how the source tree must look."""

from __future__ import annotations

import ast
import re

from tests.rules.source import ROOT, Source, product, suite, tell

LONGEST_FILE = 500
LONGEST_FUNCTION = 60
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "manager", "managers", "handler", "handlers"}
CLOCKS = {
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
    ("timezone", "now"),
    ("time", "time"),
    ("time", "monotonic"),
    ("uuid", "uuid4"),
    ("uuid", "uuid1"),
}
# Below Django and the kernel there is no kernel clock to ask.
CLOCK_OWNERS = ("crewlet.kernel.clock", "crewlet.kernel.ids", "crewlet.ops.embedded")


def test_no_module_has_an_empty_name() -> None:
    tell(
        [str(source.path) for source in product() if source.path.stem in EMPTY_NAMES],
        "Name the module after the one idea it holds; two ideas are two modules.",
    )


def test_files_and_functions_fit_into_a_head() -> None:
    problems = []
    for source in (*product(), *suite()):
        lines = source.text.count("\n")
        if lines > LONGEST_FILE:
            problems.append(f"{source.path}: {lines} lines")
        problems += [
            f"{source.at(node)} {node.name}: {length} lines"
            for node in ast.walk(source.tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and (length := (node.end_lineno or 0) - node.lineno + 1) > LONGEST_FUNCTION
        ]
    tell(problems, "Split it by idea: 500 lines a file, about 50 a function.")


def _holds_code(source: Source) -> bool:
    return any(
        not (isinstance(node, ast.ImportFrom) and node.module == "__future__")
        for node in source.tree.body
    )


def test_every_module_says_what_it_is_for() -> None:
    tell(
        [
            str(source.path)
            for source in product()
            if _holds_code(source) and ast.get_docstring(source.tree) is None
        ],
        "Begin the module with a docstring of a line that says what it holds.",
    )


def test_time_and_ids_come_from_the_kernel() -> None:
    problems = [
        f"{source.at(node)} {node.func.value.id}.{node.func.attr}()"
        for source in product()
        if not source.module.startswith(CLOCK_OWNERS)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and (node.func.value.id, node.func.attr) in CLOCKS
    ]
    tell(problems, "Use crewlet.kernel.clock.now(), clock.monotonic() or ids.new_id().")


def _sleeps(source: Source) -> list[str]:
    return [
        f"{source.at(node)} {ast.unparse(node)}"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rsplit(".", 1)[-1] in {"sleep", "wait_for_timeout"}
    ]


def test_no_test_sleeps() -> None:
    tell(
        [line for source in suite() for line in _sleeps(source)],
        "Wait for a fact: tests.support.until.until(fact, deadline), a barrier, or an event.",
    )


def test_the_rule_sees_a_sleep() -> None:
    text = "time.sleep(1)\npage.wait_for_timeout(5)\nevent.wait(1)\n"
    planted = Source(suite()[0].path, text, ast.parse(text))
    assert len(_sleeps(planted)) == 2


def test_no_error_is_swallowed() -> None:
    problems = []
    for source in product():
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.ExceptHandler):
                continue
            broad = node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"}
            if broad and all(isinstance(line, (ast.Pass, ast.Continue)) for line in node.body):
                problems.append(f"{source.at(node)} swallows every exception")
    tell(problems, "Name the exception you expect, and log or report what you do not.")


def test_the_assembly_package_stays_empty() -> None:
    text = (ROOT / "crewlet" / "__init__.py").read_text(encoding="utf-8")
    assert not text.strip(), (
        "crewlet/__init__.py runs before the settings exist: importing from it anything of ours "
        "ends in AppRegistryNotReady. Keep it empty."
    )


def test_nothing_is_left_to_do() -> None:
    mark = re.compile(r"#\s*(TODO|FIXME|XXX|HACK)\b")
    problems = [
        f"{source.path}:{number}"
        for source in (*product(), *suite())
        for number, line in enumerate(source.text.splitlines(), 1)
        if mark.search(line)
    ]
    tell(problems, "Do it now, or write it down where plans are kept; code holds no promises.")
