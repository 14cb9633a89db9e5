"""Tests that fail; interop runs them, and looks for the transcript in what is printed."""
import ftplib
import unittest

from fetch1738_testserver import ServersMixin


def download(server):
    server.arm("RETR", 1, {"fault": "Reply", "text": "550 gone"})
    with ftplib.FTP() as ftp:
        ftp.connect(server.host, server.port)
        ftp.login()
        ftp.retrbinary("RETR pub/motd.txt", print)


def test_fails(ftp_server):
    download(ftp_server)


class Fails(ServersMixin, unittest.TestCase):
    def test(self):
        download(self.start("ftp"))
