"""Evidence bundles of real requests: made by a service, checked to the byte, computed again without network."""

import asyncio
import base64
import json
import random

import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from support.geotts_process import geotts
from support.service import PHOTO, an_app, serving

from deployments.config import AppArgs, GatewayConfig
from deployments.wiring.bundle_replay import replay_bundle
from deployments.wiring.local import local_tools
from tts.bundle.bundle_files import MANIFEST, SIGNATURE, derive_files, root_hash
from tts.bundle.check_bundle import checked_entries
from tts.bundle.signature import sign_files, signer_of
from tts.bundle.zip_archive import pack, unpack
from tts.errors import DataError
from tts.package_files import sample_photos
from tts.toolkit.tape.file import read_tape

pytestmark = pytest.mark.slow


async def fetch_bundle(args, photo, tools=None, path="/locate", **options):
    async with serving(args, tools=tools) as (url, _), httpx.AsyncClient(base_url=url, timeout=120) as http:
        body = {"image": {"base64": base64.b64encode(photo).decode()}, "seed": 3, **options}
        id_ = (await http.post(path, json=body)).json()["request_id"]
        reply = await http.get(f"/locate/{id_}/bundle")
        assert (reply.status_code, reply.headers["content-type"]) == (200, "application/zip")
        assert (await http.get(f"/locate/{id_}/bundle")).content == reply.content
        return reply.content


@pytest.fixture(scope="module")
def small(data_store):
    """The bundle of a small request."""
    return asyncio.run(fetch_bundle(an_app(), PHOTO, n_parallel=1))


def leaves(node, path=()):
    if isinstance(node, dict | list):
        for name, one in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(one, (*path, name))
    else:
        yield path


def flip_value(value):
    if isinstance(value, bool) or value is None:
        return not value
    return value + 1 if isinstance(value, int | float) else value + "x"


def with_flip(tree, path):
    copy = json.loads(json.dumps(tree))
    node = copy
    for name in path[:-1]:
        node = node[name]
    node[path[-1]] = flip_value(node[path[-1]])
    return copy


def test_a_bundle_passes_its_check_and_holds_a_readable_tape(small, tmp_path):
    entries = checked_entries(small)
    assert {"events.ndjson", "answer.json", "tape.jsonl", "replay.json", "report.html", "manifest.json"} < set(entries)
    assert sum(name.startswith("photos/") for name in entries) == 1
    (tmp_path / "tape.jsonl").write_bytes(entries["tape.jsonl"])
    assert read_tape(tmp_path / "tape.jsonl").rows
    assert pack(unpack(small)) == small


def test_a_change_of_any_field_makes_the_bundle_invalid(small):
    entries = unpack(small)
    tried = 0
    for name in ("answer.json", "replay.json", MANIFEST, "events.ndjson", "tape.jsonl"):
        lines = [entries[name]] if name.endswith(".json") else entries[name].splitlines()
        for number, line in enumerate(lines):
            tree = json.loads(line)
            for path in leaves(tree):
                changed = list(lines)
                changed[number] = json.dumps(with_flip(tree, path)).encode()
                with pytest.raises(DataError):
                    checked_entries(pack({**entries, name: b"\n".join(changed) + b"\n"}))
                tried += 1
    assert tried > 300


def test_a_changed_missing_or_extra_file_makes_the_bundle_invalid(small):
    entries, luck = unpack(small), random.Random(1)
    for name, data in entries.items():
        at = luck.randrange(len(data))
        damaged = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        for other in ({**entries, name: damaged}, {k: v for k, v in entries.items() if k != name}):
            with pytest.raises(DataError):
                checked_entries(pack(other))
    with pytest.raises(DataError, match=r"more\.txt is listed or there"):
        checked_entries(pack({**entries, "more.txt": b""}))


def test_a_changed_byte_of_the_archive_makes_the_bundle_invalid(small):
    luck = random.Random(2)
    directory = small.rindex(b"PK\x01\x02", 0, small.index(b"PK\x01\x02") + 4)
    places = [*luck.sample(range(len(small)), 150), *range(40), *range(directory, directory + 60), *range(-22, 0)]
    for at in places:
        damaged = bytearray(small)
        damaged[at] ^= 1
        with pytest.raises(DataError):
            checked_entries(bytes(damaged))
    for other in (small + b"x", small[:-1], b"", b"x" + small):
        with pytest.raises(DataError):
            checked_entries(other)


async def test_an_answer_that_was_forged_with_all_its_hashes_is_found_by_the_replay(small):
    entries = unpack(small)
    events = [json.loads(line) for line in entries["events.ndjson"].splitlines()]
    answered = next(event for event in events if event["type"] == "answer")
    answered["answer"]["lat"] += 1.0
    lines = [json.dumps(event).encode() for event in events]
    forged = {**entries, "events.ndjson": b"\n".join(lines) + b"\n"}
    forged |= derive_files(forged)
    found = await replay_bundle(checked_entries(pack(forged)), an_app())
    assert not found.is_equal
    assert root_hash(forged) != root_hash(entries)


async def test_a_replay_with_another_version_of_the_data_names_the_version(small, monkeypatch):
    from deployments.wiring import bundle_replay

    here = bundle_replay.make_identity(an_app())
    other = {**here.data_versions, next(iter(here.data_versions)): "0"}
    monkeypatch.setattr(
        bundle_replay, "make_identity", lambda args: type(here)(**{**_fields(here), "data_versions": other})
    )
    found = await replay_bundle(checked_entries(small), an_app())
    assert len(found.differing) == 1
    assert found.differing[0].endswith("0 here")


def _fields(value):
    return {name: getattr(value, name) for name in type(value).__slots__}


async def test_a_real_request_with_tools_is_replayed_to_the_byte(data_store):
    args = AppArgs(gateway=GatewayConfig(heartbeat_s=0.5))
    photo = next(path for name, path in sample_photos().items() if "town-sign-latin" in name).read_bytes()
    data = await fetch_bundle(args, photo, tools=local_tools(args), n_parallel=3, depth="deep", hint="in the Alps")
    entries = checked_entries(data)
    found = await replay_bundle(entries, args)
    assert found.recorded.city == "Bellinzona"
    assert found.is_equal
    assert entries["tape.jsonl"].count(b"\n") > 2


async def test_a_check_of_a_claim_is_bundled_and_not_replayed(data_store):
    entries = checked_entries(await fetch_bundle(an_app(), PHOTO, path="/check", claim="Paris", n_parallel=1))
    assert json.loads(entries["answer.json"])["check"]["verdict"]
    assert (await replay_bundle(entries, an_app())).answer is None


async def test_geotts_bundle_fetches_signs_and_verifies_a_bundle(data_store, tmp_path):
    key = ed25519.Ed25519PrivateKey.generate()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (tmp_path / "key.pem").write_bytes(pem)
    case = tmp_path / "case.zip"
    async with serving(an_app()) as (url, _), httpx.AsyncClient(base_url=url, timeout=60) as http:
        body = {"image": {"base64": base64.b64encode(PHOTO).decode()}, "n_parallel": 2}
        id_ = (await http.post("/locate", json=body)).json()["request_id"]
        made = await geotts("bundle", id_, "-o", str(case), "--sign-with", str(tmp_path / "key.pem"), "--url", url)
        assert made[0] == 0, made[2]
        missing = await geotts("bundle", "loc_" + "0" * 20, "-o", str(tmp_path / "x.zip"), "--url", url)
        assert missing[0] == 2
        nonsense = await geotts("bundle", "nonsense", "-o", str(tmp_path / "x.zip"), "--url", url)
        assert (nonsense[0], "'nonsense' is not the id of a request" in nonsense[2]) == (2, True)
    silent = await geotts("bundle", id_, "-o", str(tmp_path / "x.zip"), "--url", url)
    assert (silent[0], "did not answer" in silent[2], "--url" in silent[2]) == (1, True, True)
    root = made[1].split()[-1]
    public = key.public_key().public_bytes_raw().hex()
    code, out, err = await geotts("bundle", "verify", str(case), "--root", root, "--signer", public)
    assert code == 0, out + err
    assert f"signed by {public}" in out
    assert "replayed: the same answer, byte for byte" in out
    pem = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "pub.pem").write_bytes(pem)
    (tmp_path / "no.pem").write_text("no key")
    code, out, err = await geotts("bundle", "verify", str(case), "--no-replay", "--signer", str(tmp_path / "pub.pem"))
    assert code == 0, out + err
    for signer, why in (("00" * 32, "it was signed with another key"),):
        code, out, _ = await geotts("bundle", "verify", str(case), "--no-replay", "--signer", signer)
        assert (code, why in out) == (3, True)
    for arguments, why in (
        (("--signer", "nothing.pem"), "is no public key"),
        (("--signer", str(tmp_path / "no.pem")), "holds no public key in PEM"),
        (("--signer", str(tmp_path / "key.pem")), "holds no public key in PEM"),
        (("--root", "0000"), "64 hexadecimal digits"),
    ):
        code, out, err = await geotts("bundle", "verify", str(case), "--no-replay", *arguments)
        assert code not in (0, 3), out + err
        assert why in err
        assert "NOT VALID" not in out
    data = bytearray(case.read_bytes())
    data[len(data) // 3] ^= 1
    case.write_bytes(bytes(data))
    code, out, _ = await geotts("bundle", "verify", str(case), "--no-replay")
    assert code == 3
    assert "NOT VALID" in out


def test_a_changed_signature_or_manifest_makes_the_signature_invalid(small):
    entries = checked_entries(small)
    pem = ed25519.Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    made = checked_entries(pack(sign_files(entries, pem)))
    assert signer_of(made)
    signature = json.loads(made[SIGNATURE])
    for path in leaves(signature):
        changed = json.dumps(with_flip(signature, path), indent=2).encode() + b"\n"
        with pytest.raises(DataError):
            signer_of({**made, SIGNATURE: changed})
    with pytest.raises(DataError):
        signer_of({**made, MANIFEST: made[MANIFEST] + b" "})
