interface PackagePlan {
  readonly hasVideo: boolean;
  /** `aac` encodes audio that HLS cannot carry. */
  readonly audio: 'none' | 'copy' | 'aac';
}

interface PackagePipes {
  readonly video?: number;
  readonly audio?: number;
}

export function packagePipes(plan: PackagePlan): PackagePipes {
  return {
    ...(plan.hasVideo ? { video: 3 } : {}),
    ...(plan.audio === 'none' ? {} : { audio: plan.hasVideo ? 4 : 3 }),
  };
}

/**
 * Encodes AAC with a layout: some decoders (Speex of ffmpeg 5) leave that of one channel unset, which the encoder
 * rejects.
 */
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
 * Turns FLV on stdin into one fragmented MP4 per track, each on its own pipe.
 * No trailer: ffmpeg would keep a list of all fragments, 11 MB per hour. One output per track: a muxer with
 * two tracks holds frames until the other track has caught up, and stretches the first sample of the later
 * one. One fragment per frame: the segmenter decides where parts end. No `-fflags nobuffer`: it discards the
 * probed first keyframe.
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
    const codec = plan.audio === 'aac' ? encodeAac : ['-c:a', 'copy'];
    args.push('-map', '0:a:0', ...codec, ...fragments, `pipe:${pipes.audio}`);
  }
  return args;
}
