#!/usr/bin/env python3
"""Comments are sentences: none begins with "Of", and each that stands on a line of its own has a verb. usage: comments.py [checkout]

A comment behind code may be a noun with its adjectives ("guarded by mutex_"). A verb is a word of VERBS, or one that ends as verbs
of the third person do and is no noun of NOUNS; so a comment that passes may still be a riddle, but a fragment rarely passes."""
import pathlib
import re
import subprocess
import sys

FOLDERS = ("app/", "controllers/", "examples/", "services/", "lock/", "tests/")
VERBS = set("""am is are was were be been has have had do does did may might must can cannot could will would shall should let
outlive outlives belong share become arrive follow happen remain exist depend meet stay hand asked chose hands came went kept told made took gave found held left lost met put read ran said sent set sold stood wrote began begun became saw got knew
come go keep tell make take give find hold leave lose see get know need want ask call wait return throw stop start end
add remove sleep resume release register fail run send copy move await use try count draw compare refuse
keeps takes makes gives goes sees knows gets needs asks calls throws sends stops starts ends begins runs reads writes waits returns
holds finds tells leaves loses says puts lets stands means shows grows belongs happens becomes comes fails frees fits helps hides
joins lasts learns lies lives looks matters moves owns pays points raises refers relies remains repeats replaces resumes serves sets
sits sleeps speaks stays survives sweeps tries turns uses wins works wants wraps adds allows answers appends applies arrives awaits
bounds brings builds cancels carries catches changes checks chooses closes collects compares completes computes confirms contains
converts copies costs counts creates decides declares defines deletes depends describes destroys differs divides doubles drains draws
drops empties encodes enters escapes excludes executes exists expects expires extends fetches fills finishes follows forgets formats
grants guards handles ignores includes inserts installs invalidates judges kills leads listens loads locks logs maps marks matches
measures migrates names notices observes offers opens orders outlives parses passes pins pipes polls prepares prevents probes
promises protects proves publishes queues quits receives records reduces refuses rejects releases remembers removes renders renews
reports requires reserves resets resolves respects restarts rolls samples saves schedules sells shares shrinks sights signs simulates
skips solves sorts spends splits spreads stores subtracts succeeds sums supplies suspends switches tests touches traces translates
treats trusts unlocks updates validates verifies visits wakes walks warns watches wishes""".split())
IMPERATIVE = set("""sleep resume report ignore skip keep release register add start stop wait try do see let note compare give take use read
write send run count leave refuse close open hold bring call check choose collect copy create decide drop end fail find finish follow
look make mark move notice pass pick poll prefer put remember remove repeat return set show sort split store tell throw treat turn
walk guarded called awaited used made sent set written""".split())
COMMENT = re.compile(r"^\s*// ?(.*)$")
TRAILING = re.compile(r'^(?:[^"\n]|"(?:\\.|[^"\\\n])*")*?\S\s+// (.*)$')
NOT_PROSE = re.compile(r"^(namespace|(Not )?[Tt]hread-safe|Immutable|Not on an event loop|NOLINT|clang-format|guarded by|constant after|[-=#*]{3})|^[`\w:<>(){}\[\].,*&'\"/ ]{0,24}$")


def comments(text):
    """(line, text, whether it stands behind code)"""
    begun = None
    for number, line in enumerate(text.split("\n"), 1):
        if match := COMMENT.match(line):
            begun = (begun[0], begun[1] + " " + match[1]) if begun else (number, match[1])
            continue
        if begun:
            yield *begun, False
            begun = None
        if match := TRAILING.match(line):
            yield number, match[1], True


def has_verb(text):
    words = re.findall(r"[a-z]+(?:'[a-z]+)?", re.sub(r"`[^`]*`", "", text.lower()))
    return not words or words[0] in IMPERATIVE or any(word in VERBS or word.endswith(("n't", "'re")) for word in words)


def fault(text, behind):
    if re.match(r"of\b", text, re.IGNORECASE):
        return 'begins with "of": say what it is, with subject and verb'
    if not behind and not NOT_PROSE.match(text) and not has_verb(text):
        return "has no verb"
    return None


def faults(checkout):
    listed = subprocess.run(["git", "-C", checkout, "ls-files", "-co", "--exclude-standard", "*.h", "*.cc"], capture_output=True,
                            text=True, check=True).stdout.split()
    for name in listed:
        path = checkout / name
        if name.startswith(FOLDERS) and path.exists():
            for line, text, behind in comments(path.read_text()):
                # The first line of a file is its title.
                if why := fault(text, behind or line == 1):
                    yield f"{name}:{line}: the comment \"{text[:70]}\" {why}"


if __name__ == "__main__":
    found = list(faults(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1])))
    print("\n".join(found) or "every comment is a sentence")
    sys.exit(1 if found else 0)
