import { describe, expect, it } from 'vitest';
import { attachmentHeader } from '../../../../src/http/responses/content-disposition.ts';

describe('attachmentNamed', () => {
  it.each([
    ['Pier', 'Pier.mp4', 'Pier.mp4'],
    ['Käse & 東京.mov', 'K_se & __.mov.mp4', 'K%C3%A4se%20%26%20%E6%9D%B1%E4%BA%AC.mov.mp4'],
    ['../../etc/passwd', 'etc passwd.mp4', 'etc%20passwd.mp4'],
    ['a"b;\\c', 'a b; c.mp4', 'a%20b%3B%20c.mp4'],
    ['a\r\nSet-Cookie: x=1', 'a Set-Cookie x=1.mp4', 'a%20Set-Cookie%20x%3D1.mp4'],
    ["it's (100%)*", "it's (100_).mp4", 'it%27s%20%28100%25%29.mp4'],
    ['\u202egpj.exe', 'gpj.exe.mp4', 'gpj.exe.mp4'],
    ['\ud800', 'video.mp4', 'video.mp4'],
    ['  ', 'video.mp4', 'video.mp4'],
    ['...', 'video.mp4', 'video.mp4'],
  ])('names a file after %j', (title, plain, encoded) => {
    expect(attachmentHeader(title, 'mp4')).toBe(
      `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`,
    );
  });

  it('keeps names short without breaking characters', () => {
    const header = attachmentHeader(`a${'🎬'.repeat(300)}`, 'mp4');
    expect(decodeURIComponent(header.slice(header.indexOf("''") + 2))).toBe(`a${'🎬'.repeat(49)}.mp4`);
  });
});
