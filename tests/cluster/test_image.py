"""The image, built by its own Dockerfile in a scratch root, and the service in it as it runs in production.

No container runtime: buildah runs the steps in a chroot, on a Debian that mmdebstrap makes, and the service runs in
another, as user 10001 on a read-only root. `make test-image` runs it, as root, in some 8 minutes.
"""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import httpx
import psutil
import pytest
from support.ports import free_port
from support.process_family import assert_nothing_left, family_of

from deployments.gateway.auth import fingerprint, new_key
from tts.package_files import sample_photos

ROOT = Path(__file__).parents[2]
MISSING = [program for program in ("buildah", "mmdebstrap", "unshare") if shutil.which(program) is None]
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(2400),
    pytest.mark.skipif(os.environ.get("GEOTTS_TEST_IMAGE") != "1", reason="takes 8 minutes: run `make test-image`"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="a chroot needs root"),
]
IN_THE_IMAGE = """
mount --bind "$root" "$root" && mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 none "$root/tmp" && mount -t tmpfs -o uid=10001,gid=10001 none "$root/var/lib/geotts"
exec chroot --userspec=10001:10001 "$root" env -i "$@"
"""


def run(*command, **how):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **how)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout.strip()


class Builder:
    """buildah with a storage of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.options = ("--root", folder / "root", "--runroot", folder / "run", "--storage-driver", "overlay")

    def __call__(self, *command, **how):
        return run("buildah", *self.options, *command, env={**os.environ, "BUILDAH_ISOLATION": "chroot"}, **how)


def where_pip_gets_packages(folder):
    """Mounts that give pip in the build what pip has here: its configuration, local indexes and certificates."""
    listed = run("python3", "-m", "pip", "config", "list").splitlines()
    settings = {
        name.rpartition(".")[2]: value.strip("'") for name, _, value in (line.partition("=") for line in listed)
    }
    wanted = {key: settings[key] for key in ("index-url", "extra-index-url", "find-links") if key in settings}
    mounts = []
    if "cert" in settings:
        wanted["cert"] = "/opt/build-certificates.crt"
        mounts += ["-v", f"{settings['cert']}:{wanted['cert']}:ro"]
    words = " ".join(wanted.values()).replace("file://", "").split()
    tops = {Path(*Path(word).parts[:3]) for word in words if word.startswith("/")}
    mounts += [part for top in sorted(tops) if top.is_dir() for part in ("-v", f"{top}:{top}:ro")]
    lines = ["[global]", *(f"{key} = {value}" for key, value in wanted.items())]
    configuration = folder / "pip.conf"
    configuration.write_text("\n".join(lines) + "\n")
    return [*mounts, "-v", f"{configuration}:/etc/pip.conf:ro"]


@pytest.fixture(scope="module")
def root():
    """The root file system of the image."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = Builder(folder)
        run("mmdebstrap", "--variant=minbase", "--quiet", "bookworm", folder / "debian.tar")
        (folder / "Base").write_text("FROM scratch\nADD debian.tar /\n")
        build("bud", "--quiet", "-t", "localhost/debian", "-f", folder / "Base", folder)
        mounts = where_pip_gets_packages(folder)
        build("bud", "--network", "host", "--pull-never", "--format", "docker", "--build-arg",
              "BASE=localhost/debian", *mounts, "-t", "localhost/geotts", ROOT)  # fmt: skip
        container = build("from", "localhost/geotts")
        try:
            yield Path(build("mount", container)), json.loads(build("inspect", "--type", "image", "localhost/geotts"))
        finally:
            build("umount", container)
            build("rm", container)


@pytest.fixture(scope="module")
def service(root):
    """Its entry point and command in a read-only root, with what the image says of user and environment."""
    place, about = root
    config = about["Docker"]["config"]
    key, port = new_key(), free_port()
    variables = [*config["Env"], f"GEOTTS_API_KEYS=tester {fingerprint(key)}"]
    started = [*config["Entrypoint"], *config["Cmd"], "--port", str(port)]
    command = ["unshare", "-m", "--pid", "--fork", "--kill-child", "bash", "-ec", IN_THE_IMAGE, "bash"]
    with subprocess.Popen(
        [*command, *variables, *started], env={**os.environ, "root": str(place)}, stderr=subprocess.PIPE
    ) as process:
        try:
            url, give_up = f"http://127.0.0.1:{port}", time.monotonic() + 300
            while not _ready(url):
                assert process.poll() is None, process.stderr.read().decode()[-2000:]
                assert time.monotonic() < give_up
                time.sleep(0.5)
            yield url, key
        finally:
            family = family_of(process)
            for member in family:  # `--kill-child` alone left the service running on some kernels
                with contextlib.suppress(psutil.NoSuchProcess):
                    member.kill()
            assert_nothing_left(family)


def _ready(url):
    try:
        return httpx.get(f"{url}/readyz", timeout=3).status_code == 200
    except httpx.HTTPError:
        return False


def test_the_image_answers_as_an_unprivileged_user_on_a_read_only_root(service):
    url, key = service
    assert httpx.post(f"{url}/locate", timeout=10).status_code == 401
    photo = next(iter(sample_photos().values())).read_bytes()
    headers = {"Authorization": f"Bearer {key}"}
    reply = httpx.post(f"{url}/locate", headers=headers, files={"image": photo}, data={"n_parallel": "2"}, timeout=120)
    assert reply.status_code == 200, reply.text
    assert reply.json()["answer"]["level"] != "none"


def test_the_image_has_its_health_check_and_the_programs_that_kuberay_needs(root, service):
    place, about = root
    config = about["Docker"]["config"]
    url, _ = service
    check = [word.replace("http://127.0.0.1:8000", url) for word in config["Healthcheck"]["Test"][1:]]
    run("chroot", "--userspec=10001:10001", place, "env", "-i", *config["Env"], *check)
    for program in ("ray --version", "bash --version", "wget --version"):
        run("chroot", "--userspec=10001:10001", place, "env", "-i", *config["Env"], *program.split())


def test_the_image_contains_no_test_packages_and_no_sources(root):
    place, _ = root
    packages = {
        path.name.partition("-")[0] for path in place.glob("opt/geotts/venv/lib/python3.11/site-packages/*.dist-info")
    }
    assert {"geotts", "geotts_client", "ray", "redis"} <= packages
    assert not {"pytest", "mypy", "hypothesis"} & packages
    assert not (place / "src").exists()
    assert (place / "opt/geotts/data").stat().st_uid == 0
