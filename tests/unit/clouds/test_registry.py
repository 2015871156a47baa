import subprocess
import sys
from importlib import import_module
from pathlib import Path

import spotproof.clouds
from spotproof.clouds.registry import CLOUDS
from spotproof.settings.provider import PROVIDERS

FOLDER = Path(spotproof.clouds.__file__).parent


def test_table_and_folders_agree() -> None:
    folders = {path.name for path in FOLDER.iterdir() if (path / "__init__.py").exists()}

    assert set(CLOUDS) == folders == set(PROVIDERS)


def test_every_line_names_a_function_that_is_there() -> None:
    for line in CLOUDS.values():
        module, _, function = line.partition(":")
        assert callable(getattr(import_module(module), function))


def test_no_cloud_is_loaded_before_it_is_built() -> None:
    code = "import sys, spotproof.clouds, spotproof.operators; print([m for m in sys.modules if m == 'pulumi_aws'])"

    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert seen.stdout.strip() == "[]"
