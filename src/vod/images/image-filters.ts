import type { ProbedStream } from '../../ffmpeg/media-tools.ts';

/** How large pictures are made. */
export interface ImageSize {
  /** `within`: as large as the film is shown, but at most this, in its own shape; `exactly`: this. */
  readonly fit: 'within' | 'exactly';
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** What is to be known of a film's frames before they are pictures. */
export interface FrameFormat {
  /** PQ or HLG, to be brought to what screens show by default; false unless given. */
  readonly toneMap?: boolean;
  /** By which weights red, green and blue were put together; `bt709` unless given, as all that is encoded here. */
  readonly colorMatrix?: 'bt601' | 'bt709';
  /** Each frame holds two moments, line by line; false unless given. */
  readonly isInterlaced?: boolean;
}

/** Lines from which a picture that does not say so is taken for BT.709, as players take it. */
const highDefinitionLines = 720;

/** What a probed stream says of its frames. */
export function frameFormatOf(stream: ProbedStream): Required<FrameFormat> {
  const { colorTransfer, colorSpace, pixelFormat = '', fieldOrder, height = 0 } = stream;
  const toneMap = colorTransfer === 'smpte2084' || colorTransfer === 'arib-std-b67';
  // What is RGB already is put together by us, as JPEG wants it.
  const isBt601 = /^(?:gb|rgb|bgr|[0a]rgb|[0a]bgr|pal)/.test(pixelFormat)
    ? true
    : colorSpace === undefined
      ? height < highDefinitionLines
      : /^(?:smpte170m|bt470bg|fcc)$/.test(colorSpace);
  const isInterlaced = fieldOrder !== undefined && /^[tb]{2}$/.test(fieldOrder);
  return { toneMap, colorMatrix: isBt601 ? 'bt601' : 'bt709', isInterlaced };
}

/**
 * Filters that make a picture of a frame as it is shown: square pixels, and the colours of JPEG (JFIF 1.02: full range, weights of
 * ITU-R BT.601). Frames are turned upright before, by ffmpeg itself. The weights are changed by a filter of their own, because
 * `scale` of the embedded build does not do it.
 */
export function imageFilters(size: ImageSize, look: FrameFormat): string[] {
  const { toneMap = false, colorMatrix = 'bt709', isInterlaced = false } = look;
  return [
    // One of the moments: better filters look at the frames around, which are not there.
    ...(isInterlaced ? ['field=top', 'setsar=sar/2', 'scale=w=iw:h=ih*2:flags=bicubic'] : []),
    `scale=${scaleSize(size)}:flags=bicubic`,
    // After the picture is small: it takes little then.
    ...(toneMap ? toneMapping : ['format=yuv420p']),
    ...(!toneMap && colorMatrix === 'bt709' ? ['colormatrix=bt709:bt601'] : []),
    'scale',
    'format=yuvj420p',
    'setsar=1',
  ];
}

const toneMapping: readonly string[] = [
  'zscale=t=linear:npl=100',
  'format=gbrpf32le',
  'zscale=p=bt709',
  'tonemap=tonemap=hable:desat=0',
  'zscale=t=bt709:m=170m:r=tv',
  'format=yuv420p',
];

function scaleSize({ fit, width, height }: ImageSize): string {
  if (fit === 'exactly') return `w=${width}:h=${height}`;
  // Told by the frame, since a container can tell another size; `sar` makes its pixels square.
  const shrink = `min(1\\,min(${width}/(iw*sar)\\,${height}/ih))`;
  return `w=max(2\\,trunc(iw*sar*${shrink}/2)*2):h=max(2\\,trunc(ih*${shrink}/2)*2)`;
}
