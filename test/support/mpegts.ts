import { sectionCrc } from '../../src/media/mpegts/section-reader.ts';

/** Writes transport streams as no muxer would, packet by packet. */
export class TsWriter {
  readonly #counters = new Map<number, number>();

  /** One packet, stuffed to its size. */
  packet(
    pid: number,
    payload: Buffer,
    { isStart = false, isScrambled = false, isDiscontinuity = false } = {},
  ): Buffer {
    const counter = this.#counters.get(pid) ?? 0;
    this.#counters.set(pid, (counter + 1) & 15);
    const stuffing = 184 - payload.length;
    const hasAdaptation = stuffing > 0;
    const adaptation = Buffer.alloc(stuffing, 0xff);
    if (stuffing > 0) adaptation[0] = stuffing - 1;
    if (stuffing > 1) adaptation[1] = isDiscontinuity ? 0x80 : 0;
    const head = [
      0x47,
      (isStart ? 0x40 : 0) | (pid >> 8),
      pid & 0xff,
      (isScrambled ? 0x80 : 0) | (hasAdaptation ? 0x30 : 0x10) | counter,
    ];
    return Buffer.concat([Buffer.from(head), adaptation, payload]);
  }

  /** The packets of a section or PES packet. */
  packets(pid: number, bytes: Buffer): Buffer {
    const packets: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 184) {
      packets.push(this.packet(pid, bytes.subarray(at, at + 184), { isStart: at === 0 }));
    }
    return Buffer.concat(packets);
  }

  /** Program association of PIDs. */
  association(...mapPids: readonly number[]): Buffer {
    const body = Buffer.concat(
      mapPids.map((pid, index) => Buffer.from([0, index + 1, 0xe0 | (pid >> 8), pid & 0xff])),
    );
    return this.packets(0, Buffer.concat([Buffer.of(0), section(0, 1, 0, body)]));
  }

  /** @param programDescriptors of the whole program */
  map(
    pid: number,
    streams: readonly MapEntry[],
    version = 0,
    programDescriptors: Buffer = Buffer.alloc(0),
  ): Buffer {
    const body = Buffer.concat([
      Buffer.from([0xe1, 0, 0xf0, programDescriptors.length]),
      programDescriptors,
      ...streams.flatMap(({ type, pid: streamPid, descriptors = Buffer.alloc(0) }) => [
        Buffer.from([type, 0xe0 | (streamPid >> 8), streamPid & 0xff, 0xf0, descriptors.length]),
        descriptors,
      ]),
    ]);
    return this.packets(pid, Buffer.concat([Buffer.of(0), section(2, 1, version, body)]));
  }

  pes(pid: number, data: Buffer, times: PesTimes = {}): Buffer {
    return this.packets(pid, pesPacket(data, times));
  }
}

export interface MapEntry {
  readonly type: number;
  readonly pid: number;
  readonly descriptors?: Buffer;
}

interface PesTimes {
  readonly pts?: number;
  readonly dts?: number;
  /** True to declare the length, as audio does. */
  readonly hasLength?: boolean;
}

export function descriptor(tag: number, body: Buffer | string): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
}

function section(tableId: number, number: number, version: number, body: Buffer): Buffer {
  const length = 5 + body.length + 4;
  const head = [tableId, 0xb0 | (length >> 8), length & 0xff, 0, number, 0xc1 | (version << 1), 0, 0];
  const bytes = Buffer.concat([Buffer.from(head), body]);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(sectionCrc(bytes));
  return Buffer.concat([bytes, crc]);
}

function pesPacket(data: Buffer, { pts, dts, hasLength = false }: PesTimes): Buffer {
  const times = Buffer.concat([
    ...(pts === undefined ? [] : [timestamp(dts === undefined ? 2 : 3, pts)]),
    ...(dts === undefined ? [] : [timestamp(1, dts)]),
  ]);
  const length = hasLength ? 3 + times.length + data.length : 0;
  const flags = pts === undefined ? 0 : dts === undefined ? 0x80 : 0xc0;
  const head = [0, 0, 1, 0xe0, length >> 8, length & 0xff, 0x80, flags, times.length];
  return Buffer.concat([Buffer.from(head), times, data]);
}

function timestamp(prefix: number, ticks: number): Buffer {
  const high = Math.floor(ticks / 2 ** 30) & 7;
  const middle = Math.floor(ticks / 2 ** 15) & 0x7fff;
  const bytes = Buffer.alloc(5);
  bytes[0] = (prefix << 4) | (high << 1) | 1;
  bytes.writeUInt16BE((middle << 1) | 1, 1);
  bytes.writeUInt16BE(((ticks & 0x7fff) << 1) | 1, 3);
  return bytes;
}
