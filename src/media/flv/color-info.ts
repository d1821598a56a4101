import { decodeAmf0 } from '../rtmp/amf0.ts';
import type { ColorInfo } from '../samples/color-info.ts';

type Properties = ReadonlyMap<unknown, unknown>;

const EXTENDED_VIDEO = 0x80;
const PACKET_METADATA = 4;
const headerBytes = 5;
const maxBytes = 4096;
const maxCode = 255;
const maxLuminance = 10_000;

/** Reads a metadata packet of Enhanced RTMP, version 2, "Metadata Frame"; undefined for other video tags. */
export function readColorInfo(body: Buffer): ColorInfo | undefined {
  const first = body[0] ?? 0;
  const isMetadata = (first & EXTENDED_VIDEO) !== 0 && (first & 0x0f) === PACKET_METADATA;
  if (!isMetadata || body.length > maxBytes) return undefined;
  const [name, info] = decodeAmf0(body.subarray(headerBytes));
  if (name !== 'colorInfo' || !(info instanceof Map)) return undefined;
  const colour = readColour(objectOf(info, 'colorConfig'));
  const masteringDisplay = readMasteringDisplay(objectOf(info, 'hdrMdcv'));
  const contentLight = readContentLight(objectOf(info, 'hdrCll'));
  return {
    colour,
    masteringDisplay,
    contentLight,
  };
}

function readColour(config: Properties | undefined): ColorInfo['colour'] {
  const primaries = numberOf(config, 'colorPrimaries', maxCode);
  const transfer = numberOf(config, 'transferCharacteristics', maxCode);
  const matrix = numberOf(config, 'matrixCoefficients', maxCode);
  if (primaries === undefined || transfer === undefined || matrix === undefined) return undefined;
  return { primaries: Math.round(primaries), transfer: Math.round(transfer), matrix: Math.round(matrix) };
}

function readMasteringDisplay(display: Properties | undefined): ColorInfo['masteringDisplay'] {
  const chromaticities: [number, number][] = [];
  for (const color of ['green', 'blue', 'red', 'whitePoint']) {
    const [x, y] = [numberOf(display, `${color}X`, 1), numberOf(display, `${color}Y`, 1)];
    if (x === undefined || y === undefined) return undefined;
    chromaticities.push([x, y]);
  }
  const max = numberOf(display, 'maxLuminance', maxLuminance);
  const min = numberOf(display, 'minLuminance', maxLuminance);
  if (max === undefined || min === undefined) return undefined;
  return { chromaticities, maxLuminance: max, minLuminance: min };
}

function readContentLight(light: Properties | undefined): ColorInfo['contentLight'] {
  const max = numberOf(light, 'maxCLL', maxLuminance);
  const maxFrameAverage = numberOf(light, 'maxFall', maxLuminance);
  return max === undefined || maxFrameAverage === undefined ? undefined : { max, maxFrameAverage };
}

function objectOf(properties: Properties, name: string): Properties | undefined {
  const value = properties.get(name);
  return value instanceof Map ? value : undefined;
}

function numberOf(properties: Properties | undefined, name: string, max: number): number | undefined {
  const value = properties?.get(name);
  return typeof value === 'number' && value >= 0 && value <= max ? value : undefined;
}
