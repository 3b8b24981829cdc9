"""Places where a C++ source can be changed: operators, constants, arguments, statements.

A change replaces the smallest expression around it, so that the program can contain both: (on(7) ? (a <= b) : (a < b)).
This searches text, it is not a parser: the caller discards changes that do not compile.
"""
import dataclasses
import re


@dataclasses.dataclass
class Mutant:
    file: str  # from the root of the tree
    begin: int  # offsets in the file of the replaced expression or statement
    end: int
    line: int
    kind: str
    original: str  # on one line, without comments
    mutated: str
    statement: bool = False  # a whole statement that is removed
    number: int = 0

    def text(self):
        """The replacement, with the same number of lines, so that line numbers of compiler messages stay valid."""
        if self.statement:
            return f"if (!mutants::on({self.number})) {{ "
        # The operands of `!` and && are bool. Without the cast, (on ? index : !index) would be an optional
        # with a value.
        cast = "static_cast<bool>" if self.kind in ("not", "logic", "condition") else ""
        return f"(mutants::on({self.number}) ? {cast}({self.mutated}) : {cast}("

    def tail(self):
        return " }" if self.statement else "))"


LITERALS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*',
    re.S | re.M)


def blanked(source, strings):
    """The source with blanks for comments, preprocessor lines and (optionally) literals, at the same offsets."""
    def blank(match):
        text = match.group(0)
        if not strings and text[0] in "R\"'":
            return text
        if re.search(r"[\w]'$", source[max(0, match.start() - 1):match.start() + 1]):
            return text  # 100'000
        return re.sub(r"[^\n]", " ", text)
    return LITERALS.sub(blank, source)


OPERATORS = [
    ("comparison", r" (<=|>=|==|!=|<|>) ", {"<": ["<=", ">"], "<=": ["<", ">="], ">": [">=", "<"], ">=": [">", "<="],
                                            "==": ["!="], "!=": ["=="]}),
    ("arithmetic", r" ([-+*/%]) ", {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"]}),
    ("logic", r"[ \n](&&|\|\|) ", {"&&": ["||"], "||": ["&&"]}),
    ("bits", r" (<<|>>|&|\|) (?=[\w(])", {"<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"]}),
    ("function", r"(?<=std::)(min|max|floor|ceil|lround|any_of|all_of)(?=\()",
     {"min": ["max"], "max": ["min"], "floor": ["ceil"], "ceil": ["floor"], "lround": ["floor"], "any_of": ["all_of"],
      "all_of": ["any_of"]}),
    ("constant", r"\b(true|false)\b", {"true": ["false"], "false": ["true"]}),
    ("not", r"(?<=[( ])(!)(?=[\w(])", {"!": [""]}),
    ("assignment", r" ([-+*/])= ", {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"]}),
    ("step", r"(?<![\w+-])(\+\+|--)(?=\w)", {"++": ["--"], "--": ["++"]}),
]
NUMBER = re.compile(r"(?<![\w.<\"'])(\d[\d']*(?:\.\d+)?(?:[eE][-+]?\d+)?)([FfUuLl]*)\b(?![\w.'])")
SWAP = re.compile(r"(?<=\w\()([a-z]\w*(?:\.\w+|\[\w+\])?), ([a-z]\w*(?:\.\w+|\[\w+\])?)(?=[,)])")
# A call or an assignment with no other code on its lines.
STATEMENT = re.compile(r"(?<=[;{}])[ \t]*\n(?P<indent>[ \t]+)(?P<text>(?!return\b|using\b|case\b|break\b|continue\b|throw\b|"
                       r"const\b|auto\b|static\b|constexpr\b|else\b|if\b|for\b|while\b|delete\b|struct\b|class\b|"
                       r"std::scoped_lock|std::lock_guard|std::unique_lock)"
                       r"[a-zA-Z_][\w.:>\[\]-]*(?:\([^;{}]*\)| [-+*/|&]?= [^;{}]+)|(?:\+\+|--)[\w.>\[\]-]+);")
OPENERS, CLOSERS = "([{", ")]}"


def _stop_left(code, i, logic):
    c = code[i]
    if c in ";,?":
        return True
    if c == ":":
        return code[i - 1:i] != ":" and code[i + 1:i + 2] != ":"
    if c == "=":
        return code[i + 1:i + 2] != "=" and code[i - 1:i] not in ("=", "<", ">", "!")
    if logic and c in "&|" and code[i - 1:i] == c:
        return True
    return bool(re.search(r"\b(return|else|do|case|throw)$", code[max(0, i - 7):i + 1])) and \
        not re.match(r"\w", code[i + 1:i + 2])


def enclosing(code, at, logic=True):
    """The smallest expression around an offset: (begin, end). `logic`: parts of && and || are expressions."""
    depth, begin = 0, at
    while begin > 0:
        c = code[begin - 1]
        if c in CLOSERS:
            if c == "}" and depth == 0 and not re.match(r"\s*(?:[-+*/%<>=]=? |[),;.])", code[begin:begin + 80]):
                break
            depth += 1
        elif c in OPENERS:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and _stop_left(code, begin - 1, logic):
            break
        begin -= 1
    depth, end = 0, at
    while end < len(code):
        c = code[end]
        if c in OPENERS:
            depth += 1
        elif c in CLOSERS:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and (c in ";,?" or (c == ":" and code[end - 1] != ":" and code[end + 1:end + 2] != ":") or
                             (logic and c in "&|" and code[end + 1:end + 2] == c)):
            break
        end += 1
    while begin < end and code[begin].isspace():
        begin += 1
    while end > begin and code[end - 1].isspace():
        end -= 1
    return begin, end


def numbers(text):
    """Replacements of a constant: one more, one less; a half more for a fraction."""
    plain = text.replace("'", "")
    if re.search(r"[.eE]", plain):
        value = float(plain)
        return [repr(value * 1.5) if value else "1.0"]
    value = int(plain, 8) if plain.startswith("0") and len(plain) > 1 else int(plain)
    return [str(value + 1)] + ([str(value - 1)] if value > 0 else [])


def find(file, source):
    """Every mutant of one file."""
    code = blanked(source, strings=False)
    bare = blanked(source, strings=True)
    found = []

    def add(kind, begin, end, replaced, text, logic=True):
        first, last = enclosing(bare, begin, logic)
        if last < end or "{" in bare[first:last]:
            return
        if re.match(r"(?:case|default|public|private|template|using|struct|class|enum)\b", bare[first:last]):
            return
        line_begin = bare.rfind("\n", 0, begin) + 1
        if re.match(r"\s*(?:case\b|template\b|static_assert|constexpr|static constexpr|inline constexpr)",
                    bare[line_begin:begin + 1]):
            return
        flat = lambda t: re.sub(r"\s*\n\s*", " ", t).strip()
        mutated = code[first:begin] + text + code[end:last]
        if flat(mutated) == flat(code[first:last]):
            return
        found.append(Mutant(file, first, last, source.count("\n", 0, begin) + 1, kind, flat(code[first:last]),
                            flat(mutated)))

    for kind, pattern, changes in OPERATORS:
        for match in re.finditer(pattern, bare):
            for to in changes[match.group(1)]:
                begin, end = match.span(1)
                if kind == "assignment":  # the whole statement is the expression
                    start = max(bare.rfind(c, 0, begin) for c in ";{}") + 1
                    stop = bare.find(";", begin)
                    head = bare[start:stop].strip()
                    if re.match(r"(?:for|if|while|else)\b", head) or bare[start:stop].count("(") != bare[start:stop].count(")"):
                        continue
                    start += len(bare[start:stop]) - len(bare[start:stop].lstrip())
                    mutated = code[start:begin] + to + code[end:stop]
                    found.append(Mutant(file, start, stop, source.count("\n", 0, begin) + 1, kind,
                                        re.sub(r"\s*\n\s*", " ", code[start:stop]), re.sub(r"\s*\n\s*", " ", mutated)))
                else:
                    add(kind, begin, end, match.group(1), to, logic=kind != "logic")
    for match in NUMBER.finditer(bare):
        for to in numbers(match.group(1)):
            add("constant", match.start(), match.end(), match.group(0), to + match.group(2))
    for match in SWAP.finditer(bare):
        if match.group(1) != match.group(2):
            add("arguments", match.start(), match.end(), match.group(0), f"{match.group(2)}, {match.group(1)}",
                logic=True)
    for match in re.finditer(r"\bif \(", bare):
        first, last = enclosing(bare, match.end(), logic=False)
        text = code[first:last]
        if "{" not in text and not re.search(r"[^=!<>]=[^=]", bare[first:last]):
            flat = re.sub(r"\s*\n\s*", " ", text).strip()
            found.append(Mutant(file, first, last, source.count("\n", 0, first) + 1, "condition", flat, f"!({flat})"))
    for match in STATEMENT.finditer(bare):
        begin = match.start("text")
        flat = re.sub(r"\s*\n\s*", " ", code[begin:match.end()])
        if not re.match(r"[\w:<>]+ [\w]+\(", flat):  # a declaration
            found.append(Mutant(file, begin, match.end(), source.count("\n", 0, begin) + 1, "statement", flat, "",
                                statement=True))
    return found


def apart(mutants):
    """The mutants of a list that do not overlap with an earlier one."""
    taken, kept = {}, []
    for mutant in mutants:
        spans = taken.setdefault(mutant.file, [])
        if all(mutant.end <= begin or mutant.begin >= end for begin, end in spans):
            spans.append((mutant.begin, mutant.end))
            kept.append(mutant)
    return kept


def instrumented(source, mutants, header):
    """The source with all these mutants, each inactive until its number is selected."""
    for mutant in sorted(mutants, key=lambda m: -m.begin):
        source = (source[:mutant.begin] + mutant.text() + source[mutant.begin:mutant.end] + mutant.tail() +
                  source[mutant.end:])
    return f'#include "{header}"\n#line 1\n' + source
