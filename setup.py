from setuptools import setup

setup(cffi_modules=["tflm_sim/planners/native/build_native.py:ffibuilder"])
