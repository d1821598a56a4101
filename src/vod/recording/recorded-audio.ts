import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { audioRenditionName } from '../../shared/audio-rendition.ts';
import type { AudioTrack } from '../encoding-repository.ts';

export interface NamedTrack {
  /** `video`, or of the audio rendition. */
  readonly name: string;
  readonly track: TrackDescription;
  /** Index of the stream in the file, as ffprobe counts. */
  readonly stream: number;
}

interface RecordedAudio extends NamedTrack {
  /** Number as in `AudioRenditionName`: the default track is the first. */
  readonly number: number;
}

/** Video first: audio is cut at its boundaries. @param tracks in the order of the file */
export function recordedTracks(tracks: readonly TrackDescription[]): NamedTrack[] {
  const stream = tracks.findIndex(({ kind }) => kind === 'video');
  const video = stream === -1 ? [] : [{ name: 'video', track: tracks[stream]!, stream }];
  return [...video, ...recordedAudio(tracks)];
}

/** The audio of a recording, numbered as `audioStreamsOf` does. @param tracks in the order of the file */
export function recordedAudio(tracks: readonly TrackDescription[]): RecordedAudio[] {
  const audio = tracks
    .map((track, stream) => ({ track, stream }))
    .filter(({ track }) => track.kind === 'audio');
  const main = audio.find(({ track }) => track.label?.isDefault !== false) ?? audio[0];
  if (main === undefined) return [];
  return [main, ...audio.filter(one => one !== main)].map((one, index) => ({
    ...one,
    number: index + 1,
    name: audioRenditionName({ track: index + 1, isSurround: false }),
  }));
}

/** The tracks of a file that is joined from several: those of the first, then those that only later ones have. */
export function joinedTracks(files: readonly (readonly TrackDescription[])[]): TrackDescription[] {
  const joined: TrackDescription[] = [];
  for (const track of files.flat()) if (!joined.some(({ id }) => id === track.id)) joined.push(track);
  return joined;
}

/** Returns audio tracks as the live stream had them, in the order of menus. Empty without labels. */
export function recordedAudioTracks(tracks: readonly TrackDescription[]): AudioTrack[] {
  const labelled = recordedAudio(tracks).filter(({ track }) => track.label !== undefined);
  return labelled
    .toSorted((one, other) => one.stream - other.stream)
    .map(({ number, track: { label } }) => ({
      track: number,
      language: label?.language,
      name: label?.name,
      isDefault: number === 1,
    }));
}
