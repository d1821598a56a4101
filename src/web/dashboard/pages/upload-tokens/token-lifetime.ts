import { maxTokenTtlSeconds } from '../../../../shared/limits/resource-limits.ts';

const hour = 3_600;
const day = 24 * hour;

export const lifetimeUnits = { minutes: 60, hours: hour, days: day } as const;

export type LifetimeUnit = keyof typeof lifetimeUnits;

/** Seconds as text, `0` for no limit, `custom` for a number and a unit. */
export const lifetimeChoices = [
  [String(hour), '1 hour'],
  [String(day), '1 day'],
  [String(7 * day), '1 week'],
  ['0', 'Until deleted'],
  ['custom', 'Custom'],
] as const;

export type LifetimeChoice = (typeof lifetimeChoices)[number][0];

export function ttlOf(choice: LifetimeChoice, number: string, unit: LifetimeUnit): number | undefined {
  if (choice !== 'custom') return Number(choice);
  if (!/^\d+(?:[.,]\d+)?$/.test(number.trim())) return undefined;
  const seconds = Math.round(Number(number.trim().replace(',', '.')) * lifetimeUnits[unit]);
  return seconds >= 1 && seconds <= maxTokenTtlSeconds ? seconds : undefined;
}
