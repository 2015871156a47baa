"""`spotproof status`: what the fallback controller does with the jobs of a cluster, once or as it changes."""

import json
import logging
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from spotproof.cli.status_cluster import Look
    from spotproof.cli.status_connect import Cluster
    from spotproof.status.report import Report

WRONG: Final = 1
USED_WRONGLY: Final = 2


def command(  # noqa: PLR0913  # one parameter an option
    *,
    job: Annotated[
        str | None, typer.Argument(help="Tell the whole story of this job: NAME, or NAMESPACE/NAME.")
    ] = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Look here; left out, in the namespace of the context.")
    ] = None,
    all_namespaces: Annotated[bool, typer.Option("--all-namespaces", "-A", help="Look everywhere.")] = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on, and show every change as it comes.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON; with --watch a line a change.")] = False,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="The kubeconfig; left out, KUBECONFIG or ~/.kube/config.")
    ] = None,
    context: Annotated[str | None, typer.Option(help="Its context; left out, the current one.")] = None,
) -> None:
    """Show every job under a fallback policy: tier, phase, counts, what it waits for and why; and jobs on spot without.

    Reads only. Exit status 1: the cluster cannot be looked at, or there is no such job. 2: used wrongly.
    """
    if namespace is not None and all_namespaces:
        raise _stop("--namespace and --all-namespaces exclude each other; write one of them", USED_WRONGLY)
    home, _, name = job.rpartition("/") if job else ("", "", None)
    if home and (namespace is not None or all_namespaces):
        other = "--all-namespaces" if all_namespaces else f"--namespace {namespace}"
        raise _stop(f"{job} names the namespace {home}, and {other} another place; write one of the two", USED_WRONGLY)
    if find_spec("kubernetes") is None:
        raise _stop(
            "kubernetes is not installed; run `pip install 'spotproof[status]'` in this environment", USED_WRONGLY
        )
    from spotproof.cli.status_connect import NotSeen, connect  # noqa: PLC0415

    # it warns of every try that fails; what came of them is told once
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    try:
        cluster = connect(kubeconfig, context)
        scope = None if all_namespaces else namespace or home or cluster.namespace
        found = _look(cluster, scope, name)
        if watch:
            _watch(cluster, found, name, as_json=as_json)
        else:
            _print(cluster, found, name, as_json=as_json)
    except NotSeen as error:
        raise _stop(str(error), USED_WRONGLY if error.used_wrongly else WRONG) from error


def _look(cluster: "Cluster", scope: str | None, job: str | None) -> "Look":
    from spotproof.cli.status_cluster import look  # noqa: PLC0415

    found = look(cluster, scope)
    report = _report(found, job)
    if job is not None and not report.rows and not report.unmanaged:
        for note in report.notes:
            print(f"note: {note}", file=sys.stderr)  # noqa: T201
        elsewhere = "" if found.namespace is None else "; --all-namespaces looks everywhere"
        raise _stop(
            f"no job {job} under a fallback policy, and none of that name on spot, in {found.where}{elsewhere}", WRONG
        )
    return found


def _report(found: "Look", job: str | None) -> "Report":
    from spotproof.status.report import report  # noqa: PLC0415

    return report(found.world, found.world.at, found.where, job or "")


def _print(cluster: "Cluster", found: "Look", job: str | None, *, as_json: bool) -> None:
    from spotproof.cli.status_table import write  # noqa: PLC0415
    from spotproof.status.report import document  # noqa: PLC0415

    report = _report(found, job)
    if as_json:
        print(json.dumps(document(report), indent=1))  # noqa: T201
        return
    write(report, sys.stdout, story=job is not None)
    if found.namespace is not None and not report.rows and not report.unmanaged:
        print(f"context {cluster.context}; --all-namespaces looks everywhere", file=sys.stderr)  # noqa: T201


def _watch(cluster: "Cluster", found: "Look", job: str | None, *, as_json: bool) -> None:
    from spotproof.cli.status_cluster import follow  # noqa: PLC0415
    from spotproof.cli.status_live import show  # noqa: PLC0415
    from spotproof.status.report import report  # noqa: PLC0415

    worlds = follow(cluster, found)
    try:
        show((report(each, each.at, found.where, job or "") for each in worlds), story=job is not None, as_json=as_json)
    except KeyboardInterrupt:
        # the way to end it
        raise typer.Exit from None


def _stop(text: str, status: int) -> typer.Exit:
    print(f"spotproof status: {text}", file=sys.stderr)  # noqa: T201
    return typer.Exit(status)
