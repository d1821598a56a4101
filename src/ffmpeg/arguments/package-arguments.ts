/** What is to be packaged: which tracks the FLV input has, and what becomes of its audio. */
export interface PackagePlan {
  readonly hasVideo: boolean;
  /** `copy` where HLS can carry it, `aac` where it must be encoded. */
  readonly audio: 'none' | 'copy' | 'aac';
}

/** Which file descriptor each track's fragmented MP4 comes out of. */
export interface PackagePipes {
  readonly video?: number;
  readonly audio?: number;
}

/** Descriptors of the tracks of `plan`, from 3 up without a hole. */
export function packagePipes(plan: PackagePlan): PackagePipes {
  return {
    ...(plan.hasVideo ? { video: 3 } : {}),
    ...(plan.audio === 'none' ? {} : { audio: plan.hasVideo ? 4 : 3 }),
  };
}

/** Some decoders (Speex of ffmpeg 5) do not say that one channel is mono, and the encoder takes no other name for it. */
const encodeAac = [
  '-af',
  'aformat=channel_layouts=mono|stereo',
  '-c:a',
  'aac',
  '-b:a',
  '128k',
  '-ar',
  '48000',
];

/**
 * Arguments that turn FLV on stdin into one fragmented MP4 a track, one fragment a frame, each on its own pipe.
 *
 * No trailer: it would list all fragments, 40 bytes each, and that list is kept until the end: 11 MB an hour.
 *
 * One output a track: a muxer with two tracks holds each frame back until the other track has caught up, and stretches the first
 * sample of the later one. One fragment a frame: where a part ends is then ours to say, not the muxer's. No `-fflags nobuffer`: it
 * throws the probed first keyframe away.
 */
export function packageArguments(plan: PackagePlan): string[] {
  const pipes = packagePipes(plan);
  const input = ['-hide_banner', '-nostats', '-loglevel', 'warning', '-threads', '1'];
  const probe = ['-analyzeduration', '1000', '-probesize', '32768', '-f', 'flv', '-i', 'pipe:0'];
  const fragments = [
    ...['-map_metadata', '-1', '-f', 'mp4'],
    ...['-movflags', '+empty_moov+default_base_moof+frag_every_frame+skip_trailer', '-flush_packets', '1'],
  ];
  const args = [...input, ...probe];
  if (pipes.video !== undefined) {
    args.push('-map', '0:v:0', '-c:v', 'copy', ...fragments, `pipe:${pipes.video}`);
  }
  if (pipes.audio !== undefined) {
    args.push(
      '-map',
      '0:a:0',
      ...(plan.audio === 'aac' ? encodeAac : ['-c:a', 'copy']),
      ...fragments,
      `pipe:${pipes.audio}`,
    );
  }
  return args;
}
