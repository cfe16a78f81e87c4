"""Options of `mrfit fit` for tied parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from mrfit.cli.option_rules import Rule, has_setting, one_of, penalties_with
from mrfit.cli.options import choice, stacked, whole_numbers
from mrfit.core.errors import InputError
from mrfit.registry import PENALTIES

tying_options = stacked(
    click.option(
        "--groups",
        metavar="K[,K...]",
        help="Number of groups for tied, hard and ltr, or several to choose from. By default 1, 2, 5, "
        "10, 20, 100, 500, 1000, 5000, 10000, up to the number of parameters.",
    ),
    choice(
        "--tie",
        "all",
        "apart",
        "orders",
        help="Parameters that may share a group: all of them, single variables apart from interactions, or each order "
        "apart.",
    ),
    click.option("--pin-zero", is_flag=True, help="Fix the center of one group at zero, in each class of --tie."),
    choice("--start", "l2", "random", help="Start of soft tying: a rough l2 fit, or small random values (--seed)."),
    click.option(
        "--restarts",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Number of additional random starts of soft tying; the best objective wins.",
    ),
    choice(
        "--relearn",
        "reduced",
        "projected",
        help="Refit of hard and ltr: one parameter for each group, or projected gradients as in Chou et al. (2018).",
    ),
    click.option(
        "--inner-iterations",
        metavar="N|all",
        default="2",
        show_default=True,
        help="Iterations of the solver between two clusterings; all means until the tolerance is reached.",
    ),
    choice(
        "--centers",
        "joint",
        "fixed",
        help="Whether the centers of groups are optimised with the parameters, or fixed until the next clustering.",
    ),
    click.option(
        "--growth",
        metavar="SHARE,FACTOR",
        help="Start at this share of the penalty strength and multiply it in each round, such as 0.1,2. By default the "
        "strength is full from the start.",
    ),
    click.option(
        "--batch-rows",
        type=click.IntRange(min=1),
        metavar="N",
        help="Tie by stochastic gradients over batches of N rows, as Chou et al. (2018) did. Slower, and without a "
        "check of optimality.",
    ),
    click.option(
        "--epochs",
        type=click.IntRange(min=1),
        default=50,
        show_default=True,
        help="With --batch-rows: passes over the data.",
    ),
    click.option(
        "--cluster-every",
        type=click.IntRange(min=1),
        default=50,
        show_default=True,
        help="With --batch-rows: gradient steps between two clusterings.",
    ),
)

_OWN = ("groups", "tie", "pin_zero", "start", "restarts", "relearn")  # each a setting of the same name
_SOFT = ("inner_iterations", "centers", "growth")
_STOCHASTIC = ("batch_rows", "epochs", "cluster_every")


def tying_rules(options: Mapping[str, Any]) -> list[Rule]:
    """Return the rules on which options of tying have an effect only together with others."""
    batches = options["batch_rows"] is not None
    options_of = {name: (name,) for name in _OWN} | {"how": _SOFT, "stochastic": _STOCHASTIC}
    kind = PENALTIES[options["penalty"]]
    return [
        *(
            Rule(own, has_setting(kind, setting), f"--penalty {one_of(penalties_with(setting))}")
            for setting, own in options_of.items()
        ),
        Rule(_SOFT, not batches, "tying without --batch-rows"),
        Rule(_STOCHASTIC, batches, "--batch-rows"),
    ]


def tying_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of the penalties that tie."""
    from mrfit.cli.options import numbers
    from mrfit.learning.tying.soft_tying import AlternationSettings
    from mrfit.learning.tying.stochastic_tying import Stochastic
    from mrfit.learning.tying_specs import GROUPS

    steps = options["inner_iterations"]
    if steps != "all" and not steps.isdecimal():
        raise InputError(f"--inner-iterations {steps!r} is not a whole number; write it like 2, or all.")
    growth = (1.0, 1.0) if options["growth"] is None else numbers(options["growth"], "--growth")
    if len(growth) != 2:
        raise InputError(f"--growth {options['growth']!r} must be a share and a factor; write it like 0.1,2.")
    batches = options["batch_rows"], options["epochs"], options["cluster_every"]
    return {
        "groups": GROUPS if options["groups"] is None else whole_numbers(options["groups"], "--groups"),
        "how": AlternationSettings(
            inner_iterations=None if steps == "all" else int(steps),
            centers=options["centers"],
            first_share=growth[0],
            growth=growth[1],
        ),
        "stochastic": None if options["batch_rows"] is None else Stochastic(*batches),
        **{name: options[name] for name in _OWN if name != "groups"},
    }
