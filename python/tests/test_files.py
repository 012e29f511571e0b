# SPDX-License-Identifier: Apache-2.0
"""Files are there when they are complete, and what was there stays until then."""

import os
import threading

import pytest

from gradnic._files import write_whole


def test_a_file_is_replaced_when_the_new_one_is_complete(tmp_path):
    path = tmp_path / "table"
    write_whole(str(path), "first\n")
    os.link(path, tmp_path / "before")
    os.symlink("table", tmp_path / "link")
    write_whole(str(tmp_path / "link"), "second\n")
    assert path.read_text() == "second\n" and (tmp_path / "link").is_symlink()
    assert (tmp_path / "before").read_text() == "first\n"  # it was not written in place
    assert sorted(os.listdir(tmp_path)) == ["before", "link", "table"]


def test_what_cannot_be_written_leaves_what_was_there(tmp_path):
    path = tmp_path / "table"
    write_whole(str(path), "first\n")
    with pytest.raises(UnicodeEncodeError):
        write_whole(str(path), "second\N{SNOWMAN}")
    assert path.read_text() == "first\n" and os.listdir(tmp_path) == ["table"]
    # Another process's is not ours to remove.
    other = tmp_path / f"table.gradnic-{os.getpid()}"
    other.write_text("other")
    with pytest.raises(FileExistsError):
        write_whole(str(path), "second\n")
    assert path.read_text() == "first\n" and other.read_text() == "other"


def test_a_fifo_is_written_to(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    heard = []
    reader = threading.Thread(target=lambda: heard.append((tmp_path / "fifo").read_text()), daemon=True)
    reader.start()
    write_whole(str(tmp_path / "fifo"), "text")
    reader.join(10)
    assert heard == ["text"]
