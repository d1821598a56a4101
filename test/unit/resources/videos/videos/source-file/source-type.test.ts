import { describe, expect, it } from 'vitest';
import {
  sniffedBytes,
  sniffSourceType,
  sourceContentTypes,
} from '../../../../../../src/resources/videos/videos/source-file/source-type.ts';

const text = (value: string): Buffer => Buffer.from(value, 'latin1');

function packets(bytes: number, offset: number): Buffer {
  const start = Buffer.alloc(sniffedBytes);
  for (let at = offset; at < sniffedBytes; at += bytes) start[at] = 0x47;
  return start;
}

describe('the type of a source', () => {
  it.each([
    ['MP4', text('\0\0\0\x20ftypisom\0\0\x02\0'), 'video/mp4', 'mp4'],
    ['MP4 with audio', text('\0\0\0\x20ftypM4A \0\0\x02\0'), 'audio/mp4', 'm4a'],
    ['QuickTime', text('\0\0\0\x14ftypqt  \0\0\x02\0'), 'video/quicktime', 'mov'],
    ['old QuickTime', text('\0\0\0\x08wide\0\0\x10\0mdat'), 'video/quicktime', 'mov'],
    ['Matroska', text('\x1a\x45\xdf\xa3\xa3\x42\x86\x81\x01\x42\x82\x88matroska'), 'video/x-matroska', 'mkv'],
    ['WebM', text('\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm'), 'video/webm', 'webm'],
    ['AVI', text('RIFF\x10\0\0\0AVI LIST'), 'video/x-msvideo', 'avi'],
    ['FLV', text('FLV\x01\x05\0\0\0\x09'), 'video/x-flv', 'flv'],
    ['MPEG-TS', packets(188, 0), 'video/mp2t', 'ts'],
    ['MPEG-TS with time codes', packets(192, 4), 'video/mp2t', 'm2ts'],
    ['MPEG-PS', text('\0\0\x01\xba\x44\0'), 'video/mpeg', 'mpg'],
    ['MXF', text('\x06\x0e\x2b\x34\x02\x05'), 'application/mxf', 'mxf'],
    ['something else', text('hello'), 'application/octet-stream', 'bin'],
    ['nothing', Buffer.alloc(0), 'application/octet-stream', 'bin'],
  ])('is read from %s', (_, start, contentType, extension) => {
    expect(sniffSourceType(start)).toEqual({ contentType, extension });
    expect(sourceContentTypes).toContain(contentType);
  });
});
