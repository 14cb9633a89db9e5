"""What the runners in Python share: test servers, and a report of one line for each test."""
import base64
import functools
import re
import socket
import unittest

import fetch1738_testserver

has_ipv6 = True
try:
    socket.create_server(("::1", 0), family=socket.AF_INET6).close()
except OSError:
    has_ipv6 = False


@functools.lru_cache(None)
def on_ipv6():
    """Returns a program whose servers listen on ::1."""
    return fetch1738_testserver.Control(None, "--control", "[::1]:0", "--public")


def start(protocol, ipv6=False, **settings):
    control = on_ipv6() if ipv6 else fetch1738_testserver.shared()
    return control.start(protocol, **settings)


def close(server):
    server.clear()  # the tests of others need not reach every fault
    server.close()


def sent(server):
    """Returns the lines that clients have sent to a server."""
    lines = server.control.send("GET", f"/v1/servers/{server.id}/transcript")["lines"]
    return [base64.b64decode(line["octets"]) for line in lines if line["from"] == "client"]


class Report(unittest.TestResult):
    """Prints "ok NAME", "FAIL NAME" or "skip NAME: why" for each test."""

    def _line(self, word, test, rest=""):
        print(word, ".".join(test.id().split(".")[-2:]) + rest, flush=True)

    def addSuccess(self, test): self._line("ok", test)
    def addSkip(self, test, reason): self._line("skip", test, ": " + reason)

    def addFailure(self, test, err):
        self._line("FAIL", test)
        print(self._exc_info_to_string(err, test), flush=True)

    addError = addFailure

    def addSubTest(self, test, subtest, err):
        if err:
            self.addFailure(test, err)


def run(module, classes, skipped):
    """Runs the tests of classes. A key of skipped is the end of a name, its value says why."""
    for name in classes:
        for test in unittest.defaultTestLoader.loadTestsFromTestCase(getattr(module, name)):
            why = [reason for end, reason in skipped.items() if re.search(end + "$", test.id())]
            if why:
                setattr(test, test._testMethodName, unittest.skip(why[0])(lambda: None))
            unittest.TestSuite([test]).run(Report())
