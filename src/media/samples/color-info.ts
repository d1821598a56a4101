/** Colours of HDR video, as far as an encoder declares them. */
export interface ColorInfo {
  /** ITU-T H.273 codes. */
  readonly colour?: { readonly primaries: number; readonly transfer: number; readonly matrix: number };
  readonly masteringDisplay?: {
    /** CIE 1931 coordinates, 0..1: green, blue, red, white. */
    readonly chromaticities: readonly (readonly [x: number, y: number])[];
    /** Luminance in candelas per square metre. */
    readonly maxLuminance: number;
    readonly minLuminance: number;
  };
  /** Light level in candelas per square metre. */
  readonly contentLight?: { readonly max: number; readonly maxFrameAverage: number };
}
