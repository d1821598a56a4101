import { spawn } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import { startReceiver } from '../service/webhook-fixture.ts';
import { ffmpegPath } from '../support/ffmpeg.ts';
import { hasSrtFfmpeg } from '../support/srt-ingest.ts';
import { startServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';

test.skipIf(!hasSrtFfmpeg)('a publish hook is left when the encoder of SRT leaves', async () => {
  await using server = await startServer({ allowPrivateTargets: 'true' });
  const receiver = await startReceiver();
  const closed = Promise.withResolvers<void>();
  receiver.answer = (_, response) => response.once('close', closed.resolve);
  await server.api('PUT', '/hooks/publish', { url: receiver.url, timeoutSeconds: 10 });
  const { liveStreamId, streamKey } = await server.createStream();
  const url = `srt://127.0.0.1:${server.app.srtPort}?streamid=${streamKey}`;
  const encoder = spawn(ffmpegPath, [
    ...['-v', 'error', '-re', '-f', 'lavfi', '-i', 'testsrc=size=160x120:rate=15'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '15', '-f', 'mpegts', url],
  ]);
  onTestFinished(() => void encoder.kill('SIGKILL'));
  await waitUntil(() => receiver.hooks.length === 1, { what: 'a question to the hook' });
  expect(receiver.hooks[0]!.json).toMatchObject({ protocol: 'srt', liveStreamId });
  encoder.kill('SIGTERM');
  await closed.promise;
  const hook = (await (await server.api('GET', '/hooks/publish')).json()) as { results: unknown[] };
  expect(hook.results).toEqual([]);
});
