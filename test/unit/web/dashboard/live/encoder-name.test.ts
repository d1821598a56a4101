import { expect, test } from 'vitest';
import { encoderOf } from '../../../../../src/web/dashboard/pages/live/room/encoder-name.ts';

test.each([
  ['FMLE/3.0 (compatible; Lavf59.27.100)', 'rtmp', 'Lavf59.27.100 (RTMP)'],
  ['FMLE/3.0 (compatible; FMSc/1.0)', 'rtmp', 'An encoder (RTMP)'],
  ['FMLE/3.2', 'rtmp', 'FMLE/3.2 (RTMP)'],
  ['obs-output module (libobs version 30.2.0)', undefined, 'obs-output module (libobs version 30.2.0)'],
  [undefined, 'srt', 'An encoder (SRT)'],
  ['anything', 'pull', 'The source'],
] as const)('an encoder that calls itself %s, over %s, is named %s', (encoder, protocol, name) => {
  expect(encoderOf({ encoder, protocol })).toBe(name);
});
