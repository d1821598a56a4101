import { TextTrackReader } from '../../../../../media/webvtt/text-track-reader.ts';
import { maxTextTrackBytes } from '../../../../../shared/limits/resource-limits.ts';

export type TrackCheck =
  | {
      readonly cues: number;
      readonly wasSubRip: boolean;
      /** Sentences about what the server will mend. */
      readonly warnings: readonly string[];
    }
  | { readonly fault: string };

const chooseAnother = 'Choose a WebVTT (.vtt) or SubRip (.srt) file.';

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
    return { fault: 'The file can’t be read. Choose it again.' };
  }
  const reader = new TextTrackReader(bytes, language);
  reader.read(bytes);
  reader.end();
  const { cues, isWebVtt, warnings } = reader;
  if (cues === 0) {
    return { fault: `The file has no times such as 00:01.000 --> 00:04.000. ${chooseAnother}` };
  }
  return { cues, wasSubRip: !isWebVtt, warnings };
}

function faultOf({ name, size, type }: File): string | undefined {
  const [, kind] = /^(video|audio|image)\//.exec(type) ?? [];
  if (kind !== undefined)
    return `“${name}” is ${kind === 'video' ? 'a video' : `an ${kind} file`}. ${chooseAnother}`;
  if (size === 0) return `The file is empty. ${chooseAnother}`;
  if (size > maxTextTrackBytes) return `The file is larger than 8 MiB. ${chooseAnother}`;
  return undefined;
}
