import { avcSampleFormat, hevcSequence } from './parameter-set.ts';

/** HEVC NAL unit types. ITU-T H.265 (08/2021), table 7-1. */
const HEVC_VPS = 32;
const HEVC_SPS = 33;
const HEVC_PPS = 34;
const LENGTH_BYTES_MINUS_1 = 3;

/**
 * Writes the body of avcC for samples with 4-byte lengths; undefined without a usable SPS. At most 31 of each kind.
 * ISO/IEC 14496-15:2022, 5.3.3.1.
 */
export function avcConfigRecord(
  spsUnits: readonly Buffer[],
  ppsUnits: readonly Buffer[],
  spsExtensions: readonly Buffer[],
): Buffer | undefined {
  const [sps] = spsUnits;
  if (sps === undefined || sps.length < 4 || ppsUnits.length === 0) return undefined;
  const format = avcSampleFormat(sps);
  return Buffer.concat([
    Buffer.from([1, sps[1]!, sps[2]!, sps[3]!, 0xfc | LENGTH_BYTES_MINUS_1, 0xe0 | spsUnits.length]),
    ...spsUnits.flatMap(withLength),
    Buffer.from([ppsUnits.length]),
    ...ppsUnits.flatMap(withLength),
    ...(format === undefined
      ? []
      : [
          Buffer.from([
            0xfc | format.chromaFormat,
            0xf8 | (format.lumaBits - 8),
            0xf8 | (format.chromaBits - 8),
            spsExtensions.length,
          ]),
          ...spsExtensions.flatMap(withLength),
        ]),
  ]);
}

/**
 * Writes the body of hvcC for samples with 4-byte lengths and without parameter sets; undefined without a usable SPS.
 * ISO/IEC 14496-15:2022, 8.3.3.1.
 */
export function hevcConfigRecord(
  vpsUnits: readonly Buffer[],
  spsUnits: readonly Buffer[],
  ppsUnits: readonly Buffer[],
): Buffer | undefined {
  const sequence = spsUnits[0] && hevcSequence(spsUnits[0]);
  if (sequence === undefined) return undefined;
  const { profileTierLevel, chromaFormat, lumaBits, chromaBits, temporalLayers, isTemporalIdNested } =
    sequence;
  const arrays = [
    [HEVC_VPS, vpsUnits],
    [HEVC_SPS, spsUnits],
    [HEVC_PPS, ppsUnits],
  ] as const;
  return Buffer.concat([
    Buffer.from([1]),
    profileTierLevel,
    Buffer.from([
      ...[0xf0, 0], // minimum spatial segmentation: unknown
      0xfc, // parallelism: unknown
      0xfc | chromaFormat,
      0xf8 | (lumaBits - 8),
      0xf8 | (chromaBits - 8),
      ...[0, 0], // average frame rate: unknown
      (temporalLayers << 3) | (isTemporalIdNested ? 4 : 0) | LENGTH_BYTES_MINUS_1,
      arrays.length,
    ]),
    ...arrays.flatMap(([type, units]) => [
      Buffer.from([0x80 | type, units.length >> 8, units.length & 0xff]), // complete
      ...units.flatMap(withLength),
    ]),
  ]);
}

function withLength(unit: Buffer): [Buffer, Buffer] {
  return [Buffer.from([unit.length >> 8, unit.length & 0xff]), unit];
}
