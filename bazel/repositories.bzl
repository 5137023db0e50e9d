"""Where each dependency comes from. Everything is on the machine already, put there by ci/setup:
Bazel never downloads anything."""

load("//bazel:rocksdb.bzl", "rocksdb_repository")
load("//bazel:rules_cc.bzl", "rules_cc_repository")

_SHARE = "/usr/share/bazel"

def forebay_repositories():
    rules_cc_repository(name = "rules_cc", path = _SHARE + "/rules/cc")
    native.local_repository(name = "rules_java", path = _SHARE + "/rules/java")
    native.local_repository(name = "rules_proto", path = _SHARE + "/rules/proto")
    native.local_repository(name = "platforms", path = _SHARE + "/platforms")

    # Bazel asks for its coverage tools even when nobody measures coverage; an empty stand-in
    # keeps it off the network.
    native.new_local_repository(
        name = "remote_coverage_tools",
        path = "bazel/empty",
        build_file_content = """
filegroup(name = "coverage_report_generator", visibility = ["//visibility:public"])
filegroup(name = "coverage_output_generator", visibility = ["//visibility:public"])
""",
    )
    rocksdb_repository(name = "rocksdb")
