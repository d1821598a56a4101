export { startsWithIdr } from './avc-picture.ts';
export { childBoxes } from './box-reader.ts';
export { codecStringOf } from './codec-string.ts';
export { type Edit, NO_EDIT, readEdit } from './edit-list.ts';
export { SampleColumns, writeFragmentHead } from './fragment-head.ts';
export { type FragmentLayout, moveDecodeTimes, readFragmentLayout } from './fragment-layout.ts';
export { type FragmentHandlers, FragmentReader, type Sample } from './fragment-reader.ts';
export { type RunSample, type TrackRun, writeFragment } from './fragment-writer.ts';
export { type FragmentedMovie, readFragment, readFragmentedMovie } from './fragmented-file.ts';
export {
  parseInitSegment,
  type TrackDescription,
  type VideoRange,
  writeInitSegment,
} from './init-segment.ts';
export type { LocatedSample } from './movie-fragment.ts';
export {
  type ProgressiveMovie,
  type ProgressiveTrack,
  type ReadAt,
  readProgressiveMovie,
} from './progressive-file.ts';
export { isEncrypted } from './protection.ts';
export { SampleCursor } from './sample-tables.ts';
export { SEEK_TABLE_BYTES, SeekTable } from './seek-table.ts';
