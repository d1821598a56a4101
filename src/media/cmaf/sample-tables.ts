import { type Box, FieldReader, malformed } from './box-reader.ts';

/** 24 hours at 138 fps. */
const MAX_SAMPLES = 12_000_000;

export interface SampleTable {
  readonly at: number;
  readonly count: number;
}

/** ISO/IEC 14496-12:2022, 8.6.1, 8.6.2, 8.7. */
export interface SampleTables {
  readonly bytes: Buffer;
  readonly sampleCount: number;
  /** 0 when `sizes` lists them. */
  readonly sharedSize: number;
  readonly sizes: SampleTable;
  readonly durations: SampleTable;
  readonly compositionOffsets: SampleTable | undefined;
  readonly chunkRuns: SampleTable;
  readonly chunks: SampleTable;
  readonly hasLongOffsets: boolean;
  /** Undefined when all are sync samples. */
  readonly syncs: SampleTable | undefined;
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

function tableOf(bytes: Buffer, box: Box, entryBytes: number): SampleTable {
  const fields = new FieldReader(bytes, box, 4);
  const count = fields.u32();
  if (count * entryBytes > fields.remaining) throw malformed(box.type, `${count} entries do not fit`);
  return { at: fields.position, count };
}
