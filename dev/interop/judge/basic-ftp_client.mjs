// A client with basic-ftp of npm: TASK URL TARGET [CA]. With CA, an ftp URL demands AUTH TLS.
import { readFileSync, statSync } from 'node:fs';
import { Client } from '../others/node_modules/basic-ftp/dist/index.js';

const [task, address, target, ca] = process.argv.slice(2);
const url = new URL(address);
const path = decodeURIComponent(url.pathname.slice(1));
const client = new Client(5000);
try {
  await client.access({
    host: url.hostname,
    port: Number(url.port),
    user: decodeURIComponent(url.username) || undefined,
    password: decodeURIComponent(url.password) || undefined,
    secure: url.protocol === 'ftps:' ? 'implicit' : Boolean(ca),
    secureOptions: ca ? { ca: readFileSync(ca) } : undefined,
  });
  if (task === 'download') {
    await client.downloadTo(target, path);
  } else if (task === 'resume') {
    await client.downloadTo(target, path, statSync(target).size);
  } else if (task === 'upload') {
    await client.uploadFrom(target, path);
  } else if (task === 'list') {
    for (const file of await client.list(path)) console.log(file.name);
  } else if (task === 'tree') {
    await client.downloadToDir(target, path);
  }
} catch (error) {
  console.error(`basic-ftp: ${error.message}`);
  process.exitCode = 1;
} finally {
  client.close();
}
