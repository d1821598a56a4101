import { describe, expect, test } from 'vitest';
import {
  AppError,
  type ErrorCode,
  errorRegister,
  messageOf,
  systemCodeOf,
} from '../../../src/shared/errors.ts';

const codes = Object.keys(errorRegister) as ErrorCode[];

describe.each(codes)('%s', code => {
  test('is in kebab-case and has a sentence and a status', () => {
    const error = new AppError(code);
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(error.message).toBe(errorRegister[code].title);
    expect(error.message).not.toBe('');
    expect(error.status).toBeGreaterThanOrEqual(400);
    expect(error.status).toBeLessThan(600);
  });

  test('is logged as what it is: an error only where someone must act', () => {
    const { kind, blame } = errorRegister[code];
    const isInfo = blame === 'caller' || code === 'not-ready';
    const level = kind === 'internal' ? 'error' : isInfo ? 'info' : 'warn';
    expect(new AppError(code).logLevel).toBe(level);
  });
});

test.each([
  ['invalid-attribute', 400],
  ['payload-too-large', 413],
  ['authentication-invalid-api-key', 401],
  ['authorization-suspended-account', 403],
  ['resource-not-found', 404],
  ['method-not-allowed', 405],
  ['request-timeout', 408],
  ['too-many-requests', 429],
  ['server-error', 500],
  ['server-draining', 503],
] as const)('%s is answered with %i', (code, status) => {
  expect(new AppError(code).status).toBe(status);
});

test('keeps its cause and its details', () => {
  const cause = new Error('why');
  const error = new AppError('server-error', 'what', { cause, details: { name: 'field' } });
  expect(error).toMatchObject({ message: 'what', cause, code: 'server-error', details: { name: 'field' } });
  expect(new AppError('server-error')).not.toHaveProperty('cause');
});

test.each([
  [new Error('two\n  lines '), 'two lines'],
  ['a text', 'a text'],
  [undefined, 'undefined'],
  [{ toString: (): string => 'an object' }, 'an object'],
])('the text of what was thrown is on one line', (thrown, text) => {
  expect(messageOf(thrown)).toBe(text);
});

test('the code of a system error', () => {
  expect(systemCodeOf(Object.assign(new Error('x'), { code: 'EADDRINUSE' }))).toBe('EADDRINUSE');
  expect(systemCodeOf(Object.assign(new Error('x'), { code: 7 }))).toBeUndefined();
  expect(systemCodeOf('EADDRINUSE')).toBeUndefined();
});
