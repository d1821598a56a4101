import { childBoxes, malformed, requireBox } from './box-reader.ts';
import { type Edit, NO_EDIT, readEdit } from './edit-list.ts';
import { readMovie, readTimescale, type SampleDefaults, type TrackDescription } from './movie-box.ts';
import { type LocatedSample, readMovieFragment } from './movie-fragment.ts';

export interface FragmentedMovie {
  readonly track: TrackDescription;
  readonly defaults: ReadonlyMap<number, SampleDefaults>;
  readonly movieTimescale: number;
  /** Undefined without an edit list, or with one that has no effect. */
  readonly edit: Edit | undefined;
}

/** @throws AppError `media-malformed`; also for several tracks */
export function readFragmentedMovie(body: Buffer): FragmentedMovie {
  // A copy: the description lives as long as its rendition.
  const { tracks, defaults } = readMovie(Buffer.from(body));
  const [track] = tracks;
  if (track === undefined || tracks.length !== 1) throw malformed('moov', `has ${tracks.length} tracks`);
  const boxes = childBoxes(body, 0, body.length, 'moov');
  const movieTimescale = readTimescale(body, requireBox(boxes, 'mvhd', 'moov'));
  const edits = boxes
    .filter(({ type }) => type === 'trak')
    .flatMap(trak => childBoxes(body, trak.bodyStart, trak.end, 'trak'))
    .filter(({ type }) => type === 'edts')
    .flatMap(edts => childBoxes(body, edts.bodyStart, edts.end, 'edts'))
    .filter(({ type }) => type === 'elst');
  const [elst] = edits;
  const edit = elst === undefined ? undefined : readEdit(body, elst);
  return { track, defaults, movieTimescale, edit: edit === NO_EDIT ? undefined : edit };
}

/** @param position of the `moof` @param data range of the `mdat` body @param nextDts updated here */
export function readFragment(
  body: Buffer,
  movie: FragmentedMovie,
  position: number,
  data: { readonly start: number; readonly end: number },
  nextDts: Map<number, number>,
): LocatedSample[] {
  const samples = readMovieFragment(body, {
    defaults: movie.defaults,
    nextDts,
    position,
    maxDataBytes: data.end - data.start,
  }).filter(({ trackId }) => trackId === movie.track.id);
  for (const sample of samples) {
    if (sample.position < data.start || sample.position + sample.sizeBytes > data.end) {
      throw malformed('trun', 'data outside the "mdat" that follows');
    }
  }
  return samples;
}
