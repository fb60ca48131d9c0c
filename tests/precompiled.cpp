// Nothing: the precompiled header of the plain tests (CMakeLists.txt) needs a target with a source.
