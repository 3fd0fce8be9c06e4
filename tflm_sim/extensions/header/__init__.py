"""A C++ header with a model's arena and operators, for build systems: the number is there before anything is linked."""
