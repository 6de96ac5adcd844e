"""Lines of a file are erased in place, while others append to it."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from tts.erasure.line_erasure import blank_lines

LINES = st.lists(st.sampled_from([b"keep 1", b"doomed", b"", b"doomed and long", b"keep"]), max_size=12)


@given(LINES, st.sampled_from([b"", b"doomed but to", b"keep"]))
def test_blanking_overwrites_only_the_whole_lines_to_erase_and_keeps_their_length(tmp_path_factory, lines, torn):
    path = tmp_path_factory.mktemp("b") / "f"
    before = b"".join(line + b"\n" for line in lines) + torn
    path.write_bytes(before)
    assert blank_lines(path, lambda line: b"doomed" in line) == sum(b"doomed" in line for line in lines)
    after = path.read_bytes()
    assert len(after) == len(before)
    assert after.split(b"\n")[:-1] == [b" " * len(line) if b"doomed" in line else line for line in lines]
    assert after.endswith(torn)


async def test_erasing_while_others_append_loses_none_of_their_lines(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"doomed\n" * 2000)

    def append():
        for i in range(500):
            with path.open("ab", buffering=0) as file:
                file.write(f"line {i}\n".encode())

    appending = asyncio.create_task(asyncio.to_thread(append))
    while not appending.done():
        await asyncio.to_thread(blank_lines, path, lambda line: b"doomed" in line)
    assert [line for line in path.read_text().splitlines() if line.strip()] == [f"line {i}" for i in range(500)]
