import type { Transaction } from '../../../store/connection.ts';

/** `used` is a right code, which works once. `not-set` is a user without a second factor. */
export type SecondFactorResult = 'used' | 'not-set' | 'missing' | 'wrong';

export interface SecondFactor {
  isSet(userId: string): Promise<boolean>;
  use(userId: string, code: string | undefined, transaction: Transaction): Promise<SecondFactorResult>;
}
