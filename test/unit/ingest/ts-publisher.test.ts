import { describe, expect, it } from 'vitest';
import { SampleInterleaver } from '../../../src/ingest/sample-interleaver.ts';
import { TsPublisher } from '../../../src/ingest/ts-publisher.ts';
import type { MediaEvent } from '../../../src/media/samples/media-sample.ts';
import { TsWriter } from '../../support/mpegts.ts';

function publisher() {
  const events: MediaEvent[] = [];
  const refusals: string[] = [];
  return {
    events,
    refusals,
    publisher: new TsPublisher({ media: event => events.push(event), refused: text => refusals.push(text) }),
  };
}

function declaredIn(events: readonly MediaEvent[]) {
  return events.find(event => event.type === 'declared')!.media;
}

describe('TsPublisher', () => {
  it.each([
    [[0x02], 'MPEG-2 video is not supported. Choose H.264 or HEVC in the encoder.'],
    [[0x02, 0x0f], 'MPEG-2 video is not supported. Choose H.264 or HEVC in the encoder.'],
    [[0x1b, 0x11], 'AAC in LATM audio is not supported. Choose AAC with ADTS headers in the encoder.'],
  ])('refuses the stream types %j once', (types, description) => {
    const { publisher: ts, refusals } = publisher();
    const writer = new TsWriter();
    const map = () =>
      writer.map(
        0x1000,
        types.map((type, index) => ({ type, pid: 0x100 + index })),
      );
    ts.push(Buffer.concat([writer.association(0x1000), map(), map()]));
    expect(refusals).toEqual([description]);
  });

  it('refuses bytes that are no transport stream', () => {
    const { publisher: ts, refusals } = publisher();
    for (let megabytes = 0; megabytes < 10; megabytes++) ts.push(Buffer.alloc(1024 * 1024));
    expect(refusals).toEqual([
      'No MPEG-TS program was received. Choose MPEG-TS as the format in the encoder.',
    ]);
  });

  it('refuses a scrambled stream', () => {
    const { publisher: ts, refusals } = publisher();
    const writer = new TsWriter();
    ts.push(Buffer.concat([writer.association(0x1000), writer.map(0x1000, [{ type: 0x1b, pid: 0x100 }])]));
    const packet = writer.packet(0x100, Buffer.alloc(184), { isScrambled: true });
    for (let count = 0; count < 11_000; count++) ts.push(packet);
    expect(refusals).toEqual(['The transport stream is scrambled. Send it without conditional access.']);
  });
});

describe('audio tracks of a transport stream', () => {
  it.each([
    [[0x1b], false],
    [[0x1b, 0x0f], true],
  ])('are announced by the program map: %j', (types, expected) => {
    const { publisher: ts, events } = publisher();
    const writer = new TsWriter();
    const streams = types.map((type, index) => ({ type, pid: 0x100 + index }));
    const filler = writer.packet(0x1fff, Buffer.alloc(184));
    ts.push(Buffer.concat([writer.association(0x1000), writer.map(0x1000, streams), filler, filler]));
    const { audioTracks, hasAudio, hasVideo } = declaredIn(events);
    expect([hasAudio, hasVideo, audioTracks]).toEqual([expected, true, undefined]);
  });

  it('are announced again with the video that has begun to arrive', () => {
    const { publisher: ts, events } = publisher();
    const writer = new TsWriter();
    const streams = [0x1b, 0x0f].map((type, index) => ({ type, pid: 0x100 + index }));
    ts.push(Buffer.concat([writer.association(0x1000), writer.map(0x1000, streams)]));
    const picture = () =>
      writer.pes(0x100, Buffer.from([0, 0, 0, 1, 9, 0xf0, 0, 0, 1, 0x65, 1]), { pts: 9000 });
    ts.push(Buffer.concat([picture(), picture(), writer.packet(0x1fff, Buffer.alloc(184))]));
    const declared = events.flatMap(event => (event.type === 'declared' ? [event.media] : []));
    expect(declared.map(({ isVideoArriving }) => isVideoArriving)).toEqual([undefined, true]);
    expect(declared[1]).toMatchObject({ hasAudio: true, hasVideo: true });
  });

  it('have the languages of the program map', () => {
    const { publisher: ts, events } = publisher();
    const writer = new TsWriter();
    const language = (code: string) => Buffer.from([0x0a, 4, ...Buffer.from(code), 0]);
    ts.push(
      Buffer.concat([
        writer.association(0x1000),
        writer.map(0x1000, [
          { type: 0x1b, pid: 0x100 },
          { type: 0x0f, pid: 0x101, descriptors: language('eng') },
          { type: 0x0f, pid: 0x102, descriptors: language('fra') },
          { type: 0x0f, pid: 0x103 },
        ]),
        writer.packet(0x1fff, Buffer.alloc(184)),
        writer.packet(0x1fff, Buffer.alloc(184)),
      ]),
    );
    expect(events).toHaveLength(1);
    const { audioTracks, hasAudio, hasVideo } = declaredIn(events);
    expect([...audioTracks!].map(([id, label]) => [id, label.language])).toEqual([
      [0, 'eng'],
      [1, 'fra'],
      [2, undefined],
    ]);
    expect([hasAudio, hasVideo]).toEqual([true, true]);
  });
});

describe('SampleInterleaver', () => {
  const item = (dtsMs: number, bytes = 1) => ({ dtsMs, bytes });

  function interleaver(...streams: number[]) {
    const emitted: number[] = [];
    const subject = new SampleInterleaver<{ dtsMs: number; bytes: number }>(({ dtsMs }) =>
      emitted.push(dtsMs),
    );
    subject.expect(streams);
    return { subject, emitted };
  }

  it('waits for the other stream, and puts both in order', () => {
    const { subject, emitted } = interleaver(1, 2);
    for (const dtsMs of [0, 40, 80]) subject.push(1, item(dtsMs));
    expect(emitted).toEqual([]);
    for (const dtsMs of [10, 30, 50]) subject.push(2, item(dtsMs));
    expect(emitted).toEqual([0, 10, 30, 40, 50]);
    subject.flush();
    expect(emitted).toEqual([0, 10, 30, 40, 50, 80]);
  });

  it('goes on without a stream that stays away, until it comes back', () => {
    const { subject, emitted } = interleaver(1, 2);
    for (let dtsMs = 0; dtsMs <= 1_000; dtsMs += 100) subject.push(1, item(dtsMs));
    expect(emitted.at(-1)).toBe(1_000);
    subject.push(2, item(1_050));
    subject.push(1, item(1_100));
    expect(emitted.at(-1)).toBe(1_050);
  });

  it('does not hold anything back over a jump of the clock', () => {
    const { subject, emitted } = interleaver(1, 2);
    subject.push(1, item(500_000));
    subject.push(1, item(0));
    expect(emitted).toEqual([500_000]);
  });

  it('holds a bounded number of bytes', () => {
    const { subject, emitted } = interleaver(1, 2);
    for (let count = 0; count < 20; count++) subject.push(1, item(count, 2 ** 20));
    expect(emitted.length).toBeGreaterThanOrEqual(3);
  });
});
