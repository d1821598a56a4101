import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type ServerProcess, startServerProcess } from '../../scripts/server-process.ts';
import { basic } from '../support/start-api.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { chunkBytes, digestOf, digestOfFile, fileForm, noise } from './upload-fixture.ts';

async function kill(server: ServerProcess): Promise<void> {
  server.child.kill('SIGKILL');
  await server.exited;
}

async function call(
  server: ServerProcess,
  method: string,
  path: string,
  body?: FormData | string,
  range?: string,
) {
  const answer = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: {
      authorization: basic(server.productionKey),
      ...(range === undefined ? {} : { 'content-range': range }),
    },
    body,
  });
  return { status: answer.status, json: JSON.parse(await answer.text()) };
}

test('an upload goes on after the server was killed, between two chunks and while they are joined', async () => {
  const dataDir = await testTempDir();
  const start = async () => {
    const server = await startServerProcess({ dataDir });
    onTestFinished(() => void server.child.kill('SIGKILL'));
    return server;
  };
  const pieces = [noise(2 * chunkBytes), noise(6 * chunkBytes), noise(6 * chunkBytes), noise(1_000)];
  const whole = Buffer.concat(pieces);
  let server = await start();
  const { videoId } = (await call(server, 'POST', '/videos', JSON.stringify({ title: 'Long' }))).json;
  const path = `/videos/${videoId}/source`;
  const send = (index: number) =>
    call(server, 'POST', path, fileForm(pieces[index]!), `part ${index + 1}/${pieces.length}`);
  const ingest = async () => (await call(server, 'GET', `/videos/${videoId}/status`)).json.ingest;

  expect((await send(0)).status).toBe(201);
  // Stops in the middle of a chunk.
  const lost = send(2).catch(() => undefined);
  const isStored = () => existsSync(join(dataDir, 'uploads', videoId, '3'));
  await waitUntil(() => readdirSync(join(dataDir, 'incoming')).length > 0 || isStored(), { everyMs: 1 });
  await kill(server);
  await lost;

  server = await start();
  const { receivedParts } = await ingest();
  expect(receivedParts.total).toBe(4);
  expect(receivedParts.parts).toContain(1);
  for (const index of [0, 3, 1]) expect((await send(index)).status).toBe(201);
  expect((await send(2)).status).toBe(201);
  await kill(server);

  server = await start();
  expect((await ingest()).status).toBe('uploaded');
  await waitUntil(() => existsSync(join(dataDir, 'vod', videoId, 'source')));
  expect(await digestOfFile(join(dataDir, 'vod', videoId, 'source'))).toBe(digestOf(whole));
  expect((await ingest()).filesize).toBe(whole.length);
  await waitUntil(() => !existsSync(join(dataDir, 'uploads', videoId)));
  await server.stop();
});

test('an upload of which all pieces were acknowledged survives any number of crashes while they are joined', async () => {
  const dataDir = await testTempDir();
  const start = async () => {
    const server = await startServerProcess({ dataDir });
    onTestFinished(() => void server.child.kill('SIGKILL'));
    return server;
  };
  const pieces = [noise(chunkBytes), noise(chunkBytes), noise(1_000)];
  let server = await start();
  const { videoId } = (await call(server, 'POST', '/videos', JSON.stringify({ title: 'Long' }))).json;
  const send = (index: number) =>
    call(server, 'POST', `/videos/${videoId}/source`, fileForm(pieces[index]!), `part ${index + 1}/3`);
  for (const index of [0, 1]) expect((await send(index)).status).toBe(201);
  // Joining waits for a pipe that nobody writes to.
  const second = join(dataDir, 'uploads', videoId, '2');
  renameSync(second, `${second}.aside`);
  execFileSync('mkfifo', [second]);
  expect((await send(2)).status).toBe(201);
  const partial = join(dataDir, 'vod', videoId, 'source.partial');
  for (let crash = 0; crash < 4; crash += 1) {
    await waitUntil(() => existsSync(partial));
    await kill(server);
    rmSync(partial);
    if (crash === 3) {
      rmSync(second);
      renameSync(`${second}.aside`, second);
    }
    server = await start();
    expect((await call(server, 'GET', `/videos/${videoId}/status`)).json.ingest.status).toBe('uploaded');
  }
  const source = join(dataDir, 'vod', videoId, 'source');
  await waitUntil(() => existsSync(source));
  expect(await digestOfFile(source)).toBe(digestOf(Buffer.concat(pieces)));
  await server.stop();
});
