export { codecStringOf } from './codec-string.ts';
export { type FragmentHandlers, FragmentReader, type Sample } from './fragment-reader.ts';
export { type RunSample, type TrackRun, writeFragment } from './fragment-writer.ts';
export {
  parseInitSegment,
  type TrackDescription,
  type VideoRange,
  writeInitSegment,
} from './init-segment.ts';
