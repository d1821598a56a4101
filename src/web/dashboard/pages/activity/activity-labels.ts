import type { AuditEntry } from '../../api/api-types.ts';
import { shortId } from '../../format/short-id.ts';
import { t } from '../../texts/server.ts';

const dayMs = 24 * 3_600_000;

const periods = ['1', '7', '30'] as const;

export function periodChoices(): readonly (readonly [days: string, label: string])[] {
  return [['', t('activity.allTime')], ...periods.map(days => [days, t(`activity.period.${days}`)] as const)];
}

const actions = [
  'session.create',
  'session.refuse',
  'video.create',
  'video.upload',
  'video.update',
  'video.delete',
  'live-stream.create',
  'live-stream.update',
  'live-stream.delete',
  'api-key.create',
  'api-key.delete',
  'webhook.create',
  'webhook.delete',
] as const;

/** Kinds of targets that there are texts for. */
const kinds = [
  'account',
  'api-key',
  'audio-track',
  'broadcast',
  'hook',
  'invitation',
  'live-stream',
  'member',
  'passkey',
  'player',
  'project',
  'session',
  'setting',
  'signing-key',
  'upload-token',
  'user',
  'video',
  'watermark',
  'webhook',
] as const;

/** Matches ids, and not the names of hooks, settings and languages. */
const generatedId = /^\w{20,}$/;

/** The choices, with the chosen action, which may be none of them. */
export function actionChoices(
  chosen: string,
  first: AuditEntry | undefined,
): readonly (readonly [string, string])[] {
  const choices = [
    ['', t('activity.allActions')] as const,
    ...actions.map(action => [action, t(`activity.action.${action}`)] as const),
  ];
  if (choices.some(([action]) => action === chosen)) return choices;
  return [...choices, [chosen, first?.action === chosen ? first.summary : chosen]];
}

/** @param days one of the {@link periodChoices} @returns the beginning, to the minute */
export function startOf(days: string): string | undefined {
  const count = Number(days);
  if (!periods.some(value => value === days)) return undefined;
  return new Date(Math.floor((Date.now() - count * dayMs) / 60_000) * 60_000).toISOString();
}

export function actorLabel({ kind, id, name }: AuditEntry['actor']): string {
  if (kind === 'operator') return t('activity.operator');
  if (kind === 'user') return name ?? t('activity.aUser');
  if (kind === 'upload-token') return t('activity.kind.upload-token', { id: id ?? '' });
  return name === undefined
    ? t('activity.kind.api-key', { id: shortId(id ?? '') })
    : t('activity.keyName', { name });
}

export function targetLabel({ kind, id, name }: NonNullable<AuditEntry['target']>): string {
  if (name !== undefined) return name;
  const shown = kind !== 'upload-token' && generatedId.test(id) ? shortId(id) : id;
  const known = kinds.find(one => one === kind);
  if (known !== undefined) return t(`activity.kind.${known}`, { id: shown });
  const noun = kind.replaceAll('-', ' ');
  return `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${shown}`;
}
