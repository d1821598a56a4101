import { expect, test } from 'vitest';
import { ffmpegsOf } from '../support/processes.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { waitUntil } from '../support/wait-until.ts';

const seconds = 7;
const framesPerSecond = 25;
/** Maximum silence until the video is a second ahead. */
const maxMissingSeconds = 1.5;

test('an audio encoder that hangs does not hold up the video, and viewers get silence', async () => {
  await using server = await startServer();
  const tags = await recordTags({ seconds, extraArgs: ['-c:a', 'libmp3lame', '-ar', '44100'] });
  const stream = await server.createStream();
  const client = await RtmpClient.connect({ port: server.app.rtmpPort });
  await client.publish(stream.streamKey);
  const sent = replay(client, tags);
  const watches = await StreamMonitor.beginAll(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
  process.kill(await waitUntil(audioEncoder, { what: 'the audio encoder' }), 'SIGSTOP');
  await sent;
  await client.close();
  await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
  for (const [name, watch] of watches) {
    await watch.untilEnd();
    expect(await watch.brokenRules(), name).toEqual([]);
  }
  expect(await watches.get('source')!.samples('video')).toHaveLength(seconds * framesPerSecond);
  const audio = await watches.get('audio')!.samples('audio');
  const audioSeconds = audio.reduce((sum, { durationTicks }) => sum + durationTicks, 0) / 48_000;
  expect(audioSeconds).toBeGreaterThan(seconds - maxMissingSeconds);
});

/** Process id of the audio encoder. */
function audioEncoder(): number | undefined {
  const found = ffmpegsOf(process.pid).find(({ args }) => args.join(' ').includes('channel_layouts=stereo'));
  return found?.pid;
}
