import { describe, expect, it } from 'vitest';
import type { RenditionPart } from '../../../../src/live/broadcast/broadcast-subscriber.ts';
import {
  type RecordedPart,
  Recorder,
  type RecorderOptions,
} from '../../../../src/live/recording/recorder.ts';
import { writeFragment } from '../../../../src/media/cmaf/fragment-writer.ts';
import { samples } from '../../../support/media-samples.ts';
import { audioTrack, videoTrack } from '../../../support/recording-sink.ts';

const broadcast = {
  broadcastId: 'br1',
  liveStreamId: 'li1',
  projectId: 'pr1',
  environment: 'production' as const,
  startedAtMs: 0,
  restreams: [],
};
const init = Buffer.alloc(0);
const audio = { media: samples.audio('mp4a', { dtsMs: 0, data: init }), atMs: 0, isSlate: false };

/** A part of a second that begins at `second`. */
function partAt(second: number, change: { isKeyframe?: boolean; isSlate?: boolean; isSound?: boolean } = {}) {
  const { isKeyframe = true, isSlate = false, isSound = false } = change;
  const track = isSound ? audioTrack : videoTrack;
  const sample = {
    durationTicks: track.timescale,
    compositionOffsetTicks: 0,
    data: Buffer.alloc(10),
    isSync: isKeyframe,
  };
  const body = writeFragment(second + 1, [
    { trackId: track.id, baseDtsTicks: second * track.timescale, samples: [sample] },
  ]);
  const part: RenditionPart = {
    body,
    durationSeconds: 1,
    isIndependent: isKeyframe,
    newestFrameMs: second * 1000,
    rendition: isSound ? 'audio' : 'source',
    isSlate,
    claim: () => () => {},
    hold: () => () => {},
  };
  return part;
}

/** Sound of frames of a tenth of a second, the first of them at `second`. */
function soundAt(second: number, frames = 10): RenditionPart {
  const frame = {
    durationTicks: audioTrack.timescale / 10,
    compositionOffsetTicks: 0,
    data: Buffer.alloc(10),
    isSync: true,
  };
  const body = writeFragment(1, [
    {
      trackId: 2,
      baseDtsTicks: second * audioTrack.timescale,
      samples: Array.from({ length: frames }, () => frame),
    },
  ]);
  return { ...partAt(0, { isSound: true }), body };
}

/** A recorder whose recordings are lists of the seconds at which their parts begin. */
function recorderWith(change: Partial<RecorderOptions> = {}) {
  const recordings: {
    seconds: number[];
    spans: { isSound: boolean; start: number; end: number }[];
    tracks: number[];
    list: RecordedPart['tracks'];
    isClosed: boolean;
    stop: () => void;
  }[] = [];
  const disk = { hasRoom: true };
  const recorder = new Recorder({
    broadcast,
    factory: {
      open: (_, onStopped) => {
        if (!disk.hasRoom) return undefined;
        const recording = {
          seconds: [] as number[],
          spans: [] as { isSound: boolean; start: number; end: number }[],
          tracks: [] as number[],
          list: [] as RecordedPart['tracks'],
          isClosed: false,
          stop: onStopped,
        };
        recordings.push(recording);
        return {
          add: ({ tracks, samples }: RecordedPart) => {
            const [first] = samples;
            const timescale = tracks.find(({ id }) => id === first?.trackId)!.timescale;
            const last = samples.at(-1);
            recording.seconds.push((first?.dtsTicks ?? 0) / timescale);
            recording.spans.push({
              isSound: first?.trackId !== 1,
              start: (first?.dtsTicks ?? 0) / timescale,
              end: ((last?.dtsTicks ?? 0) + (last?.durationTicks ?? 0)) / timescale,
            });
            recording.tracks.push(tracks.length);
            recording.list = tracks;
          },
          close: () => {
            recording.isClosed = true;
          },
        };
      },
    },
    maxDurationMs: 3_600_000,
    stopsAtMax: false,
    ...change,
  });
  return { recorder, recordings, disk };
}

describe('a recorder', () => {
  it('begins with the first part that begins with a keyframe, and closes with the broadcast', () => {
    const { recorder, recordings } = recorderWith();
    recorder.tracks('source', { video: videoTrack }, init, false);
    for (const [second, isKeyframe] of [false, true, false, false].entries()) {
      recorder.part(partAt(second, { isKeyframe }));
    }
    recorder.ended('completed');
    expect(recordings).toMatchObject([{ seconds: [1, 2, 3], isClosed: true }]);
  });

  it('leaves out what stands in for the publisher, and goes on in the same recording', () => {
    const { recorder, recordings } = recorderWith();
    recorder.tracks('source', { video: videoTrack }, init, false);
    recorder.part(partAt(0));
    recorder.tracks('source', { video: { ...videoTrack, width: 1 } }, init, true);
    recorder.part(partAt(1, { isSlate: true }));
    recorder.tracks('source', { video: videoTrack }, init, false);
    recorder.part(partAt(2));
    expect(recordings).toMatchObject([{ seconds: [0, 2], isClosed: false }]);
  });

  it('begins the next recording at a keyframe once one is long enough, and loses no part', () => {
    const { recorder, recordings } = recorderWith({ maxDurationMs: 2000 });
    recorder.tracks('source', { video: videoTrack }, init, false);
    for (const [second, isKeyframe] of [true, false, false, true, false, true].entries()) {
      recorder.part(partAt(second, { isKeyframe }));
    }
    expect(recordings.map(({ seconds }) => seconds)).toEqual([[0, 1, 2], [3, 4], [5]]);
    expect(recordings.map(({ isClosed }) => isClosed)).toEqual([true, true, false]);
  });

  it('closes a recording that no keyframe ends a minute later', () => {
    const { recorder, recordings } = recorderWith({ maxDurationMs: 2000 });
    recorder.tracks('source', { video: videoTrack }, init, false);
    for (let second = 0; second < 70; second += 1)
      recorder.part(partAt(second, { isKeyframe: second === 0 }));
    expect(recordings.map(({ seconds }) => seconds.length)).toEqual([62]);
  });

  it('records so much of a broadcast of the sandbox and nothing after that', () => {
    const { recorder, recordings } = recorderWith({ maxDurationMs: 2500, stopsAtMax: true });
    recorder.tracks('source', { video: videoTrack }, init, false);
    for (let second = 0; second < 6; second += 1) recorder.part(partAt(second));
    expect(recordings).toMatchObject([{ seconds: [0, 1], isClosed: true }]);
  });

  it('begins anew, at a keyframe, after a recording stopped and as soon as there is room', () => {
    const { recorder, recordings, disk } = recorderWith();
    recorder.tracks('source', { video: videoTrack }, init, false);
    recorder.part(partAt(0));
    disk.hasRoom = false;
    recordings[0]!.stop();
    recorder.part(partAt(1));
    disk.hasRoom = true;
    recorder.part(partAt(2, { isKeyframe: false }));
    recorder.part(partAt(3));
    expect(recordings.map(({ seconds }) => seconds)).toEqual([[0], [3]]);
  });

  it('keeps the picture back until the sound is there that is a rendition of its own', () => {
    const { recorder, recordings } = recorderWith();
    recorder.media(audio);
    recorder.tracks('source', { video: videoTrack }, init, false);
    recorder.part(partAt(0));
    expect(recordings).toEqual([]);
    recorder.tracks('audio', { audio: audioTrack }, init, false);
    recorder.part(partAt(0, { isSound: true }));
    recorder.part({ ...partAt(0), rendition: '240p' });
    recorder.part(partAt(1));
    expect(recordings).toMatchObject([{ seconds: [0, 0, 1], tracks: [2, 2, 2] }]);
  });

  it('gives each recording its own sound, which comes after the picture and is cut where the picture is', () => {
    const { recorder, recordings } = recorderWith({ maxDurationMs: 2000 });
    recorder.media(audio);
    recorder.tracks('source', { video: videoTrack }, init, false);
    recorder.tracks('audio', { audio: audioTrack }, init, false);
    const sound = (second: number) => recorder.part(soundAt(second));
    const picture = (second: number) => recorder.part(partAt(second));
    picture(0);
    sound(0);
    picture(1);
    picture(2);
    recorder.part(soundAt(1, 5));
    expect(recordings[0]!.isClosed).toBe(false);
    sound(1.5);
    picture(3);
    sound(2.5);
    expect(recordings.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    const soundOf = (index: number) =>
      recordings[index]!.spans.filter(({ isSound }) => isSound).map(({ start, end }) => [start, end]);
    expect(soundOf(0)).toEqual([
      [0, 1],
      [1, 1.5],
      [1.5, 2],
    ]);
    expect(soundOf(1)).toEqual([
      [2, 2.5],
      [2.5, 3.5],
    ]);
  });

  it('closes a recording whose sound stays away when its picture has gone on for three seconds', () => {
    const { recorder, recordings } = recorderWith({ maxDurationMs: 2000 });
    recorder.media(audio);
    recorder.tracks('source', { video: videoTrack }, init, false);
    recorder.tracks('audio', { audio: audioTrack }, init, false);
    for (let second = 0; second < 6; second += 1) recorder.part(partAt(second, { isKeyframe: second < 3 }));
    expect(recordings.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  });

  describe('of several audio tracks', () => {
    const second = { ...audioTrack, timescale: 44_100 };
    const secondAt = (start: number): RenditionPart => ({
      ...partAt(0, { isSound: true }),
      rendition: 'audio-1',
      body: writeFragment(1, [
        {
          trackId: 3,
          baseDtsTicks: start * second.timescale,
          samples: Array.from({ length: 10 }, () => ({
            durationTicks: second.timescale / 10,
            compositionOffsetTicks: 0,
            data: Buffer.alloc(10),
            isSync: true,
          })),
        },
      ]),
    });
    const begin = (recorder: Recorder, expected: readonly string[]) => {
      recorder.media(audio);
      recorder.additionalAudio(expected);
      recorder.tracks('source', { video: videoTrack }, init, false);
      recorder.tracks('audio', { audio: audioTrack }, init, false, { language: 'eng' });
    };
    const parts = (recorder: Recorder, start: number, hasSecond = true) => {
      recorder.part(partAt(start));
      recorder.part(soundAt(start));
      if (hasSecond) recorder.part(secondAt(start));
    };

    it('keeps the picture back until all are there that the encoder sends', () => {
      const { recorder, recordings } = recorderWith();
      begin(recorder, ['audio-1']);
      recorder.part(partAt(0));
      recorder.part(soundAt(0));
      expect(recordings).toEqual([]);
      recorder.tracks('audio-1', { audio: second }, init, false, { name: 'Stadium', default: true });
      recorder.part(secondAt(0));
      expect(recordings).toMatchObject([{ seconds: [0, 0, 0], tracks: [3, 3, 3] }]);
      expect(recordings[0]!.list).toMatchObject([
        { id: 1 },
        { id: 2, label: { language: 'en', isDefault: false } },
        { id: 3, timescale: 44_100, label: { name: 'Stadium', isDefault: true } },
      ]);
      expect(recorder.unrecordedAudio().size).toBe(0);
    });

    it('leaves out one that is too late, says so, and has it in the next recording', () => {
      const { recorder, recordings } = recorderWith({ maxDurationMs: 5000 });
      begin(recorder, ['audio-1']);
      for (let at = 0; at < 4; at += 1) parts(recorder, at, false);
      recorder.tracks('audio-1', { audio: second }, init, false);
      parts(recorder, 4);
      expect(recordings.map(({ tracks }) => Math.max(...tracks))).toEqual([2]);
      expect([...recorder.unrecordedAudio()]).toEqual([
        ['audio-1', 'The track started after the recording.'],
      ]);
      for (let at = 5; at < 7; at += 1) parts(recorder, at);
      expect(recordings.map(({ tracks, isClosed }) => [Math.max(...tracks), isClosed])).toEqual([
        [2, true],
        [3, false],
      ]);
      expect(recorder.unrecordedAudio().size).toBe(0);
    });

    it('cuts each where the picture is cut, and keeps its tracks when one returns in another format', () => {
      const { recorder, recordings } = recorderWith({ maxDurationMs: 2000 });
      begin(recorder, ['audio-1']);
      recorder.tracks('audio-1', { audio: second }, init, false);
      for (let at = 0; at < 2; at += 1) parts(recorder, at);
      recorder.part(partAt(2));
      recorder.part(soundAt(2));
      expect(recordings.map(({ isClosed }) => isClosed)).toEqual([false, false]);
      recorder.part(secondAt(1.5));
      expect(recordings.map(({ isClosed }) => isClosed)).toEqual([true, false]);
      const endOf = (index: number) => recordings[index]!.spans.at(-1)!.end;
      expect([endOf(0), endOf(1)]).toEqual([2, 2.5]);
      recorder.tracks('audio-1', { audio: { ...second, timescale: 48_000 } }, init, false);
      recorder.part(secondAt(2.5));
      expect(recordings[1]!.spans.at(-1)!.end).toBe(2.5);
      expect([...recorder.unrecordedAudio()]).toEqual([
        ['audio-1', 'The track came back in another format.'],
      ]);
    });
  });

  it('does without a sound that never begins', () => {
    const { recorder, recordings } = recorderWith();
    recorder.media(audio);
    recorder.tracks('source', { video: videoTrack }, init, false);
    for (let second = 0; second < 5; second += 1) {
      recorder.media(audio);
      recorder.part(partAt(second));
    }
    expect(recordings).toMatchObject([{ seconds: [0, 1, 2, 3, 4], tracks: [1, 1, 1, 1, 1] }]);
  });
});
