"""The table of parts: command lines that name nobody else's address, order, users without groups."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from spotproof.rehearsal.certificates import Certificates
from spotproof.rehearsal.control_plane import OPERATORS, ControlPlane, Parts
from spotproof.rehearsal.controller import CONTROLLER
from spotproof.rehearsal.core import CORE
from spotproof.rehearsal.dashboard import Dashboard
from spotproof.rehearsal.parts import NotStarted, Part, Site
from spotproof.rehearsal.ports import Ports
from spotproof.rehearsal.roles import ROLES, documents
from spotproof.rehearsal.tools import CONTROL_PLANE, Tools

TABLE = (*CORE, *OPERATORS.values())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    tmp_path = tmp_path_factory.mktemp("plane")
    certificates = Certificates(tmp_path / "certificates")
    ports = Ports(random.Random(7))  # noqa: S311  # a test's chance is a known one
    return Site(tmp_path, Tools(Path("/tools")), certificates, ports, [{"name": "gpu-8"}])


@pytest.fixture(scope="module")
def commands(site: Site) -> dict[str, tuple[list[str], dict[str, str]]]:
    with Dashboard() as site.dashboard:
        made = {part.name: part.command(site) for part in TABLE}
    return {name: (list(command.argv), dict(command.environ)) for name, command in made.items()}


def test_every_part_is_a_binary_that_make_tools_builds() -> None:
    assert {part.name for part in TABLE} - {CONTROLLER.name} == set(CONTROL_PLANE)


@pytest.mark.parametrize("part", TABLE, ids=lambda part: part.name)
def test_a_part_stands_after_those_it_needs(part: Part) -> None:
    names = [each.name for each in TABLE]
    assert all(names.index(needed) < names.index(part.name) for needed in part.needs)


@pytest.mark.parametrize("part", TABLE, ids=lambda part: part.name)
def test_a_part_uses_every_port_it_names_and_no_other(
    part: Part, site: Site, commands: dict[str, tuple[list[str], dict[str, str]]]
) -> None:
    argv, environ = commands[part.name]
    configuration = site.folder / "jobset.json"
    text = " ".join(
        [*argv, *environ.values(), configuration.read_text("utf-8") if part.name == "jobset-manager" else ""]
    )
    numbers = {name: str(site.ports[name]) for each in TABLE for name in each.ports}
    assert {name for name, number in numbers.items() if number in text} == set(part.ports)


def test_no_command_line_names_another_address(commands: dict[str, tuple[list[str], dict[str, str]]]) -> None:
    said = " ".join(word for argv, _ in commands.values() for word in argv)
    assert "0.0.0.0" not in said  # noqa: S104  # that is the point
    assert said.count("127.0.0.1") >= 6
    for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler"):
        assert "--bind-address=127.0.0.1" in commands[name][0]


def test_the_store_listens_on_no_port(site: Site, commands: dict[str, tuple[list[str], dict[str, str]]]) -> None:
    listens = [word for word in commands["etcd"][0] if word.startswith("--listen")]
    assert listens == [
        f"--listen-client-urls=unix://{site.folder}/etcd.sock",
        f"--listen-peer-urls=unix://{site.folder}/etcd-peer.sock",
    ]


def test_rbac_decides_and_nothing_else(commands: dict[str, tuple[list[str], dict[str, str]]]) -> None:
    modes = [word for word in commands["kube-apiserver"][0] if word.startswith("--authorization-mode")]
    assert modes == ["--authorization-mode=RBAC"]


@pytest.mark.usefixtures("commands")
def test_every_part_is_a_user_in_no_group(site: Site) -> None:
    subjects = [
        x509.load_pem_x509_certificate(path.read_bytes()).subject for path in (site.folder / "users").rglob("tls.crt")
    ]
    names = {str(each.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value) for each in subjects}
    assert names == {
        "system:kube-controller-manager",
        "system:kube-scheduler",
        "system:kwok",
        "system:jobset",
        "system:kuberay",
        "system:karpenter",
        "system:serviceaccount:spotproof-system:spotproof-controller",
    }
    assert not any(each.get_attributes_for_oid(NameOID.ORGANIZATION_NAME) for each in subjects)


def test_roles_of_ours_grant_no_wildcard() -> None:
    rules = [rule for path in sorted(ROLES.glob("*.yaml")) for role in documents(path) for rule in role["rules"]]
    assert rules
    assert not any("*" in word for rule in rules for words in rule.values() for word in words)


def test_what_an_operator_is_told_is_in_its_environment(
    site: Site, commands: dict[str, tuple[list[str], dict[str, str]]]
) -> None:
    karpenter, kuberay = commands["karpenter"][1], commands["kuberay-operator"][1]
    assert karpenter["MARKET_FILE_PATH"] == str(site.market.path)
    assert Path(karpenter["INSTANCE_TYPES_FILE_PATH"]).read_text("utf-8") == '[{"name": "gpu-8"}]'
    assert kuberay["HTTP_PROXY"].startswith("http://127.0.0.1:")


def test_kuberay_without_a_dashboard_is_refused(site: Site) -> None:
    with pytest.raises(ValueError, match="needs a dashboard"):
        OPERATORS[Parts.KUBERAY].command(replace(site, dashboard=None))


def test_a_user_is_made_once(site: Site) -> None:
    assert site.kubeconfig("ada", ("team-a",)) == site.kubeconfig("ada", ["team-a"])
    assert site.kubeconfig("ada") != site.kubeconfig("ada", ("team-a",))


def test_all_parts_are_all_operators_and_the_controller_is_none_of_them() -> None:
    assert set(OPERATORS) == {*Parts.ALL, Parts.CONTROLLER}
    assert Parts.CONTROLLER not in Parts.ALL
    assert ControlPlane(Tools(Path("/tools"))).parts == Parts.CORE


def test_a_folder_too_deep_for_a_socket_is_refused_with_what_to_set(site: Site) -> None:
    with pytest.raises(NotStarted, match="too long a name for sockets below it: set TMPDIR"):
        CORE[0].command(replace(site, folder=Path("/tmp") / ("x" * 90)))  # noqa: S108  # never made
