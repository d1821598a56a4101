import type { AuditEntry } from '../../api/api-types.ts';
import { shortId } from '../../format/short-id.ts';

const dayMs = 24 * 3_600_000;

export const periodChoices = [
  ['', 'All time'],
  ['1', 'Last 24 hours'],
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
] as const;

const actions: readonly (readonly [action: string, label: string])[] = [
  ['', 'All actions'],
  ['session.create', 'Sign-ins'],
  ['session.refuse', 'Refused sign-ins'],
  ['video.create', 'Videos created'],
  ['video.upload', 'Videos uploaded'],
  ['video.update', 'Videos changed'],
  ['video.delete', 'Videos deleted'],
  ['live-stream.create', 'Live streams created'],
  ['live-stream.update', 'Live streams changed'],
  ['live-stream.delete', 'Live streams deleted'],
  ['api-key.create', 'API keys created'],
  ['api-key.delete', 'API keys deleted'],
  ['webhook.create', 'Webhooks created'],
  ['webhook.delete', 'Webhooks deleted'],
];

/** The choices, with the chosen action, which may be none of them. */
export function actionChoices(
  chosen: string,
  first: AuditEntry | undefined,
): readonly (readonly [string, string])[] {
  if (actions.some(([action]) => action === chosen)) return actions;
  return [...actions, [chosen, first?.action === chosen ? first.summary : chosen]];
}

/** @param days a value of {@link periodChoices} @returns the beginning, to the minute */
export function startOf(days: string, nowMs = Date.now()): string | undefined {
  const count = Number(days);
  if (!periodChoices.some(([value]) => value === days) || count === 0) return undefined;
  return new Date(Math.floor((nowMs - count * dayMs) / 60_000) * 60_000).toISOString();
}

export function actorLabel({ kind, id, name }: AuditEntry['actor']): string {
  if (kind === 'operator') return 'Server operator';
  if (kind === 'user') return name ?? 'A user';
  if (kind === 'upload-token') return `Upload token ${id ?? ''}`;
  return name === undefined ? `API key ${shortId(id ?? '')}` : `API key “${name}”`;
}

export function targetLabel({ kind, id, name }: NonNullable<AuditEntry['target']>): string {
  if (name !== undefined) return name;
  const noun = kind.replaceAll('-', ' ');
  const shown = kind === 'upload-token' ? id : shortId(id);
  return `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${shown}`;
}
