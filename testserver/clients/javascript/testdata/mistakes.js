// Tests with mistakes; interop runs them, and looks at what is printed about each.
import test from 'node:test';
import { withServers } from 'fetch1738-testserver';

test('protocol', withServers(async (start) => {
  await start('gofer');
}));

test('fault', withServers(async (start) => {
  const server = await start('ftp');
  await server.arm('RETR', 1, { fault: 'Trunkate' });
}));

test('unused fault', withServers(async (start) => {
  const server = await start('ftp');
  await server.arm('RETR', 1, { fault: 'Truncate', n: 2 });
}));

test('port', withServers(async (start) => {
  const { port } = await start('ftp');
  await start('ftp', { port });
}));
