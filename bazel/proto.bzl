"""Protobuf messages as a C++ library, with the system's protoc."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def cc_proto(name, src, deps = [], visibility = None):
    stem = src[:-len(".proto")]
    native.genrule(
        name = name + "_gen",
        srcs = [src],
        outs = [stem + ".pb.h", stem + ".pb.cc"],
        cmd = "protoc --proto_path=. --cpp_out=$(GENDIR) $(SRCS)",
    )
    cc_library(
        name = name,
        srcs = [stem + ".pb.cc"],
        hdrs = [stem + ".pb.h"],
        visibility = visibility,
        deps = deps + ["//bazel:protobuf"],
    )
