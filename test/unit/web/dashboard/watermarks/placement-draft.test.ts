import { describe, expect, it } from 'vitest';
import { placementProblem } from '../../../../../src/resources/videos/videos/video.ts';
import {
  convertUnit,
  defaultDraft,
  isComplete,
  isNumber,
  isOpacity,
  placementOf,
} from '../../../../../src/web/dashboard/pages/watermarks/placement-draft.ts';
import { placementRequest } from '../../../../../src/web/dashboard/pages/watermarks/placement-samples.ts';

describe('a placement that is being made', () => {
  it('is told by the two edges of its corner, without what goes without saying', () => {
    expect(placementOf(defaultDraft)).toEqual({ bottom: '5%', right: '3%', width: '15%', opacity: '80%' });
    expect(
      placementOf({
        ...defaultDraft,
        corner: 'top-left',
        x: { number: '12', unit: 'px' },
        width: { number: '', unit: 'initial' },
        opacity: '100',
      }),
    ).toEqual({ top: '5%', left: '12px' });
  });

  it('leaves out what is no number yet, and is not complete then', () => {
    const draft = { ...defaultDraft, x: { number: '1.', unit: 'px' }, opacity: '101' } as const;
    expect(placementOf(draft)).toEqual({ bottom: '5%', width: '15%' });
    expect([isComplete(defaultDraft), isComplete(draft)]).toEqual([true, false]);
  });

  it.each([
    '0',
    '12',
    '12.5',
    '12.125',
    '99999',
    '100',
    '100.5',
    '',
    '.5',
    '1.',
    '-1',
    '1e3',
    '123456',
    '1.2345',
  ])('takes %j as a number where the API does', text => {
    expect(isNumber(text)).toBe(placementProblem('left', `${text}px`) === undefined);
    expect(isOpacity(text)).toBe(placementProblem('opacity', `${text}%`) === undefined);
  });

  it('keeps a length where it was when its unit changes', () => {
    expect(convertUnit({ number: '5', unit: '%' }, 'px', 1_280, 0)).toEqual({ number: '64', unit: 'px' });
    expect(convertUnit({ number: '64', unit: 'px' }, '%', 1_280, 0)).toEqual({ number: '5', unit: '%' });
    expect(convertUnit({ number: '', unit: 'initial' }, '%', 1_280, 192)).toEqual({
      number: '15',
      unit: '%',
    });
    expect(convertUnit({ number: '15', unit: '%' }, 'initial', 1_280, 192)).toEqual({
      number: '',
      unit: 'initial',
    });
    expect(convertUnit({ number: 'x', unit: 'px' }, 'px', 1_280, 192)).toEqual({ number: 'x', unit: 'px' });
  });

  it('is told in a command that makes a video', () => {
    expect(placementRequest('http://a.example', 'watermark_1', { top: '0px' })).toContain(
      `-d '{"title":"My video","watermark":{"id":"watermark_1","top":"0px"}}'`,
    );
  });
});
