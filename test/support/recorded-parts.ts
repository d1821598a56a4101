import type { ProbedFile } from '../../src/ffmpeg/media-tools.ts';
import { readFragmentLayout } from '../../src/media/cmaf/fragment-layout.ts';
import { writeFragment } from '../../src/media/cmaf/fragment-writer.ts';
import type { TrackDescription } from '../../src/media/cmaf/movie-box.ts';
import type { RecordablePart } from '../../src/vod/recording/recording-writer.ts';
import { audioTrack, videoTrack } from './recording-sink.ts';

/** The tracks of a recording unless a test says otherwise. */
export const both: readonly TrackDescription[] = [videoTrack, audioTrack];
/** Frames of a {@link part}. */
export const frames = 25;

/** The answer of ffprobe for files made of these parts. */
export const probedParts: ProbedFile = {
  format: 'mov,mp4,m4a,3gp,3g2,mj2',
  bytes: 1,
  durationSeconds: 1,
  startSeconds: 0,
  streams: [
    {
      index: 0,
      kind: 'video',
      codec: 'h264',
      profile: 'High',
      width: 320,
      height: 180,
      pixelFormat: 'yuv420p',
      averageFrameRate: 25,
      baseFrameRate: 25,
    },
    { index: 1, kind: 'audio', codec: 'aac', profile: 'LC', sampleRate: 48_000, channels: 2 },
  ],
} as unknown as ProbedFile;

/** The differences of a part from the usual one. */
export interface Cut {
  readonly video?: boolean;
  readonly audio?: boolean;
  /** Size of each sample. */
  readonly bytes?: number;
  /** True when the first frame is a keyframe. */
  readonly isKeyframe?: boolean;
}

/** A part of a second from `second` on, of 25 frames, the first of them a keyframe, and as much sound. */
export function part(
  second: number,
  { video = true, audio = true, bytes = 20, isKeyframe = true }: Cut = {},
  tracks: readonly TrackDescription[] = both,
): RecordablePart {
  const run = (track: TrackDescription, count: number) => ({
    trackId: track.id,
    baseDtsTicks: Math.round(second * track.timescale),
    samples: Array.from({ length: count }, (_, index) => ({
      durationTicks: track.timescale / count,
      compositionOffsetTicks: 0,
      data: Buffer.alloc(bytes, second * count + index),
      isSync: track.kind === 'audio' || (index === 0 && isKeyframe),
    })),
  });
  const fragment = writeFragment(Math.floor(second) + 1, [
    ...(video ? [run(videoTrack, frames)] : []),
    ...(audio ? [run(audioTrack, 50)] : []),
  ]);
  return { tracks, fragment, samples: readFragmentLayout(fragment, [1, 2]).samples };
}
