"""Runs curl's tests of gopher (testdata/curl, as in its repository) with the installed curl and
test servers of this project. A file has what the server sends, the arguments, and what curl must
send."""
import os
import re
import subprocess
import sys

import runner


def part(text, name):
    """Returns an element, or None; curl's format is no XML."""
    found = re.search(rf"^<{name}([^>]*)>\n(.*?)^</{name}>", text, re.M | re.S)
    return found and (found[2].replace("\n", "\r\n") if 'crlf="yes"' in found[1] else found[2])


def run(number, text):
    """Returns the difference of what curl must do and what it has done, or None."""
    text = text.replace("%TESTNUMBER", number)
    kind = part(text, "server").strip()
    answer = part(text, "data")
    server = runner.start(
        "gopher", ipv6="ipv6" in kind, tls="implicit" if kind == "gophers" else "none",
        faults=[{"stage": "REQUEST", "n": 1, "faults": [{"fault": "Data", "text": answer}]}])
    command = part(text, "command").strip()
    for name in ("GOPHER6PORT", "GOPHERSPORT", "GOPHERPORT"):
        command = command.replace("%" + name, str(server.port))
    command = command.replace("%HOSTIP", "127.0.0.1").replace("%HOST6IP", "[::1]").replace('"', "")
    curl = subprocess.run(["curl", "--disable", "--silent", "--insecure", *command.split()],
                          stdout=subprocess.PIPE, timeout=60)
    asked = b"".join(runner.sent(server)).decode()
    server.close()
    must = (0, part(text, "stdout") or answer, part(text, "protocol"))
    did = (curl.returncode, curl.stdout.decode(), asked)
    return None if did == must else f"{did}\nnot\n{must}"


if __name__ == "__main__":
    folder = sys.argv[1]
    for name in sorted(os.listdir(folder)):
        if not name.startswith("test"):
            continue
        with open(os.path.join(folder, name)) as file:
            text = file.read()
        title = f"{name} {part(text, 'name').strip()}"
        if "IPv6" in text and not runner.has_ipv6:
            print(f"skip {title}: no IPv6")
            continue
        wrong = run(name.removeprefix("test"), text)
        print(f"FAIL {title}\n{wrong}" if wrong else f"ok {title}", flush=True)
