"""`python -m spotproof.controller`: the fallback controller, in a pod or anywhere with a kubeconfig.

Exit status: 0 ended as told (SIGTERM), 1 the lease was lost or a part of it failed, 2 used wrongly.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from spotproof.controller import logs
from spotproof.controller.access import Access
from spotproof.controller.app import App, Options
from spotproof.controller.serving import Address, parse_address
from spotproof.controller.watches import Watches
from spotproof.kube.access import NoAccess
from spotproof.vocabulary import PROBE_IMAGE, SYSTEM_NAMESPACE

USED_WRONGLY: Final = 2
WORKERS: Final = 4


def main(words: Sequence[str] | None = None) -> int:
    """Run it until it is told to end. Returns the exit status."""
    chosen = _parser().parse_args(words)
    saying = logs.Saying(chosen.log_level, chosen.log_format)
    logs.configure(saying)
    access = Access(chosen.kubeconfig, chosen.context)
    try:
        kube = access.connect()
    except NoAccess as none:
        return _wrong(str(none))
    options = Options(
        namespace=chosen.namespace,
        listen=chosen.listen,
        metrics=chosen.metrics,
        workers=chosen.workers,
        elect=not chosen.no_leader_election,
        probe_image=chosen.probe_image,
    )
    try:
        return App(kube, Watches(access, saying), options).run()
    except OSError as error:
        return _wrong(f"cannot listen on {_said(chosen.listen)}: {error.strerror or error}")
    finally:
        kube.close()


def _wrong(message: str) -> int:
    sys.stderr.write(f"spotproof.controller: {message}\n")
    return USED_WRONGLY


def _said(address: Address) -> str:
    return f"{address.host}:{address.port}"


def _address(text: str) -> Address:
    try:
        return parse_address(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 64:  # noqa: PLR2004  # the sentence says it
        raise argparse.ArgumentTypeError(f"{text!r} is no number of workers: write 1 to 64, as in {WORKERS}")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m spotproof.controller", description="The fallback controller.")
    add = parser.add_argument
    add("--kubeconfig", type=Path, metavar="FILE", help="of the cluster; left out in a pod, where its account is used")
    add("--context", metavar="NAME", help="of the kubeconfig; left out, its current one")
    add("--namespace", default=SYSTEM_NAMESPACE, help="of the lease (%(default)s)")
    add(
        "--listen",
        type=_address,
        default="0.0.0.0:8081",
        metavar="ADDRESS:PORT",
        help="/healthz, /readyz, /metrics (%(default)s)",
    )
    add("--metrics", type=_address, metavar="ADDRESS:PORT", help="/metrics here, and not beside /healthz")
    add("--workers", type=_count, default=WORKERS, metavar="N", help="jobs looked at at a time (%(default)s)")
    add("--probe-image", default=PROBE_IMAGE, metavar="IMAGE", help="of pods that ask for room (%(default)s)")
    add("--no-leader-election", action="store_true", help="act at once; nobody else may run")
    add("--log-level", choices=logs.LEVELS, default="info", help="(%(default)s)")
    add("--log-format", choices=("json", "text"), default="json", help="(%(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
