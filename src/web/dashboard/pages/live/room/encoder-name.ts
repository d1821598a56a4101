import type { IngestLogEntry } from '../../../api/api-types.ts';
import { t } from '../../../texts/overview.ts';

/** Most RTMP encoders claim to be Adobe's, and tell their own name behind that. OBS and librtmp tell none. */
const flashVersion = /^FMLE\/\S+ \(compatible; (?:FMSc\/\S+|(.+))\)$/;

export function encoderOf({ encoder, protocol }: Pick<IngestLogEntry, 'encoder' | 'protocol'>): string {
  if (protocol === 'pull') return t('encoder.source');
  const name = encoder?.replace(flashVersion, '$1') || t('encoder.unknown');
  return protocol === undefined ? name : `${name} (${protocol.toUpperCase()})`;
}
