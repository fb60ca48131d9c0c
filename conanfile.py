import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout


class TtensorConan(ConanFile):
    name = "ttensor"
    description = "Fused, differentiable array programs in plain C++20, header only"
    license = "Apache-2.0"
    topics = ("arrays", "automatic-differentiation", "simd", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"simd": [True, False]}
    default_options = {"simd": True}
    exports_sources = "include/*", "cmake/ttensor_components.cmake", "cmake/ttensor_runtime.cpp", "LICENSE"
    exports = "include/ttensor/base/config.hpp"
    no_copy_source = True

    def set_version(self):
        # The version has one home: config.hpp.
        text = load(self, os.path.join(self.recipe_folder, "include/ttensor/base/config.hpp"))
        found = dict(re.findall(r"^#define TTENSOR_VERSION_(MAJOR|MINOR|PATCH) (\d+)$", text, re.M))
        self.version = "{MAJOR}.{MINOR}.{PATCH}".format(**found)

    def layout(self):
        basic_layout(self)

    def requirements(self):
        if self.options.simd:
            self.requires("xsimd/[>=8.1 <15]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*.hpp", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        copy(self, "ttensor_*", os.path.join(self.source_folder, "cmake"),
             os.path.join(self.package_folder, "lib", "cmake", "ttensor"))

    def package_id(self):
        self.info.clear()  # headers only: one package for every setting

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_file_name", "ttensor")
        self.cpp_info.set_property("cmake_target_name", "ttensor::ttensor")
        # ttensor::threads, ttensor::blas, ttensor::runtime and ttensor::device are made on request:
        #   find_package(ttensor) then ttensor_component_threads(AUTO), ttensor_component_runtime(), ...
        self.cpp_info.set_property("cmake_build_modules", [os.path.join("lib", "cmake", "ttensor", "ttensor_components.cmake")])
        if not self.options.simd:
            self.cpp_info.defines = ["TTENSOR_NO_SIMD"]
