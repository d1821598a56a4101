import { expect, test } from 'vitest';
import { RateExceeded } from '../../../../../src/http/routing/rate-limiter.ts';
import { PasswordQueue } from '../../../../../src/resources/identity/sessions/password-queue.ts';
import { cheapHash } from '../../../../support/sign-in.ts';

test('a few passwords are looked at after one another, and no more wait than twenty', async () => {
  const turns = new PasswordQueue();
  const stored = cheapHash('right');
  const asked = Array.from({ length: 22 }, (_, n) => turns.verify(n % 2 === 0 ? 'right' : 'wrong', stored));
  await expect(turns.verify('right', stored)).rejects.toThrow(RateExceeded);
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 22 }, (_, n) => n % 2 === 0));
  expect(await turns.verify('right', stored)).toBe(true);
});

test('nobody has the password of who is not there', async () => {
  expect(await new PasswordQueue().verify('', undefined)).toBe(false);
});
