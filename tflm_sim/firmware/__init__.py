"""The user's own firmware as the target: what its ELF file says about models, arenas, structs, kernels and memory."""
