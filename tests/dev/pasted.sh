# Sourced by tests that run what the documents show.

# pasted <document> <language> <beginning>: its blocks in that language that begin so. Fails where there is none.
pasted() {
  awk -v "language=$2" -v "beginning=$3" '
    !inside && $0 == "```" language { inside = 1; block = ""; next }
    inside && $0 == "```" { if (index(block, beginning) == 1) printf "%s", block; inside = 0 }
    inside { block = block $0 "\n" }' "$1" | grep .
}
