import { parseTime } from '../../../../shared/time-text.ts';
import { t } from '../../../texts/videos.ts';
import type { NewVideoOptions } from '../../../uploads/upload.ts';
import { type PlacementDraft, placementOf } from '../../watermarks/placement-draft.ts';

/** Options as chosen in a form. */
export interface VideoOptions {
  readonly isPublic: boolean;
  readonly mp4Support: boolean;
  readonly tags: readonly string[];
  /** `''` is not set, or the default theme. */
  readonly language: string;
  readonly playerId: string;
  /** `''` is none. */
  readonly watermarkId: string;
  readonly placement: PlacementDraft;
  /** Undefined: the defaults of the environment. */
  readonly transcript?: boolean | undefined;
  readonly transcriptSummary?: boolean | undefined;
  /** The start as typed; `''` is the start or end of the file. */
  readonly clipStart: string;
  readonly clipEnd: string;
}

/** Names only what differs from the defaults of the server. */
export function bodyOf(options: VideoOptions): NewVideoOptions {
  const { isPublic, mp4Support, tags, language, playerId, watermarkId, placement } = options;
  const { transcript, transcriptSummary } = options;
  const start = timecodeOf(options.clipStart);
  const end = timecodeOf(options.clipEnd);
  return {
    ...(isPublic ? {} : { public: false }),
    ...(mp4Support ? {} : { mp4Support }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(language === '' ? {} : { language }),
    ...(playerId === '' ? {} : { playerId }),
    transcript,
    transcriptSummary,
    ...(watermarkId === '' ? {} : { watermark: { id: watermarkId, ...placementOf(placement) } }),
    ...(start === undefined && end === undefined
      ? {}
      : {
          clip: {
            startTimecode: start,
            endTimecode: end,
          },
        }),
  };
}

export function clipProblem({ clipStart, clipEnd }: VideoOptions): string | undefined {
  const [start, end] = [clipStart, clipEnd].map(text => (text.trim() === '' ? undefined : secondsOf(text)));
  if (Number.isNaN(start) || Number.isNaN(end)) return t('newVideo.wrongTimes');
  return end !== undefined && end <= (start ?? 0) ? t('newVideo.wrongOrder') : undefined;
}

/** `HH:MM:SS.mmm` */
function timecodeOf(text: string): string | undefined {
  const seconds = text.trim() === '' ? Number.NaN : secondsOf(text);
  if (Number.isNaN(seconds)) return undefined;
  const ms = Math.round(seconds * 1000);
  const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  return `${pad(hours)}:${pad(minutes)}:${pad(Math.floor(ms / 1000) % 60)}.${pad(ms % 1000, 3)}`;
}

function secondsOf(text: string): number {
  const seconds = parseTime(text) ?? Number.NaN;
  return seconds < 1000 * 3600 ? seconds : Number.NaN;
}
