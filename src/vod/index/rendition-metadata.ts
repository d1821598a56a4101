import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { RenditionMetadata } from './rendition.ts';
import type { SegmentTable } from './segment-table.ts';

export function renditionMetadata(
  track: TrackDescription,
  table: SegmentTable,
  samples: number,
): RenditionMetadata {
  const { kind, codec, timescale, width, height, videoRange, channels, sampleRate, language } = track;
  const seconds = table.durationTicks / timescale;
  const common = {
    kind,
    codec,
    timescale,
    durationTicks: table.durationTicks,
    bytes: table.bytes,
    maxSegmentDurationSeconds: table.maxDurationTicks / timescale,
  };
  if (kind === 'audio') {
    return {
      ...common,
      ...(channels === undefined ? {} : { channels }),
      ...(sampleRate === undefined ? {} : { sampleRate }),
      ...(language === undefined ? {} : { language }),
    };
  }
  return {
    ...common,
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    ...(seconds > 0 ? { frameRate: samples / seconds } : {}),
    ...(videoRange === undefined ? {} : { videoRange }),
  };
}
