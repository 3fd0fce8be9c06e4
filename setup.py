import os

from setuptools import setup

# TFLM_SIM_PURE=1 builds py3-none-any: for the browser and for machines without a compiler; planners run in Python.
if os.environ.get("TFLM_SIM_PURE"):
    setup()
else:
    setup(
        cffi_modules=["tflm_sim/planners/native/build_native.py:ffibuilder"],
        options={"bdist_wheel": {"py_limited_api": "cp311"}},
    )
