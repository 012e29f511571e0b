# SPDX-License-Identifier: Apache-2.0
"""Small faults in a C file: which there are. The text must be as clang-format leaves it.

Kinds:
  operator   another operator, or a `!` left out
  bound      off by one: < for <=, > for >=
  constant   a number one larger or smaller (a large one: twice or half as large), true for false
  check      a condition that never holds, or always does
  reset      an assignment of nothing (0, false, NULL, -1) left out, or a memset
  statement  any other assignment left out
  lock       a lock, an unlock or a wake-up left out
"""
import collections
import re

from mutants import Mutant

KINDS = ("operator", "bound", "constant", "check", "reset", "statement", "lock")
TOKEN = re.compile(r"""
    (?P<string>"(?:\\.|[^"\\])*") | (?P<char>'(?:\\.|[^'\\])+') |
    (?P<float>\b\d+\.\d*(?:[eE][-+]?\d+)?[fF]?|\b\d+[eE][-+]?\d+[fF]?|\b0x[0-9a-fA-F.]+p[-+]?\d+f?) |
    (?P<number>\b(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*\b) | (?P<word>[A-Za-z_]\w*) |
    (?P<operator><<=|>>=|\.\.\.|->|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|<<|>>|[-+*/%&|^~!?:;,<>=(){}\[\].\#\\])
""", re.X)
BINARY = {
    "&&": "||", "||": "&&", "==": "!=", "!=": "==", "<": ">=", ">": "<=", "<=": ">", ">=": "<", "+": "-", "-": "+",
    "*": "/", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|", "+=": "-=", "-=": "+=",
    "*=": "/=", "/=": "*=", "|=": "&=", "&=": "|=", "^=": "|=", "<<=": ">>=", ">>=": "<<=", "++": "--", "--": "++",
}
BOUND = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "++", "--"}
LEAVES = {"return", "goto", "break", "continue"}
LARGE = 100  # one more or less of so many is mostly a matter of taste: sizes of buffers, patience
KEYWORDS = LEAVES | {"if", "else", "for", "while", "do", "switch", "case", "default"}
LOCK = re.compile(r"_(?:un)?lock$|_(?:signal|broadcast)$|wake|notify|^eventfd_write$")
QUIET = re.compile(r"^(?:_Static_assert|static_assert|assert|_Alignas|__attribute__|sizeof|offsetof)$")


def blank(text):
    """Comments and directives become spaces, so that places stay. `#define` stays."""
    gone = lambda m: re.sub(r"[^\n]", " ", m.group())
    text = re.sub(
        r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/',
        lambda m: gone(m) if m.group()[0] == "/" else m.group(), text, flags=re.S,
    )
    return re.sub(r"^[ \t]*#(?![ \t]*define)(?:[^\n]*\\\n)*[^\n]*", gone, text, flags=re.M)


def close_of(tokens, i):
    """The token that closes the bracket at i."""
    depth = 0
    for j in range(i, len(tokens)):
        depth += (tokens[j][1] in "([{" and len(tokens[j][1]) == 1) - (tokens[j][1] in ")]}" and len(tokens[j][1]) == 1)
        if depth == 0:
            return j
    return len(tokens) - 1


def quiet_places(code, tokens):
    """Places where a change says nothing about tests: assertions, sizes of declared arrays."""
    spans = [(m.start(), m.end()) for m in re.finditer(r"^[ \t]*#[ \t]*define\s+\w+\([^)]*\)", code, re.M)]
    for i, (_, t, start, _) in enumerate(tokens):
        if QUIET.match(t) and i + 1 < len(tokens) and tokens[i + 1][1] == "(":
            spans.append((start, tokens[close_of(tokens, i + 1)][3]))
        elif (
            t == "["
            and i > 1
            and tokens[i - 1][0] == "word"
            and (tokens[i - 2][0] == "word" and tokens[i - 2][1] not in LEAVES or tokens[i - 2][1] in ("*", ","))
        ):
            spans.append((start, tokens[close_of(tokens, i)][3]))
    return spans


def bodies(tokens):
    """For each token: whether it is inside a function."""
    inside, i = [False] * len(tokens), 0
    while i < len(tokens):
        if tokens[i][1] == "{":
            end = close_of(tokens, i)
            if i and tokens[i - 1][1] == ")":
                inside[i:end + 1] = [True] * (end + 1 - i)
            i = end
        i += 1
    return inside


def neighbours(number):
    digits = number.rstrip("uUlL")
    suffix = number[len(digits):]
    value = int(digits, 16 if digits[:2] in ("0x", "0X") else 10)
    others = {value + 1, value - 1} if value < LARGE else {2 * value, value // 2}
    for other in sorted(others - {-1}):
        yield f"{other}{suffix}"


def statement(tokens, i):
    """(kind, last token) of the assignment or the call that begins at i; None for anything else."""
    end, depth = i, 0
    while tokens[end][1] != ";" or depth:
        t = tokens[end][1]
        depth += (t in ("(", "[", "{")) - (t in (")", "]", "}"))
        if depth < 0 or end + 1 >= len(tokens):
            return None
        end += 1
    words = tokens[i:end]
    if not words or words[0][1] in KEYWORDS or (words[0][0] != "word" and words[0][1] not in ("*", "(", "++", "--")):
        return None
    depth, at = 0, None
    for k, (group, t, _, _) in enumerate(words):
        if depth == 0 and t in ASSIGN:
            at = k
            break
        if depth == 0 and k and group == "word" and words[k - 1][0] == "word":
            return None  # a declaration, or return x
        if depth == 0 and k == 1 and t == "*" and len(words) > 2:
            return None  # type *name
        depth += (t in ("(", "[", "{")) - (t in (")", "]", "}"))
    if at is not None:
        right = "".join(t for _, t, _, _ in words[at + 1:])
        return (
            "reset"
            if words[at][1] == "=" and re.fullmatch(r"0[uUlL]*|false|NULL|-1|0\.0f?|\(.*\)\{0?\}", right)
            else "statement"
        ), end
    call = 3 if [w[1] for w in words[:3]] == ["(", "void", ")"] else 0
    if (
        len(words) > call + 1
        and words[call][0] == "word"
        and words[call + 1][1] == "("
        and close_of(words, call + 1) == len(words) - 1
    ):
        name = words[call][1]
        if LOCK.search(name) or (name == "write" and any("wake" in t or "event" in t for _, t, _, _ in words)):
            return "lock", end
        if name == "memset" or name.startswith("atomic_store"):
            return "reset", end
    return None


def mutants(text):
    code = blank(text)
    tokens = [(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(code)]
    stop, inside, found = quiet_places(code, tokens), bodies(tokens), []

    def add(kind, start, end, new):
        if not any(a <= start < b for a, b in stop):
            old = text[start:end]
            found.append(
                Mutant(
                    kind, text.count("\n", 0, start) + 1, old, new + "\n" * (old.count("\n") - new.count("\n")),
                    start, end,
                )
            )

    parens = 0
    for i, (group, t, start, end) in enumerate(tokens[:-1]):
        before = tokens[i - 1] if i else (None, ";", 0, 0)
        defined = code[code.rfind("\n", 0, start) + 1:start].lstrip().startswith("#")
        parens += (t == "(") - (t == ")")
        if group == "number" and before[1] != "case" and not (before[1] == ":" and not inside[i]):
            for other in neighbours(t):
                add("constant", start, end, other)
        elif group == "word" and t in ("true", "false"):
            add("constant", start, end, "false" if t == "true" else "true")
        elif group == "operator" and (inside[i] or defined):
            spaced = code[start - 1] in " \n" and code[end] in " \n"
            if t in BOUND and spaced:
                add("bound", start, end, BOUND[t])
            if t in BINARY and (spaced or t in ("++", "--")):
                add("operator", start, end, BINARY[t])
            elif t == "!":
                add("operator", start, end, "")
        if not inside[i]:
            continue
        if t == "if" and tokens[i + 1][1] == "(":
            close = close_of(tokens, i + 1)
            condition = text[tokens[i + 1][3]:tokens[close][2]]
            add("check", tokens[i + 1][3], tokens[close][2], f"({condition}) && 0")
            body = tokens[close + 1][1] if tokens[close + 1][1] != "{" else tokens[close + 2][1]
            if body not in LEAVES:
                add("check", tokens[i + 1][3], tokens[close][2], f"({condition}) || 1")
        begins = before[1] in (";", "{", "}", "else", "do") or (
            before[1] == ")" and opened_by(tokens, i - 1) in ("if", "for", "while")
        )
        if begins and parens - (t == "(") == 0 and t not in ("}", "{"):
            which = statement(tokens, i)
            if which:
                add(which[0], start, tokens[which[1]][3], ";")
    return found


def opened_by(tokens, i):
    """The word before the bracket that the token at i closes."""
    depth = 0
    while i >= 0:
        depth += (tokens[i][1] == ")") - (tokens[i][1] == "(")
        if depth == 0:
            return tokens[i - 1][1] if i else ""
        i -= 1
    return ""


def place(text, mutant):
    """What names a mutant while the rest of its file changes.

    (the line's code, kind, old, new, which of these in the file)
    """
    line = lambda m: text.splitlines()[m.line - 1].strip()
    one = lambda s: " ".join(s.split())
    key = (line(mutant), mutant.kind, one(mutant.old), one(mutant.new))
    same = [
        m
        for m in mutants(text)
        if m.kind == mutant.kind and m.old == mutant.old and m.new == mutant.new and line(m) == key[0]
    ]
    return (*key, same.index(mutant) + 1)


def alternately(many, count, random):
    """So many of them, each kind in turn, chosen at random."""
    kinds = collections.defaultdict(list)
    for m in many:
        kinds[m[2].kind].append(m)
    for kind in kinds.values():
        random.shuffle(kind)
    chosen = []
    while len(chosen) < count and any(kinds.values()):
        for kind in KINDS:
            if kinds[kind] and len(chosen) < count:
                chosen.append(kinds[kind].pop())
    return chosen
