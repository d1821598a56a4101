import { useState } from 'preact/hooks';
import { addTags } from '../../../format/tags.ts';
import type { NewVideoOptions } from '../../../uploads/upload.ts';
import { defaultDraft, isComplete } from '../../watermarks/placement-draft.ts';
import { bodyOf, clipProblem, type VideoOptions } from './video-options.ts';

export interface VideoOptionsDraft {
  readonly options: VideoOptions;
  readonly change: (changes: Partial<VideoOptions>) => void;
  readonly typedTag: string;
  readonly setTypedTag: (typed: string) => void;
  readonly alterTags: (alteration: (before: readonly string[]) => readonly string[]) => void;
  readonly isValid: boolean;
  /** Returns the options, with the tag that is still being typed. */
  readonly body: () => NewVideoOptions;
}

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

export function useVideoOptions(): VideoOptionsDraft {
  const [options, setOptions] = useState(defaults);
  const [typedTag, setTypedTag] = useState('');
  const typed = addTags(options.tags, typedTag);
  return {
    options,
    typedTag,
    setTypedTag,
    change: changes => setOptions(before => ({ ...before, ...changes })),
    alterTags: alteration => setOptions(before => ({ ...before, tags: alteration(before.tags) })),
    isValid:
      clipProblem(options) === undefined &&
      typed.problem === undefined &&
      (options.watermarkId === '' || isComplete(options.placement)),
    body: () => bodyOf({ ...options, tags: typed.tags }),
  };
}
