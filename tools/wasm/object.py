"""A single object file of WebAssembly made a module.

What LLVM writes for one object is laid out and numbered already: its calls and addresses need no change as long as no
other object is linked to it. All that a module has beyond it is a list of exports.
"""

CUSTOM, IMPORT, EXPORT, CODE = 0, 2, 7, 10
DEFINED = {0: "function", 1: "data"}  # kinds of symbols with a name of their own
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
        if kind != 8:  # the table of symbols
            continue
        for _ in range(part.number()):
            kind, flags = part.take(1)[0], part.number()
            named = not flags & UNDEFINED or flags & EXPLICIT_NAME
            if kind == 1:  # data
                part.name()
                if not flags & UNDEFINED:
                    part.number(), part.number(), part.number()
            elif kind == 3:  # a section
                part.number()
            else:
                number = part.number()
                name = part.name() if named else ""
                if kind == 0 and not flags & UNDEFINED:
                    found[name] = number
    return found


def data_end(binary):
    """The address after the last byte of constant data."""
    end = 0
    for kind, content in sections(binary):
        if kind == 11:
            reader = Reader(content)
            for _ in range(reader.number()):
                assert reader.number() == 0 and reader.take(1) == b"\x41", "data must have a constant address"
                start = signed(reader)
                assert reader.take(1) == b"\x0b"
                end = max(end, start + len(reader.take(reader.number())))
    return end


def signed(reader):
    value = shift = 0
    while True:
        byte = reader.take(1)[0]
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value - (1 << shift) if byte & 0x40 else value


def as_module(binary, exports):
    """The object as a module that exports the functions of these names, without what only a linker reads."""
    kept = [(kind, content) for kind, content in sections(binary) if kind != CUSTOM]
    linking = next(Reader(c) for k, c in sections(binary) if k == CUSTOM and Reader(c).name() == "linking")
    linking.name()
    symbols = function_symbols(linking.data[linking.at :])
    entries = [unsigned(len(n)) + n.encode() + b"\0" + unsigned(symbols[n]) for n in exports]
    kept.append((EXPORT, unsigned(len(entries)) + b"".join(entries)))
    rank = {12: 9.5}  # the count of data segments stands before the code
    kept.sort(key=lambda section: rank.get(section[0], section[0]))
    return b"\0asm\1\0\0\0" + b"".join(bytes([kind]) + unsigned(len(c)) + c for kind, c in kept)
