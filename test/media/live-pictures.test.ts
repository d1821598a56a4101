import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { avcParameterSets, joinWithLengths, splitLengths } from '../../src/media/codecs/nal-units.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';

const seconds = 4;
const headerBytes = 5;
let server: TestServer;

beforeAll(async () => {
  server = await startServer({ 'live.segmentTarget': '1s' });
});

afterAll(async () => {
  await server?.stop();
});

async function played(sent: readonly FlvTag[]): Promise<StreamMonitor> {
  const stream = await server.createStream();
  const client = await RtmpClient.connect({ port: server.app.rtmpPort });
  expect((await client.publish(stream.streamKey)).code).toBe('NetStream.Publish.Start');
  const watching = StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
  await replay(client, sent, { speed: 4 });
  await client.close();
  await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
  const watch = await watching;
  await watch.untilEnd();
  expect(await watch.brokenRules()).toEqual([]);
  return watch;
}

const isPicture = (tag: FlvTag) => tag.kind === 'video' && tag.body[1] === 1;
const unitsOf = (tag: FlvTag) => splitLengths(tag.body.subarray(headerBytes), 4);
const withUnits = (tag: FlvTag, units: readonly Buffer[]): FlvTag => ({
  ...tag,
  body: Buffer.concat([tag.body.subarray(0, headerBytes), joinWithLengths(units)]),
});

/** The parameter sets of a recording. */
function setsOf(tags: readonly FlvTag[]): readonly Buffer[] {
  const config = tags.find(tag => tag.kind === 'video' && tag.body[1] === 0)!;
  return avcParameterSets(config.body.subarray(headerBytes))!.units;
}

describe.concurrent('an encoder whose picture changes its size', () => {
  test('with new parameter sets inside of keyframes only: viewers get both sizes', async () => {
    const [wide, high] = await Promise.all([
      recordTags({ seconds, size: '160x90' }),
      recordTags({ seconds, size: '90x160' }),
    ]);
    const sets = setsOf(high);
    const isKeyframe = (tag: FlvTag) => isPicture(tag) && tag.body[0] === 0x17;
    const later = high
      .filter(tag => tag.kind !== 'script' && tag.body[1] === 1)
      .map(tag => ({ ...tag, timestampMs: tag.timestampMs + seconds * 1000 }))
      .map(tag => (isKeyframe(tag) ? withUnits(tag, [...sets, ...unitsOf(tag)]) : tag));
    const watch = await played([...wide, ...later]);
    expect(watch.inits.size).toBe(2);
    const sizes = (await Promise.all(watch.inits.values())).map(visualSize);
    expect(sizes).toEqual(['160x90', '90x160']);
    expect(await watch.samples('video')).toHaveLength(2 * seconds * 25);
  });
});

describe.concurrent('an encoder that sends each NAL unit in a message of its own', () => {
  test.each([
    ['slices', ['-x264-params', 'slices=4:sliced-threads=0']],
    ['slices with B-frames', ['-tune', 'film', '-bf', '2', '-x264-params', 'slices=3:sliced-threads=0']],
    ['parameter sets and SEI', ['-x264-params', 'repeat-headers=1:aud=1']],
  ])('%s: all pictures are whole', async (_, extraArgs) => {
    const tags = await recordTags({ seconds, extraArgs });
    const sent = tags.flatMap(tag =>
      isPicture(tag) ? unitsOf(tag).map(unit => withUnits(tag, [unit])) : [tag],
    );
    const pictures = tags.filter(isPicture);
    expect(sent.filter(isPicture).length).toBeGreaterThan(pictures.length);
    const watch = await played(sent);
    const samples = await watch.samples('video');
    expect(samples.map(({ data }) => data)).toEqual(pictures.map(({ body }) => body.subarray(headerBytes)));
  });
});

/** Reads the size in the sample entry of an init section. */
function visualSize(init: Buffer): string {
  const at = init.indexOf('avc1', init.indexOf('stsd')) + 4;
  return `${init.readUInt16BE(at + 24)}x${init.readUInt16BE(at + 26)}`;
}
