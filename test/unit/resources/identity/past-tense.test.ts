import { expect, test } from 'vitest';
import { pastTense } from '../../../../src/resources/identity/audit/past-tense.ts';

test.each([
  ['Create a video', 'Created a video'],
  ['Upload a logo', 'Uploaded a logo'],
  ['Retry a failed video', 'Retried a failed video'],
  ['Set up two-factor sign-in', 'Set up two-factor sign-in'],
  ['Send a delivery again', 'Sent a delivery again'],
  ['Write the text of a summary', 'Wrote the text of a summary'],
  ['Create or replace a hook', 'Created or replaced a hook'],
  ['Remove a member, or leave', 'Removed a member, or left'],
  ['Sign in', 'Signed in'],
  ['Sign-in failed', 'Sign-in failed'],
])('%s becomes %s', (summary, past) => expect(pastTense(summary)).toBe(past));
