/** The longest life that a token can have, in seconds. */
export const maxTtlSeconds = 2_147_483_647;

const hour = 3_600;
const day = 24 * hour;

/** Units in which a life can be told, with their seconds. */
export const lifetimeUnits = { minutes: 60, hours: hour, days: day } as const;

/** A unit of {@link lifetimeUnits}. */
export type LifetimeUnit = keyof typeof lifetimeUnits;

/** How long a token lives: seconds as text, `0` for ever; `custom` is told by a number and a unit. */
export const lifetimeChoices = [
  [String(hour), '1 hour'],
  [String(day), '1 day'],
  [String(7 * day), '1 week'],
  ['0', 'Until it is deleted'],
  ['custom', 'Another time'],
] as const;

/** A choice of {@link lifetimeChoices}. */
export type LifetimeChoice = (typeof lifetimeChoices)[number][0];

/** Seconds of a life, 0 for ever; undefined when the number makes none. */
export function ttlOf(choice: LifetimeChoice, number: string, unit: LifetimeUnit): number | undefined {
  if (choice !== 'custom') return Number(choice);
  if (!/^\d+(?:[.,]\d+)?$/.test(number.trim())) return undefined;
  const seconds = Math.round(Number(number.trim().replace(',', '.')) * lifetimeUnits[unit]);
  return seconds >= 1 && seconds <= maxTtlSeconds ? seconds : undefined;
}
