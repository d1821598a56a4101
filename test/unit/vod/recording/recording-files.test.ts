import { mkdir, open, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { FragmentReader, type Sample } from '../../../../src/media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../../../src/media/cmaf/movie-box.ts';
import { type IndexedRecording, RecordingIndex } from '../../../../src/vod/recording/recording-index.ts';
import { RecordingSpan } from '../../../../src/vod/recording/recording-span.ts';
import {
  RecordingWriter,
  type SharedFiles,
  type StopReason,
} from '../../../../src/vod/recording/recording-writer.ts';
import { scanRecording } from '../../../../src/vod/recording/scan-recording.ts';
import { waitTimeoutMs } from '../../../support/deadlines.ts';
import { both, frames, part } from '../../../support/recorded-parts.ts';
import { audioTrack, videoTrack } from '../../../support/recording-sink.ts';
import { testTempDir } from '../../../support/temp-dir.ts';

const { signal } = new AbortController();

async function writerIn(
  folder: string,
  onStopped: (reason: StopReason) => void = () => {},
  maxQueuedBytes = 1e7,
  sharedFiles?: SharedFiles,
  opened = Promise.resolve(true),
) {
  return new RecordingWriter({
    folder,
    opened,
    makeIndex: tracks => RecordingIndex.create(folder, tracks, { mediaName: 'recording-1.mp4' }),
    onStopped,
    onWritten: () => {},
    sharedFiles,
    maxQueuedBytes,
  });
}

async function samplesOf(path: string): Promise<Sample[]> {
  const samples: Sample[] = [];
  const reader = new FragmentReader({ onInit: () => {}, onSample: sample => void samples.push(sample) });
  reader.push(await readFile(path));
  return samples;
}

function startsOf(samples: readonly Sample[], track: TrackDescription): number[] {
  return samples
    .filter(({ trackId }) => trackId === track.id)
    .map(({ dtsTicks }) => dtsTicks / track.timescale);
}

function secondsOf([audio]: IndexedRecording['audio']): number {
  const { durationTicks, timescale } = audio!.rendition;
  return durationTicks / timescale;
}

describe('a recording', () => {
  it('has no gaps where nothing was recorded or received', async () => {
    const folder = await testTempDir();
    const writer = await writerIn(folder);
    for (const second of [100, 101, 140, 141, 150]) writer.add(part(second));
    const { spans, index } = await writer.finish();
    expect(spans).toHaveLength(1);
    const { video, audio } = await index!.finish(spans[0]!.bytes);
    const samples = await samplesOf(spans[0]!.path);
    const starts = startsOf(samples, videoTrack);
    expect(starts).toHaveLength(5 * frames);
    expect(starts[0]).toBe(0);
    expect(starts.slice(1).every((start, at) => Math.abs(start - starts[at]! - 1 / frames) < 0.001)).toBe(
      true,
    );
    expect(startsOf(samples, audioTrack).at(-1)).toBeCloseTo(4.98, 2);
    expect(video!.durationTicks / video!.timescale).toBeCloseTo(5, 2);
    expect(secondsOf(audio)).toBeCloseTo(5, 2);
    expect(video!.segmentStartsSeconds).toEqual([0, 4]);
    expect(audio[0]!.rendition.segmentStartsSeconds.map(start => Math.round(start * 10) / 10)).toEqual([
      0, 4,
    ]);
  });

  it('has the bytes of the broadcast up to a gap, tells where they are, and shifts the rest', async () => {
    const folder = await testTempDir();
    const linked: string[] = [];
    const completed: number[] = [];
    const writer = await writerIn(folder, undefined, undefined, {
      link: async path => linked.push(path),
      complete: file => void completed.push(file),
    });
    const stored = new Map<number, unknown>();
    const seconds = [7, 8, 9, 20, 21];
    for (const second of seconds)
      writer.add({ ...part(second), stored: location => stored.set(second, location) });
    const { spans, index } = await writer.finish();
    const [span] = spans;
    expect(linked).toEqual([span!.path]);
    expect(completed).toEqual([1]);
    const bytes = await readFile(span!.path);
    for (const second of [7, 8, 9]) {
      const { fragment } = part(second);
      const { file, offset } = stored.get(second) as { file: number; offset: number };
      expect(file).toBe(1);
      expect(bytes.subarray(offset, offset + fragment.length).equals(fragment)).toBe(true);
    }
    expect([stored.get(20), stored.get(21)]).toEqual([undefined, undefined]);
    const starts = startsOf(await samplesOf(span!.path), videoTrack);
    expect(starts.map(start => Math.round(start * frames))).toEqual(
      Array.from({ length: 5 * frames }, (_, at) => 7 * frames + at),
    );
    expect(span!.startTicks).toEqual(
      new Map([
        [1, 7 * videoTrack.timescale],
        [2, 7 * audioTrack.timescale],
      ]),
    );
    const { video, audio } = await index!.finish(span!.bytes);
    expect(video!.segmentStartsSeconds).toEqual([0, 4]);
    expect(secondsOf(audio)).toBeCloseTo(5, 2);
    const before = await readFile(join(folder, 'video.index'));
    const scanned = await scanRecording(
      folder,
      tracks => RecordingIndex.create(folder, tracks, { mediaName: 'recording-1.mp4' }),
      signal,
    );
    await scanned.index!.finish(scanned.spans[0]!.bytes);
    expect(await readFile(join(folder, 'video.index'))).toEqual(before);
  });

  it('tells that parts were not written when it has stopped', async () => {
    const folder = await testTempDir();
    await writeFile(join(folder, 'file'), '');
    const writer = await writerIn(join(folder, 'file'));
    const stored: unknown[] = [];
    for (const second of [7, 8]) writer.add({ ...part(second), stored: location => stored.push(location) });
    await writer.finish();
    writer.add({ ...part(9), stored: location => stored.push(location) });
    expect(stored).toEqual([undefined, undefined, undefined]);
  });

  it('of video and audio from two renditions is one file with both in sync', async () => {
    const folder = await testTempDir();
    const writer = await writerIn(folder);
    for (let second = 0; second < 9; second += 1) {
      writer.add(part(second, { audio: false }));
      if (second > 0) writer.add(part(second - 1, { video: false }));
    }
    const { spans, index } = await writer.finish();
    const { video, audio } = await index!.finish(spans[0]!.bytes);
    expect(audio[0]!.lateSeconds).toBe(0);
    expect(video!.segmentStartsSeconds).toEqual([0, 4, 8]);
    expect(secondsOf(audio)).toBeCloseTo(8, 2);
    const samples = await samplesOf(spans[0]!.path);
    expect(startsOf(samples, audioTrack)[0]).toBe(0);
    expect(startsOf(samples, audioTrack).at(-1)).toBeCloseTo(7.98, 2);
  });

  it('gives the same indexes when scanned from disk, and loses only a truncated fragment', async () => {
    const folder = await testTempDir();
    const writer = await writerIn(folder);
    for (let second = 0; second < 30; second += 1) writer.add(part(second, { bytes: 100 + second }));
    const { spans, index } = await writer.finish();
    const [span] = spans;
    await index!.finish(span!.bytes);
    const read = async () => [
      await readFile(join(folder, 'video.index')),
      await readFile(join(folder, 'audio.index')),
      span!.seekTable()!.bytes,
    ];
    const before = await read();
    const whole = await readFile(span!.path);
    // The last one began to be written.
    await writeFile(span!.path, Buffer.concat([whole, part(30).fragment.subarray(0, 700)]));
    const scanned = await scanRecording(
      folder,
      tracks => RecordingIndex.create(folder, tracks, { mediaName: 'recording-1.mp4' }),
      signal,
    );
    expect(scanned.spans[0]!.bytes).toBe(span!.bytes);
    expect((await readFile(span!.path)).length).toBe(span!.bytes);
    await scanned.index!.finish(span!.bytes);
    expect([...(await read()).slice(0, 2), scanned.spans[0]!.seekTable()!.bytes]).toEqual(before);
  });

  it('is empty when a crash left no complete part', async () => {
    const folder = await testTempDir();
    const writer = await writerIn(folder);
    writer.add(part(0));
    const { spans, index } = await writer.finish();
    await index!.close();
    for (const bytes of [spans[0]!.bytes - 1, spans[0]!.head.length, 100, 0]) {
      await truncate(spans[0]!.path, bytes);
      const scanned = await scanRecording(
        folder,
        tracks => RecordingIndex.create(folder, tracks, { mediaName: 'x' }),
        signal,
      );
      await scanned.index?.close();
      expect(scanned.spans).toEqual([]);
    }
  });

  it('continues in another file when the encoder reconnects with other tracks, else in the same one', async () => {
    const folder = await testTempDir();
    const writer = await writerIn(folder);
    writer.add(part(0));
    writer.add(part(1, {}, [...both]));
    writer.add(part(2, {}, [{ ...videoTrack, timescale: videoTrack.timescale * 2 }, audioTrack]));
    const { spans, index } = await writer.finish();
    expect(spans.map(({ fragments }) => fragments)).toEqual([2, 1]);
    expect(index).toBeUndefined();
    const scanned = await scanRecording(
      folder,
      async () => {
        throw new Error('there is an index of several files');
      },
      signal,
    );
    expect(scanned.spans.map(({ bytes }) => bytes)).toEqual(spans.map(({ bytes }) => bytes));
  });

  it('is written when it is flushed, or when much of it waits', async () => {
    const folder = await testTempDir();
    const writer = await writerIn(folder);
    const stored: number[] = [];
    const add = (second: number, bytes: number) =>
      writer.add({ ...part(second, { bytes }), stored: () => stored.push(second) });
    add(0, 20);
    add(1, 20);
    await new Promise(resolve => setImmediate(resolve));
    await expect(readFile(join(folder, 'recording-1.mp4'))).rejects.toThrow('ENOENT');
    writer.flush();
    await vi.waitFor(() => expect(stored).toEqual([0, 1]), waitTimeoutMs);
    add(2, 20_000);
    add(3, 20_000);
    await vi.waitFor(() => expect(stored).toEqual([0, 1, 2, 3]), waitTimeoutMs);
    const { index } = await writer.finish();
    await index!.close();
  });

  it('stops when the disk is too slow, and keeps queued parts', async () => {
    const folder = await testTempDir();
    const reasons: StopReason[] = [];
    const { length } = part(0).fragment;
    const writer = await writerIn(folder, reason => reasons.push(reason), 2 * length);
    for (let second = 0; second < 4; second += 1) writer.add(part(second));
    const { spans, index } = await writer.finish();
    await index!.close();
    expect(reasons).toEqual(['disk-slow']);
    expect(spans[0]!.fragments).toBe(2);
  });

  it('has complete indexes after a write failed temporarily', async () => {
    const folder = await testTempDir();
    const indexOf = async (name: string, isFaulty: boolean) => {
      await mkdir(join(folder, name));
      const index = await RecordingIndex.create(join(folder, name), both, { mediaName: 'recording-1.mp4' });
      const span = new RecordingSpan(folder, 'recording-1.mp4', both, new Map());
      for (let second = 0; second < 30; second += 1) {
        const { samples, fragment } = part(second);
        const position = span.bytes;
        span.add(samples, fragment.length);
        index.add({ samples, position, shifts: new Map() });
        if (second !== 20 || !isFaulty) continue;
        const handle = await open(join(folder, 'any'), 'w');
        await handle.close();
        const fault = vi
          .spyOn(Object.getPrototypeOf(handle), 'write')
          .mockRejectedValueOnce(new Error('full'));
        await expect(index.flush()).rejects.toThrow('full');
        fault.mockRestore();
      }
      await index.finish(span.bytes);
      return [
        await readFile(join(folder, name, 'video.index')),
        await readFile(join(folder, name, 'audio.index')),
      ];
    };
    expect(await indexOf('faulty', true)).toEqual(await indexOf('whole', false));
  });

  it('stops when the disk fails', async () => {
    const folder = await testTempDir();
    const reasons: StopReason[] = [];
    await writeFile(join(folder, 'file'), '');
    const writer = await writerIn(join(folder, 'file'), reason => reasons.push(reason));
    writer.add(part(0));
    const { spans } = await writer.finish();
    expect(spans).toEqual([]);
    expect(reasons).toEqual(['disk-error']);
  });
});
