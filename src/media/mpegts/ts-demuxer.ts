import type { ElementarySample, PesTimes } from './elementary-reader.ts';
import type { PesHeader } from './pes-assembler.ts';
import {
  type ElementaryStream,
  type ProgramMap,
  readProgramAssociation,
  readProgramMap,
  type UnsupportedStream,
} from './program-tables.ts';
import { SectionReader } from './section-reader.ts';
import { StreamReader } from './stream-reader.ts';
import { PACKET_BYTES, readTsPacket, SYNC_BYTE, type TsPacket } from './ts-packet.ts';

export interface TsStream extends ElementaryStream {
  /** Number among the tracks of its kind; 0 is the main one. */
  readonly trackId: number;
}

export interface TsProgram {
  readonly streams: readonly TsStream[];
  readonly unsupported: readonly UnsupportedStream[];
}

/** Decode times of all streams have one clock at 90 kHz, which may jump, run backwards and wrap. */
export interface TsSample extends ElementarySample {
  readonly stream: TsStream;
}

interface TsDemuxerEvents {
  /** Once known, and whenever the program map changes. */
  program(program: TsProgram): void;
  /** Called before the first sample of a stream, as soon as that begins to arrive. */
  began?(stream: TsStream): void;
  /** Receives samples, in decode order within each stream. */
  sample(sample: TsSample): void;
}

export interface TsDemuxerStats {
  readonly packets: number;
  readonly packetsLost: number;
  readonly packetsScrambled: number;
  /** PES packets that were incomplete, malformed or too large. */
  readonly pesDropped: number;
}

const PROGRAM_ASSOCIATION_PID = 0;
const NULL_PID = 0x1fff;
const maxPrograms = 16;
const maxAudioStreams = 8;
/** A program that comes earlier in the list is waited for while the list is repeated so often. */
const maxAssociations = 3;
/** Bytes from packet to packet: alone, with four bytes of time before each as in M2TS, with a checksum after each as in DVB. */
const strides = { alone: PACKET_BYTES, timed: 192, checked: 204 };
const WRAP = 2 ** 33;
/** Ticks after which the clock wraps: 2^32 ms, as that of FLV tags. */
const CLOCK_TICKS = 2 ** 32 * 90;

/** Reads an MPEG transport stream: the first program with media in it. ISO/IEC 13818-1:2019. */
export class TsDemuxer {
  readonly #events: TsDemuxerEvents;
  #rest: Buffer = Buffer.alloc(0);
  /** Undefined until packets are found. */
  #stride: number | undefined;
  readonly #association = new SectionReader(section => this.#readAssociation(section));
  #associations = 0;
  /** Maps by PID, in the order of the list. */
  #maps = new Map<number, { readonly sections: SectionReader; map: ProgramMap | undefined }>();
  /** PID of the program's map. */
  #selectedPid: number | undefined;
  #streams = new Map<number, { stream: TsStream; readonly reader: StreamReader }>();
  #lastTicks: number | undefined;
  #audioPackets = 0;
  #stats = { packets: 0, packetsLost: 0, packetsScrambled: 0, pesDropped: 0 };

  constructor(events: TsDemuxerEvents) {
    this.#events = events;
  }

  get stats(): TsDemuxerStats {
    return this.#stats;
  }

  push(bytes: Buffer): void {
    this.#readAll(this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]), false);
  }

  /** Passes on the picture that the next one would complete. Call it every few milliseconds. @param nowMs monotonic */
  tick(nowMs: number): void {
    for (const { reader } of this.#streams.values()) reader.tick(nowMs, this.#audioPackets);
  }

  /** The input is over. */
  flush(): void {
    this.#readAll(this.#rest, true);
    for (const { reader } of this.#streams.values()) reader.flush();
  }

  #readAll(bytes: Buffer, isEnd: boolean): void {
    let at = 0;
    while (at + (isEnd ? PACKET_BYTES : (this.#stride ?? PACKET_BYTES)) <= bytes.length) {
      if (this.#stride === undefined || bytes[at] !== SYNC_BYTE) {
        if (this.#stride !== undefined) this.#loseSync();
        const found = findSync(bytes, at);
        at = found?.at ?? bytes.length;
        // Sync bytes of three packets confirm each other.
        if (found === undefined || (!isEnd && at + 2 * found.stride >= bytes.length)) break;
        this.#stride = found.stride;
      }
      const packet = readTsPacket(bytes, at);
      if (packet !== undefined) this.#read(packet);
      at += this.#stride;
    }
    this.#rest = Buffer.from(bytes.subarray(at));
  }

  #loseSync(): void {
    this.#stride = undefined;
    this.#association.reset();
    for (const { sections } of this.#maps.values()) sections.reset();
  }

  #read(packet: TsPacket): void {
    this.#stats.packets += 1;
    const { pid, payload, isStart } = packet;
    if (pid === NULL_PID) return;
    if (packet.isScrambled) {
      this.#stats.packetsScrambled += 1;
      return;
    }
    const stream = this.#streams.get(pid);
    if (stream !== undefined) {
      if (isStart && stream.stream.kind === 'audio') this.#audioPackets += 1;
      stream.reader.push(packet);
    } else if (payload === undefined) return;
    else if (pid === PROGRAM_ASSOCIATION_PID) this.#association.push(payload, isStart);
    else this.#maps.get(pid)?.sections.push(payload, isStart);
  }

  #readAssociation(section: Buffer): void {
    const pids = readProgramAssociation(section)?.slice(0, maxPrograms);
    if (pids === undefined) return;
    this.#associations += 1;
    const known = this.#maps;
    this.#maps = new Map(
      pids.map(pid => {
        const sections = new SectionReader(map => this.#readMap(pid, map));
        return [pid, known.get(pid) ?? { sections, map: undefined }];
      }),
    );
    if (this.#selectedPid !== undefined && !this.#maps.has(this.#selectedPid)) this.#selectedPid = undefined;
    this.#select();
  }

  #readMap(pid: number, section: Buffer): void {
    const entry = this.#maps.get(pid);
    const map = readProgramMap(section);
    if (entry === undefined || map === undefined || isSameMap(entry.map, map)) return;
    entry.map = map;
    if (this.#selectedPid === pid) this.#useMap(map);
    else this.#select();
  }

  #select(): void {
    if (this.#selectedPid !== undefined) return;
    const programs = [...this.#maps];
    for (const [pid, { map }] of programs) {
      if (map === undefined && this.#associations < maxAssociations) return;
      if (map === undefined || map.streams.length === 0) continue;
      this.#selectedPid = pid;
      this.#useMap(map);
      return;
    }
    const only = programs.find(([, { map }]) => map !== undefined && map.unsupported.length > 0)?.[1].map;
    if (only !== undefined) this.#events.program({ streams: [], unsupported: only.unsupported });
  }

  #useMap({ streams, unsupported }: ProgramMap): void {
    const used = new Map<number, { stream: TsStream; readonly reader: StreamReader }>();
    const counts = { video: 0, audio: 0 };
    for (const elementary of streams) {
      const { kind, pid } = elementary;
      if (counts[kind] >= (kind === 'video' ? 1 : maxAudioStreams) || used.has(pid)) continue;
      const stream = { ...elementary, trackId: counts[kind] };
      counts[kind] += 1;
      const former = this.#streams.get(pid);
      const isSame = former !== undefined && isSameStream(former.stream, stream);
      used.set(pid, { stream, reader: isSame ? former.reader : this.#createReader(stream) });
    }
    for (const [pid, { reader }] of this.#streams) {
      if (used.get(pid)?.reader !== reader) reader.flush();
    }
    this.#streams = used;
    this.#events.program({ streams: [...used.values()].map(({ stream }) => stream), unsupported });
  }

  #createReader(stream: TsStream): StreamReader {
    return new StreamReader(stream, {
      began: () => this.#events.began?.(this.#streams.get(stream.pid)?.stream ?? stream),
      // The number of a track changes with the program map.
      sample: sample =>
        this.#events.sample({ ...sample, stream: this.#streams.get(stream.pid)?.stream ?? stream }),
      lost: count => {
        this.#stats.packetsLost += count;
      },
      dropped: () => {
        this.#stats.pesDropped += 1;
      },
      times: header => this.#times(header),
    });
  }

  #times({ pts, dts = pts }: PesHeader): PesTimes | undefined {
    if (pts === undefined || dts === undefined) return undefined;
    const last = this.#lastTicks ?? dts;
    const dtsTicks = (last + distance(last, dts) + CLOCK_TICKS) % CLOCK_TICKS;
    this.#lastTicks = dtsTicks;
    return { dtsTicks, ptsTicks: dtsTicks + Math.max(0, distance(dts, pts)) };
  }
}

/** Distance from one time to the other, the shorter way round. */
function distance(from: number, to: number): number {
  const forward = (((to - from) % WRAP) + WRAP) % WRAP;
  return forward < WRAP / 2 ? forward : forward - WRAP;
}

/** Position of a sync byte that repeats as far as the bytes go. */
function findSync(bytes: Buffer, from: number): { at: number; stride: number } | undefined {
  const repeats = (at: number, stride: number) =>
    [at, at + stride, at + 2 * stride].every(next => next >= bytes.length || bytes[next] === SYNC_BYTE);
  for (let at = bytes.indexOf(SYNC_BYTE, from); at !== -1; at = bytes.indexOf(SYNC_BYTE, at + 1)) {
    const stride = Object.values(strides).find(step => repeats(at, step));
    if (stride === undefined) continue;
    // The first two bytes of the times are nearly constant, and can be those of sync bytes. The sync byte itself is not followed by one.
    const later = stride === strides.timed ? [4, 3].find(bytesAfter => repeats(at + bytesAfter, stride)) : 0;
    return { at: at + (later ?? 0), stride };
  }
  return undefined;
}

function isSameMap(former: ProgramMap | undefined, map: ProgramMap): boolean {
  return former !== undefined && JSON.stringify(former) === JSON.stringify(map);
}

function isSameStream(former: TsStream, stream: TsStream): boolean {
  return former.codec === stream.codec && isSameConfig(former.config, stream.config);
}

function isSameConfig(former: Buffer | undefined, config: Buffer | undefined): boolean {
  return former === undefined || config === undefined ? former === config : former.equals(config);
}
