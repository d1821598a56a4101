import { expect, it } from 'vitest';
import { type S3Server, s3Missing, startS3 } from '../support/s3.ts';
import { startServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

if (s3Missing !== undefined) console.log(`Skipped: ${s3Missing}`);

it.skipIf(s3Missing !== undefined)('a server on S3 tells its health and counts its requests', async () => {
  const s3: S3Server = await startS3();
  try {
    await s3.makeBucket('server');
    const dataDir = await testTempDir();
    await using server = await startServer({ 'storage.url': s3.url('server') }, { dataDir });
    const ready = async () => {
      const response = await fetch(`${server.baseUrl}/health/ready`);
      return { status: response.status, text: await response.text() };
    };
    expect(await ready()).toMatchObject({ status: 200, text: expect.stringContaining('"storage"') });

    const created = await server.api('POST', '/videos', { title: 'On S3' });
    const { videoId } = (await created.json()) as { videoId: string };
    const captions = new FormData();
    captions.append('file', new Blob(['WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n']), 'a.vtt');
    const uploaded = await fetch(`${server.baseUrl}/videos/${videoId}/captions/en`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${server.productionKey}:`)}` },
      body: captions,
    });
    expect(uploaded.status).toBe(200);
    const { src } = (await uploaded.json()) as { src: string };
    expect(await (await fetch(src)).text()).toContain('Hello');

    const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
    expect(metrics).toMatch(/^millrace_storage_requests_total\{operation="put",outcome="ok"\} [1-9]/m);
    expect(metrics).toMatch(/^millrace_storage_bytes_total\{direction="written"\} [1-9]/m);
    expect(metrics).toMatch(/^millrace_storage_cache_bytes [1-9]/m);

    await s3.kill();
    const fault = await waitUntil(async () => {
      const answer = await ready();
      return answer.status === 503 && answer;
    });
    expect(fault.text).toContain('storage: storage-unavailable');
    await s3.start();
    await waitUntil(async () => (await ready()).status === 200);
  } finally {
    await s3.stop();
  }
});
