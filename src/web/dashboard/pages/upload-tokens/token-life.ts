/** The longest life that a token can have, in seconds. */
export const ttlAtMost = 2_147_483_647;

const hour = 3_600;
const day = 24 * hour;

/** Units in which a life can be told, with their seconds. */
export const lifeUnits = { minutes: 60, hours: hour, days: day } as const;

/** A unit of {@link lifeUnits}. */
export type LifeUnit = keyof typeof lifeUnits;

/** How long a token lives: seconds as text, `0` for ever; `custom` is told by a number and a unit. */
export const lifeChoices = [
  [String(hour), '1 hour'],
  [String(day), '1 day'],
  [String(7 * day), '1 week'],
  ['0', 'Until it is deleted'],
  ['custom', 'Another time'],
] as const;

/** A choice of {@link lifeChoices}. */
export type LifeChoice = (typeof lifeChoices)[number][0];

/** Seconds of a life, 0 for ever; undefined when the number makes none. */
export function ttlOf(choice: LifeChoice, number: string, unit: LifeUnit): number | undefined {
  if (choice !== 'custom') return Number(choice);
  if (!/^\d+(?:[.,]\d+)?$/.test(number.trim())) return undefined;
  const seconds = Math.round(Number(number.trim().replace(',', '.')) * lifeUnits[unit]);
  return seconds >= 1 && seconds <= ttlAtMost ? seconds : undefined;
}
