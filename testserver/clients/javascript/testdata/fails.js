// A test that fails; interop runs it, and looks for the transcript in what is printed.
import { PassThrough } from 'node:stream';
import test from 'node:test';
import { Client } from 'basic-ftp';
import { withServers } from 'fetch1738-testserver';

test('fails', withServers(async (start, t) => {
  const server = await start('ftp');
  await server.arm('RETR', 1, { fault: 'Reply', text: '550 gone' });
  const client = new Client();
  t.after(() => client.close());
  await client.access(server);
  await client.downloadTo(new PassThrough(), 'pub/motd.txt');
}));
