import { TextTrackReader } from '../../../../../media/webvtt/text-track-reader.ts';
import { maxTextTrackBytes } from '../../../../../shared/limits/resource-limits.ts';
import { t } from '../../../texts/video.ts';

export type TrackCheck =
  | {
      readonly cues: number;
      readonly wasSubRip: boolean;
      /** Sentences about what the server will mend. */
      readonly warnings: readonly string[];
    }
  | { readonly fault: string };

/**
 * Reads a file as the server will.
 * @param language of the text, which may be empty
 */
export async function checkTrackFile(file: File, language: string): Promise<TrackCheck> {
  const fault = faultOf(file);
  if (fault !== undefined) return { fault };
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch {
    return { fault: t('trackFile.unreadable') };
  }
  const reader = new TextTrackReader(bytes, language);
  reader.read(bytes);
  reader.end();
  const { cues, isWebVtt, warnings } = reader;
  if (cues === 0) {
    return {
      fault: `${t('trackFile.noTimes', { example: '00:01.000 --> 00:04.000' })} ${t('trackFile.chooseAnother')}`,
    };
  }
  return { cues, wasSubRip: !isWebVtt, warnings };
}

function faultOf({ name, size, type }: File): string | undefined {
  const kind = (['isVideo', 'isAudio', 'isImage'] as const).find(one =>
    type.startsWith(`${one.slice(2).toLowerCase()}/`),
  );
  if (kind !== undefined) return `${t(`trackFile.kinds.${kind}`, { name })} ${t('trackFile.chooseAnother')}`;
  if (size === 0) return `${t('trackFile.empty')} ${t('trackFile.chooseAnother')}`;
  if (size > maxTextTrackBytes) return `${t('trackFile.tooLarge')} ${t('trackFile.chooseAnother')}`;
  return undefined;
}
