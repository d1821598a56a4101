import { fitFilters } from '../../ffmpeg/arguments/encode-filters.ts';
import type { ProbedStream } from '../../ffmpeg/media-tools.ts';

interface ImageSize {
  /** Size in pixels. `within`: scales down to fit, keeping the aspect ratio. `exactly`: this size. `framed`: this size, with black around. */
  readonly fit: 'within' | 'exactly' | 'framed';
  readonly width: number;
  readonly height: number;
}

export interface FrameFormat {
  readonly toneMap?: boolean;
  /** Default `bt709`, as in all our encodes. */
  readonly colorMatrix?: 'bt601' | 'bt709';
  readonly isInterlaced?: boolean;
}

/** Players assume BT.709 from this number of lines on. */
const highDefinitionLines = 720;

export function frameFormatOf(stream: ProbedStream): Required<FrameFormat> {
  const { colorTransfer, colorSpace, pixelFormat = '', fieldOrder, height = 0 } = stream;
  const toneMap = colorTransfer === 'smpte2084' || colorTransfer === 'arib-std-b67';
  // RGB is converted with the matrix of JPEG.
  const isBt601 = /^(?:gb|rgb|bgr|[0a]rgb|[0a]bgr|pal)/.test(pixelFormat)
    ? true
    : colorSpace === undefined
      ? height < highDefinitionLines
      : /^(?:smpte170m|bt470bg|fcc)$/.test(colorSpace);
  const isInterlaced = fieldOrder !== undefined && /^[tb]{2}$/.test(fieldOrder);
  return { toneMap, colorMatrix: isBt601 ? 'bt601' : 'bt709', isInterlaced };
}

/**
 * Converts a frame to square pixels and the colors of JPEG (JFIF 1.02: full range, ITU-R BT.601). A separate
 * filter converts the matrix, because `scale` of the embedded build cannot.
 */
export function imageFilters(size: ImageSize, look: FrameFormat): string[] {
  const { toneMap = false, colorMatrix = 'bt709', isInterlaced = false } = look;
  return [
    // A single field: better deinterlacers need the frames around.
    ...(isInterlaced ? ['field=top', 'setsar=sar/2', 'scale=w=iw:h=ih*2:flags=bicubic'] : []),
    ...(size.fit === 'framed'
      ? fitFilters(size, size, ['flags=bicubic'])
      : [`scale=${scaleSize(size)}:flags=bicubic`]),
    // After scaling down, tone mapping is cheap.
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
  // Uses the size of the frame, because a container can state another one.
  const shrink = `min(1\\,min(${width}/(iw*sar)\\,${height}/ih))`;
  return `w=max(2\\,trunc(iw*sar*${shrink}/2)*2):h=max(2\\,trunc(ih*${shrink}/2)*2)`;
}
