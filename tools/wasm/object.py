"""A single object file of WebAssembly made a module.

What LLVM writes for one object is laid out and numbered already: its calls and addresses need no change as long as no
other object is linked to it. All that a module has beyond it is a list of exports.
"""

CUSTOM, EXPORT, DATA_COUNT = 0, 7, 12  # kinds of sections
FUNCTION, DATA, SECTION = 0, 1, 3  # kinds of symbols
SYMBOLS = 8  # the part of the section `linking` that lists them
UNDEFINED, EXPLICIT_NAME = 0x10, 0x40  # flags of a symbol


def unsigned(number):
    """A number in LEB128."""
    encoded = bytearray()
    while True:
        number, low = number >> 7, number & 0x7F
        encoded.append(low | (0x80 if number else 0))
        if not number:
            return bytes(encoded)


class Reader:
    """Reads numbers and names one after another."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        self.at += length
        return self.data[self.at - length : self.at]

    def number(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def name(self):
        return self.take(self.number()).decode()

    def left(self):
        return self.at < len(self.data)


def sections(binary):
    """The kind and the content of every section."""
    reader = Reader(binary)
    assert reader.take(8) == b"\0asm\1\0\0\0", "this is not WebAssembly"
    while reader.left():
        kind = reader.take(1)[0]
        yield kind, reader.take(reader.number())


def function_symbols(linking):
    """The numbers of the functions that an object defines, by name."""
    reader = Reader(linking)
    reader.number()  # the version
    found = {}
    while reader.left():
        kind = reader.take(1)[0]
        part = Reader(reader.take(reader.number()))
        if kind != SYMBOLS:
            continue
        for _ in range(part.number()):
            kind, flags = part.take(1)[0], part.number()
            named = not flags & UNDEFINED or flags & EXPLICIT_NAME
            if kind == DATA:
                part.name()
                if not flags & UNDEFINED:
                    for _ in ("segment", "offset", "size"):
                        part.number()
            elif kind == SECTION:
                part.number()
            else:
                number = part.number()
                name = part.name() if named else ""
                if kind == FUNCTION and not flags & UNDEFINED:
                    found[name] = number
    return found


def as_module(binary, exports):
    """The object as a module that exports the functions of these names, without what only a linker reads."""
    kept = [(kind, content) for kind, content in sections(binary) if kind != CUSTOM]
    linking = next(Reader(c) for k, c in sections(binary) if k == CUSTOM and Reader(c).name() == "linking")
    linking.name()
    symbols = function_symbols(linking.data[linking.at :])
    entries = [unsigned(len(n)) + n.encode() + b"\0" + unsigned(symbols[n]) for n in exports]
    kept.append((EXPORT, unsigned(len(entries)) + b"".join(entries)))
    kept.sort(key=lambda section: 9.5 if section[0] == DATA_COUNT else section[0])  # which stands before the code
    return b"\0asm\1\0\0\0" + b"".join(bytes([kind]) + unsigned(len(c)) + c for kind, c in kept)
