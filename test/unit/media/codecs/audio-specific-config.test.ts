import { expect, test } from 'vitest';
import { readAudioSpecificConfig } from '../../../../src/media/codecs/audio-specific-config.ts';

test.each([
  ['AAC-LC', '1190', { objectType: 2, sampleRate: 48_000, channels: 2, samplesPerFrame: 1024 }],
  ['AAC-LC with short frames', '1194', { objectType: 2, sampleRate: 48_000, samplesPerFrame: 960 }],
  ['AAC-LC with seven speakers and one', '11b8', { channels: 8 }],
  ['AAC-LC with channels in the stream', '1180', { channels: undefined }],
  ['AAC-LC with a rate in full', '178061a810', { sampleRate: 50_000 }],
  ['HE-AAC', '2b118800', { objectType: 5, sampleRate: 48_000, channels: 2, samplesPerFrame: 2048 }],
  ['HE-AAC, backward compatible', '139056e5a0', { objectType: 2, sampleRate: 44_100, samplesPerFrame: 2048 }],
  ['HE-AAC v2', 'eb098800', { objectType: 29, sampleRate: 48_000, channels: 1, samplesPerFrame: 2048 }],
  ['an extension to an unrelated rate', '139056e598', { sampleRate: 22_050, samplesPerFrame: 1024 }],
  ['AAC-LD', 'f8e63000', { objectType: 39, sampleRate: 48_000, samplesPerFrame: 480 }],
])('%s', (_, config, expected) => {
  expect(readAudioSpecificConfig(Buffer.from(config, 'hex'))).toMatchObject(expected);
});

test.each(['', '11', '0190', '16f0', '1700000010'])('%j is refused', config => {
  expect(() => readAudioSpecificConfig(Buffer.from(config, 'hex'))).toThrow('AAC configuration');
});
