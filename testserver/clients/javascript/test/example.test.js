import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import test from 'node:test';
import { Client } from 'basic-ftp';
import { withServers } from 'fetch1738-testserver';

test('download', withServers(async (start) => {
  const server = await start('ftp', { files: { 'pub/motd.txt': 'hello\n' } });
  const client = new Client();
  await client.access(server);
  const received = new PassThrough();
  await client.downloadTo(received, 'pub/motd.txt');
  assert.equal(String(await buffer(received)), 'hello\n');
  client.close();
}));

test('missing', withServers(async (start) => {
  const server = await start('ftp');
  await server.arm('RETR', 1, { fault: 'Reply', text: '550 gone' });
  const client = new Client();
  await client.access(server);
  await assert.rejects(client.downloadTo(new PassThrough(), 'pub/motd.txt'), /550 gone/);
  client.close();
}));

test('upload', withServers(async (start) => {
  const server = await start('ftp');
  const client = new Client();
  await client.access(server);
  await client.uploadFrom(Readable.from(['done\n']), 'report.txt');
  assert.deepEqual(await server.uploads(), { 'report.txt': Buffer.from('done\n') });
  client.close();
}));
