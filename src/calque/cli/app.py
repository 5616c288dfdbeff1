"""The ``calque`` command: its verbs, each loaded when it is used."""

from __future__ import annotations

import importlib
import os
from typing import Any

import click

from calque import __version__
from calque.base.errors import CalqueError, ContractError, did_you_mean
from calque.cli import exits
from calque.cli.help import rendered

VERBS = {
    "detect": "Boxes on pages: precision, recall, F1, box fit and COCO AP.",
    "layout": "Layout blocks: blocks found and category accuracy.",
    "fields": "Extracted records: values, boxes and confidences.",
    "words": "OCR text: recall in order, WER and CER.",
    "tables": "Tables: exact TEDS, GriTS and error types.",
    "order": "Reading order: pairs, successors and distances.",
    "check": "Suites of checks in YAML, as a gate for CI.",
    "compare": "Compare runs: differences, intervals, tests and changes.",
    "ceiling": "Best score that several systems can reach together.",
    "report": "HTML report of a saved state.",
    "merge": "Merge states of shards into one result.",
    "bless": "Make a state the baseline of later runs.",
    "validate": "Check files before an evaluation.",
    "audit": "Find mistakes in ground truth; annotator agreement.",
    "convert": "Convert boxes to another format.",
    "explain": "Explain a metric: definition, formula, source.",
    "demo": "Evaluate two example models on sample data.",
}
"""Each command and its summary; it is ``command`` in the module of that name."""


class Verbs(click.Group):
    """A group that imports a verb only when it is called, so that ``--help`` starts at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """The verbs in the order in which they are shown."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        """The command of a verb, imported now."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"calque.cli.{cmd_name}").command
        return command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help page, without importing any command."""
        formatter.write(rendered(self, ctx, [click.Command(name, short_help=text, help=text) for name, text in VERBS.items()]))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The verb that was typed, or the one that was probably meant."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            ctx.fail(f"there is no verb {args[0]!r}. {did_you_mean(args[0], VERBS)}".strip())
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb. What goes wrong with a state among its words may be the state's fault or ours, and is told so."""
        words = tuple(ctx.args)
        try:
            return super().invoke(ctx)
        except ContractError as error:
            from calque.readers.sides.kinds import reworded

            raise reworded(error, ctx.invoked_subcommand or "") from None
        except (CalqueError, OSError, click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:  # a state with a true checksum can be forged to make anything stumble
            from calque.cli.inputs import states_among

            if not (states := states_among(words)) or os.environ.get("CALQUE_DEBUG"):
                raise
            raise ContractError.single(
                "state-damaged",
                f"the state cannot be worked with ({type(error).__name__}: {error})",
                file=" or ".join(states),
                help="make it again with --save; if that does not help, set CALQUE_DEBUG=1 to see where, and please report it",
            ) from error


def _show_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted:
        import platform

        from calque.kernels import chosen, native_failure

        click.echo(f"calque {__version__} (kernels: {chosen()}, Python {platform.python_version()})")
        if (failure := native_failure()) is not None:
            click.echo(failure)
        ctx.exit()


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    callback=_show_version,
    expose_value=False,
    is_eager=True,
    help="Print the version and the kernels.",
)
def calque() -> None:
    """Evaluate document-AI models: compare predictions with ground truth.

    \b
    calque demo
    calque detect truth.json predictions.json
    """


def main() -> None:
    """Run the verb on the command line, and end the process as it went."""
    exits.run(lambda: calque.main(prog_name="calque", standalone_mode=False, color=exits.colour()))
