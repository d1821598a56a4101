import { malformed } from './box-reader.ts';

/** ISO/IEC 14496-12:2022, 8.8.3.1. */
const SYNC_FLAGS = 0x02000000;
const NON_SYNC_FLAGS = 0x01010000;

/** The data offset of a `trun` is signed, and a larger `mdat` would need a longer header. */
const MAX_DATA_BYTES = 2 ** 31 - 2 ** 24;

/** The readers of this server have the same limit. */
const MAX_SAMPLES = 65_536;

/** Sample headers of one track in columns, because a long file has too many for objects. */
export class SampleColumns {
  #durations = new Uint32Array(256);
  #sizes = new Uint32Array(256);
  #offsets = new Int32Array(256);
  #syncs = new Uint8Array(256);
  #length = 0;
  #dataBytes = 0;

  get length(): number {
    return this.#length;
  }

  get dataBytes(): number {
    return this.#dataBytes;
  }

  /** Offsets are -2^31..2^31-1, other numbers 0..2^32-1. @throws AppError `media-malformed` when full */
  push(durationTicks: number, sizeBytes: number, compositionOffsetTicks: number, isSync: boolean): void {
    if (this.#length === MAX_SAMPLES)
      throw malformed('trun', `more than ${MAX_SAMPLES} samples in a fragment`);
    if (this.#length === this.#durations.length) this.#grow();
    this.#durations[this.#length] = durationTicks;
    this.#sizes[this.#length] = sizeBytes;
    this.#offsets[this.#length] = compositionOffsetTicks;
    this.#syncs[this.#length] = isSync ? 1 : 0;
    this.#length += 1;
    this.#dataBytes += sizeBytes;
  }

  extendLast(ticks: number): void {
    if (this.#length > 0) this.#durations[this.#length - 1]! += ticks;
  }

  clear(): void {
    this.#length = 0;
    this.#dataBytes = 0;
  }

  /** Views, valid until the next `push`. */
  get columns(): {
    readonly durations: Uint32Array;
    readonly sizes: Uint32Array;
    readonly offsets: Int32Array;
    readonly syncs: Uint8Array;
  } {
    return {
      durations: this.#durations.subarray(0, this.#length),
      sizes: this.#sizes.subarray(0, this.#length),
      offsets: this.#offsets.subarray(0, this.#length),
      syncs: this.#syncs.subarray(0, this.#length),
    };
  }

  #grow(): void {
    const room = this.#durations.length * 2;
    const larger = {
      durations: new Uint32Array(room),
      sizes: new Uint32Array(room),
      offsets: new Int32Array(room),
      syncs: new Uint8Array(room),
    };
    larger.durations.set(this.#durations);
    larger.sizes.set(this.#sizes);
    larger.offsets.set(this.#offsets);
    larger.syncs.set(this.#syncs);
    this.#durations = larger.durations;
    this.#sizes = larger.sizes;
    this.#offsets = larger.offsets;
    this.#syncs = larger.syncs;
  }
}

/** Writes the `moof` and the header of the `mdat`. @throws AppError `media-malformed` when the data is too large */
export function writeFragmentHeader(
  sequenceNumber: number,
  trackId: number,
  baseDtsTicks: number,
  samples: SampleColumns,
): Buffer {
  if (samples.dataBytes > MAX_DATA_BYTES) {
    throw malformed('mdat', `${samples.dataBytes} bytes are too many for one fragment`);
  }
  const count = samples.length;
  const { durations, sizes, offsets, syncs } = samples.columns;
  const restIsSync = count === 1 ? syncs[0] : sharedValue(syncs.subarray(1));
  const hasFirstFlags = restIsSync !== undefined && restIsSync !== syncs[0];
  const restFlags = restIsSync === undefined ? undefined : flagsOf(restIsSync);
  // Shared values are in the tfhd; the others have a column in the trun. The default composition offset is 0.
  const fields = [
    { shared: sharedValue(durations), values: durations, tfhdFlag: 0x08, trunFlag: 0x100 },
    { shared: sharedValue(sizes), values: sizes, tfhdFlag: 0x10, trunFlag: 0x200 },
    { shared: restFlags, values: Uint32Array.from(syncs, flagsOf), tfhdFlag: 0x20, trunFlag: 0x400 },
  ];
  const defaults = fields.filter(({ shared }) => shared !== undefined);
  const columns: { values: Uint32Array | Int32Array; trunFlag: number }[] = fields.filter(
    ({ shared }) => shared === undefined,
  );
  if (sharedValue(offsets) !== 0) columns.push({ values: offsets, trunFlag: 0x800 });

  const tfhdBytes = 16 + 4 * defaults.length;
  const trunBytes = 20 + (hasFirstFlags ? 4 : 0) + 4 * columns.length * count;
  const trafBytes = 8 + tfhdBytes + 20 + trunBytes;
  const moofBytes = 8 + 16 + trafBytes;
  const bytes = Buffer.allocUnsafeSlow(moofBytes + 8);
  let at = 0;
  const field = (value: number) => {
    at = bytes.writeUInt32BE(value, at);
  };
  const begin = (length: number, type: string) => {
    field(length);
    at += bytes.write(type, at, 'latin1');
  };
  begin(moofBytes, 'moof');
  begin(16, 'mfhd');
  field(0);
  field(sequenceNumber);
  begin(trafBytes, 'traf');
  begin(tfhdBytes, 'tfhd');
  field(defaults.reduce((flags, { tfhdFlag }) => flags | tfhdFlag, 0x020000));
  field(trackId);
  for (const { shared = 0 } of defaults) field(shared);
  begin(20, 'tfdt');
  field(0x01000000);
  field(Math.floor(baseDtsTicks / 2 ** 32));
  field(baseDtsTicks % 2 ** 32);
  begin(trunBytes, 'trun');
  field(columns.reduce((flags, { trunFlag }) => flags | trunFlag, 0x01000001 | (hasFirstFlags ? 0x004 : 0)));
  field(count);
  field(moofBytes + 8);
  if (hasFirstFlags) field(flagsOf(syncs[0]));
  for (let index = 0; index < count; index++) {
    for (const { values } of columns) field(values[index]! >>> 0);
  }
  begin(8 + samples.dataBytes, 'mdat');
  return bytes;
}

function flagsOf(isSync: number | undefined): number {
  return isSync === 1 ? SYNC_FLAGS : NON_SYNC_FLAGS;
}

function sharedValue(values: Uint32Array | Int32Array | Uint8Array): number | undefined {
  const [first] = values;
  for (const value of values) {
    if (value !== first) return undefined;
  }
  return first;
}
