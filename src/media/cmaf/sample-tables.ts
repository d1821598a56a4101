import { type Box, FieldReader, malformed } from './box-reader.ts';

/** 24 hours at 138 fps. */
const MAX_SAMPLES = 12_000_000;

/** `stts` or `ctts` entries without samples; some writers leave a few. */
const MAX_EMPTY_RUNS = 1024;

const MAX_DECODE_TIME = 2 ** 50;

interface Table {
  readonly at: number;
  readonly count: number;
}

/** ISO/IEC 14496-12:2022, 8.6.1, 8.6.2, 8.7. */
export interface SampleTables {
  readonly bytes: Buffer;
  readonly sampleCount: number;
  /** 0 when `sizes` lists them. */
  readonly sharedSize: number;
  readonly sizes: Table;
  readonly durations: Table;
  readonly compositionOffsets: Table | undefined;
  readonly chunkRuns: Table;
  readonly chunks: Table;
  readonly hasLongOffsets: boolean;
  /** Undefined when all are sync samples. */
  readonly syncs: Table | undefined;
}

/** Checks only that tables fit their boxes. */
export function findSampleTables(bytes: Buffer, boxes: readonly Box[]): SampleTables {
  const find = (type: string) => boxes.find(box => box.type === type);
  const need = (type: string) => {
    const found = find(type);
    if (found === undefined) throw malformed('stbl', `has no "${type}"`);
    return found;
  };
  const stsz = new FieldReader(bytes, need('stsz'), 4);
  const sharedSize = stsz.u32();
  const sampleCount = stsz.u32();
  if (sampleCount > MAX_SAMPLES) throw malformed('stsz', `${sampleCount} samples are too many`);
  if (sharedSize === 0 && sampleCount * 4 > stsz.remaining)
    throw malformed('stsz', `${sampleCount} sizes do not fit`);
  const ctts = find('ctts');
  const stss = find('stss');
  const co64 = find('co64');
  return {
    bytes,
    sampleCount,
    sharedSize,
    sizes: { at: stsz.position, count: sampleCount },
    durations: tableOf(bytes, need('stts'), 8),
    compositionOffsets: ctts === undefined ? undefined : tableOf(bytes, ctts, 8),
    chunkRuns: tableOf(bytes, need('stsc'), 12),
    chunks: co64 === undefined ? tableOf(bytes, need('stco'), 4) : tableOf(bytes, co64, 8),
    hasLongOffsets: co64 !== undefined,
    syncs: stss === undefined ? undefined : tableOf(bytes, stss, 4),
  };
}

function tableOf(bytes: Buffer, box: Box, entryBytes: number): Table {
  const fields = new FieldReader(bytes, box, 4);
  const count = fields.u32();
  if (count * entryBytes > fields.remaining) throw malformed(box.type, `${count} entries do not fit`);
  return { at: fields.position, count };
}

/** Iterates over samples in decode order. One object serves all, because files have hundreds of thousands. */
export class SampleCursor {
  number = -1;
  dtsTicks = 0;
  durationTicks = 0;
  compositionOffsetTicks = 0;
  sizeBytes = 0;
  position = 0;
  isSync = false;

  readonly #tables: SampleTables;
  readonly #fileBytes: number;
  #durationRun = 0;
  #durationLeft = 0;
  #emptyRuns = 0;
  #offsetRun = 0;
  #offsetLeft = 0;
  #chunk = 0;
  #chunkLeft = 0;
  #nextPosition = 0;
  #chunkRun = -1;
  #samplesPerChunk = 0;
  #nextRunChunk = 1;
  #sync = 0;
  #nextSync = -1;

  constructor(tables: SampleTables, fileBytes: number) {
    this.#tables = tables;
    this.#fileBytes = fileBytes;
    this.#readSync();
  }

  get ptsTicks(): number {
    return this.dtsTicks + this.compositionOffsetTicks;
  }

  /** @throws AppError `media-malformed` when tables contradict each other or the file's length */
  next(): boolean {
    const tables = this.#tables;
    const number = this.number + 1;
    if (number >= tables.sampleCount) return false;
    this.number = number;
    this.dtsTicks += this.durationTicks;
    if (this.dtsTicks > MAX_DECODE_TIME)
      throw malformed('stts', `decode time ${this.dtsTicks} is out of range`);
    this.#readDuration();
    if (tables.compositionOffsets !== undefined) this.#readOffset(tables.compositionOffsets);
    if (this.#chunkLeft === 0) this.#openChunk();
    this.#chunkLeft -= 1;
    const size =
      tables.sharedSize === 0 ? tables.bytes.readUInt32BE(tables.sizes.at + 4 * number) : tables.sharedSize;
    if (size === 0) throw malformed('stsz', 'a sample without data');
    this.sizeBytes = size;
    this.position = this.#nextPosition;
    this.#nextPosition += size;
    if (this.#nextPosition > this.#fileBytes) throw malformed('stco', 'media outside the file');
    if (tables.syncs === undefined) {
      this.isSync = true;
    } else {
      this.isSync = number === this.#nextSync;
      if (this.isSync) this.#readSync();
    }
    return true;
  }

  #readDuration(): void {
    const { bytes, durations } = this.#tables;
    while (this.#durationLeft === 0) {
      if (this.#durationRun === durations.count) throw malformed('stts', 'has fewer samples than the track');
      this.#durationLeft = bytes.readUInt32BE(durations.at + 8 * this.#durationRun);
      this.durationTicks = bytes.readUInt32BE(durations.at + 8 * this.#durationRun + 4);
      this.#durationRun += 1;
      if (this.#durationLeft === 0) this.#countEmptyRun('stts');
    }
    this.#durationLeft -= 1;
  }

  #readOffset(offsets: Table): void {
    const { bytes } = this.#tables;
    while (this.#offsetLeft === 0) {
      if (this.#offsetRun === offsets.count) throw malformed('ctts', 'has fewer samples than the track');
      this.#offsetLeft = bytes.readUInt32BE(offsets.at + 8 * this.#offsetRun);
      // Version 0 is unsigned, but writers wrap negative offsets around and nobody means an offset of 2^31.
      this.compositionOffsetTicks = bytes.readInt32BE(offsets.at + 8 * this.#offsetRun + 4);
      this.#offsetRun += 1;
      if (this.#offsetLeft === 0) this.#countEmptyRun('ctts');
    }
    this.#offsetLeft -= 1;
  }

  #countEmptyRun(table: string): void {
    this.#emptyRuns += 1;
    if (this.#emptyRuns > MAX_EMPTY_RUNS)
      throw malformed(table, 'has too many entries that count no samples');
  }

  #openChunk(): void {
    const { bytes, chunks, chunkRuns, hasLongOffsets } = this.#tables;
    if (this.#chunk === chunks.count) throw malformed('stco', 'has fewer chunks than the samples need');
    const at = chunks.at + (hasLongOffsets ? 8 : 4) * this.#chunk;
    this.#nextPosition = hasLongOffsets ? Number(bytes.readBigUInt64BE(at)) : bytes.readUInt32BE(at);
    this.#chunk += 1;
    if (this.#chunk === this.#nextRunChunk) {
      const run = this.#chunkRun + 1;
      if (run >= chunkRuns.count) throw malformed('stsc', 'has no run for this chunk');
      this.#chunkRun = run;
      const entry = chunkRuns.at + 12 * run;
      // 8.7.4: the first run begins with chunk 1, each following one later.
      if (bytes.readUInt32BE(entry) !== this.#chunk) throw malformed('stsc', 'runs out of order');
      this.#samplesPerChunk = bytes.readUInt32BE(entry + 4);
      if (bytes.readUInt32BE(entry + 8) !== 1)
        throw malformed('stsc', 'refers to a missing sample description');
      this.#nextRunChunk = run + 1 < chunkRuns.count ? bytes.readUInt32BE(entry + 12) : 0;
      if (this.#nextRunChunk !== 0 && this.#nextRunChunk <= this.#chunk)
        throw malformed('stsc', 'runs out of order');
    }
    if (this.#samplesPerChunk === 0) throw malformed('stsc', 'a chunk without samples');
    this.#chunkLeft = this.#samplesPerChunk;
  }

  #readSync(): void {
    const { bytes, syncs } = this.#tables;
    if (syncs === undefined) return;
    const previous = this.#nextSync;
    if (this.#sync === syncs.count) {
      this.#nextSync = -1;
      return;
    }
    this.#nextSync = bytes.readUInt32BE(syncs.at + 4 * this.#sync) - 1;
    this.#sync += 1;
    if (this.#nextSync <= previous) throw malformed('stss', 'sample numbers out of order');
  }
}
