# SPDX-License-Identifier: Apache-2.0
"""Small faults in a Verilog-2001 file: which there are, and the text with one of them."""
import hashlib
import re
from collections import namedtuple

import wiring

# kind: what was changed; line: from 1; old, new: text; start, end: where in the file
Mutant = namedtuple("Mutant", "kind line old new start end")

OPERATORS = {
    "&&": ["||"], "||": ["&&"], "==": ["!="], "!=": ["=="], "<<": [">>"], ">>": ["<<"],
    ">=": [">", "<"], "<": ["<=", ">="], ">": [">=", "<="], "+": ["-"], "-": ["+"], "&": ["|"], "|": ["&"], "^": ["|"],
}
TOKEN = re.compile(r"""
    (?P<string>"[^"]*") | (?P<directive>`\w+) |
    (?P<number>\d+'[bdh][0-9a-fA-F_]+) | (?P<plain>\b\d+\b) | (?P<word>[A-Za-z_]\w*) |
    (?P<operator><=|>=|==|!=|&&|\|\||<<|>>|\+:|-:|[-+&|^!~?:;,<>=(){}\[\]@\#.*/%])
""", re.X)


def blank_comments(text):
    """Comments become spaces, so that places stay."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def frozen(code):
    """Places where a fault would not be one of the circuit: declarations of widths and first values
    (a reset sets them too), parameters and their checks, what only keeps lint quiet."""
    spans = []
    header = re.search(r"\bmodule\b.*?\);", code, re.S)
    if header:
        spans.append((0, header.end()))
    for pattern in (r"\blocalparam\b[^;]*;", r"\bparameter\b[^;]*;", r"\bgenvar\b[^;]*;", r"\binteger\b[^;]*;", r"\bunused_\w+\s*=[^;]*;",
                    r"\bif \([^;]*?begin : g_check.*?\bend\b", r"\bif \([^;]*?begin : \w+\s", r"`ifdef FORMAL.*?`endif",
                    r"\bfor \([^)]*\)", r"\b(?:wire|reg|input|output)\b\s+(?:wire\s+|reg\s+|signed\s+)*\[[^\]]*\]", r"\bfunction\b[^;(]*[;(]",
                    r"\breg\b[^;]*;", r"#\([^;]*?\)\s*\w+\s*\("):
        for m in re.finditer(pattern, code, re.S):
            spans.append((m.start(), m.end()))
    return spans


def expression_end(tokens, i, stops):
    """Index of the token that ends an expression begun at i."""
    depth = 0
    while i < len(tokens):
        t = tokens[i][1]
        if t in "([{":
            depth += 1
        elif t in ")]}":
            if depth == 0:
                return i
            depth -= 1
        elif depth == 0 and t in stops:
            return i
        i += 1
    return None


def constant(text):
    """Neighbours of a sized constant."""
    width, base, digits = re.match(r"(\d+)'([bdh])([0-9a-fA-F_]+)", text).groups()
    value = int(digits.replace("_", ""), {"b": 2, "d": 10, "h": 16}[base])
    top = (1 << int(width)) - 1
    for other in {(value + 1) & top, (value - 1) & top} - {value}:
        yield f"{width}'d{other}"


def mutants(text, ports_of=lambda module: {}):
    """All of a file; ports_of(module) gives the ports of one that it has an instance of."""
    code = blank_comments(text)
    stop = frozen(code)
    line_of = lambda at: text.count("\n", 0, at) + 1
    tokens = [(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(code)]
    found = []

    def add(kind, start, end, new):
        if not any(a <= start < b for a, b in stop) and text[start:end] != new:
            found.append(Mutant(kind, line_of(start), text[start:end], new, start, end))

    depth_index = 0  # inside [ ]
    for i, (group, t, start, end) in enumerate(tokens):
        before = tokens[i - 1] if i else (None, "", 0, 0)
        if t == "[":
            depth_index += 1
        elif t == "]":
            depth_index -= 1
        if group == "number":
            for other in constant(t):
                add("constant", start, end, other)
        elif group == "plain" and depth_index and t != "0":
            add("index", start, end, str(int(t) - 1))
        elif group == "plain" and depth_index and tokens[i + 1][1] in "]:":
            add("index", start, end, "1")
        elif group == "operator":
            binary = before[0] in ("number", "plain", "word") or before[1] in (")", "]", "}")
            if before[1] in ("assign", "begin", "else", "return", "case"):
                binary = False
            # "<=" is an assignment where a statement's name is on the left: then the statement is
            # left out
            if t == "<=":
                j = i - 1
                depth = 0
                while j >= 0 and (depth or tokens[j][1] not in (";", "begin", "end", "else", ")", ":", "(")):
                    depth += (tokens[j][1] in ")]}") - (tokens[j][1] in "([{")
                    j -= 1
                statement = tokens[j][1] in (";", "begin", "end", "else", ")", ":")
                if statement and tokens[j][1] == ")":
                    statement = "if" in code[code.rfind("\n", 0, start):start] or "always" in code[code.rfind("\n", 0, start):start]
                if statement:
                    semicolon = expression_end(tokens, i, (";",))
                    if semicolon is not None:
                        add("statement", tokens[j + 1][2], tokens[semicolon][2], "")
                elif binary:
                    add("operator", start, end, "<")
            elif t in OPERATORS and binary:
                for other in OPERATORS[t]:
                    add("operator", start, end, other)
            elif t in ("!", "~") and not binary:
                add("negation", start, end, "")
            elif t in ("&", "|") and not binary:
                add("reduction", start, end, {"&": "|", "|": "&"}[t])
            elif t == "?":
                middle = None
                depth = nested = 0
                for j in range(i + 1, len(tokens)):
                    u = tokens[j][1]
                    depth += (u in "([{") - (u in ")]}")
                    if depth < 0:
                        break
                    if depth == 0 and u == "?":
                        nested += 1
                    elif depth == 0 and u == ":":
                        if not nested:
                            middle = j
                            break
                        nested -= 1
                if middle is not None:
                    last = expression_end(tokens, middle + 1, (";", ",", ":"))
                    if last is not None:
                        one = text[tokens[i + 1][2]:tokens[middle - 1][3]]
                        two = text[tokens[middle + 1][2]:tokens[last - 1][3]]
                        add("branches", tokens[i + 1][2], tokens[last - 1][3], f"({two}) : ({one})")
        elif group == "word" and t == "if" and tokens[i + 1][1] == "(":
            close = expression_end(tokens, i + 2, ())
            if close is not None:
                condition = text[tokens[i + 1][3]:tokens[close][2]]
                add("condition", tokens[i + 1][3], tokens[close][2], f"!({condition})")
        elif group == "word" and t in ("posedge",):
            pass
    for kind, start, end, new in wiring.faults(code, text, ports_of):
        found.append(Mutant(kind, line_of(start), text[start:end], new, start, end))
    return found


def apply(text, mutant):
    return text[:mutant.start] + mutant.new + text[mutant.end:]


def key(module, text, mutant):
    """Names a mutant for good: other text elsewhere in the file makes another one of it."""
    source = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"{module}@{source}:{mutant.start}:{hashlib.sha256(mutant.new.encode()).hexdigest()[:8]}"
