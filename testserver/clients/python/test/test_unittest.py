import unittest
import urllib.request

from fetch1738_testserver import ServersMixin


class Test(ServersMixin, unittest.TestCase):
    def test_download(self):
        server = self.start("http", files={"motd.txt": "hello\n"})
        with urllib.request.urlopen(server.url + "/motd.txt") as response:
            self.assertEqual(response.read(), b"hello\n")
