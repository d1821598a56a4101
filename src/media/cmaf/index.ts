export { codecStringOf } from '../codecs/codec-string.ts';
export { startsWithIdr } from '../codecs/starts-with-idr.ts';
export { childBoxes } from './box-reader.ts';
export { type Edit, NO_EDIT, readEdit } from './edit-list.ts';
export { SampleColumns, writeFragmentHeader as writeFragmentHead } from './fragment-header.ts';
export {
  type FragmentLayout,
  readFragmentLayout,
  shiftDecodeTimes as moveDecodeTimes,
} from './fragment-layout.ts';
export { type FragmentHandlers, FragmentReader, type Sample } from './fragment-reader.ts';
export { type RunSample, type TrackRun, writeFragment } from './fragment-writer.ts';
export { type FragmentedMovie, readFragment, readFragmentedMovie } from './fragmented-file.ts';
export {
  parseInitSegment,
  type TrackDescription,
  type VideoRange,
  writeInitSegment,
} from './init-segment.ts';
export { isEncrypted } from './is-encrypted.ts';
export type { LocatedSample } from './movie-fragment.ts';
export {
  type ProgressiveMovie,
  type ProgressiveTrack,
  type ReadAt,
  readProgressiveMovie,
} from './progressive-file.ts';
export { SampleCursor } from './sample-tables.ts';
export { SIDX_RESERVED_BYTES as SEEK_TABLE_BYTES, SidxWriter as SeekTable } from './sidx-writer.ts';
