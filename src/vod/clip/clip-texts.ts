import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { WebVttCutter } from '../../media/webvtt/cue-cutter.ts';
import { newUuid } from '../../shared/ids.ts';
import type { Transaction } from '../../store/connection.ts';
import { writeCues } from '../captions/write-cues.ts';
import type { StoredTextTrack, VodContext } from '../vod-context.ts';
import type { ClipRange } from './clip-media.ts';

/**
 * Cuts the captions and chapters of a video for a clip of it. Returns what stores them: the next sweep removes files
 * without a row. Leaves out those without a cue in the range.
 */
export async function cutTextTracks(
  { captions, files }: Pick<VodContext, 'captions' | 'files'>,
  { from, to, range }: { readonly from: string; readonly to: string; readonly range: ClipRange },
  signal: AbortSignal,
): Promise<(transaction: Transaction) => Promise<void>> {
  const tracks = [...(await captions.list(from, 'captions')), ...(await captions.list(from, 'chapters'))];
  const cut: StoredTextTrack[] = [];
  const startMs = Math.round(range.startSeconds * 1000);
  const durationMs = Math.round(range.endSeconds * 1000) - startMs;
  const cutTrack = async (track: StoredTextTrack, folder: string) => {
    const file = `${track.kind}-${track.language}-${newUuid()}.vtt`;
    const path = join(folder, file);
    const hasCues = await files.storage.withLocal(
      files.video(from, track.file),
      async source => {
        await using input = await open(source);
        await using output = await open(path, 'wx');
        const cutter = new WebVttCutter({ startMs, durationMs });
        return await writeCues(input.readLines(), cutter, output, signal);
      },
      signal,
    );
    if (!hasCues) return;
    const { size: bytes } = await stat(path);
    await files.publish(path, files.video(to, file), signal);
    cut.push({ ...track, videoId: to, file, bytes });
  };
  if (tracks.length > 0) {
    await files.inWorkFolder(async folder => {
      for (const track of tracks) await cutTrack(track, folder);
    });
  }
  return async transaction => {
    for (const track of cut) await captions.put(track, transaction);
  };
}
