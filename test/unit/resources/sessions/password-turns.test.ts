import { expect, test } from 'vitest';
import { RateExceeded } from '../../../../src/http/rate-limiter.ts';
import { PasswordTurns } from '../../../../src/resources/sessions/password-turns.ts';
import { cheapHash } from '../../../support/sign-in.ts';

test('a few passwords are looked at after one another, and no more wait than twenty', async () => {
  const turns = new PasswordTurns();
  const stored = cheapHash('right');
  const asked = Array.from({ length: 22 }, (_, n) => turns.isRight(n % 2 === 0 ? 'right' : 'wrong', stored));
  await expect(turns.isRight('right', stored)).rejects.toThrow(RateExceeded);
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 22 }, (_, n) => n % 2 === 0));
  expect(await turns.isRight('right', stored)).toBe(true);
});

test('nobody has the password of who is not there', async () => {
  expect(await new PasswordTurns().isRight('', undefined)).toBe(false);
});
