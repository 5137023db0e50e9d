"""The ABI that we declare against the ABI that both Envoys have."""

import mmap
import re
import subprocess

import pytest

from harness.envoy import REPO, binary

CALLBACK = re.compile(r"\benvoy_dynamic_module_callback_\w+")
HOOK = re.compile(
    rb"envoy_dynamic_module_on_(?:http_filter|bootstrap_extension|program_init)[a-z_]*(?=\0)"
)
# Only in 1.40: the module looks whether it is there, and never calls it.
WEAK = {"envoy_dynamic_module_callback_bootstrap_extension_get_active_resource_names"}
# Envoy does without these.
OPTIONAL = re.compile(
    r"envoy_dynamic_module_on_http_filter_"
    r"(config_http_callout_done|config_http_stream_\w+|local_reply)$"
)


def symbols(path, *options):
    out = subprocess.run(
        ["nm", "-D", *options, str(path)], check=True, capture_output=True, text=True
    ).stdout
    return {line.split()[-1].split("@")[0]: line.split()[-2] for line in out.splitlines()}


@pytest.fixture(scope="module")
def exported(envoy_version):
    return set(symbols(binary(envoy_version), "--defined-only"))


def declared():
    return set(CALLBACK.findall((REPO / "source/envoy/abi.h").read_text()))


def test_weak_symbols_are_the_known_ones():
    """Only what this file lists is declared weak."""
    text = (REPO / "source/envoy/abi.h").read_text()
    statements = [part for part in text.split(";") if "__attribute__((weak))" in part]
    assert {name for part in statements for name in CALLBACK.findall(part)} == WEAK


def test_module_needs_only_what_envoy_exports(exported, module):
    """Every callback that libforebay.so needs is in Envoy's binary, the weak ones apart."""
    undefined = symbols(module, "--undefined-only")
    needed = {name for name in undefined if CALLBACK.match(name)}
    assert needed, "the module calls Envoy at least once"
    weak = {name for name in needed if undefined[name] in "wv"}
    assert weak == WEAK
    assert needed - weak <= exported


def test_every_declared_callback_exists(exported):
    """Every name in source/envoy/abi.h is in Envoy's binary, the weak ones apart."""
    assert declared() - WEAK <= exported


def test_weak_symbols_tell_the_versions_apart(exported, envoy_version):
    """1.40 has them, 1.39 doesn't."""
    assert (WEAK <= exported) == (envoy_version >= "1.40")


def test_module_defines_every_hook(envoy_version, module):
    """Every hook whose name Envoy looks up is defined, but for those that it can do without."""
    with open(binary(envoy_version), "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            wanted = {match.decode() for match in HOOK.findall(content)}
    assert len(wanted) > 20, wanted
    required = {name for name in wanted if not OPTIONAL.match(name)}
    defined = set(symbols(module, "--defined-only"))
    assert required <= defined, sorted(required - defined)


def test_module_exports_nothing_else(module):
    """What the module defines for others is the hooks: its RocksDB and Abseil are its own."""
    # Lower case is local; instances of the standard library's templates are anybody's.
    strangers = {
        name
        for name, kind in symbols(module, "--defined-only").items()
        if kind.isupper()
        and not name.startswith("envoy_dynamic_module_on_")
        and not re.match(r"_Z(N?K?|T[IS])St", name)
    }
    assert strangers <= {"_init", "_fini"}, sorted(strangers)[:20]


def test_module_stays_loaded(module):
    """The module is linked with -z nodelete: its threads outlive any dlclose."""
    flags = subprocess.run(
        ["readelf", "-d", str(module)], check=True, capture_output=True, text=True
    ).stdout
    assert "NODELETE" in flags


def test_no_librocksdb_beside_it(module):
    """RocksDB is inside the module, and every other library is found next to it."""
    flags = subprocess.run(
        ["readelf", "-d", str(module)], check=True, capture_output=True, text=True
    ).stdout
    needed = re.findall(r"NEEDED.*\[(.*?)\]", flags)
    assert not [name for name in needed if "rocksdb" in name]
    assert "$ORIGIN" in flags
    found = subprocess.run(["ldd", str(module)], check=True, capture_output=True, text=True).stdout
    assert "not found" not in found
