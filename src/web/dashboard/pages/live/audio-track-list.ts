import type { LiveStream } from '../../api/api-types.ts';

type Tracks = NonNullable<LiveStream['audioTracks']>;

/** Ids of the encoder, in the order of menus. */
export function orderedIds(tracks: Tracks): number[] {
  const placeOf = (id: number) => tracks[id]?.position ?? id + 1;
  return tracks.map((_, id) => id).toSorted((one, other) => placeOf(one) - placeOf(other) || one - other);
}

export function moveTrack(tracks: Tracks, id: number, by: -1 | 1): Tracks {
  const ids = orderedIds(tracks);
  const others = ids.filter(other => other !== id);
  const moved = others.toSpliced(ids.indexOf(id) + by, 0, id);
  return tracks.map((track, trackId) => ({ ...track, position: moved.indexOf(trackId) + 1 }));
}

export function withDefault(tracks: Tracks, id: number): Tracks {
  return tracks.map(({ default: _, ...track }, trackId) =>
    trackId === id ? { ...track, default: true as const } : track,
  );
}
