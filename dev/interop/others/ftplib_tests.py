"""Runs the tests of Python's ftplib, as Debian installs them, with a test server of this project in
the place of the server that they have."""
import base64
import ftplib

from test import test_ftplib as theirs

import runner


def octets(text, encoding):
    return {"octets": base64.b64encode(text.encode(encoding)).decode()}


class Handler:
    """What the tests ask the connection of their server, and tell it."""

    fake_pasv_server_ip = "252.253.254.255"

    def __init__(self, server, encoding):
        self._server, self._encoding = server, encoding

    def _words(self):
        return [line.decode(self._encoding, "replace").rstrip("\r\n").partition(" ")
                for line in runner.sent(self._server)]

    @property
    def last_received_cmd(self):
        return self._words()[-1][0].lower()

    @property
    def rest(self):
        return [arg for verb, _, arg in self._words() if verb == "REST"][-1]

    @property
    def last_received_data(self):
        data = self._server.get("file").decode(self._encoding)
        types = [arg for verb, _, arg in self._words() if verb == "TYPE"]
        return data.replace("\n", "\r\n") if types[-1] == "A" else data

    def _reply(self, text):
        for verb in ("RNFR", "DELE", "QUIT"):
            self._server.arm(verb, 1, {"fault": "Reply", "text": text})

    def _data(self, text):
        self._server.arm("MLSD", 1, {"fault": "Data", **octets(text, self._encoding)})

    next_response = property(fset=_reply)
    next_data = property(fset=_data)


class FTPServer:
    tls = "none"

    def __init__(self, address, af=theirs.socket.AF_INET, encoding=theirs.DEFAULT_ENCODING):
        self.address, self.encoding = address, encoding

    def start(self):
        retr = octets(theirs.RETR_DATA, self.encoding)
        listings = {"LIST": theirs.LIST_DATA, "NLST": theirs.NLST_DATA, "MLSD": theirs.MLSD_DATA}
        self.server = runner.start(
            "ftp", ipv6=":" in self.address[0], tls=self.tls,
            files={name: retr for name in ("file", "foo", "a")},
            faults=[{"stage": verb, "faults": [{"fault": "Data", **octets(data, self.encoding)}]}
                    for verb, data in listings.items()],
            settings={
                "greeting": "220 welcome", "passiveHost": Handler.fake_pasv_server_ip,
                "replies": {"226": "226 transfer complete", "CWD": "250 cwd ok", "PWD": '257 "pwd ok"',
                            "MKD": '257 "{arg}"', "RMD": "250 rmd ok", "QUIT 221": "221 quit ok",
                            "ECHO 500": "{arg}", "SETLONGRETR 500": "125 ok"}})
        self.host, self.port = self.server.host, self.server.port
        self.handler_instance = Handler(self.server, self.encoding)
        FTPServer.running = self

    def stop(self):
        runner.close(self.server)


class TLSServer(FTPServer):
    tls = "explicit"


def connect(client, *args, _connect=ftplib.FTP.connect, **options):
    """Logs in, which the tests omit: their server answers everybody."""
    welcome = _connect(client, *args, **options)
    ftplib.FTP.login(client)
    return welcome


def putcmd(client, line, _putcmd=ftplib.FTP.putcmd):
    """Adds the pathname that RFC 959 requires, which the tests omit."""
    if line in ("retr", "stor"):
        line += " file"
    elif line.startswith("SETLONGRETR "):
        data = {"fault": "Data", "text": "x" * int(line.split()[1])}
        FTPServer.running.server.arm("RETR", 1, data)
    _putcmd(client, line)


skipped = {
    "TestTLS_FTPClass.test_data_connection": "sends PBSZ before AUTH, which RFC 2228 §3 forbids (503)",
}

# The other classes have a server of their own, or none.
classes = ["TestFTPClass", "TestTLS_FTPClassMixin", "TestTLS_FTPClass", "TestIPv6Environment"]

if __name__ == "__main__":
    ftplib.FTP.connect, ftplib.FTP.putcmd = connect, putcmd
    theirs.DummyFTPServer, theirs.DummyTLS_FTPServer = FTPServer, TLSServer
    runner.run(theirs, classes, skipped)
