import { type EncoderDevice, encoderInput } from '../hardware/encoder-device.ts';
import type { EncodedAudio, EncodedVideo, EncodeOptions, VideoColor } from './encode-options.ts';

interface Size {
  readonly width: number;
  readonly height: number;
}

export const maxFrameRate = 60;
const standardColor: VideoColor = { matrix: 'bt709', primaries: 'bt709', transfer: 'bt709', isRgb: false };
/** Duration of a frame at the maximum rate, in a file that rounds times to milliseconds. */
const minFrameSeconds = 0.0155;
const maxMixedChannels = 8;
/** Clips begin and end at milliseconds, and most frames between them. */
const roundingSeconds = 0.001;
/** Maximum run-up, longer than the GOPs of broadcasts and cameras. */
const maxRunUpSeconds = 20;
/**
 * Smallest difference of shapes that counts: smaller ones cannot be seen, and come from rounding: 1088 lines
 * instead of 1080.
 */
const minShapeDifference = 0.01;
/** Limits of pixel aspect ratios. Others are mistakes. */
export const pixelAspectLimits = { min: 0.1, max: 10 };
/** Time before any frame, whatever times a file has. */
const overlayAtSeconds = -7200;

/**
 * Fills gaps with silence and drops overlaps once they add up to 40 ms, the lead of audio that goes
 * unnoticed. A lower limit would treat the jitter of program streams as gaps. **Source**: EBU R37;
 * ffmpeg-resampler(1), `async` and `min_hard_comp` (default 0.1).
 */
export const audioSyncFilter = 'aresample=48000:async=1:min_hard_comp=0.04:first_pts=0';

/** The AAC encoder fails with samples that are no numbers, which integers cannot hold. */
export const finiteSamples = 'aformat=sample_fmts=s32p,';

export function colorOf({ toneMapFrom, colour = standardColor }: EncodedVideo): VideoColor {
  return toneMapFrom === undefined ? colour : standardColor;
}

/** Start of a clip. A frame that begins within the rounding before it belongs to the clip. */
export function startOfClip({ startSeconds }: NonNullable<EncodeOptions['clip']>): number {
  return Math.max(0, startSeconds - roundingSeconds);
}

/** End of a clip. A frame that begins within the rounding before it does not belong to the clip. */
export function endOfClip({
  startSeconds,
  durationSeconds,
}: NonNullable<EncodeOptions['clip']>): number | undefined {
  return durationSeconds && startSeconds + durationSeconds - roundingSeconds;
}

/** Seconds decoded and discarded before a clip: without an index of keyframes, a seek may end too late. */
export function runUpOf({ clip, clock }: Pick<EncodeOptions, 'clip' | 'clock'>): number {
  const startSeconds = clip === undefined ? 0 : startOfClip(clip);
  return clock?.isSteady === true ? startSeconds : Math.min(maxRunUpSeconds, startSeconds);
}

function trimRunUp(kind: 'a' | 'v', runUpSeconds: number): string {
  if (runUpSeconds === 0) return '';
  const [trim, setpts] = kind === 'a' ? ['atrim', 'asetpts'] : ['trim', 'setpts'];
  const at = seconds(runUpSeconds);
  return `${trim}=start=${at},${setpts}=PTS-${at}/TB,`;
}

/** The layout of more channels is unknown; by convention the first two carry the mix. */
export function twoOfMany(channels: number): string {
  return channels > maxMixedChannels ? 'pan=stereo|c0=c0|c1=c1,' : '';
}

/** Late starts and gaps become silence: players do not skip gaps in audio. */
export function audioFilters(
  { channels, isSurround, untilSeconds }: Omit<EncodedAudio, 'name' | 'index'>,
  runUpSeconds: number,
): string {
  const layout = isSurround ? ',aformat=channel_layouts=5.1' : '';
  const pad = untilSeconds === undefined ? '' : `,apad=whole_len=${Math.round(48_000 * untilSeconds)}`;
  return `${finiteSamples}${twoOfMany(channels)}${trimRunUp('a', runUpSeconds)}${audioSyncFilter}${layout}${pad}`;
}

/** Joins the left and the right channel from two streams. The output is called like the rendition. */
export function joinedAudioGraph(
  { name, untilSeconds }: EncodedAudio,
  streams: readonly string[],
  runUpSeconds: number,
): string {
  const mono = audioFilters({ channels: 1, isSurround: false, untilSeconds }, runUpSeconds);
  const sides = streams.map(
    (side, number) => `[${side}]${mono},aformat=channel_layouts=mono[${name}-${number}]`,
  );
  return `${sides.join(';')};[${name}-0][${name}-1]join=inputs=2:channel_layout=stereo:map=0.0-FL|1.0-FR[${name}]`;
}

export function filterGraph(video: EncodedVideo, runUpSeconds: number, device?: EncoderDevice): string {
  const { overlays, renditions } = video;
  const graph = [
    `[0:${video.index}]${trimRunUp('v', runUpSeconds)}${sourceFilters(video).join(',') || 'null'}[base0]`,
  ];
  for (const [index, { x, y, width, height, opacity }] of overlays.entries()) {
    graph.push(
      `[${index + 1}:v]setpts=${overlayAtSeconds}/TB,format=rgba,scale=${width}:${height},colorchannelmixer=aa=${opacity.toFixed(4)}[mark${index}]`,
      `[base${index}][mark${index}]overlay=x=${x}:y=${y}[base${index + 1}]`,
    );
  }
  const splits = renditions.map((_, index) => `[s${index}]`).join('');
  graph.push(`[base${overlays.length}]split=${renditions.length}${splits}`);
  // Tells whether a frame has one size before scaling: overlays and tone mapping give it one.
  const hasOneSize = overlays.length > 0 || video.toneMapFrom !== undefined;
  for (const [index, size] of renditions.entries()) {
    const options = ['flags=bicubic', 'out_range=tv'];
    const scale = hasOneSize
      ? `scale=${size.width}:${size.height}:${options.join(':')}`
      : fitFilters(size, video, options).join(',');
    graph.push(`[s${index}]${scale},setsar=1,${encoderInput(device)}[r${index}]`);
  }
  return graph.join(';');
}

function sourceFilters(video: EncodedVideo): string[] {
  const filters: string[] = [];
  const { matrix, isRgb } = colorOf(video);
  // Overlays are placed in pixels of the displayed picture; without any, the renditions are scaled from the coded picture.
  const hasOverlays = video.overlays.length > 0;
  const scaleOptions = [
    ...(hasOverlays && video.isInterlaced ? ['interl=1'] : []),
    // The only conversion to luma, so that its matrix is the declared one.
    ...(isRgb ? [`out_color_matrix=${matrix}`, 'out_range=tv'] : []),
  ];
  // First, since it accepts frames of another size.
  if (hasOverlays) filters.push(`select='gt(t,${overlayAtSeconds})'`);
  if (hasOverlays) filters.push(...fitFilters(video, video, scaleOptions));
  else if (scaleOptions.length > 0) filters.push(`scale=${scaleOptions.join(':')}`);
  if (isRgb) filters.push('format=yuv420p');
  if (video.isInterlaced) filters.push('yadif=deint=interlaced');
  // Only drops frames: the stated rate may be that of a clock.
  if (video.isTooFast) {
    const slot = (time: string) => `floor(${time}*${maxFrameRate}+0.05)`;
    filters.push(`select='isnan(prev_selected_t)+gt(${slot('t')},${slot('prev_selected_t')})'`);
  } else if (video.framesPerSecond === undefined) {
    filters.push(`select='isnan(prev_selected_t)+gte(t-prev_selected_t,${minFrameSeconds})'`);
  }
  if (video.toneMapFrom !== undefined) {
    const top = video.renditions.at(-1);
    // Tone mapping works in floating point: a large picture would need gigabytes.
    if (!hasOverlays && top !== undefined) filters.push(...fitFilters(top, video));
    filters.push(...toneMap(video.toneMapFrom));
  }
  if (hasOverlays) filters.push('setsar=1');
  return filters;
}

/**
 * Scales pictures to one size and centers those of another shape on black: a source may change its size and its pixels in
 * the middle. @param shape of the first picture, as it is shown
 */
export function fitFilters({ width, height }: Size, shape: Size, options: readonly string[] = []): string[] {
  const aspect = shape.width / shape.height;
  const own = `(a*if(between(sar,${pixelAspectLimits.min},${pixelAspectLimits.max}),sar,1)/${aspect.toFixed(6)})`;
  // Sizes are rounded to whole pixels.
  const tolerance = Math.max(minShapeDifference, 1 / Math.min(shape.width, shape.height));
  const side = (pixels: number, share: string) =>
    `'if(lt(abs(${own}-1),${tolerance.toFixed(4)}),${pixels},max(2,2*round(${pixels / 2}*min(1,${share}))))'`;
  const scale = [`w=${side(width, own)}`, `h=${side(height, `1/${own}`)}`, 'eval=frame', ...options];
  return [`scale=${scale.join(':')}`, `pad=${width}:${height}:-1:-1:eval=frame`];
}

function toneMap(from: string): string[] {
  return [
    `zscale=tin=${from}:pin=bt2020:min=2020_ncl:rin=tv:t=linear:npl=100`,
    'format=gbrpf32le',
    'zscale=p=bt709',
    'tonemap=tonemap=hable:desat=0',
    'zscale=t=bt709:m=bt709:r=tv',
    'format=yuv420p',
  ];
}

export function seconds(value: number): string {
  return value.toFixed(6);
}
