import { describe, expect, it } from 'vitest';
import {
  newStreamKeys,
  PayloadCipher,
  readKeyMessage,
  unwrapKeys,
  wrapKeys,
  writeKeyMessage,
} from '../../../../src/media/srt/key-material.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('key wrap (vectors of RFC 3394, section 4)', () => {
  it.each([
    [
      '4.1',
      '000102030405060708090A0B0C0D0E0F',
      '00112233445566778899AABBCCDDEEFF',
      '1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5',
    ],
    [
      '4.2',
      '000102030405060708090A0B0C0D0E0F1011121314151617',
      '00112233445566778899AABBCCDDEEFF',
      '96778B25AE6CA435F92B5B97C050AED2468AB8A17AD84E5D',
    ],
    [
      '4.3',
      '000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F',
      '00112233445566778899AABBCCDDEEFF',
      '64E8C3F9CE0F5BA263E9777905818A2A93C8191E7D6E8AE7',
    ],
  ])('%s', (_section, wrappingKey, key, wrapped) => {
    expect(wrapKeys(hex(wrappingKey), hex(key))).toEqual(hex(wrapped));
    expect(unwrapKeys(hex(wrappingKey), hex(wrapped))).toEqual(hex(key));
  });

  it('is refused with another key', () => {
    expect(
      unwrapKeys(Buffer.alloc(16), hex('1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5')),
    ).toBeUndefined();
  });
});

describe('key messages', () => {
  it.each([16, 24, 32] as const)('carry keys of %i bytes to those with the passphrase', async keyBytes => {
    const keys = newStreamKeys(keyBytes);
    const message = await writeKeyMessage(keys, 'correct horse');
    expect(await readKeyMessage(message, 'correct horse')).toEqual(keys);
    expect(await readKeyMessage(message, 'wrong battery')).toBe('bad-secret');
  });

  it('carry both keys, the even one first', async () => {
    const both = { ...newStreamKeys(16), odd: newStreamKeys(16).even };
    expect(await readKeyMessage(await writeKeyMessage(both, 'correct horse'), 'correct horse')).toEqual(both);
  });

  it('are refused when they are cut, or use another cipher', async () => {
    const message = await writeKeyMessage(newStreamKeys(16), 'correct horse');
    for (let length = 0; length < message.length; length += 1) {
      expect(await readKeyMessage(message.subarray(0, length), 'correct horse')).toBe('malformed');
    }
    const other = Buffer.from(message);
    other[8] = 4;
    expect(await readKeyMessage(other, 'correct horse')).toBe('malformed');
  });
});

describe('PayloadCipher', () => {
  it('decrypts what it encrypted with the same parity and sequence number only', () => {
    const keys = newStreamKeys(16);
    const cipher = new PayloadCipher(keys);
    const plain = Buffer.alloc(1316, 7);
    const encrypted = cipher.apply('even', 41, plain)!;
    expect(encrypted).not.toEqual(plain);
    expect(cipher.apply('even', 41, encrypted)).toEqual(plain);
    expect(cipher.apply('even', 42, encrypted)).not.toEqual(plain);
    expect(cipher.apply('odd', 41, encrypted)).toBeUndefined();
  });

  it('keeps the former key while packets with it are on their way', () => {
    const first = newStreamKeys(16);
    const second = newStreamKeys(16).even;
    const cipher = new PayloadCipher(first);
    const plain = Buffer.from('media');
    const encrypted = cipher.apply('even', 1, plain)!;
    cipher.update({ salt: first.salt, odd: second });
    expect(cipher.apply('even', 1, encrypted)).toEqual(plain);
    expect(cipher.apply('odd', 2, cipher.apply('odd', 2, plain)!)).toEqual(plain);
  });
});
