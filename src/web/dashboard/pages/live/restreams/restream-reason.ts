import { withServerSetting } from '../../../format/server-setting.ts';
import { t } from '../../../texts/overview.ts';

const reasons = {
  refused: 'restream.reason.refused',
  'name-not-found': 'restream.reason.nameNotFound',
  'connection-refused': 'restream.reason.connectionRefused',
  unreachable: 'restream.reason.unreachable',
  'timed-out': 'restream.reason.timedOut',
  'not-public': 'restream.reason.notPublic',
  tls: 'restream.reason.tls',
  closed: 'restream.reason.closed',
  stalled: 'restream.reason.stalled',
  failed: 'restream.reason.failed',
  codec: 'restream.reason.codec',
  'sandbox-limit': 'restream.reason.sandboxLimit',
} as const;

/** Says why a destination does not get the stream. The reason itself for one that only a newer server knows. */
export function formatReason(reason: string): string {
  if (!Object.hasOwn(reasons, reason)) return reason;
  const text = t(reasons[reason as keyof typeof reasons]);
  return reason === 'not-public' ? withServerSetting(text, 'MILLRACE_ALLOW_PRIVATE_TARGETS') : text;
}
