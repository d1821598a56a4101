import { describe, expect, it } from 'vitest';
import { formWith } from '../support/images.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';

const text = Buffer.from(`WEBVTT\n\nNOTE ${'x'.repeat(3_000)}\n`);

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into.
type Json = any;

async function ask(
  server: TestServer,
  method: string,
  path: string,
  body?: unknown,
  key?: string,
): Promise<Json> {
  const user = key ?? server.productionKey;
  const response = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: { authorization: `Basic ${Buffer.from(`${user}:`).toString('base64')}` },
    body: body === undefined ? undefined : body instanceof FormData ? body : JSON.stringify(body),
  });
  return response.json();
}

describe('the usage of a running server', () => {
  it('has what viewers of a project were sent, and keeps it over a restart', async () => {
    const dataDir = await testTempDir();
    const first = await startServer({}, { dataDir });
    const { videoId } = await ask(first, 'POST', '/videos', { title: 'Pier' });
    const form = formWith(['file', text, 'a.vtt']);
    await ask(first, 'POST', `/videos/${videoId}/captions/en`, form);
    const { liveStreamId } = await ask(first, 'POST', '/live-streams', { name: 'Pier' });
    const path = `${first.baseUrl}/vod/${videoId}/captions/en.vtt`;
    expect((await (await fetch(path)).arrayBuffer()).byteLength).toBe(text.length);
    await (await fetch(path, { headers: { range: 'bytes=0-99' } })).arrayBuffer();
    await fetch(path, { method: 'HEAD' });
    const state = await (await fetch(`${first.baseUrl}/live/${liveStreamId}/state`)).text();
    await (await fetch(`${first.baseUrl}/live/liUnknown000000000000000`)).text();
    const sent = { liveBytes: state.length, videoBytes: text.length + 100 };
    const usage = await ask(first, 'GET', '/usage');
    expect(usage.bandwidth.days.at(-1)).toMatchObject(sent);
    expect([usage.environment, usage.videos, usage.liveStreams]).toEqual(['production', 1, 1]);
    const other = await ask(first, 'GET', '/usage', undefined, first.sandboxKey);
    expect(other.bandwidth.last30DaysBytes).toBe(0);
    await first.stop();

    const second = await startServer({}, { dataDir });
    const again = await ask(second, 'GET', '/usage');
    await second.stop();
    expect(again.bandwidth).toEqual(usage.bandwidth);
  });
});
