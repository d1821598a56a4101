import type { IngestLogEntry } from '../../../api/api-types.ts';
import { t } from '../../../texts/overview.ts';

export function encoderOf({ encoder, protocol }: Pick<IngestLogEntry, 'encoder' | 'protocol'>): string {
  if (protocol === 'pull') return t('encoder.source');
  const name = encoder ?? t('encoder.unknown');
  return protocol === undefined ? name : `${name} (${protocol.toUpperCase()})`;
}
