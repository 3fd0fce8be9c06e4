"""A Cortex-M's trace pin (SWO): ITM packets -> the bytes that the firmware wrote to stimulus port 0.

Sans-IO. A debugger gives the stream of the pin as it is where its TPIU formatter is off; packets are::

    00 00 00 00 00 80          synchronization: at least 47 zero bits, then a one
    70                         overflow: packets were lost
    pppppwss  data             source packet of 1, 2 or 4 bytes (ss = 1, 2, 3); w = 0: port ppppp, 1: hardware (DWT)
    Cxxxxx00  Cxxxxxxx ...     timestamps and extensions: C says that a byte follows

Source: Armv7-M Architecture Reference Manual (DDI 0403E), appendix D4.2 "Packet descriptions"
"""

from __future__ import annotations

_SIZE = {1: 1, 2: 2, 3: 4}
_HARDWARE, _GOES_ON, _END_OF_ZEROS = 0x04, 0x80, 0x80


class ItmStream:
    """Take the packets apart (mutable).

    Args:
        port: The stimulus port whose bytes are wanted.
    """

    __slots__ = ("_in_zeros", "_is_wanted", "_left", "_port", "_skips")

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._left = 0  # Bytes of a source packet that are still to come.
        self._is_wanted = False
        self._skips = False  # In a timestamp or an extension whose last byte had the bit C.
        self._in_zeros = False

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; return what the firmware wrote."""
        return bytes(byte for byte in data if self._is_text(byte))

    def _is_text(self, byte: int) -> bool:
        if self._left:
            self._left -= 1
            return self._is_wanted
        if self._skips:
            self._skips = bool(byte & _GOES_ON)
        elif byte == 0:
            self._in_zeros = True
        elif self._in_zeros and byte == _END_OF_ZEROS:
            self._in_zeros = False
        else:
            self._in_zeros = False
            self._open(byte)
        return False

    def _open(self, header: int) -> None:
        size = _SIZE.get(header & 3)
        if size is None:
            self._skips = bool(header & _GOES_ON)
        else:
            self._left = size
            self._is_wanted = not header & _HARDWARE and header >> 3 == self._port
