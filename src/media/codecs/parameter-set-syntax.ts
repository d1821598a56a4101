import type { BitReader } from './bit-reader.ts';

/** num_units_in_tick and time_scale, behind their presence flag. */
export function readTickSeconds(bits: BitReader): number | undefined {
  if (!bits.flag()) return undefined;
  const units = bits.bits(32);
  const scale = bits.bits(32);
  return units > 0 && scale > 0 ? units / scale : undefined;
}

export function skipExponentials(bits: BitReader, count: number): void {
  for (let left = count; left > 0 && !bits.isExhausted; left--) bits.expGolomb();
}

/** ITU-T H.264 (08/2021), 7.3.2.1.1.1. */
export function skipAvcScalingLists(bits: BitReader, lists: number): void {
  for (let list = 0; list < lists; list++) {
    if (!bits.flag()) continue;
    let last = 8;
    let next = 8;
    for (let left = list < 6 ? 16 : 64; left > 0; left--) {
      if (next !== 0) next = (last + bits.signedExpGolomb() + 256) % 256;
      if (next !== 0) last = next;
    }
  }
}

/** ITU-T H.265 (08/2021), 7.3.3. */
export function skipProfileTierLevel(bits: BitReader, subLayers: number): void {
  bits.skip(96);
  const presence = Array.from({ length: subLayers }, () => ({ profile: bits.flag(), level: bits.flag() }));
  if (subLayers > 0) bits.skip(2 * (8 - subLayers));
  for (const { profile, level } of presence) bits.skip((profile ? 88 : 0) + (level ? 8 : 0));
}

/** ITU-T H.265 (08/2021), 7.3.4. */
export function skipHevcScalingLists(bits: BitReader): void {
  for (let size = 0; size < 4; size++) {
    for (let matrix = 0; matrix < 6; matrix += size === 3 ? 3 : 1) {
      if (bits.flag()) skipExponentials(bits, Math.min(64, 16 << (2 * size)) + (size > 1 ? 1 : 0));
      else bits.expGolomb();
    }
  }
}

/** ITU-T H.265 (08/2021), 7.3.7. */
export function skipReferencePictureSets(bits: BitReader, count: number): void {
  let previous = 0;
  for (let index = 0; index < count && !bits.isExhausted; index++) {
    let references = 0;
    if (index > 0 && bits.flag()) {
      bits.skip(1);
      bits.expGolomb();
      for (let left = previous + 1; left > 0 && !bits.isExhausted; left--) {
        if (bits.flag() || bits.flag()) references += 1;
      }
    } else {
      references = bits.expGolomb() + bits.expGolomb();
      for (let left = references; left > 0 && !bits.isExhausted; left--) {
        bits.expGolomb();
        bits.skip(1);
      }
    }
    previous = references;
  }
}
