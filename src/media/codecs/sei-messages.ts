import { withoutEmulationPrevention } from './parameter-set.ts';

interface SeiMessage {
  readonly payloadType: number;
  readonly payload: Buffer;
}

/** D.1.8. */
const RECOVERY_POINT = 6;
const maxUnitBytes = 64 * 1024;
const maxMessages = 32;

/** Reads the messages of an SEI unit without its header. ITU-T H.264 (08/2021), 7.3.2.3.1; also those of H.265. */
export function* readSeiMessages(unit: Buffer): Generator<SeiMessage> {
  const bytes = withoutEmulationPrevention(unit, maxUnitBytes);
  let at = 0;
  const readSum = () => {
    let sum = 0;
    while (bytes[at] === 0xff) {
      sum += 0xff;
      at += 1;
    }
    sum += bytes[at] ?? 0;
    at += 1;
    return sum;
  };
  for (let count = 0; count < maxMessages && at + 2 < bytes.length; count += 1) {
    const payloadType = readSum();
    const payloadBytes = readSum();
    yield { payloadType, payload: bytes.subarray(at, at + payloadBytes) };
    at += payloadBytes;
  }
}

/** @param unit an SEI unit of H.264 with its header */
export function hasRecoveryPoint(unit: Buffer): boolean {
  if (unit[1] === RECOVERY_POINT) return true;
  for (const { payloadType } of readSeiMessages(unit.subarray(1))) {
    if (payloadType === RECOVERY_POINT) return true;
  }
  return false;
}
