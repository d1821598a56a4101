import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { TsDemuxer, type TsProgram, type TsSample } from '../../../../src/media/mpegts/ts-demuxer.ts';
import { descriptor, type MapEntry, TsWriter } from '../../../support/mpegts.ts';
import { Random } from '../../../support/random.ts';

const mapPid = 0x1000;
const videoPid = 0x100;
const audioPid = 0x101;
const avc: MapEntry = { type: 0x1b, pid: videoPid };
const aac: MapEntry = { type: 0x0f, pid: audioPid };

/** 320x180, frames only. */
const sps = Buffer.from('67640015acd94141fb0110000003001000000303c8f162d960', 'hex');
const pps = Buffer.from('68ebe3cb22c0', 'hex');
const delimiter = Buffer.from([0x09, 0xf0]);
const startCode = Buffer.from([0, 0, 0, 1]);

function units(...list: readonly Buffer[]): Buffer {
  return Buffer.concat(list.flatMap(unit => [startCode, unit]));
}

/** Slices that begin a frame have the bit of first_mb_in_slice. */
function slice(number: number, isIdr = false, bytes = 40): Buffer {
  return Buffer.concat([Buffer.from([isIdr ? 0x65 : 0x41, 0x80 | number]), Buffer.alloc(bytes, 0xab)]);
}

function keyframe(number: number, bytes?: number): Buffer {
  return units(delimiter, sps, pps, slice(number, true, bytes));
}

function frame(number: number, bytes?: number): Buffer {
  return units(delimiter, slice(number, false, bytes));
}

/** AAC-LC, 48 kHz, stereo. */
function adts(payload: Buffer): Buffer {
  const length = 7 + payload.length;
  return Buffer.concat([
    Buffer.from([
      0xff,
      0xf1,
      0x4c,
      0x80 | (length >> 11),
      (length >> 3) & 0xff,
      ((length & 7) << 5) | 0x1f,
      0xfc,
    ]),
    payload,
  ]);
}

function demux(...pieces: readonly Buffer[]) {
  const samples: TsSample[] = [];
  const programs: TsProgram[] = [];
  const demuxer = new TsDemuxer({
    program: program => programs.push(program),
    sample: sample => samples.push(sample),
  });
  for (const piece of pieces) demuxer.push(piece);
  demuxer.flush();
  return {
    samples,
    programs,
    stats: demuxer.stats,
    /** The numbers of {@link slice}. */
    numbers: samples.flatMap(({ data, stream }) => {
      if (stream.kind === 'audio') return [];
      const at = data.length > 5 && (data[4]! & 0x1f) !== 6 ? 5 : 0;
      return [data[at]! & 0x7f];
    }),
    dts: samples.map(({ dtsTicks }) => dtsTicks),
  };
}

function begin(ts: TsWriter, ...streams: readonly MapEntry[]): Buffer {
  return Buffer.concat([ts.association(mapPid), ts.map(mapPid, streams)]);
}

describe('TsDemuxer', () => {
  it('gives access units with their times and the configuration once', () => {
    const ts = new TsWriter();
    const { samples, numbers } = demux(
      begin(ts, avc),
      ts.pes(videoPid, keyframe(1), { pts: 9000, dts: 3000 }),
      ts.pes(videoPid, frame(2), { pts: 6600 }),
    );
    expect(numbers).toEqual([1, 2]);
    expect(samples).toMatchObject([
      {
        ptsTicks: 9000,
        dtsTicks: 3000,
        isKeyframe: true,
        stream: { pid: videoPid, codec: 'avc1', trackId: 0 },
      },
      { ptsTicks: 6600, dtsTicks: 6600, isKeyframe: false, config: undefined },
    ]);
    expect(samples[0]!.config?.readUInt8()).toBe(1);
  });

  it('reads bytes in any pieces', () => {
    const ts = new TsWriter();
    const bytes = Buffer.concat([begin(ts, avc), ts.pes(videoPid, keyframe(1, 1_000), { pts: 1 })]);
    const pieces = Array.from(bytes, byte => Buffer.of(byte));
    expect(demux(...pieces).samples).toEqual(demux(bytes).samples);
  });

  it.each<[string, (packet: Buffer, index: number) => Buffer]>([
    ['M2TS', (packet, index) => Buffer.concat([Buffer.from([0x3f, 0x10, index, 0]), packet])],
    [
      'M2TS whose times begin as packets do',
      (packet, index) => Buffer.concat([Buffer.from([0x47, 0x47, index, 0x47]), packet]),
    ],
    ['DVB with checksums', (packet, index) => Buffer.concat([packet, Buffer.alloc(16, index)])],
  ])('reads packets of %s in any pieces', (_, wrap) => {
    const ts = new TsWriter();
    const bytes = Buffer.concat([
      begin(ts, avc, aac),
      ts.pes(videoPid, keyframe(1, 1_000), { pts: 0 }),
      ts.pes(audioPid, adts(Buffer.alloc(300, 0x47)), { pts: 0 }),
      ts.pes(videoPid, frame(2, 1_000), { pts: 3600 }),
    ]);
    const wrapped = Buffer.concat(
      Array.from({ length: bytes.length / 188 }, (__, index) =>
        wrap(bytes.subarray(188 * index, 188 * (index + 1)), index),
      ),
    );
    const expected = demux(bytes);
    for (const pieceBytes of [1, 188, 191, 192, 205, wrapped.length]) {
      const pieces = Array.from({ length: Math.ceil(wrapped.length / pieceBytes) }, (__, index) =>
        wrapped.subarray(pieceBytes * index, pieceBytes * (index + 1)),
      );
      const { samples, stats } = demux(...pieces);
      expect(samples).toEqual(expected.samples);
      expect(stats.packetsLost).toBe(0);
    }
  });

  it('finds the packets again after bytes that do not belong there', () => {
    const ts = new TsWriter();
    const { numbers, stats } = demux(
      Buffer.from([0x47, 0, 0x47, 0x47]),
      begin(ts, avc),
      ts.pes(videoPid, keyframe(1), { pts: 0 }),
      Buffer.concat([Buffer.alloc(70), Buffer.alloc(7, 0x47)]),
      ts.pes(videoPid, frame(2), { pts: 3600 }),
      ts.pes(videoPid, frame(3), { pts: 7200 }),
      ts.pes(videoPid, frame(4), { pts: 10_800 }),
    );
    expect(numbers).toEqual([1, 2, 3, 4]);
    expect(stats.packetsLost).toBe(0);
  });

  it('drops the frame of which a packet is missing, and counts it', () => {
    const ts = new TsWriter();
    const start = begin(ts, avc);
    const whole = ts.pes(videoPid, keyframe(1, 600), { pts: 0 });
    const broken = ts.pes(videoPid, frame(2, 600), { pts: 3600 });
    const last = ts.pes(videoPid, frame(3, 600), { pts: 7200 });
    const damaged = Buffer.concat([broken.subarray(0, 188), broken.subarray(376)]);
    const { numbers, stats } = demux(start, whole, damaged, last);
    expect(numbers).toEqual([1, 3]);
    expect(stats).toMatchObject({ packetsLost: 1, pesDropped: 1 });
  });

  it('ignores packets that are sent twice', () => {
    const ts = new TsWriter();
    const start = begin(ts, avc);
    const whole = ts.pes(videoPid, keyframe(1, 600), { pts: 0 });
    const twice = Array.from({ length: whole.length / 188 }, (_, index) => {
      const packet = whole.subarray(index * 188, (index + 1) * 188);
      return [packet, packet];
    });
    const { samples, stats } = demux(start, ...twice.flat());
    expect(samples[0]!.data).toEqual(demux(start, whole).samples[0]!.data);
    expect(stats.packetsLost).toBe(0);
  });

  it('ignores tables with a wrong checksum', () => {
    const ts = new TsWriter();
    const map = ts.map(mapPid, [avc]);
    map[map.length - 1]! ^= 1;
    const { programs } = demux(ts.association(mapPid), map);
    expect(programs).toEqual([]);
  });

  it('takes the first program that has media', () => {
    const ts = new TsWriter();
    const { programs } = demux(
      ts.association(0x1000, 0x1001, 0x1002),
      ts.map(0x1002, [{ type: 0x1b, pid: 0x300 }]),
      ts.map(0x1001, [{ type: 0x1b, pid: 0x200 }]),
      ts.map(0x1000, [{ type: 0x06, pid: 0x100, descriptors: descriptor(0x56, 'txt') }]),
    );
    expect(programs.map(({ streams }) => streams.map(({ pid }) => pid))).toEqual([[0x200]]);
  });

  it('does not wait for ever for the map of an earlier program', () => {
    const ts = new TsWriter();
    const association = () => ts.association(0x1000, 0x1001);
    const { programs } = demux(association(), ts.map(0x1001, [avc]), association(), association());
    expect(programs).toHaveLength(1);
  });

  it('follows a new version of the program map without a gap in the streams that stay', () => {
    const ts = new TsWriter();
    const { programs, numbers, samples } = demux(
      begin(ts, avc),
      ts.pes(videoPid, keyframe(1), { pts: 0 }),
      ts.map(mapPid, [avc, aac], 1),
      ts.pes(videoPid, frame(2), { pts: 3600 }),
      ts.pes(audioPid, adts(Buffer.from('audio')), { pts: 3600, hasLength: true }),
    );
    expect(programs.map(({ streams }) => streams.length)).toEqual([1, 2]);
    expect(numbers).toEqual([1, 2]);
    expect(samples.filter(({ config }) => config !== undefined).map(({ stream }) => stream.kind)).toEqual([
      'video',
      'audio',
    ]);
  });

  it('names the streams that it cannot read', () => {
    const ts = new TsWriter();
    const { programs } = demux(begin(ts, { type: 0x02, pid: videoPid }, { type: 0x11, pid: audioPid }));
    expect(programs[0]).toEqual({
      streams: [],
      unsupported: [
        { kind: 'video', name: 'MPEG-2' },
        { kind: 'audio', name: 'AAC in LATM' },
      ],
    });
  });

  it('takes SCTE-35 for what it is, where a program or stream is registered for it', () => {
    const cuei = descriptor(5, 'CUEI');
    const scte = { type: 0x86, pid: 0x1f4 };
    const unsupportedOf = (streams: readonly MapEntry[], program?: Buffer) => {
      const ts = new TsWriter();
      return demux(ts.association(mapPid), ts.map(mapPid, streams, 0, program)).programs[0]?.unsupported;
    };
    expect(unsupportedOf([avc, scte], cuei)).toEqual([]);
    expect(unsupportedOf([avc, scte], Buffer.concat([descriptor(0x0a, 'deu\0'), cuei]))).toEqual([]);
    expect(unsupportedOf([avc, { ...scte, descriptors: cuei }])).toEqual([]);
    expect(unsupportedOf([avc, { ...scte, descriptors: descriptor(0x8a, Buffer.of(1)) }])).toEqual([]);
    const dts = [{ kind: 'audio', name: 'DTS' }];
    expect(unsupportedOf([avc, scte])).toEqual(dts);
    expect(unsupportedOf([avc, scte], descriptor(5, 'HDMV'))).toEqual(dts);
    expect(unsupportedOf([avc, { ...scte, descriptors: descriptor(5, 'DTS1') }], cuei)).toEqual(dts);
  });

  it('counts scrambled packets', () => {
    const ts = new TsWriter();
    const scrambled = ts.packet(videoPid, Buffer.alloc(184), { isStart: true, isScrambled: true });
    expect(demux(begin(ts, avc), scrambled).stats.packetsScrambled).toBe(1);
  });

  it('continues over the wrap of the timestamps', () => {
    const ts = new TsWriter();
    const { dts } = demux(
      begin(ts, avc),
      ts.pes(videoPid, keyframe(1), { pts: 2 ** 33 - 3600 }),
      ts.pes(videoPid, frame(2), { pts: 0 }),
      ts.pes(videoPid, frame(3), { pts: 3600 }),
    );
    expect(dts).toEqual([2 ** 33 - 3600, 2 ** 33, 2 ** 33 + 3600]);
  });

  it('spreads the access units of one packet over the time to the next', () => {
    const ts = new TsWriter();
    const { numbers, dts } = demux(
      begin(ts, avc),
      ts.pes(videoPid, Buffer.concat([keyframe(1), frame(2), frame(3)]), { pts: 0 }),
      ts.pes(videoPid, frame(4), { pts: 5400 }),
      ts.pes(videoPid, frame(5)),
    );
    expect(numbers).toEqual([1, 2, 3, 4, 5]);
    expect(dts).toEqual([0, 1800, 3600, 5400, 7200]);
  });

  it('joins an access unit that continues in the next packet', () => {
    const ts = new TsWriter();
    const whole = keyframe(1, 900);
    const second = Buffer.concat([whole.subarray(500), frame(2), frame(3).subarray(0, 20)]);
    const { samples, numbers, dts } = demux(
      begin(ts, avc),
      ts.pes(videoPid, whole.subarray(0, 500), { pts: 0 }),
      ts.pes(videoPid, second, { pts: 3600 }),
      ts.pes(videoPid, frame(3).subarray(20)),
    );
    expect(numbers).toEqual([1, 2, 3]);
    expect(dts).toEqual([0, 3600, 7200]);
    expect(samples[0]!.data).toHaveLength(4 + slice(1, true, 900).length);
    expect(samples[2]!.data).toHaveLength(4 + slice(3).length);
  });

  it.each([
    ['zeros', Buffer.alloc(184)],
    ['units', Buffer.concat([startCode, Buffer.alloc(180, 0x41)])],
  ])('looks at each byte of a long frame once: %s', (_, payload) => {
    const ts = new TsWriter();
    const pieces = [begin(ts, avc), ts.pes(videoPid, keyframe(1), { pts: 0 })];
    pieces.push(
      ts.pes(videoPid, Buffer.concat([slice(2), ...Array<Buffer>(3000).fill(payload)]), { pts: 3600 }),
    );
    // PES packets without timestamps, which continue the frame.
    for (let count = 0; count < 60; count++) pieces.push(ts.pes(videoPid, payload));
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    let scanned = 0;
    let copied = 0;
    const { indexOf } = Buffer.prototype;
    const search = vi.spyOn(Buffer.prototype, 'indexOf').mockImplementation(function (this: Buffer, ...args) {
      const found = indexOf.apply(this, args);
      scanned += (found === -1 ? this.length : found) - Number(args[1] ?? 0);
      return found;
    });
    const { concat } = Buffer;
    const copy = vi.spyOn(Buffer, 'concat').mockImplementation((...args) => {
      const joined = concat(...args);
      copied += joined.length;
      return joined;
    });
    onTestFinished(() => {
      search.mockRestore();
      copy.mockRestore();
    });
    demux(...pieces);
    expect(scanned).toBeGreaterThan(0.9 * bytes);
    expect(scanned).toBeLessThan(1.1 * bytes);
    expect(copied).toBeLessThan(bytes);
  });

  it('compares few of the parameter sets that one frame repeats', () => {
    const ts = new TsWriter();
    const sets = Array.from({ length: 2000 }, (_, index) =>
      Buffer.concat([Buffer.of(0x67), Buffer.alloc(1000, 0xab), Buffer.of(1 + (index >> 8), index & 0xff)]),
    );
    const equals = vi.spyOn(Buffer.prototype, 'equals');
    onTestFinished(() => equals.mockRestore());
    demux(begin(ts, avc), ts.pes(videoPid, units(...sets, sps, pps, slice(1, true)), { pts: 0 }));
    expect(equals.mock.calls.length).toBeLessThan(10_000);
  });

  it('keeps slices of one frame together', () => {
    const ts = new TsWriter();
    const later = Buffer.concat([Buffer.from([0x65, 0x20]), Buffer.alloc(30, 0xcd)]);
    const { samples } = demux(
      begin(ts, avc),
      ts.pes(videoPid, Buffer.concat([keyframe(1), units(later)]), { pts: 0 }),
    );
    expect(samples).toHaveLength(1);
  });

  describe('a picture without a next one', () => {
    const lastPacketOf = (bytes: Buffer) => [bytes.subarray(0, -188), bytes.subarray(-188)] as const;

    /** Pushes and ticks, and lists the pictures that were passed on each time. */
    function passedOn(...steps: readonly (Buffer | number)[]): number[][] {
      const passed: number[][] = [];
      const demuxer = new TsDemuxer({
        program: () => {},
        sample: ({ stream, data }) => {
          if (stream.kind === 'video') passed.at(-1)!.push(data[5]! & 0x7f);
        },
      });
      for (const step of steps) {
        passed.push([]);
        if (typeof step === 'number') demuxer.tick(step);
        else demuxer.push(step);
      }
      return passed;
    }

    it('is passed on when its last packet is padded, and nothing follows for a while', () => {
      const ts = new TsWriter();
      const picture = (number: number) => ts.pes(videoPid, keyframe(number, 700), { pts: number * 900_000 });
      const steps = [begin(ts, avc), picture(1), 0, 90, 110, 5000, picture(2), 10_000, 10_200, picture(3)];
      expect(passedOn(...steps)).toEqual([[], [], [], [], [1], [], [], [], [2], []]);
    });

    it('waits for the rest of it', () => {
      const ts = new TsWriter();
      const [front, last] = lastPacketOf(ts.pes(videoPid, keyframe(1, 700), { pts: 0 }));
      expect(passedOn(begin(ts, avc), front, 0, 5000, last, 5010, 5120)).toEqual([
        [],
        [],
        [],
        [],
        [],
        [],
        [1],
      ]);
    });

    it('is passed on when it has the length that it declares', () => {
      const ts = new TsWriter();
      // Fills both packets.
      const data = keyframe(1, 2 * 184 - 14 - keyframe(1, 0).length);
      const whole = ts.pes(videoPid, data, { pts: 0, hasLength: true });
      expect(whole).toHaveLength(2 * 188);
      expect(passedOn(begin(ts, avc), whole, 0, 110)).toEqual([[], [], [], [1]]);
    });

    it('is passed on behind the audio that follows it', () => {
      const ts = new TsWriter();
      const whole = ts.pes(videoPid, keyframe(1, 2 * 184 - 14 - keyframe(1, 0).length), { pts: 0 });
      expect(whole).toHaveLength(2 * 188);
      const sound = (pts: number) => ts.pes(audioPid, adts(Buffer.alloc(9)), { pts, hasLength: true });
      const steps = [begin(ts, avc, aac), whole, 0, 5000, sound(0), 5010, sound(1920), 5020];
      expect(passedOn(...steps)).toEqual([[], [], [], [], [], [], [], [1]]);
    });

    it('waits where pictures continue in other packets, or share one', () => {
      const ts = new TsWriter();
      const later = units(Buffer.concat([Buffer.from([0x41, 0x20]), Buffer.alloc(30, 0xcd)]));
      const pictures = [
        ...[ts.pes(videoPid, keyframe(1), { pts: 0 }), ts.pes(videoPid, later)],
        ...[ts.pes(videoPid, frame(2), { pts: 9000 }), 0, 5000, ts.pes(videoPid, later)],
        ...[ts.pes(videoPid, frame(3), { pts: 18_000 }), 5010, 10_000],
      ];
      expect(passedOn(begin(ts, avc), ...pictures).flat()).toEqual([1, 2]);
      const shared = ts.pes(videoPid, Buffer.concat([keyframe(4), frame(5)]), { pts: 27_000 });
      expect(passedOn(begin(ts, avc), shared, 0, 5000).flat()).toEqual([]);
    });

    it('does not count the fields of a header as padding', () => {
      const ts = new TsWriter();
      const pes = ts.pes(videoPid, keyframe(1, 700), { pts: 0 });
      const clock = Buffer.from([0x47, 0x41, 0x00, 0x30, 7, 0x50, 0, 0, 0, 0, 0x7e, 0]);
      const first = Buffer.concat([clock, pes.subarray(4, 4 + 176)]);
      expect(passedOn(begin(ts, avc), first, 0, 5000).flat()).toEqual([]);
      first.set([7, 0x40], 4);
      expect(passedOn(begin(ts, avc), first, 0, 5000).flat()).toEqual([1]);
    });
  });

  it('splits audio into frames, also of those that continue in the next packet', () => {
    const ts = new TsWriter();
    const payloads = ['first', 'second', 'third'].map(text => Buffer.from(text));
    const stream = Buffer.concat(payloads.map(adts));
    const { samples } = demux(
      begin(ts, aac),
      ts.pes(audioPid, stream.subarray(0, 20), { pts: 9000, hasLength: true }),
      ts.pes(audioPid, stream.subarray(20), { pts: 12840, hasLength: true }),
    );
    expect(samples.map(({ data }) => data)).toEqual(payloads);
    expect(samples.map(({ ptsTicks }) => ptsTicks)).toEqual([9000, 10920, 12840]);
    expect(samples.map(({ config }) => config?.toString('hex'))).toEqual(['1190', undefined, undefined]);
  });

  it('gives a new configuration with the first frame of another sample rate', () => {
    const ts = new TsWriter();
    const [first, second, third] = ['first', 'second', 'third'].map(text => adts(Buffer.from(text)));
    for (const frame of [second!, third!]) frame[2] = (frame[2]! & ~0x3c) | (4 << 2);
    const { samples } = demux(
      begin(ts, aac),
      ts.pes(audioPid, Buffer.concat([first!, second!, third!]), { pts: 9000, hasLength: true }),
    );
    expect(samples.map(({ config }) => config?.toString('hex'))).toEqual(['1190', '1210', undefined]);
  });

  it('reads Opus with its channels, and the packets behind their control headers', () => {
    const ts = new TsWriter();
    const descriptors = Buffer.concat([
      descriptor(0x05, 'Opus'),
      descriptor(0x7f, Buffer.from([0x80, 1])),
      descriptor(0x0a, 'deu\0'),
    ]);
    const long = Buffer.concat([Buffer.from([0x78]), Buffer.alloc(299, 1)]); // 20 ms, CELT
    const data = Buffer.concat([
      Buffer.from([0x7f, 0xf0, 255, 45, 0, 120]), // start trim
      long,
      Buffer.from([0x7f, 0xe0, 3, 0xf8, 1, 2]),
    ]);
    const { samples, programs } = demux(
      begin(ts, { type: 0x06, pid: audioPid, descriptors }),
      ts.pes(audioPid, data, { pts: 0, hasLength: true }),
    );
    expect(programs[0]!.streams).toMatchObject([{ codec: 'Opus', language: 'deu' }]);
    expect(samples.map(({ data: packet }) => packet.length)).toEqual([300, 3]);
    expect(samples.map(({ ptsTicks }) => ptsTicks)).toEqual([0, 1800]);
    expect(samples[0]!.config?.[9]).toBe(1);
  });

  it('survives anything, within its bounds', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = new Random(seed);
      const ts = new TsWriter();
      const parts = [begin(ts, avc, aac), ts.pes(videoPid, keyframe(1, 400), { pts: 0 })];
      for (let number = 2; number < 12; number++) {
        parts.push(ts.pes(videoPid, frame(number, random.below(900)), { pts: number * 3600 }));
        parts.push(
          ts.pes(audioPid, adts(random.bytes(random.below(300))), { pts: number * 3600, hasLength: true }),
        );
        if (random.below(4) === 0)
          parts.push(ts.map(mapPid, random.below(2) === 0 ? [avc] : [aac, avc], number));
      }
      const bytes = Buffer.concat(parts);
      for (let change = random.below(30); change > 0; change--) {
        bytes[random.below(bytes.length)] = random.below(256);
      }
      const cut = random.below(bytes.length);
      const { samples, stats } = demux(
        bytes.subarray(0, cut),
        bytes.subarray(cut + random.below(200)),
        random.bytes(1_000),
      );
      expect(samples.length, `seed ${seed}`).toBeLessThan(60);
      expect(stats.packets).toBeLessThanOrEqual(bytes.length / 188 + 6);
      for (const { dtsTicks, ptsTicks } of samples) expect(ptsTicks).toBeGreaterThanOrEqual(dtsTicks);
    }
  });
});
