import { expect, onTestFinished, test } from 'vitest';
import { startServerProcess } from '../../scripts/server-process.ts';
import { basic } from '../support/start-api.ts';
import { testTempDir } from '../support/temp-dir.ts';

test('exactly the changes that were made are in the audit log, after the server was killed', async () => {
  const dataDir = await testTempDir();
  const start = async () => {
    const server = await startServerProcess({ dataDir });
    onTestFinished(() => void server.child.kill('SIGKILL'));
    const call = async (method: string, path: string, body?: object) => {
      const headers = { authorization: basic(server.productionKey) };
      const answer = await fetch(`${server.baseUrl}${path}`, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      return JSON.parse(await answer.text());
    };
    return { server, call };
  };
  const { server, call } = await start();
  const created: string[] = [];
  const create = async () => {
    for (;;) created.push((await call('POST', '/videos', { title: 'Film' })).videoId);
  };
  const callers = Array.from({ length: 8 }, () => create().catch(() => undefined));
  while (created.length < 60) await new Promise(resolve => setImmediate(resolve));
  server.child.kill('SIGKILL');
  await Promise.all([server.exited, ...callers]);

  const again = await start();
  const all = async (path: string) => {
    const items = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const list = await again.call('GET', `${path}pageSize=100&currentPage=${page}`);
      pages = list.pagination.pagesTotal;
      items.push(...list.data);
    }
    return items;
  };
  const entries = await all('/account/audit-log?action=video.create&');
  const recorded = entries.map(({ target }: { target: { id: string } }) => target.id);
  const videos = (await all('/videos?')).map(({ videoId }: { videoId: string }) => videoId);
  expect(recorded.toSorted()).toEqual(videos.toSorted());
  expect(created.filter(videoId => !videos.includes(videoId))).toEqual([]);
  await again.server.stop();
});
