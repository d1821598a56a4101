import { maxTokenTtlSeconds } from '../../../../shared/limits/resource-limits.ts';
import { t } from '../../texts/developers.ts';

const hour = 3_600;
const day = 24 * hour;

export const lifetimeUnits = { minutes: 60, hours: hour, days: day } as const;

export type LifetimeUnit = keyof typeof lifetimeUnits;

/** Seconds as text, `0` for no limit, `custom` for a number and a unit. */
export type LifetimeChoice = string;

export function lifetimeChoices(): readonly (readonly [LifetimeChoice, string])[] {
  return [
    [String(hour), t('tokens.lifetime.hour')],
    [String(day), t('tokens.lifetime.day')],
    [String(7 * day), t('tokens.lifetime.week')],
    ['0', t('tokens.lifetime.unlimited')],
    ['custom', t('tokens.lifetime.custom')],
  ];
}

export function ttlOf(choice: LifetimeChoice, number: string, unit: LifetimeUnit): number | undefined {
  if (choice !== 'custom') return Number(choice);
  if (!/^\d+(?:[.,]\d+)?$/.test(number.trim())) return undefined;
  const seconds = Math.round(Number(number.trim().replace(',', '.')) * lifetimeUnits[unit]);
  return seconds >= 1 && seconds <= maxTokenTtlSeconds ? seconds : undefined;
}
