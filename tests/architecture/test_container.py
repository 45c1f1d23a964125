"""The container, the service and the manifest that `gofer init` writes: linters, and the rules that no linter has."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gofer.app.embedded.readiness import PATH
from gofer.app.embedded.server import GRACE_SECONDS
from gofer.app.embedded.working import GRACE
from gofer.app.new_repository.contents import STARTERS
from gofer.app.new_repository.writing import Asked, write_repository
from support.app.image import compose_service, read_dockerfile

TOOLS = Path(sys.executable).parent
STOPPING = GRACE + GRACE_SECONDS
"""The longest time in which Gofer ends after SIGTERM, in seconds."""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository") / "acme"
    write_repository(Asked(folder, STARTERS))
    return folder


def test_dockerfile_passes_the_linter(repository: Path) -> None:
    subprocess.run([str(TOOLS / "hadolint"), "--no-color", str(repository / "Dockerfile")], check=True)


def test_compose_file_fits_the_schema_of_compose(repository: Path) -> None:
    command = [str(TOOLS / "check-jsonschema"), "--builtin-schema", "vendor.compose-spec"]
    subprocess.run([*command, str(repository / "compose.yaml")], check=True)


def test_image_is_small_pinned_and_without_secrets(repository: Path) -> None:
    found = read_dockerfile(repository / "Dockerfile")
    bases = [each.text.split()[0] for each in found if each.name == "FROM"]
    assert len(bases) == 2
    assert len(set(bases)) == 1
    assert re.fullmatch(r"python:3\.\d+-slim-[a-z]+", bases[0])
    last = found[[each.name for each in found].index("FROM", 1) :]
    installing = [each.text for each in found if each.name == "RUN" and "pip install" in each.text]
    assert all("--require-hashes" in text and "--no-cache-dir" in text for text in installing)
    assert not [
        each for each in last if each.name in ("RUN", "ADD") and re.search(r"\b(apt|pip|gcc|curl)\b", each.text)
    ]
    assert not [each for each in found if each.name in ("ARG", "ENV") and re.search("TOKEN|SECRET|_KEY", each.text)]
    ignored = (repository / ".dockerignore").read_text().splitlines()
    assert {".env", ".env.*", ".git", ".gofer", ".venv"} <= set(ignored)


def test_container_may_write_into_its_volume_only(repository: Path) -> None:
    service = compose_service(repository)
    user = [each.text for each in read_dockerfile(repository / "Dockerfile") if each.name == "USER"][-1]
    assert service["user"] == user
    assert not user.startswith("0")
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["volumes"] == ["data:/data"]
    assert [mount.split(":")[0] for mount in service["tmpfs"]] == ["/tmp"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert int(service["stop_grace_period"].removesuffix("s")) > STOPPING


def test_manifest_has_one_replica_with_the_user_and_the_probes_of_the_image(repository: Path) -> None:
    documents = list(yaml.safe_load_all((repository / "deploy" / "kubernetes.yaml").read_text()))
    (deployment,) = [each for each in documents if each["kind"] == "Deployment"]
    assert deployment["spec"]["replicas"] == 1
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    security = pod["securityContext"]
    assert f"{security['runAsUser']}:{security['runAsGroup']}" == compose_service(repository)["user"]
    assert security["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == PATH
    assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/data", "/tmp"}
    assert pod["terminationGracePeriodSeconds"] > STOPPING


def test_unit_is_read_only_and_valid_for_systemd(repository: Path, tmp_path: Path) -> None:
    text = (repository / "deploy" / "gofer.service").read_text()
    assert {"DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes", "Type=exec"} <= set(text.splitlines())
    assert "GOFER_DATA=/var/lib/acme/state" in text
    (seconds,) = re.findall(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)
    assert int(seconds) > STOPPING
    analyze = shutil.which("systemd-analyze")
    if analyze is not None:
        # The program of the unit is not installed on this machine.
        unit = tmp_path / "gofer.service"
        unit.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.MULTILINE))
        done = subprocess.run([analyze, "verify", str(unit)], check=True, capture_output=True, text=True)
        assert "gofer.service" not in done.stderr
