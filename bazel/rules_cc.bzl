"""Debian's rules_cc 0.0.4 expects a later Bazel than Debian's 4.2.3. Two of its files ask for the
C++ toolchain through a helper that 4.2.3 lacks; naming the toolchain type instead is all it takes."""

_PATCHED = [
    "cc/private/rules_impl/cc_flags_supplier.bzl",
    "cc/private/rules_impl/compiler_flag.bzl",
]

def _copy(repository_ctx):
    root = repository_ctx.path(repository_ctx.attr.path)
    result = repository_ctx.execute(["cp", "-rL", str(root) + "/.", "."])
    if result.return_code != 0:
        fail("cannot copy rules_cc from %s: %s (run ci/setup)" % (root, result.stderr))
    for name in _PATCHED:
        text = repository_ctx.read(name)
        text = text.replace(', "use_cpp_toolchain"', "")
        text = text.replace("use_cpp_toolchain()", '["@bazel_tools//tools/cpp:toolchain_type"]')
        repository_ctx.file(name, text)

rules_cc_repository = repository_rule(
    implementation = _copy,
    attrs = {"path": attr.string(mandatory = True)},
    local = True,
)
