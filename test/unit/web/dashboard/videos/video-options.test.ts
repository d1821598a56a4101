import { expect, test } from 'vitest';
import {
  bodyOf,
  clipProblem,
  type VideoOptions,
} from '../../../../../src/web/dashboard/pages/videos/new-video/video-options.ts';
import { defaultDraft } from '../../../../../src/web/dashboard/pages/watermarks/placement-draft.ts';

const defaults: VideoOptions = {
  isPublic: true,
  mp4Support: true,
  tags: [],
  language: '',
  playerId: '',
  watermarkId: '',
  placement: defaultDraft,
  clipStart: '',
  clipEnd: '',
};

test('defaults are left to the server', () => {
  expect(bodyOf(defaults)).toEqual({});
});

test('everything that differs is named', () => {
  expect(
    bodyOf({
      isPublic: false,
      mp4Support: false,
      tags: ['sea'],
      language: 'en',
      playerId: 'pl1',
      watermarkId: 'wm1',
      placement: defaultDraft,
      clipStart: '0:05.5',
      clipEnd: '1:02:03',
    }),
  ).toEqual({
    public: false,
    mp4Support: false,
    tags: ['sea'],
    language: 'en',
    playerId: 'pl1',
    watermark: { id: 'wm1', bottom: '5%', right: '3%', width: '15%', opacity: '80%' },
    clip: { startTimecode: '00:00:05.500', endTimecode: '01:02:03.000' },
  });
});

test.each([
  ['', '', undefined],
  ['90', '', undefined],
  ['', '0:30', undefined],
  ['1:00', '0:30', 'The clip must end after its start.'],
  ['', '0', 'The clip must end after its start.'],
  ['soon', '', 'Enter times such as 1:30 or 0:05.5.'],
  ['', '9999999', 'Enter times such as 1:30 or 0:05.5.'],
])('a clip from %j to %j', (clipStart, clipEnd, problem) => {
  expect(clipProblem({ ...defaults, clipStart, clipEnd })).toBe(problem);
});
