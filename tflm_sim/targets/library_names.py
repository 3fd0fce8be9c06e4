"""What people's screens call the libraries: the Arduino IDE, package registries, headers in a sketch.

Repositories are not here: they are in the rows of ``libraries.py``. Source: library.properties and src/*.h of each
library for the Arduino IDE; idf_component.yml of espressif/esp-tflite-micro.
"""

from __future__ import annotations

ALSO_CALLED = {
    "Adafruit_TFLite": "AdafruitTensorFlowLite",
    "Harvard_TinyMLx": "TinyMLx TinyMLShield",
    "analog-devices": "adi",
    "chirale": "Chirale_TensorFLowLite ArduTFLite spaziochirale/ArduTFLite",
    "coralmicro": "coral-micro coral-dev-board-micro",
    "edge-impulse": "ei",
    "esphome": "micro_wake_word",
    "microlite": "tensorflow-micropython-examples",
    "nxp-eiq": "mcuxpresso",
    "MicroTFLite": "MicroTensorFlowLite",
    "silabs-gsdk": "geckosdk gsdk",
    "simplicity-sdk": "sisdk",
    "x-cube-ai": "stm32cube stm32cubeai",
}
"""By the name here: other names, but for spellings of the same; ArduTFLite is built on chirale's library."""

HEADERS = {
    "EloquentTinyML.h": "EloquentTinyML@2.4.4",
    "eloquent_tinyml.h": "EloquentTinyML@3.0.1",
    "TensorFlowLite.h": "tflite-micro-arduino-examples Arduino_TensorFlowLite Harvard_TinyMLx",
}
"""Headers that do not end in the library's name, or whose spelling says which version it is."""
