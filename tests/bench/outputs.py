"""Are the outputs right? No figure counts before they are."""

from programs import Failure


def expected_pairs(data):
    """The join, computed in the plainest way there is."""
    left, right = (path.read_bytes().splitlines() for path in (data.left, data.right))
    pairs = []
    for begin in range(0, len(left), data.block_lines):
        end = begin + data.block_lines
        of_key = {line[:10]: line for line in right[begin:end]}
        pairs += (line + b"," + of_key[line[:10]] for line in left[begin:end]
                  if line[:10] in of_key)
    return pairs


def check_pairs(data, output, who="joind"):
    """Its output, as a multiset of lines."""
    if sorted(output.read_bytes().splitlines()) != sorted(expected_pairs(data)):
        raise Failure(f"the output of {who} of {data.line_bytes}-byte lines is wrong")
    output.unlink()


def check_copy(data, output):
    """The pump's output, which mixes the two sides anywhere within lines."""
    copied, left, right = (p.read_bytes() for p in (output, data.left, data.right))
    for byte in (b"\n", b",", b"L", b"R", b"7", b"a"):
        if copied.count(byte) != left.count(byte) + right.count(byte):
            raise Failure(f"the pump's output of {data.line_bytes}-byte lines is wrong")
    output.unlink()
