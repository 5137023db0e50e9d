"""The documentation names tests and files: they must be there."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUARANTEES = (ROOT / "docs" / "guarantees.md").read_text()


def test_every_promise_names_a_test():
    """Each line of the guarantees has at least one test beside it."""
    rows = [line for line in GUARANTEES.splitlines() if line.startswith("| ")]
    promises = [row for row in rows if not row.startswith(("| Promise", "| ---"))]
    assert len(promises) > 20
    assert not [row for row in promises if not re.search(r"`(//)?test/", row)]


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(test/[\w/]+\.py::\w+)`", GUARANTEES))))
def test_named_python_test_exists(name):
    """A test that the guarantees name is in the file that they name."""
    path, function = name.split("::")
    assert re.search(rf"^\s*def {function}\(", (ROOT / path).read_text(), re.MULTILINE)


@pytest.mark.parametrize("label", sorted(set(re.findall(r"`//(test/[\w/]+:\w+)`", GUARANTEES))))
def test_named_bazel_test_exists(label):
    """A Bazel target that the guarantees name is declared, by itself or in a list of names."""
    package, name = label.split(":")
    assert f'"{name}"' in (ROOT / package / "BUILD").read_text()


@pytest.mark.parametrize("page", sorted(p.name for p in (ROOT / "docs").glob("*.md")) + ["README"])
def test_named_files_exist(page):
    """Every file and folder of the tree that a page names is there."""
    text = (ROOT / ("README.md" if page == "README" else f"docs/{page}")).read_text()
    named = set(re.findall(r"`((?:source|test|api|ci|examples)/[\w./-]*\w)`", text))
    named |= {f"docs/{link}" for link in re.findall(r"\]\((?:docs/)?(\w+\.md)\)", text)}
    assert not [name for name in named if not (ROOT / name).exists()]
