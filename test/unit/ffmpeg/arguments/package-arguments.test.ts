import { describe, expect, test } from 'vitest';
import { packageArguments, packagePipes } from '../../../../src/ffmpeg/arguments/package-arguments.ts';

const plans = [
  { hasVideo: true, audio: 'none' },
  { hasVideo: true, audio: 'copy' },
  { hasVideo: true, audio: 'aac' },
  { hasVideo: false, audio: 'copy' },
  { hasVideo: false, audio: 'aac' },
] as const;

describe.each(plans)('video $hasVideo, audio $audio', plan => {
  const args = packageArguments(plan);

  test('every track has a pipe of its own, from 3 up without a hole', () => {
    const { video, audio } = packagePipes(plan);
    const pipes = [video, audio].filter(pipe => pipe !== undefined);
    expect(pipes).toEqual(pipes.map((_, index) => index + 3));
    expect(args.filter(arg => /^pipe:[1-9]/.test(arg))).toEqual(pipes.map(pipe => `pipe:${pipe}`));
  });

  test('only what must be is encoded', () => {
    const codecs = args.flatMap((arg, index) => (/^-c:[av]$/.test(arg) ? [`${arg} ${args[index + 1]}`] : []));
    expect(codecs).toEqual([
      ...(plan.hasVideo ? ['-c:v copy'] : []),
      ...(plan.audio === 'none' ? [] : [plan.audio === 'copy' ? '-c:a copy' : '-c:a aac']),
    ]);
  });

  test('takes FLV on stdin and keeps the first keyframe', () => {
    const input = args.indexOf('pipe:0');
    expect(args.slice(input - 3, input)).toEqual(['-f', 'flv', '-i']);
    expect(args).not.toContain('nobuffer');
  });
});
