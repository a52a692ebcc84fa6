#!/usr/bin/env python3
"""Checks that every relative link in the Markdown pages leads to a file, and every #anchor to a heading of its page.

Prints page:line and the link for each that does not, and exits with 1 if there is one. Addresses on the web are not opened.

Usage: scripts/check-links.py
"""
import glob, os, re, sys

LINK = re.compile(r"\]\(([^()\s]+)\)")


def text(page):
    """The page without code blocks, whose brackets are no links; lines keep their numbers."""
    content = open(page, encoding="utf-8").read()
    return re.sub(r"^ *```.*?^ *```", lambda block: "\n" * block[0].count("\n"), content, flags=re.M | re.S)


def anchors(page):
    """The anchors that GitHub gives to headings: lower case, hyphens for spaces, no punctuation."""
    headings = re.findall(r"^#+ +(.+?) *$", text(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
broken = []
for page in sorted(glob.glob("*.md") + glob.glob(".github/**/*.md", recursive=True) + glob.glob("docs/**/*.md", recursive=True)):
    for number, line in enumerate(text(page).split("\n"), 1):
        for link in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"\w+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(target):
                broken.append(f"{page}:{number}: {link} must be a file (found none)")
            elif anchor and anchor not in anchors(target):
                broken.append(f"{page}:{number}: {link} must be a heading of {target} (found none)")
print("\n".join(broken) or "every link of the pages leads somewhere")
sys.exit(1 if broken else 0)
