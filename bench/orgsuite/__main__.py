"""`python -m bench.orgsuite`: plays every mode and prints what became of it."""

from __future__ import annotations

import sys

from bench import place as places


def main() -> int:
    """Plays and prints; 1 when the engine let through what its record shows."""
    try:
        with places.opened(0.0):
            return _run()
    except places.BenchProblem as problem:
        print(f"orgsuite: {problem}", file=sys.stderr)
        return 1


def _run() -> int:
    import django

    django.setup()

    from django.core.management import call_command

    from bench.orgsuite.report import played, show
    from bench.orgsuite.scene import Script, Stage
    from crewlet.ops.pools import close_pools
    from tests.support.model_server import ModelServer

    call_command("migrate", interactive=False, verbosity=0)
    script = Script()
    try:
        with ModelServer(play=script) as server:
            rows = played(Stage.opened(script, server.openai_url))
        print(show(rows))
        return int(any(row.let_through for row in rows))
    finally:
        close_pools()


if __name__ == "__main__":
    raise SystemExit(main())
