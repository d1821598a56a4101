import { sectionCrc } from './section-reader.ts';
import { PACKET_BYTES, SYNC_BYTE } from './ts-packet.ts';

/** Bodies of avcC, hvcC and AudioSpecificConfig. */
interface TsTracks {
  readonly video?: { readonly codec: 'avc1' | 'hvc1'; readonly config: Buffer } | undefined;
  readonly audio?: { readonly config: Buffer } | undefined;
}

interface VideoFrame {
  readonly dtsMs: number;
  readonly ptsMs: number;
  readonly isKeyframe: boolean;
  /** NAL units with lengths as the configuration says. */
  readonly data: Buffer;
}

const MAP_PID = 0x1000;
const VIDEO_PID = 0x100;
const AUDIO_PID = 0x101;
const PROGRAM = 1;
const STREAM_TYPES = { avc1: 0x1b, hvc1: 0x24, aac: 0x0f } as const;
const VIDEO_STREAM_ID = 0xe0;
const AUDIO_STREAM_ID = 0xc0;
const START_CODE = Buffer.from([0, 0, 0, 1]);
const ACCESS_UNIT_DELIMITERS = {
  avc1: Buffer.from([0, 0, 0, 1, 0x09, 0xf0]),
  hvc1: Buffer.from([0, 0, 0, 1, 0x46, 0x01, 0x50]),
} as const;
const tablesEveryMs = 400;
/** Decoders show a frame so long after the clock says that it should have arrived. */
const delayMs = 500;
const ticksPerMs = 90;
const WRAP = 2 ** 33;

/** Writes an MPEG transport stream with one program. ISO/IEC 13818-1:2019. */
export class TsMuxer {
  readonly #tracks: TsTracks;
  readonly #parameterSets: Buffer;
  readonly #lengthBytes: number;
  readonly #tables: readonly (readonly [pid: number, section: Buffer])[];
  readonly #counters = new Map<number, number>();
  #tablesAtMs: number | undefined;

  /** @throws Error for configurations that a transport stream cannot carry */
  constructor(tracks: TsTracks) {
    this.#tracks = tracks;
    const { video, audio } = tracks;
    this.#lengthBytes = video === undefined ? 4 : (video.config[video.codec === 'avc1' ? 4 : 21]! & 3) + 1;
    this.#parameterSets = video === undefined ? Buffer.alloc(0) : annexBParameterSets(video);
    if (audio !== undefined) adtsHeader(audio.config, 0);
    this.#tables = [
      [0, section(0x00, PROGRAM, [0, PROGRAM, 0xe0 | (MAP_PID >> 8), MAP_PID & 0xff])],
      [MAP_PID, section(0x02, PROGRAM, this.#programMap())],
    ];
  }

  video({ dtsMs, ptsMs, isKeyframe, data }: VideoFrame): Buffer {
    const { codec } = this.#tracks.video!;
    const parts = [ACCESS_UNIT_DELIMITERS[codec], ...(isKeyframe ? [this.#parameterSets] : [])];
    for (let at = 0; at + this.#lengthBytes <= data.length; ) {
      const length = data.readUIntBE(at, this.#lengthBytes);
      at += this.#lengthBytes;
      parts.push(START_CODE, data.subarray(at, at + length));
      at += length;
    }
    const payload = [pesHeader(VIDEO_STREAM_ID, 0, ptsMs, dtsMs), ...parts];
    return Buffer.concat([
      ...this.#tablesAt(dtsMs, isKeyframe),
      this.#packets(VIDEO_PID, Buffer.concat(payload), { clockMs: dtsMs, isKeyframe }),
    ]);
  }

  /** @param frame AAC without ADTS */
  audio(atMs: number, frame: Buffer): Buffer {
    const adts = adtsHeader(this.#tracks.audio!.config, frame.length);
    const header = pesHeader(AUDIO_STREAM_ID, adts.length + frame.length, atMs, atMs);
    const isAlone = this.#tracks.video === undefined;
    return Buffer.concat([
      ...(isAlone ? this.#tablesAt(atMs, false) : []),
      this.#packets(AUDIO_PID, Buffer.concat([header, adts, frame]), {
        clockMs: isAlone ? atMs : undefined,
        isKeyframe: isAlone,
      }),
    ]);
  }

  #programMap(): number[] {
    const { video, audio } = this.#tracks;
    const clockPid = video === undefined ? AUDIO_PID : VIDEO_PID;
    const stream = (type: number, pid: number) => [type, 0xe0 | (pid >> 8), pid & 0xff, 0xf0, 0];
    return [
      ...[0xe0 | (clockPid >> 8), clockPid & 0xff, 0xf0, 0],
      ...(video === undefined ? [] : stream(STREAM_TYPES[video.codec], VIDEO_PID)),
      ...(audio === undefined ? [] : stream(STREAM_TYPES.aac, AUDIO_PID)),
    ];
  }

  /** Receivers can begin after the tables. */
  #tablesAt(atMs: number, isKeyframe: boolean): Buffer[] {
    const isDue = this.#tablesAtMs === undefined || Math.abs(atMs - this.#tablesAtMs) >= tablesEveryMs;
    if (!isDue && !isKeyframe) return [];
    this.#tablesAtMs = atMs;
    return this.#tables.map(([pid, bytes]) => {
      const packet = Buffer.alloc(PACKET_BYTES, 0xff);
      this.#header(packet, 0, pid, true, false);
      packet[4] = 0; // pointer
      bytes.copy(packet, 5);
      return packet;
    });
  }

  #packets(
    pid: number,
    payload: Buffer,
    { clockMs, isKeyframe }: { clockMs: number | undefined; isKeyframe: boolean },
  ): Buffer {
    const firstFieldBytes = clockMs === undefined ? (isKeyframe ? 2 : 0) : 8;
    const count = Math.ceil((payload.length + firstFieldBytes) / (PACKET_BYTES - 4));
    const packets = Buffer.alloc(count * PACKET_BYTES, 0xff);
    let taken = 0;
    for (let index = 0; index < count; index += 1) {
      const at = index * PACKET_BYTES;
      const minFieldBytes = index === 0 ? firstFieldBytes : 0;
      const room = PACKET_BYTES - 4 - minFieldBytes;
      const bytes = Math.min(room, payload.length - taken);
      const fieldBytes = PACKET_BYTES - 4 - bytes;
      this.#header(packets, at, pid, index === 0, fieldBytes > 0);
      if (fieldBytes > 0) packets[at + 4] = fieldBytes - 1;
      if (fieldBytes > 1) packets[at + 5] = 0;
      if (index === 0 && minFieldBytes > 0) {
        packets[at + 5] = (isKeyframe ? 0x40 : 0) | (clockMs === undefined ? 0 : 0x10);
        if (clockMs !== undefined) writeClock(packets, at + 6, clockMs);
      }
      payload.copy(packets, at + 4 + fieldBytes, taken, taken + bytes);
      taken += bytes;
    }
    return packets;
  }

  #header(packets: Buffer, at: number, pid: number, isStart: boolean, hasField: boolean): void {
    const counter = this.#counters.get(pid) ?? 0;
    this.#counters.set(pid, (counter + 1) & 0x0f);
    packets[at] = SYNC_BYTE;
    packets[at + 1] = (isStart ? 0x40 : 0) | (pid >> 8);
    packets[at + 2] = pid & 0xff;
    packets[at + 3] = (hasField ? 0x30 : 0x10) | counter;
  }
}

function section(tableId: number, number: number, body: readonly number[]): Buffer {
  const length = 5 + body.length + 4;
  const bytes = Buffer.from([
    ...[tableId, 0xb0 | (length >> 8), length & 0xff, number >> 8, number & 0xff],
    ...[0xc1, 0, 0, ...body],
  ]);
  const crc = Buffer.allocUnsafe(4);
  crc.writeUInt32BE(sectionCrc(bytes));
  return Buffer.concat([bytes, crc]);
}

function ticksOf(ms: number): number {
  return ((Math.round(ms * ticksPerMs) % WRAP) + WRAP) % WRAP;
}

/** Writes a clock of 33 bits at 90 kHz, without the extension of 9 bits. */
function writeClock(packets: Buffer, at: number, clockMs: number): void {
  const ticks = ticksOf(clockMs);
  packets.writeUInt32BE(Math.floor(ticks / 2), at);
  packets[at + 4] = ((ticks % 2) << 7) | 0x7e;
  packets[at + 5] = 0;
}

/** @param bytes of the payload; 0 leaves the length open @param dtsMs is left out where it is `ptsMs` */
function pesHeader(streamId: number, bytes: number, ptsMs: number, dtsMs: number): Buffer {
  const [pts, dts] = [ticksOf(ptsMs + delayMs), ticksOf(dtsMs + delayMs)];
  const times = pts === dts ? timeField(2, pts) : [...timeField(3, pts), ...timeField(1, dts)];
  const length = bytes === 0 ? 0 : bytes + 3 + times.length;
  return Buffer.from([
    ...[0, 0, 1, streamId, length >> 8, length & 0xff],
    ...[0x84, pts === dts ? 0x80 : 0xc0, times.length, ...times],
  ]);
}

function timeField(prefix: number, ticks: number): number[] {
  const [top, middle, low] = [Math.floor(ticks / 2 ** 30), (ticks % 2 ** 30) >> 15, ticks & 0x7fff];
  return [
    (prefix << 4) | (top << 1) | 1,
    ...[middle >> 7, ((middle & 0x7f) << 1) | 1, low >> 7, ((low & 0x7f) << 1) | 1],
  ];
}

function annexBParameterSets({ codec, config }: NonNullable<TsTracks['video']>): Buffer {
  const units: Buffer[] = [];
  let at = codec === 'avc1' ? 5 : 23;
  const take = (count: number) => {
    for (let index = 0; index < count && at + 2 <= config.length; index += 1) {
      const end = at + 2 + config.readUInt16BE(at);
      units.push(START_CODE, config.subarray(at + 2, end));
      at = end;
    }
  };
  if (codec === 'avc1') {
    for (const mask of [0x1f, 0xff]) {
      const count = config[at] ?? 0;
      at += 1;
      take(count & mask);
    }
  } else {
    for (let arrays = config[22] ?? 0; arrays > 0 && at + 3 <= config.length; arrays -= 1) {
      const count = config.readUInt16BE(at + 1);
      at += 3;
      take(count);
    }
  }
  return Buffer.concat(units);
}

/** ISO/IEC 14496-3:2019, 1.A.2.2. Spectral band replication is left implicit. */
function adtsHeader(config: Buffer, frameBytes: number): Buffer {
  const objectType = config[0]! >> 3;
  const rateIndex = ((config[0]! & 7) << 1) | (config[1]! >> 7);
  const channels = (config[1]! >> 3) & 0x0f;
  const isHe = objectType === 5 || objectType === 29;
  if (config.length < 2 || rateIndex > 12 || channels > 7 || (objectType > 4 && !isHe)) {
    throw new Error('the AAC configuration has no form in ADTS');
  }
  const profile = isHe ? 1 : objectType - 1;
  const length = frameBytes + 7;
  return Buffer.from([
    ...[0xff, 0xf1, (profile << 6) | (rateIndex << 2) | (channels >> 2)],
    ...[((channels & 3) << 6) | (length >> 11), (length >> 3) & 0xff, ((length & 7) << 5) | 0x1f, 0xfc],
  ]);
}
