"""Internals of Ray, Serve and uvicorn are used in one package, which was written for one version of each."""

import ast
import asyncio
import inspect
import re
from pathlib import Path
from pkgutil import resolve_name

import pytest
import ray
from ray._private import ray_constants, utils, worker
from ray.serve._private import http_util, replica

import deployments
from deployments.http.server.head_limits import LimitedHttp
from deployments.seam.guard import (
    ATTRIBUTES,
    NAMES,
    missing_attributes,
    missing_names,
    other_versions,
    set_by_constructor,
)
from deployments.seam.ray import OwnReplicaRouter
from deployments.seam.uvicorn import HttpConnection
from deployments.serve.request_router import PhotoHashRouter

ROOT = Path(deployments.__file__).parents[1]
SCANNED = ["deployments", "tools", "tts", "geotts_benchmarks", "geotts_client", "ray_configs", "scripts", "examples"]
OUTSIDE = [
    path for package in SCANNED for path in (ROOT / package).rglob("*.py") if "seam" not in path.relative_to(ROOT).parts
]
INTERNALS = ("uvicorn.config", "uvicorn.protocols")


def test_ray_and_uvicorn_are_the_versions_that_the_seam_was_written_for():
    """On a new version read deployments/seam again."""
    assert list(other_versions()) == []


def test_every_name_that_the_seam_uses_exists_in_ray_and_uvicorn():
    assert list(missing_names()) == []


@pytest.mark.parametrize("package", NAMES)
def test_a_name_that_a_version_took_away_is_reported(monkeypatch, package):
    first = NAMES[package][0]
    module, _, name = first.partition(":")
    monkeypatch.delattr(f"{module}.{name}")
    assert list(missing_names()) == [first]


def test_objects_of_ray_and_uvicorn_have_the_attributes_that_the_seam_uses():
    assert list(missing_attributes()) == []
    name = "uvicorn.protocols.http.httptools_impl:RequestResponseCycle"
    assert list(missing_attributes({name: ["keep_alive", "gone"]})) == [f"{name}.gone"]


UVICORN = "uvicorn.protocols.http.httptools_impl"
PENDING = "ray.serve.request_router:PendingRequest"
METADATA = "ray.serve._private.common:RequestMetadata"
REPLICA_ID = "ray.serve.request_router:ReplicaID"
SEAM_OF_RAY = "deployments/seam/ray.py"
SEAM_OF_UVICORN = "deployments/seam/uvicorn.py"
CALLED_BY_HTTPTOOLS = {
    "on_body", "on_header", "on_headers_complete", "on_message_begin", "on_message_complete", "on_url",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "owner", "file"),
    [
        (f"{UVICORN}:HttpToolsProtocol", "self", SEAM_OF_UVICORN),
        (f"{UVICORN}:RequestResponseCycle", "cycle", SEAM_OF_UVICORN),
        (f"{UVICORN}:RequestResponseCycle", "_cycle", SEAM_OF_UVICORN),
        (PENDING, "pending", SEAM_OF_RAY),
        (PENDING, "pending_request", SEAM_OF_RAY),
        (METADATA, "pending_request.metadata", SEAM_OF_RAY),
        (REPLICA_ID, "replica.replica_id", SEAM_OF_RAY),
    ],
)
def test_no_attribute_of_uvicorn_and_serve_is_used_that_is_not_guarded(name, owner, file):
    used = attributes_of(owner, file) & set_by_constructor(resolve_name(name))
    assert used
    assert used <= set(ATTRIBUTES[name])


def test_no_property_of_a_replica_is_used_that_is_not_guarded():
    used = attributes_of("replica", SEAM_OF_RAY) - {"start_asgi_http_server", "add_port_to_grpc_server"}
    assert "routing_stats" in used
    assert {f"ray.serve.request_router:RunningReplica.{name}" for name in used} <= set(NAMES["ray"])


def attributes_of(owner, file):
    """What the code of a file reads, sets and calls on the object that it calls `owner`."""
    return {
        node.attr
        for node in ast.walk(ast.parse((ROOT / file).read_text()))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in (owner, f"self.{owner}")
    }


@pytest.mark.parametrize(
    ("seam", "base", "overridden"),
    [
        (HttpConnection, f"{UVICORN}:HttpToolsProtocol", "send_400_response"),
        (OwnReplicaRouter, "ray.serve.request_router:RequestRouter", "choose_replicas"),
    ],
)
def test_every_method_of_uvicorn_and_serve_that_is_overridden_is_guarded(seam, base, overridden):
    """A method that asyncio or httptools calls keeps its name; others may be renamed, and ours are then unused."""
    found = names_of(resolve_name(base)) & set(vars(seam))
    assert overridden in found
    assert {f"{base}.{name}" for name in found} <= {name for names in NAMES.values() for name in names}


@pytest.mark.parametrize(
    ("seam", "subclass"), [(HttpConnection, LimitedHttp), (OwnReplicaRouter, PhotoHashRouter)], ids=["uvicorn", "serve"]
)
def test_a_class_outside_the_seam_neither_overrides_nor_uses_what_its_base_has_from_uvicorn_or_serve(seam, subclass):
    """It uses names of the seam, and overrides what asyncio and httptools call by names that they document."""
    theirs = set().union(*(names_of(base) for base in seam.__mro__[1:]))
    file = str(Path(inspect.getfile(subclass)).relative_to(ROOT))
    assert set(vars(subclass)) & theirs == set()
    assert attributes_of("self", file) & theirs == set()
    assert attributes_of("super()", file) <= {"__init__", *dir(asyncio.Protocol), *CALLED_BY_HTTPTOOLS}
    assert theirs


def names_of(base):
    """The methods and attributes of a class of uvicorn or Serve, without those of Python, asyncio and httptools."""
    if not base.__module__.startswith(("uvicorn.", "ray.serve.")):
        return set()
    own = {*vars(base), *(set_by_constructor(base) if "__init__" in vars(base) else ())}
    of_python = {*dir(asyncio.Protocol), "_abc_impl"}
    return {name for name in own if not name.startswith("__")} - of_python - CALLED_BY_HTTPTOOLS


def test_no_module_outside_the_seam_reads_a_guarded_attribute_that_nothing_else_has():
    """`future`, `client` and the like are too common to say whose they are; `replica_id` is also in public objects."""
    private = {name for names in (*NAMES.values(), *ATTRIBUTES.values()) for name in names}
    private = {name.replace(":", ".").split(".")[-1] for name in private}
    private = {name for name in private if name.startswith("_")} | {"routing_stats", "ws_protocol_class"}
    found = {
        (str(path.relative_to(ROOT)), node.attr)
        for path in OUTSIDE
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in private
    }
    assert found == set()


@pytest.mark.parametrize(("name", "field"), [(PENDING, "future"), (METADATA, "session_id"), (REPLICA_ID, "unique_id")])
def test_a_field_that_serve_took_away_is_reported(monkeypatch, name, field):
    monkeypatch.setattr(f"{name.replace(':', '.')}.__init__", lambda self, other: None)
    assert f"{name}.{field}" in missing_attributes()


def test_no_private_attribute_of_ray_is_used_that_is_not_guarded():
    guarded = {name.replace(":", ".").split(".")[-1] for name in NAMES["ray"]}
    guarded |= {name for names in ATTRIBUTES.values() for name in names}
    used = {node.attr for node in ast.walk(ast.parse((ROOT / "deployments/seam/ray.py").read_text()))
            if isinstance(node, ast.Attribute) and node.attr.startswith("_")}  # fmt: skip
    assert used - {"_raylet"} <= guarded
    assert "_replica_result" in used


def test_ray_serve_opens_its_port_by_the_functions_that_the_seam_replaces():
    assert "start_asgi_http_server(" in inspect.getsource(replica)
    assert "add_port_to_grpc_server(" in inspect.getsource(replica)
    assert "set_socket_reuse_port(sock)" in inspect.getsource(http_util.start_asgi_http_server)
    assert list(inspect.signature(http_util.start_asgi_http_server).parameters) == [
        "app", "http_options", "event_loop", "enable_so_reuseport",
    ]  # fmt: skip


def test_ray_sets_its_signal_handlers_by_the_functions_that_the_seam_blocks():
    assert "ray._private.utils.set_sigterm_handler(sigterm_handler)" in inspect.getsource(worker.init)
    assert "ray._raylet.CoreWorker(" in inspect.getsource(worker.connect)
    assert "signal.signal" in inspect.getsource(utils.set_sigterm_handler)
    assert ray_constants.RAY_DISABLE_FAILURE_SIGNAL_HANDLER is False


RAY = Path(ray.__file__).parent
CORE = RAY / "core/src/ray/raylet/raylet"
READ_BY_THE_CORE = {
    "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_prestart_worker_first_driver", "RAY_worker_niceness",
}  # fmt: skip


def variables_in(file):
    """The environment variables of Ray and Serve that the code of a file sets or reads by their whole names."""
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        name = node.value if isinstance(node, ast.Constant) else node.arg if isinstance(node, ast.keyword) else None
        if isinstance(name, str) and re.fullmatch(r"RAY_\w+[A-Za-z]", name):
            yield name


def test_every_environment_variable_that_is_set_is_one_of_ray_or_serve():
    """Both pass over a name that they do not know, so a renamed variable would be unset without a word."""
    used = {*variables_in("deployments/serve/ray_env.py"), *variables_in("geotts_benchmarks/machines/ray_nodes.py")}
    assert {"RAY_SERVE_THROUGHPUT_OPTIMIZED", "RAY_SERVE_DIRECT_INGRESS_MIN_HTTP_PORT", *READ_BY_THE_CORE} <= used
    python = "".join(path.read_text() for path in RAY.rglob("*.py") if "test" not in path.name)
    assert {name for name in used - READ_BY_THE_CORE if f'"{name}"' not in python} == set()
    core = CORE.read_bytes()
    assert {name for name in READ_BY_THE_CORE if f"{name}\0".encode() not in core} == set()


def internals_in(source):
    """Modules and attributes of Ray, Serve and uvicorn that are not their public interface."""
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute) and ast.unparse(node).split(".")[0] in ("ray", "serve", "uvicorn"):
            names = [ast.unparse(node)]
        for name in names:
            found = re.match(r"[\w.]*", name)
            assert found is not None
            parts = found[0].split(".")
            if parts[0] in ("ray", "serve", "uvicorn") and (
                any(part.startswith("_") for part in parts) or name.startswith(INTERNALS)
            ):
                yield name


def test_no_module_outside_the_seam_uses_internals():
    assert {path.relative_to(ROOT).parts[0] for path in OUTSIDE} == set(SCANNED)
    found = {str(path.relative_to(ROOT)): names for path in OUTSIDE if (names := [*internals_in(path.read_text())])}
    assert found == {}


@pytest.mark.parametrize(
    "source",
    [
        "from ray._private import worker",
        "import ray.serve._private.replica",
        "ray._raylet.CoreWorker",
        "from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol",
    ],
)
def test_the_search_for_internals_finds_them(source):
    assert list(internals_in(source))
