// A test that does not end; interop kills it, and looks whether the program ends.
import test from 'node:test';
import { withServers } from 'fetch1738-testserver';

test('hangs', withServers(async (start) => {
  const server = await start('ftp');
  console.log(server.url);
  await new Promise((resolve) => setInterval(() => {}, 1000));
}));
