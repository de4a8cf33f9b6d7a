# SPDX-License-Identifier: BSD-2-Clause
"""Plain English, as a rate that may only fall: no sentence is headed by Of, What, Who, That, Those or One that.

And the subjects of commits: 72 characters, one topic, a body that says why."""
import re

import pytest

from sources import git, hold, named, text_of

# Commits up to this one were written before the rule.
SINCE = "168ab1f1aa479791e5f786ccd68f06d76276172b"

HEADED = re.compile(r"(?:Of|What|Who|Whoever|That|Those|One that|Ones that) ")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
MESSAGE = re.compile(r'diag_(?:error|hint|warn|complaint|detail)\(((?:[^;"]|"(?:[^"\\]|\\.)*")*)\);')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
# The help of an option is the fifth member of a struct option_row or argp_option; that of a tool is .doc.
STRINGS = r'((?:"(?:[^"\\]|\\.)*"[\s\\]*)+)'
HELP = re.compile(r'\{ *(?:"[^"]*"|NULL), [^{}",]+, *(?:"[^"]*"|NULL), *\w+,[\s\\]*' + STRINGS +
                  r'|\.doc =\s*' + STRINGS + r'|HEADING\(' + STRINGS)


# Turns of phrase that are no English message: "'%s' is no regular file", "-e: %s is there twice".
STIFF = re.compile(r"\bis no (?!longer\b|more\b)|\b(?:is|are) there twice|\bfor want of\b|\bnobody\b|"
                   r"\b(?:is|are) wanted\b|"
                   r"\bto be had\b|\bgive one of them\b|\bdifferent questions\b|\bworth a word\b|\bno such one\b|"
                   r"\bthis kernel (?:does not tell|lets)\b|\beach of them\b")


def sentences(text):
    """The sentences of a text without markup, code and links."""
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"^[ \t]*(?:/?\*+/?|//|#+|\||[-*>]|\d+\.) ?", "", text, flags=re.M)
    text = re.sub(r"[*_\\|]", "", text)
    for part in re.split(r"\n[ \t]*\n", text):
        for sentence in re.split(r"(?<=[.:;!?])\s+", " ".join(part.split())):
            if re.search(r"[a-z]{2}", sentence):
                yield sentence.strip()


def headed(sentence):
    return HEADED.match(sentence) and not sentence.endswith("?")


def worst(bad, added):
    """Ten of (file, sentence): those whose first words are in the text that was added, then the longest."""
    def order(each):
        start = " ".join(each[1].split()[:3])
        return start.casefold() not in added.casefold(), -len(each[1])
    return [f"{name}: {sentence}" for name, sentence in sorted(bad, key=order)[:10]]


def added():
    """Lines that the last commit and the working tree have added."""
    return "\n".join(re.findall(r"^\+(?!\+\+)(.*)", git("diff", "-U0", "HEAD~1"), re.M))


def share(texts):
    """Per thousand of the sentences in (file, text), and those that are headed so."""
    all_of_them = [(name, sentence) for name, text in texts for sentence in sentences(text)]
    bad = [(name, sentence) for name, sentence in all_of_them if headed(sentence)]
    assert len(all_of_them) > 100
    return round(1000 * len(bad) / len(all_of_them), 1), bad


def comments_of_c():
    return [(name, comment) for name in named(".c", ".h") for comment in COMMENT.findall(text_of(name))]


def comments_of_python():
    return [(name, comment) for name in named(".py") for comment in
            re.findall(r'"""(.*?)"""', text_of(name), re.S) + re.findall(r"(?:^|\s)# .*", text_of(name))]


def documents():
    return [(name, re.sub(r"(?m)^(?:    |\t\t).*$", "", text_of(name))) for name in named(".md", ".scd")]


def spoken(text):
    """Messages and help in a C source, which may begin in lower case, with a capital."""
    found = MESSAGE.findall(text) + ["".join(both) for both in HELP.findall(text)]
    said = ("".join(STRING.findall(strings)) for strings in found)
    return [words[:1].upper() + words[1:] for words in said]


def messages():
    return [(name, said) for name in named(".c", ".h") for said in spoken(text_of(name))]


def test_messages_are_plain():
    bad = [(name, said) for name, said in messages() if STIFF.search(said)]
    hold("stiff_messages", len(bad), worst(bad, added()))


@pytest.mark.parametrize("kind", (comments_of_c, comments_of_python, documents, messages),
                         ids=lambda kind: kind.__name__)
def test_sentences(kind):
    found, bad = share(kind())
    hold(f"headed_{kind.__name__}", found, worst(bad, added()))


# --- commits ---------------------------------------------------------------------------------------

def wrong_commits(log):
    """log: hash, subject and body, separated by NUL; commits are separated by \\x1e."""
    for commit in filter(str.strip, log.split("\x1e")):
        name, subject, body = commit.strip().split("\0")
        if len(subject) > 72:
            yield f"{name}: {len(subject)} characters: {subject}"
        if ";" in subject:
            yield f"{name}: two topics: {subject}"
        if not body.strip():
            yield f"{name}: no body: {subject}"


def test_commits():
    if not git("rev-parse", "--verify", f"{SINCE}^{{commit}}"):
        pytest.skip(f"no history here that goes back to {SINCE[:12]}")
    log = git("log", "--first-parent", "--no-merges", "--format=%h%x00%s%x00%b%x1e", f"{SINCE}..HEAD")
    assert not (found := list(wrong_commits(log))), "\n".join(found)


def test_faults_are_found():
    assert headed("What is lost is counted.") and headed("Of people there are many.")
    assert headed("One that ends is gone.")
    assert not headed("What is lost?") and not headed("The rest is counted.")
    assert headed("Of CODE there are four.") and not headed("Whole words are compared.")
    code = 'diag_warn("of %s" " nothing", a); { "all", \'a\', NULL, 0, \\\n "those " "that end", 1 }, ' \
           '.doc = "what for",'
    assert spoken(code) == ["Of %s nothing", "Those that end", "What for"]
    old, new = ("a.c", "What is long and old."), ("b.c", "What is new.")
    assert worst([old, new], "/* what is new. */") == ["b.c: What is new.", "a.c: What is long and old."]
    assert STIFF.search("'%s' is no regular file") and not STIFF.search("'%s' is not a regular file")
    found, bad = share([("a.c", "All is well. " * 199 + "What is new is lost.")])
    assert found == 5 and bad == [("a.c", "What is new is lost.")]
    assert list(sentences("/* What it is. Then more. */")) == ["What it is.", "Then more."]
    log = "\x1e".join(("1\0a: " + "x" * 70 + "\0body", "2\0a: this; b: that\0body", "3\0a: this\0", "4\0a: this\0body"))
    assert [line.split(":")[0] for line in wrong_commits(log)] == ["1", "2", "3"]
