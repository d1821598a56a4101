import { malformed } from './box-reader.ts';
import type { SampleTable, SampleTables } from './sample-tables.ts';

/** `stts` or `ctts` entries without samples; some writers leave a few. */
const MAX_EMPTY_RUNS = 1024;

const MAX_DECODE_TIME = 2 ** 50;

/** Iterates over samples in decode order. One object serves all, because files have hundreds of thousands. */
export class SampleCursor {
  number = -1;
  dtsTicks = 0;
  sizeBytes = 0;
  position = 0;
  isSync = false;

  readonly #tables: SampleTables;
  readonly #fileBytes: number;
  readonly #durations: RunCursor;
  readonly #compositionOffsets: RunCursor | undefined;
  readonly #chunks: ChunkCursor;
  readonly #syncs: SyncCursor | undefined;

  constructor(tables: SampleTables, fileBytes: number) {
    this.#tables = tables;
    this.#fileBytes = fileBytes;
    const { bytes, durations, compositionOffsets, syncs } = tables;
    this.#durations = new RunCursor('stts', bytes, durations);
    this.#compositionOffsets = compositionOffsets && new RunCursor('ctts', bytes, compositionOffsets);
    this.#chunks = new ChunkCursor(tables);
    this.#syncs = syncs && new SyncCursor(bytes, syncs);
  }

  get durationTicks(): number {
    return this.#durations.value;
  }

  get compositionOffsetTicks(): number {
    // Version 0 is unsigned, but writers wrap negative offsets around and nobody means an offset of 2^31.
    return this.#compositionOffsets === undefined ? 0 : this.#compositionOffsets.value | 0;
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
    this.#durations.next();
    this.#compositionOffsets?.next();
    const size =
      tables.sharedSize === 0 ? tables.bytes.readUInt32BE(tables.sizes.at + 4 * number) : tables.sharedSize;
    this.position = this.#chunks.take(size);
    if (size === 0) throw malformed('stsz', 'a sample without data');
    this.sizeBytes = size;
    if (this.position + size > this.#fileBytes) throw malformed('stco', 'media outside the file');
    this.isSync = this.#syncs?.includes(number) ?? true;
    return true;
  }
}

/** Values of `stts` or `ctts`, each of which counts for a run of samples. */
class RunCursor {
  /** Value of the newest sample; unsigned. */
  value = 0;
  readonly #type: 'stts' | 'ctts';
  readonly #bytes: Buffer;
  readonly #table: SampleTable;
  #run = 0;
  #samplesLeft = 0;
  #emptyRuns = 0;

  constructor(type: 'stts' | 'ctts', bytes: Buffer, table: SampleTable) {
    this.#type = type;
    this.#bytes = bytes;
    this.#table = table;
  }

  next(): void {
    while (this.#samplesLeft === 0) this.#openRun();
    this.#samplesLeft -= 1;
  }

  #openRun(): void {
    if (this.#run === this.#table.count) throw malformed(this.#type, 'has fewer samples than the track');
    const at = this.#table.at + 8 * this.#run;
    this.#samplesLeft = this.#bytes.readUInt32BE(at);
    this.value = this.#bytes.readUInt32BE(at + 4);
    this.#run += 1;
    if (this.#samplesLeft > 0) return;
    this.#emptyRuns += 1;
    if (this.#emptyRuns > MAX_EMPTY_RUNS)
      throw malformed(this.#type, 'has too many entries that count no samples');
  }
}

/** Positions of samples, which lie behind each other in chunks. */
class ChunkCursor {
  readonly #tables: SampleTables;
  #chunk = 0;
  #samplesLeft = 0;
  #nextPosition = 0;
  #run = -1;
  #samplesPerChunk = 0;
  #nextRunChunk = 1;

  constructor(tables: SampleTables) {
    this.#tables = tables;
  }

  /** Returns the position of the next sample. */
  take(sizeBytes: number): number {
    if (this.#samplesLeft === 0) this.#openChunk();
    this.#samplesLeft -= 1;
    const position = this.#nextPosition;
    this.#nextPosition += sizeBytes;
    return position;
  }

  #openChunk(): void {
    const { bytes, chunks, hasLongOffsets } = this.#tables;
    if (this.#chunk === chunks.count) throw malformed('stco', 'has fewer chunks than the samples need');
    const at = chunks.at + (hasLongOffsets ? 8 : 4) * this.#chunk;
    this.#nextPosition = hasLongOffsets ? Number(bytes.readBigUInt64BE(at)) : bytes.readUInt32BE(at);
    this.#chunk += 1;
    if (this.#chunk === this.#nextRunChunk) this.#openRun();
    if (this.#samplesPerChunk === 0) throw malformed('stsc', 'a chunk without samples');
    this.#samplesLeft = this.#samplesPerChunk;
  }

  #openRun(): void {
    const { bytes, chunkRuns } = this.#tables;
    const run = this.#run + 1;
    if (run >= chunkRuns.count) throw malformed('stsc', 'has no run for this chunk');
    this.#run = run;
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
}

/** Numbers of the sync samples, from `stss`. */
class SyncCursor {
  readonly #bytes: Buffer;
  readonly #table: SampleTable;
  #entry = 0;
  /** -1 after the last one. */
  #nextSync = -1;

  constructor(bytes: Buffer, table: SampleTable) {
    this.#bytes = bytes;
    this.#table = table;
    this.#read();
  }

  /** @param number of each sample in turn */
  includes(number: number): boolean {
    if (number !== this.#nextSync) return false;
    this.#read();
    return true;
  }

  #read(): void {
    const previous = this.#nextSync;
    if (this.#entry === this.#table.count) {
      this.#nextSync = -1;
      return;
    }
    this.#nextSync = this.#bytes.readUInt32BE(this.#table.at + 4 * this.#entry) - 1;
    this.#entry += 1;
    if (this.#nextSync <= previous) throw malformed('stss', 'sample numbers out of order');
  }
}
