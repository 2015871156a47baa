"""docs/portability.md: which job lands where, as the matcher found it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tests.portability.admission import admitted
from tests.portability.documents import DOCUMENTS, Document, raw_pod
from tests.portability.landing import Stack
from tests.portability.scheduler import Pod, reasons_against

HEAD = """\
# Which job lands where

Jobs as people already have them (the selectors and tolerations of the platforms' own documentation), as they are and
as `spotproof render` writes them, against the nodes of every stack of this repository: labels and taints of the
program and those the cloud adds by itself, read as kube-scheduler reads them. Each job has workers that ask for one
GPU. This page is written by tests/portability, which also proves that no job lands on the other capacity than the one
it means.

*As it is* means with nothing added but what the cluster's own admission adds in a workspace: the tolerations that our
admission policies give (Kubernetes 1.36 and newer), and on GKE the one for GPUs. A job that waits, waits for ever:
its selector names labels that this cloud's nodes do not carry; where several pools are named, a gang may be split
among them. The head of a Ray job as it is asks for the default, and lands as that row says. Rendered, one file serves
every cloud: a gang keeps to one pool, and the head to on-demand.
"""


def page(stacks: Iterable[Stack], rendered: Callable[[Stack, Document], Pod]) -> str:
    """The page; `rendered` gives the worker's pod of a document's job on a stack."""
    return "\n".join([HEAD, *(line for stack in stacks for line in _of_stack(stack, rendered))])


def _of_stack(stack: Stack, rendered: Callable[[Stack, Document], Pod]) -> Iterator[str]:
    yield f"## {stack.name}\n"
    yield "| the job's own words | as it is | rendered |\n| --- | --- | --- |"
    for document in DOCUMENTS:
        raw = _landing(stack, admitted(raw_pod(document, gpus=stack.gpus), stack.env))
        made = _landing(stack, admitted(rendered(stack, document), stack.env))
        yield f"| {document.words} | {raw} | {made} |"
    yield ""
    pools = ", ".join(f"`{pool.name}`" for pool in stack.training_pools)
    yield f"Chosen by its name, as Determined chooses (`spec.pool`), each on its own nodes and no others: {pools}.\n"


def _landing(stack: Stack, pod: Pod) -> str:
    pools = stack.lands_on(pod)
    if pools:
        return ", ".join(f"`{pool}`" for pool in pools)
    return f"waits: {_commonest(reasons_against(pod, node)[0] for node in stack.nodes)}"


def _commonest(reasons: Iterable[Any]) -> str:
    found = list(reasons)
    return f"no node has {max(found, key=found.count)}".replace("no node has selector ", "no node has ")
