import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parseMediaPlaylist } from '../../../../scripts/parse-media-playlist.ts';
import type { BroadcastRegistry } from '../../../../src/live/broadcast/broadcast-registry.ts';
import { FillerWriter } from '../../../../src/live/packaging/filler-writer.ts';
import { readFragmentLayout } from '../../../../src/media/cmaf/fragment-layout.ts';
import { writeFragment } from '../../../../src/media/cmaf/fragment-writer.ts';
import { silentAacFrame } from '../../../../src/media/codecs/silent-aac-frame.ts';
import { avc, publish, startFakeBroadcasts, videoTag } from '../../../support/fake-broadcasts.ts';
import { audioTrack, videoTrack } from '../../../support/recording-sink.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const signal = new AbortController().signal;

/** A broadcast of a second of video, whose publisher is gone. */
async function lost(reason = 'connection-closed') {
  const fake = startFakeBroadcasts({ usesFillerSegments: true });
  const publisher = await publish(fake.live);
  publisher.send(videoTag(0, avc.config()), videoTag(0, avc.keyframe()));
  await vi.advanceTimersByTimeAsync(1000);
  fake.packagers[0]!.begin();
  fake.packagers[0]!.give(8000, 25);
  const before = await listOf(fake.live);
  publisher.close(reason);
  await vi.advanceTimersByTimeAsync(0);
  return { ...fake, before };
}

async function comeBack({ live, packagers }: Awaited<ReturnType<typeof lost>>, track = videoTrack) {
  const publisher = await publish(live);
  publisher.send(videoTag(0, avc.config()), videoTag(0, avc.keyframe()));
  await vi.advanceTimersByTimeAsync(1000);
  packagers[1]!.begin(track);
  packagers[1]!.give(9020, 50);
  packagers[1]!.give(11_020, 10);
}

async function listOf(live: BroadcastRegistry) {
  const answer = await live.current('li1')!.mediaPlaylist('source', new URLSearchParams(), signal);
  return parseMediaPlaylist(answer.status === 200 ? answer.text.plain.toString() : '');
}

/** Decode times of the video of a segment, in ticks. */
async function timesOf(live: BroadcastRegistry, uri: string) {
  const answer = await live.current('li1')!.media('source', uri, signal);
  if (answer === undefined) throw new Error(`${uri} is not there`);
  const fragments = Buffer.concat(answer.parts as Buffer[]);
  const samples = [];
  for (let at = 0; at < fragments.length; ) {
    const moofBytes = fragments.readUInt32BE(at);
    const bytes = moofBytes + fragments.readUInt32BE(at + moofBytes);
    samples.push(...readFragmentLayout(fragments.subarray(at, at + bytes), [1, 2]).samples);
    at += bytes;
  }
  return samples;
}

/** Fetches all segments, and checks that each starts with a keyframe at the end of the previous one. */
async function expectUnbroken(live: BroadcastRegistry) {
  let end: number | undefined;
  for (const { uri, durationSeconds } of (await listOf(live)).segments) {
    const samples = await timesOf(live, uri);
    expect([uri, samples[0]!.isSync], uri).toEqual([uri, true]);
    expect(samples[0]!.dtsTicks, uri).toBe(end ?? samples[0]!.dtsTicks);
    end = samples.at(-1)!.dtsTicks + samples.at(-1)!.durationTicks;
    expect((end - samples[0]!.dtsTicks) / videoTrack.timescale, uri).toBeCloseTo(durationSeconds, 3);
  }
}

test('a playlist begins with three short segments that can be fetched', async () => {
  const fake = await lost();
  expect(fake.before.segments.map(({ uri }) => uri)).toEqual(['still-1.m4s', 'still-2.m4s', 'still-3.m4s']);
  expect(fake.before.segments.every(({ parts }) => parts.length === 1)).toBe(true);
  // Longer ones would change the frame rate.
  expect(fake.before.segments.map(({ durationSeconds }) => durationSeconds)).toEqual([0.04, 0.04, 0.04]);
  await expectUnbroken(fake.live);
});

describe('a broadcast without its publisher', () => {
  test('lists stills of its last keyframe, without parts or a hint', async () => {
    const { live, before } = await lost();
    const multivariant = () => live.current('li1')!.multivariant()!.plain.toString();
    const declared = multivariant();
    await vi.advanceTimersByTimeAsync(3000);
    expect(multivariant()).toBe(declared);
    const { segments, openParts, preloadHints } = await listOf(live);
    expect(segments.slice(4).map(({ uri }) => uri)).toEqual(['still-5.m4s', 'still-6.m4s', 'still-7.m4s']);
    expect(segments.some(({ gap, parts }) => gap || parts.length > 0)).toBe(false);
    expect([before.preloadHints?.length, openParts, preloadHints]).toEqual([1, undefined, []]);
    await expectUnbroken(live);
  });

  test('responds to requests for the hinted part that it does not come', async () => {
    const { live } = await lost();
    const { uri } = (await listOf(live)).preloadHints![0]!;
    const hinted = live.current('li1')!.media('source', uri, signal);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await hinted).toBeUndefined();
  });

  test('ends with a still that is listed together with the end', async () => {
    const { live } = await lost();
    await vi.advanceTimersByTimeAsync(59_500);
    const before = (await listOf(live)).segments.length;
    await vi.advanceTimersByTimeAsync(600);
    const { segments, endList } = await listOf(live);
    expect([endList, segments.length - before > 0, segments.at(-1)!.uri]).toEqual([
      true,
      true,
      expect.stringMatching(/^still-/),
    ]);
    await expectUnbroken(live);
  });
});

test('a publisher that stopped and starts again continues behind stills that say so, without a discontinuity', async () => {
  const fake = await lost('unpublished');
  await vi.advanceTimersByTimeAsync(3500);
  const stills = (await listOf(fake.live)).segments.slice(4);
  expect(stills.map(({ filler }) => filler)).toEqual(['STOPPED', 'STOPPED', 'STOPPED']);
  const names = stills.map(({ uri }) => uri);
  expect(names, 'for pages of earlier versions').toEqual(['stopped-5.m4s', 'stopped-6.m4s', 'stopped-7.m4s']);
  await comeBack(fake);
  const { segments } = await listOf(fake.live);
  expect(segments.slice(4).map(({ uri }) => uri)).toEqual([...names, 'stopped-8.m4s', 'segment-9.m4s']);
  expect(segments.some(({ discontinuity }) => discontinuity)).toBe(false);
  await expectUnbroken(fake.live);
});

describe('a publisher that reconnects', () => {
  test('with the same tracks continues without a discontinuity, and with parts', async () => {
    const fake = await lost();
    await vi.advanceTimersByTimeAsync(3500);
    await comeBack(fake);
    const { segments, openParts } = await listOf(fake.live);
    expect(segments.at(-1)!.uri).toMatch(/^segment-/);
    expect(segments.at(-2)!.uri).toMatch(/^still-/);
    expect(segments.some(({ discontinuity }) => discontinuity)).toBe(false);
    expect(openParts?.parts.length).toBeGreaterThan(0);
    const dates = segments.map(({ programDateTimeMs, durationSeconds }) => ({
      startMs: programDateTimeMs!,
      endMs: programDateTimeMs! + durationSeconds * 1000,
    }));
    for (const [index, { startMs }] of dates.entries()) {
      if (index > 0) expect(Math.abs(startMs - dates[index - 1]!.endMs)).toBeLessThan(25);
    }
    await expectUnbroken(fake.live);
  });

  test('with other tracks continues behind a discontinuity', async () => {
    const fake = await lost();
    await vi.advanceTimersByTimeAsync(2500);
    const sampleEntry = Buffer.from(videoTrack.sampleEntry);
    sampleEntry.writeUInt8(0xff, sampleEntry.length - 1);
    await comeBack(fake, { ...videoTrack, sampleEntry });
    const { segments } = await listOf(fake.live);
    const broken = segments.filter(({ discontinuity }) => discontinuity);
    expect(broken.map(({ uri }) => uri)).toEqual([expect.stringMatching(/^segment-/)]);
    expect(new Set(segments.map(({ map }) => map?.uri)).size).toBe(2);
  });
});

test('stills have silent audio that continues at the end of the audio', () => {
  const fill = new FillerWriter(() => ({ video: videoTrack, audio: audioTrack }), 2);
  const frame = { compositionOffsetTicks: 0, isSync: true };
  const audio = { ...frame, durationTicks: 1024, data: Buffer.from('sound') };
  fill.add({
    body: writeFragment(1, [
      {
        trackId: 1,
        baseDtsTicks: 160_000,
        samples: [{ ...frame, durationTicks: 3200, data: Buffer.from('key') }],
      },
      { trackId: 2, baseDtsTicks: 480_100, samples: [audio, audio] },
    ]),
    durationSeconds: 0.2,
    isIndependent: true,
    newestFrameMs: 10_000,
  });
  let videoEnd = 163_200;
  let audioEnd = 480_100 + 2048;
  for (let index = 0; index < 5; index += 1) {
    const { body } = fill.fillerPart(1, index)!;
    const { samples } = readFragmentLayout(body, [1, 2]);
    const [video, ...sounds] = samples;
    expect([video!.trackId, video!.dtsTicks, video!.durationTicks]).toEqual([1, videoEnd, 16_000]);
    expect(body.subarray(video!.position, video!.position + video!.sizeBytes).toString()).toBe('key');
    for (const { trackId, dtsTicks, durationTicks, position, sizeBytes } of sounds) {
      expect([trackId, dtsTicks]).toEqual([2, audioEnd]);
      audioEnd += durationTicks;
      expect(body.subarray(position, position + sizeBytes).equals(silentAacFrame(audioTrack)!)).toBe(true);
    }
    videoEnd += 16_000;
    expect(videoEnd / 16_000 - audioEnd / 48_000).toBeGreaterThanOrEqual(0);
    expect(videoEnd / 16_000 - audioEnd / 48_000).toBeLessThan(1024 / 48_000);
  }
});

test.each([
  ['one frame', 1600, 0.1],
  ['the first part where its keyframe lasts no time', 0, 0.2],
])('lead-ins are as long as %s', (_, durationTicks, seconds) => {
  const fill = new FillerWriter(() => ({ video: videoTrack }), 2);
  const sample = { compositionOffsetTicks: 0, data: Buffer.from('frame') };
  const body = writeFragment(1, [
    {
      trackId: 1,
      baseDtsTicks: 160_000,
      samples: [
        { ...sample, isSync: true, durationTicks },
        { ...sample, isSync: false, durationTicks: 3200 - durationTicks },
      ],
    },
  ]);
  const first = { body, durationSeconds: 0.2, isIndependent: true, newestFrameMs: 10_000 };
  expect(fill.leadIns(first, 3)!.map(({ durationSeconds }) => durationSeconds)).toEqual([
    seconds,
    seconds,
    seconds,
  ]);
});
