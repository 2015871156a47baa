import base64

import pulumi_aws as aws
import pulumi_kubernetes as k8s

from spotproof.preview.invented import invent

URN = "urn:pulumi:dev::project::aws:eks/cluster:Cluster::main"


def test_outputs_have_the_form_of_their_names() -> None:
    assert aws.eks.Cluster
    identity, outputs = invent(URN, "aws:eks/cluster:Cluster", {"version": "1.33"})
    assert identity.startswith("main-")
    assert str(outputs["arn"]).startswith("arn:aws:eks:us-east-1:123456789012:main-")
    assert str(outputs["endpoint"]).startswith("https://")
    assert "version" not in outputs
    authority = outputs["certificateAuthority"]
    assert isinstance(authority, dict)
    assert base64.b64decode(authority["data"]).startswith(b"main-")


def test_a_kubernetes_object_gets_a_name_and_its_id_from_it() -> None:
    assert k8s.core.v1.ConfigMap
    urn = "urn:pulumi:dev::project::kubernetes:core/v1:ConfigMap::settings"
    identity, outputs = invent(urn, "kubernetes:core/v1:ConfigMap", {"metadata": {"namespace": "a"}})
    metadata = outputs["metadata"]
    assert isinstance(metadata, dict)
    assert identity == f"a/{metadata['name']}"


def test_a_class_no_sdk_has_gets_an_id_and_nothing_else() -> None:
    assert invent("urn:pulumi:dev::project::x:y:Z::main", "x:y:Z", {})[1] == {}
