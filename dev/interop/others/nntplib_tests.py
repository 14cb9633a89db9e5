"""Runs the tests of Python's nntplib, as Debian installs them, with test servers of this project in
the place of the news servers on the Internet and of the one that the tests imitate."""
import base64
import functools
import inspect
import io
import socket

from test import support, test_nntplib as theirs

import runner


# What an article must have (RFC 5536 §3.1), and those of the tests lack.
NEWSGROUPS = b"Newsgroups: local.test\r\n"


def fault(name, octets):
    return {"fault": name, "octets": base64.b64encode(octets).decode()}


class File(io.RawIOBase):
    """Stands for the pair of files between client and server. Before a command is sent, the handler
    of the test says what the reply is, and the server is told to send that."""

    def __init__(self, handler):
        self.handler, self.lines, self.said = handler, [], b""
        handler.start(lambda: self.lines.pop(0) if self.lines else b"", self.push)
        self.server = runner.start("nntp", settings={"greeting": self.said.decode().strip()},
                                   files={"local.test/1": "From: a@example.test\r\n\r\n"})
        self.socket = socket.create_connection((self.server.host, self.server.port), 10)
        self.file = self.socket.makefile("rwb")

    def push(self, data):
        self.said += data

    def write(self, data):
        for line in bytes(data).splitlines(keepends=True):
            self.lines.append(line)
            self.said = b""
            self.handler.process_pending()
            if self.said:
                self.arm("END" if line == b".\r\n" else line.split()[0].decode())
            self.file.write(line)
            if line == b"POST\r\n" and self.handler.in_body:
                self.file.write(NEWSGROUPS)
        return len(data)

    def arm(self, stage):
        reply, block = self.said.rstrip(b"\r\n").replace(b"\r\n", b"\n"), b""
        if stage in ("LIST", "NEWNEWS"):  # the server carries them out, and so sends a block
            reply, _, block = reply.partition(b"\n")
            self.server.arm(stage, 1, fault("Data", block.replace(b"\n", b"\r\n") + b"\r\n"))
        self.server.arm(stage, 1, fault("Reply", reply))

    def readline(self, limit=-1):
        line = self.file.readline(limit)
        if line.startswith(b"240 "):  # the test compares what the server has received
            path = f"/v1/servers/{self.server.id}/articles"
            articles = self.server.control.send("GET", path)["articles"]
            article = base64.b64decode(articles[-1]["octets"]).removeprefix(NEWSGROUPS)
            self.handler.posted_body = [b"." + l if l.startswith(b".") else l
                                        for l in article.splitlines(keepends=True)] + [b".\r\n"]
        return line

    def flush(self):
        if not self.closed:
            self.file.flush()

    def close(self):
        if not self.closed:
            super().close()
            self.file.close()
            self.socket.close()
            runner.close(self.server)


def files(handler):
    file = File(handler)
    return file, file


def on_the_internet(tests, make, tls):
    """Makes the tests of a server on the Internet connect to one of ours."""
    group = tests.GROUP_NAME
    article = "From: a@example.test\r\nNewsgroups: {0}\r\nSubject: {1}\r\nMessage-ID: <{1}@example.test>\r\n\r\ntext\r\n"
    server = runner.start("nntp", tls=tls, files={f"{group}/{n}": article.format(group, n) for n in range(1, 13)},
                    settings={"descriptions": {group: tests.DESC}})
    tests.NNTP_HOST, tests.NNTP_CLASS = server.host, functools.partial(make, port=server.port)


def local_set_up(test):
    server = runner.start("nntp", tls="explicit")
    test.nntp = test.enterContext(theirs.NNTP(server.host, server.port, usenetrc=False))


skipped = {"test_ihave": "the test server has no IHAVE, by which servers exchange articles"}
# The other classes have no server.
classes = ["NetworkedNNTPTests", "NetworkedNNTP_SSLTests", "NNTPv1Tests", "NNTPv2Tests", "CapsAfterLoginNNTPv2Tests",
           "SendReaderNNTPv2Tests", "MockSocketTests", "MockSslTests", "LocalServerTests"]

if __name__ == "__main__":
    support.use_resources = ["network"]
    theirs.make_mock_file = files
    theirs.LocalServerTests.setUp = local_set_up
    for name in ("test_article_head_body", "test_over"):  # skipped for what news servers do, not nntplib
        tests = theirs.NetworkedNNTPTestsMixin
        setattr(tests, name, inspect.unwrap(getattr(tests, name)))
    on_the_internet(theirs.NetworkedNNTPTests, theirs.NNTP, "none")
    on_the_internet(theirs.NetworkedNNTP_SSLTests, theirs.nntplib.NNTP_SSL, "implicit")
    runner.run(theirs, classes, skipped)
