from spotproof.clouds.helm import Chart

OCI = Chart("public.ecr.aws", "karpenter/karpenter", "1.14.1", oci=True)
CLASSIC = Chart("ray-project.github.io", "kuberay-helm/kuberay-operator", "1.7.0", oci=False)


def test_an_oci_chart_has_no_repository_beside_it() -> None:
    assert OCI.source(None) == {"chart": "oci://public.ecr.aws/karpenter/karpenter"}


def test_a_classic_chart_is_named_with_its_repository() -> None:
    assert CLASSIC.source(None) == {
        "chart": "kuberay-operator",
        "repository_opts": {"repo": "https://ray-project.github.io/kuberay-helm"},
    }


def test_a_mirror_keeps_every_chart_over_oci_below_its_original_host() -> None:
    assert CLASSIC.source("mirror.example.org/team") == {
        "chart": "oci://mirror.example.org/team/ray-project.github.io/kuberay-helm/kuberay-operator"
    }
