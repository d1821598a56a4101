import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { decodeCommand } from '../../../../src/ingest/rtmp/commands.ts';
import { redirectLibraryLog } from '../../../../src/ingest/rtmp/library-log.ts';
import { type LogLine, recordingLogger } from '../../../support/ingest-client.ts';

const libraryLogger = createRequire(import.meta.url)('node-media-server/src/core/logger.js');

test('what the library logs goes to our log at debug level, with stream keys masked', () => {
  const lines: LogLine[] = [];
  redirectLibraryLog(recordingLogger(lines));
  libraryLogger.error('RTMP session push /live/0b7c1f0a-5e57-4c1c-9c2e-3f8f6f1d2a11 error');
  expect(lines).toEqual([
    {
      level: 'debug',
      event: 'library-log',
      data: { level: 'error', message: 'RTMP session push /live/0b7c… error' },
    },
  ]);
});

test('the library finds its way there when it decodes', () => {
  const lines: LogLine[] = [];
  redirectLibraryLog(recordingLogger(lines));
  expect(() => decodeCommand(Buffer.from([0x42]))).toThrow();
  expect(lines.map(line => line.level)).toEqual(['debug']);
});
