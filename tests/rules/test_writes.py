"""A write is an action: rows change in few, named places."""

from __future__ import annotations

import ast
import re

from tests.rules.source import Source, product, tell

# Who may write rows besides an app's `actions`, and which rows. A new line here is a decision.
WRITERS = {
    r"crewlet\.kernel\..*": "operations, audit, events, the drain mark",
    r"crewlet\.search\.index": "the index of words, in the transaction of the text",
    r"crewlet\.ops\.alarms": "what the last look at the alarms found",
    r"crewlet\.ops\.embedded\..*": "creates the embedded database",
    r"orgs\.(revisions|projection|notices|inbox)(\..*)?": "the company as applied; notices",
    r"orgs\.outbound": "what leaves for people by e-mail",
    r"orgs\.people(\..*)?": "people, credentials, sessions",
    r"agents\.mail\..*": "deliveries, completions, dead letters",
    r"agents\.seats\..*": "nodes, leases, holds",
    r"agents\.dispatch\..*": "claims, parks",
    r"agents\.turn\..*": "the journal and what its transactions carry",
    r"agents\.budgets\..*": "windows and charge rows",
    r"agents\.llm\.(cooling|trials)": "cooling keys; what came of a test of a provider",
    r"agents\.memory\..*": "diary",
    r"integrations\.mcp\.store": "what servers of tools answered",
    r"tracker\.counts": "the kept counts of a project, in the transaction of the change",
    r".*\.receivers(\..*)?": "rows of a reaction inside the writer's transaction",
    r".*\.admin(\..*)?": "the operator's admin, through actions where there is one",
}
ROW_METHODS = {
    "bulk_create",
    "bulk_update",
    "get_or_create",
    "update_or_create",
}
# These are common words elsewhere (dict.update), so the receiver must look like a queryset.
QUERYSET_METHODS = {"create", "update", "delete"}
WRITING_SQL = re.compile(r"^\s*(INSERT\s+INTO|UPDATE\s+\w|DELETE\s+FROM)", re.IGNORECASE)


def _is_queryset(node: ast.expr) -> bool:
    while isinstance(node, (ast.Call, ast.Attribute)):
        if isinstance(node, ast.Attribute) and node.attr in {"objects", "_default_manager"}:
            return True
        node = node.func if isinstance(node, ast.Call) else node.value
    return False


def _writes(source: Source) -> list[str]:
    found = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            saves = name == "save" and not any(
                keyword.arg in {"commit", "format"} for keyword in node.keywords
            )
            if (
                name in ROW_METHODS
                or saves
                or (name in QUERYSET_METHODS and _is_queryset(node.func.value))
            ):
                found.append(f"{source.at(node)} calls .{name}()")
        elif _writing_sql(node):
            found.append(f"{source.at(node)} holds SQL that writes")
    return found


def _writing_sql(node: ast.AST) -> bool:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    return WRITING_SQL.match(node.value) is not None


def _may_write(module: str) -> bool:
    if "actions" in module.split(".") or "guards" in module.split("."):
        return True
    return any(re.fullmatch(pattern, module) for pattern in WRITERS)


def test_rows_change_only_in_actions_the_journal_and_named_modules() -> None:
    problems = [
        problem
        for source in product()
        if not _may_write(source.module)
        for problem in _writes(source)
    ]
    tell(
        problems,
        "Move the write into the app's `actions` (one verb, every door), or call a function of the "
        "module that owns these rows. WRITERS in this file lists the owners.",
    )


def test_the_rule_sees_a_write() -> None:
    text = (
        "Item.objects.filter(id=1).update(title='x')\n"
        "item.save()\nItem.objects.bulk_create([])\ncursor.execute('DELETE FROM item')\n"
        "seen.update({1: 2})\nform.save(commit=False)\n"
    )
    planted = Source(product()[0].path, text, ast.parse(text))
    assert [line.split(" ", 1)[1] for line in sorted(_writes(planted))] == [
        "calls .update()",
        "calls .save()",
        "calls .bulk_create()",
        "holds SQL that writes",
    ]
