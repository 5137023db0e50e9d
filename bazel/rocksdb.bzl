"""RocksDB from source, as ci/setup fetched it (see ci/setup for the name and the version).

The sources are compiled ten to a unit, folder by folder: a fifth of the time of one by one."""

_UNIT_SIZE = 10

def _units(sources):
    """Groups sources of one folder into units of at most _UNIT_SIZE."""
    by_folder = {}
    for source in sources:
        by_folder.setdefault(source.rpartition("/")[0], []).append(source)
    units = []
    for folder in sorted(by_folder):
        members = by_folder[folder]
        for start in range(0, len(members), _UNIT_SIZE):
            name = "%s_%d.cc" % (folder.replace("/", "_").replace("-", "_"), start // _UNIT_SIZE)
            units.append(struct(name = name, members = members[start:start + _UNIT_SIZE]))
    return units

def _rocksdb(repository_ctx):
    deps = repository_ctx.os.environ.get("FOREBAY_DEPS", "")
    if not deps:
        deps = repository_ctx.os.environ.get("HOME", "/nonexistent") + "/.cache/forebay/deps"
    crate = repository_ctx.path(deps + "/librocksdb-sys")
    if not crate.exists:
        fail("%s is missing: run ci/setup" % crate)
    repository_ctx.symlink(str(crate) + "/rocksdb", "rocksdb")
    repository_ctx.symlink(str(crate) + "/build_version.cc", "build_version.cc")

    listing = repository_ctx.read(str(crate) + "/rocksdb_lib_sources.txt")
    sources = [line.strip() for line in listing.split("\n") if line.strip()]
    sources = [s for s in sources if s != "util/build_version.cc"]
    units = _units(sources)
    for unit in units:
        includes = ['#include "rocksdb/%s"\n' % member for member in unit.members]
        repository_ctx.file("units/" + unit.name, "".join(includes), executable = False)
    repository_ctx.template(
        "BUILD.bazel",
        Label("//bazel:rocksdb.BUILD"),
        {"%UNITS%": ",\n        ".join(['"units/%s"' % unit.name for unit in units])},
        executable = False,
    )

rocksdb_repository = repository_rule(
    implementation = _rocksdb,
    environ = ["FOREBAY_DEPS", "HOME"],
)
