#!/usr/bin/env python3
"""Writes the manual pages of a command line from its description, which `PROGRAM --experimental-dump-help` prints as JSON.

    player-monitor --experimental-dump-help | packaging/man-pages.py FOLDER VERSION

One page describes the program and lists its commands; each command has a page, PROGRAM-COMMAND(1), with its subcommands as sections.
The date of the pages is SOURCE_DATE_EPOCH, or today.
"""
import datetime
import json
import os
import sys

SYNOPSIS_WIDTH = 12


def escaped(text):
    """Text that roff prints as it is, with the hyphens of options as ASCII, so that they can be copied."""
    special = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti", "\u00a0": "\\~"}
    out = "".join(special.get(c) or (c if c.isascii() else f"\\[u{ord(c):04X}]") for c in text)
    return "\\&" + out if out.startswith(".") else out


def prose(text):
    """Paragraphs of a help text. Indented lines are examples and tables: they keep their lines."""
    out, literal = [], False
    for line in text.strip("\n").split("\n"):
        if line.startswith("  ") and line.strip():
            if not literal:
                out += [".PP", ".nf", ".RS 4"]
                literal = True
            out.append(escaped(line.removeprefix("  ")))
            continue
        if literal:
            out += [".RE", ".fi"]
            literal = False
            if line.strip():
                out.append(".PP")
        if line.strip():
            out.append(escaped(line.strip()))
        elif out and out[-1] != ".PP":
            out.append(".PP")
    if literal:
        out += [".RE", ".fi"]
    while out and out[-1] == ".PP":
        out.pop()
    return out


def spelled(name):
    return ("--" if name["kind"] == "long" else "-") + name["name"]


def value(argument):
    return escaped("<" + argument.get("valueName", "value") + ">")


def usage(argument):
    """The part of the synopsis that stands for one argument."""
    if argument["kind"] == "positional":
        text = value(argument)
    else:
        text = f"\\fB{escaped(spelled(argument['preferredName']))}\\fP"
        if argument["kind"] == "option":
            text += f" {value(argument)}"
    if argument["isRepeating"]:
        text += " ..."
    return f"[{text}]" if argument["isOptional"] else text


def entry(argument):
    """An argument in a list: its names, its meaning, its values and default."""
    if argument["kind"] == "positional":
        head = value(argument)
    else:
        names = sorted(argument["names"], key=lambda name: name["kind"] == "long")
        head = ", ".join(f"\\fB{escaped(spelled(name))}\\fP" for name in names)
        if argument["kind"] == "option":
            head += f" {value(argument)}"
    out = [".TP", head]
    body = argument.get("abstract", "").strip()
    if argument.get("allValues") and argument["kind"] != "flag":
        body += f" (values: {', '.join(argument['allValues'])})"
    if argument.get("defaultValue") and argument["kind"] == "option":
        body += f" (default: {argument['defaultValue']})"
    out.append(escaped(body.strip()) or "\\&")
    if argument.get("discussion"):
        out += [".IP", *prose(argument["discussion"])]
    return out


def shown(items):
    return [item for item in items or [] if item.get("shouldDisplay", True)]


class Manual:
    def __init__(self, folder, version):
        self.folder, self.version = folder, version
        moment = int(os.environ.get("SOURCE_DATE_EPOCH") or datetime.datetime.now().timestamp())
        self.date = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).date().isoformat()

    def write(self, tool):
        program = tool["commandName"]
        commands = [c for c in shown(tool.get("subcommands")) if c["commandName"] != "help"]
        lines = self.described(tool, program, commands, of_commands=True)
        pages = [f"{program}-{c['commandName']}" for c in commands]
        if pages:
            lines += [".SH COMMANDS"]
            for command, page in zip(commands, pages):
                lines += [".TP", f"\\fB{escaped(command['commandName'])}\\fP"]
                lines += [f"{escaped(command.get('abstract', ''))} See \\fB{escaped(page)}\\fP(1)."]
            for command, page in zip(commands, pages):
                self.page(page, command, self.described(command, f"{program} {command['commandName']}"), [program])
        self.page(program, tool, lines, pages)

    def described(self, command, words, subcommands=None, of_commands=False):
        """Synopsis, description, arguments; the subcommands follow as sections unless they have pages."""
        if subcommands is None:
            subcommands = [c for c in shown(command.get("subcommands")) if c["commandName"] != "help"]
        arguments = shown(command.get("arguments"))
        out = [".SH SYNOPSIS", *self.synopsis(words, command, subcommands)]
        if command.get("discussion"):
            out += [".SH DESCRIPTION", *prose(command["discussion"])]
        for title, kinds in (("ARGUMENTS", ["positional"]), ("OPTIONS", ["option", "flag"])):
            listed = [a for a in arguments if a["kind"] in kinds]
            if listed:
                out.append(f".SH {title}")
                section = None
                for argument in listed:
                    if argument.get("sectionTitle") != section:
                        section = argument.get("sectionTitle")
                        out += [f".SS {escaped(section)}"] if section else []
                    out += entry(argument)
        if not of_commands:
            for subcommand in subcommands:
                out += self.section(f"{words} {subcommand['commandName']}", subcommand)
        return out

    def section(self, words, command):
        """A subcommand within the page of its command."""
        out = [f".SH {escaped(words.upper())}", escaped(command.get("abstract", ""))]
        out += [".PP", *self.synopsis(words, command, command.get("subcommands"))]
        if command.get("discussion"):
            out += [".PP", *prose(command["discussion"])]
        for argument in shown(command.get("arguments")):
            out += entry(argument)
        for subcommand in shown(command.get("subcommands")):
            if subcommand["commandName"] != "help":
                out += self.section(f"{words} {subcommand['commandName']}", subcommand)
        return out

    def synopsis(self, words, command, subcommands):
        arguments = shown(command.get("arguments"))
        out = [".nh", ".ad l", f"\\fB{escaped(words)}\\fP"]
        if len([a for a in arguments if a["kind"] != "positional"]) > SYNOPSIS_WIDTH:
            out.append("[\\fIoptions\\fP]")
            arguments = [a for a in arguments if a["kind"] == "positional" or not a["isOptional"]]
        out += [usage(a) for a in arguments]
        if subcommands:
            out.append("\\fIcommand\\fP [\\fIarguments\\fP]")
        return out + [".ad b", ".hy"]

    def page(self, name, command, lines, related):
        abstract = command.get("abstract", "").strip().rstrip(".")
        head = [
            f'.TH "{escaped(name.upper())}" 1 {self.date} "{escaped("Instrument " + self.version)}" "User Commands"',
            ".SH NAME",
            f"{escaped(name)} \\- {escaped(abstract[:1].lower() + abstract[1:])}",
        ]
        tail = []
        if related:
            tail = [".SH SEE ALSO", *[f"\\fB{escaped(page)}\\fP(1)," for page in related]]
            tail[-1] = tail[-1].removesuffix(",")
        with open(os.path.join(self.folder, f"{name}.1"), "w", encoding="ascii") as file:
            file.write("\n".join(head + lines + tail) + "\n")


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: PROGRAM --experimental-dump-help | man-pages.py FOLDER VERSION")
    try:
        tool = json.load(sys.stdin)
    except ValueError as error:
        sys.exit(f"man-pages: standard input must be the JSON of --experimental-dump-help ({error})")
    if tool.get("serializationVersion") != 0:
        sys.exit(f"man-pages: the description has version {tool.get('serializationVersion')}, expected 0")
    Manual(sys.argv[1], sys.argv[2]).write(tool["command"])


if __name__ == "__main__":
    main()
